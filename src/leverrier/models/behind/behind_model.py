"""A hidden class or continuum behind numbers and states, as a frozen value: each row's place, in the user's units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from leverrier.arrays import Floats
from leverrier.data.reading.read_table import read_table
from leverrier.data.table import Table
from leverrier.data.variable import Label, Variable
from leverrier.errors import OptionError
from leverrier.models.behind.block import Block, Codes, Seen, add_number, add_states
from leverrier.models.behind.child_density import log_density, posterior_of, row_logs
from leverrier.models.behind.links import Fit, Latent, Link, LogitFit, NumberFit, TableFit, read_fit, terms_of
from leverrier.models.families.conditional import Cells
from leverrier.models.margin import Margin
from leverrier.plain_values import Plain


@dataclass(frozen=True)
class Known(Plain):
    """A column that the model reads: a number by its margin, or states by their labels."""

    name: str
    margin: Margin | None
    labels: tuple[Label, ...]
    states: int
    """How many codes it has as a child; 0 for a number of many values."""
    bent: bool = False
    """Whether a number's second representation is used."""
    scores: tuple[float, ...] = ()
    """Of ordered states."""

    def from_cells(self, design: list[Floats], cells: Cells | None, rows: int) -> Seen:
        """The column of rows whose cells are in the space already; zeros where they are not drawn yet."""
        given = np.zeros(rows) if cells is None else cells
        if self.margin is None:
            codes = np.asarray(given, dtype=np.int64)
            return add_states(
                design, self.name, codes, self.states, np.array(self.scores)[codes] if self.scores else None
            )
        z = np.asarray(given, dtype=np.float64)
        if self.states:
            return add_states(design, self.name, self.margin.codes(z), self.states, z)
        curve = self.margin.curve if self.bent else None
        return add_number(design, self.name, z, None if curve is None else curve(z), None if curve is None else z)

    def add_to(self, design: list[Floats], table: Table) -> Seen:
        """The column of new rows; a cell that is empty, or absent, is a hole at the middle of the column."""
        if self.margin is None:
            codes = _codes(self, table)
            holes = codes < 0
            codes = np.where(holes, 0, codes)
            scores = np.where(holes, 0.0, np.array(self.scores)[codes]) if self.scores else None
            return add_states(design, self.name, codes, self.states, scores, holes)
        given = table.numbers.get(self.name) if self.name in table.variables else None
        z = self.margin.scores(np.full(table.n_rows, np.nan) if given is None else given)
        holes = np.isnan(z)
        codes = np.maximum(self.margin.codes(z), 0) if self.states else None
        z = np.where(holes, 0.0, z)
        if codes is not None:
            return add_states(design, self.name, codes, self.states, z, holes)
        curve = self.margin.curve if self.bent else None
        return add_number(
            design,
            self.name,
            z,
            None if curve is None else curve(z),
            None if curve is None else curve.log_slope(z),
            holes,
        )


def _codes(column: Known, table: Table) -> Codes:
    """By label, −1 for a hole."""
    if column.name not in table.variables:
        return np.full(table.n_rows, -1, dtype=np.int64)
    place = {label: code for code, label in enumerate(column.labels)}
    own = np.array([*(place.get(label, -1) for label in table.states[column.name]), -1], dtype=np.int64)
    cells = table.column(column.name).astype(np.int64)
    return own[np.where(cells == table.missing, len(own) - 1, cells)]


def _coded(block: Block, child: str, state: int) -> Block:
    """The same rows, all in one state of the child."""
    seen = block.columns[child]
    codes = np.full(block.rows, state, dtype=np.int64)
    return Block(block.design, {**block.columns, child: replace(seen, codes=codes)})


@dataclass(frozen=True, eq=False)
class BehindModel:
    """P(children | parents) = Σ over places of P(place) Π P(child | place, parents), in nats of normal scores."""

    columns: tuple[Known, ...]
    latent: Latent
    links: tuple[Link, ...]
    fits: tuple[Fit, ...]
    variables: tuple[Variable, ...]
    """Of the table it was learned from: new rows are read as those were."""

    @property
    def continuum(self) -> bool:
        return self.latent.fixed

    @property
    def children(self) -> tuple[str, ...]:
        return tuple(link.column for link in self.links)

    @property
    def n_classes(self) -> int:
        """The number of states of a class; 0 for a continuum."""
        return 0 if self.latent.fixed else self.latent.places

    def posterior(self, data: Any) -> Floats:
        """(rows, states): P(class | the observed cells of the row). A continuum has scores instead.

        An empty cell of a child says nothing of the class; one of an observed parent counts as the parent's middle.
        """
        if self.continuum:
            raise OptionError("this hidden variable is a continuum, without states: ask `scores` for each row's place")
        return self._places(data)

    def scores(self, data: Any) -> tuple[Floats, Floats]:
        """Each row's place on a continuum of mean 0 and deviation 1, and its standard error."""
        if not self.continuum:
            raise OptionError("this hidden variable is a class: ask `posterior` for each row's states")
        share, at = self._places(data), self.latent.basis[:, 0]
        mean = share @ at
        return mean, np.sqrt(np.maximum(share @ at**2 - mean**2, 0.0))

    def assign(self, data: Any) -> NDArray[np.int64]:
        """The most probable class of each row."""
        return self.posterior(data).argmax(axis=1)

    @cached_property
    def loadings(self) -> Mapping[str, float]:
        """Of a continuum: by column, the deviations (for states, logits) that one deviation of the place moves it."""
        found = {}
        for link, fit in zip(self.links, self.fits, strict=True):
            if isinstance(fit, NumberFit):
                slope = float(np.polyfit(self.latent.basis[:, 0], fit.constants, 1)[0])
                found[link.column] = slope / float(np.sqrt(slope**2 + fit.variances[0]))
            elif isinstance(fit, LogitFit):
                found[link.column] = float(fit.theta[fit.states - 1])
        return found

    def draw(
        self, child: str, places: NDArray[np.int64], cells: Mapping[str, Cells], rng: np.random.Generator
    ) -> Cells:
        """Cells of a child for rows in these places, given the cells of its observed parents (scores and codes)."""
        at = next(k for k, link in enumerate(self.links) if link.column == child)
        link, fit, n = self.links[at], self.fits[at], len(places)
        block = self._family_block(link, cells, n)
        if not isinstance(fit, TableFit):
            fit = replace(fit, terms=terms_of(block, link))
        own = next(each for each in self.columns if each.name == child)
        if isinstance(fit, NumberFit):
            slopes = fit.slopes if fit.shared else fit.slopes[places]
            mean = fit.constants[places] + (block.design[:, fit.terms] * slopes).sum(axis=1)
            drawn = mean + np.sqrt(fit.variances[places]) * rng.normal(size=n)
            curve = None if own.margin is None else own.margin.curve
            return curve.inverse(drawn) if link.face and curve is not None else drawn
        chances = np.exp([log_density(_coded(block, child, s), self.latent, link, fit) for s in range(own.states)])
        cumulative = np.cumsum(chances[:, np.arange(n), places], axis=0)
        codes = np.minimum((rng.random(n) * cumulative[-1] >= cumulative).sum(axis=0), own.states - 1)
        if own.margin is None:
            return codes
        edges = np.concatenate([[0.0], ndtr(np.array(own.margin.cuts)), [1.0]])
        return ndtri(edges[codes] + rng.random(n) * (edges[codes + 1] - edges[codes]))

    def _family_block(self, link: Link, cells: Mapping[str, Cells], rows: int) -> Block:
        """A child and its observed parents alone: the design of all columns would be laid out anew for every child."""
        design: list[Floats] = [np.ones(rows)]
        own = [each for each in self.columns if each.name in (link.column, *link.parents)]
        seen = {each.name: each.from_cells(design, cells.get(each.name), rows) for each in own}
        return Block(np.column_stack(design), seen)

    def content(self) -> dict[str, Any]:
        """Plain values to be saved."""
        return {
            "columns": [each.content() for each in self.columns],
            "shares": self.latent.shares.tolist(),
            "basis": self.latent.basis.tolist(),
            "fixed": self.latent.fixed,
            "links": [[link.column, list(link.parents), link.face, link.mode] for link in self.links],
            "fits": [fit.content() for fit in self.fits],
        }

    @classmethod
    def of_content(cls, content: Mapping[str, Any], variables: tuple[Variable, ...]) -> BehindModel:
        latent = Latent(np.array(content["shares"]), np.array(content["basis"]), bool(content["fixed"]))
        links = tuple(Link(name, tuple(parents), int(face), mode) for name, parents, face, mode in content["links"])
        columns = tuple(Known.of_content(each) for each in content["columns"])
        return cls(columns, latent, links, tuple(read_fit(each) for each in content["fits"]), variables)

    def _places(self, data: Any) -> Floats:
        """P(place | row)."""
        return posterior_of(row_logs(self.block(data), self.latent, self.links, self.fits))[0]

    def block(self, data: Any) -> Block:
        """New rows in the model's space; a state never seen is a hole."""
        empty = Table(self.variables, np.empty((len(self.variables), 0), dtype=np.uint16))
        table = read_table(data, like=empty, unseen="hole")
        design: list[Floats] = [np.ones(table.n_rows)]
        seen = {column.name: column.add_to(design, table) for column in self.columns}
        return Block(np.ascontiguousarray(np.column_stack(design)), seen)
