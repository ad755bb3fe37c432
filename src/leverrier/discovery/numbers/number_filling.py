"""Empty cells of a mixed table filled by draws from a network without anything hidden, for the search only.

A cell is drawn given its whole row: some values from its own family, one of them chosen by how well the row's other
columns go with it. Where the columns are numbers and no bend of a line is clear, the cells are drawn from one Gaussian
of all scores instead, fitted by EM with the holes summed out: a network and a continuum are both special cases of it,
so that the drawn cells speak for neither. (What a network had by chance, a step or a square, was then in the drawn
cells and spoke for arcs.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.mixed.fitted import Fitted
from leverrier.learning.mixed.learn_mixed import mixed_network
from leverrier.learning.mixed.mixed_design import Design
from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.learning.mixed.mixed_search import Limits, mixed_search
from leverrier.learning.mixed.mixed_space import Space, SpaceColumn
from leverrier.learning.mixtures.fit_mixture import fit_mixture
from leverrier.models.families.conditional import Cells
from leverrier.models.mixed_network import MixedNetwork
from leverrier.models.mixture import Mixture
from leverrier.run.run import UNBOUNDED, Run

OFFERED, SWEEPS = 12, 4
BENT = 25.0
"""Nats by which families of every kind must be ahead of lines alone. Chance gains up to 11, and two classes 1.5
deviations apart, which bend lines a little, up to 21: drawn with those bends, the cells hid the class."""


class LinesAlone(Design):
    """Without squares, hinges, steps and products."""

    def extras(self, v: int) -> list[int]:  # noqa: ARG002
        return []

    def pairs(self, parents: Sequence[int]) -> list[int]:  # noqa: ARG002
        return []


class PlainScores(MixedScores):
    """Scores of lines alone."""

    @cached_property
    def design(self) -> Design:
        return LinesAlone(self.space)

    def _left_over(self, child: int, parents: Sequence[int], best: Fitted) -> bool:  # noqa: ARG002
        return False


def filled(space: Space, seed: int, run: Run = UNBOUNDED) -> Space:
    """The same space without holes; as it is if it has none. The network that fills them is the one reached in time."""
    if all(column.complete for column in space.columns):
        return space
    rng = np.random.default_rng([seed, 61])
    limits = Limits(stop=lambda: run.spent)
    scores = MixedScores(space)
    parents = mixed_search(scores, limits=limits, shakes=0, seed=seed)
    if not any(column.discrete for column in space.columns):
        plain = PlainScores(space)
        lines = mixed_search(plain, limits=limits, shakes=0, seed=seed)
        if scores.total(parents) - plain.total(lines) < BENT:
            return _by_gaussian(space, rng)
    network = mixed_network(scores, parents)
    cells = {column.name: _donated(column, rng) for column in space.columns}
    holes = {column.name: np.flatnonzero(column.holes) for column in space.columns if not column.complete}
    for _ in range(SWEEPS):
        for name, rows in holes.items():
            cells[name][rows] = _drawn(network, cells, name, rows, rng)
    return Space(tuple(_with_cells(column, cells[column.name]) for column in space.columns), space.n_rows, space.aside)


def _by_gaussian(space: Space, rng: np.random.Generator) -> Space:
    z = np.column_stack([column.scores for column in space.columns if column.scores is not None])
    whole = drawn_given_row(z, fit_mixture(z, 1, starts=1, jobs=1).mixture, rng)
    columns = []
    for column, cells in zip(space.columns, whole.T, strict=True):
        assert column.margin is not None
        assert column.scores is not None
        columns.append(_with_cells(column, np.where(column.holes, column.margin.settled(cells), column.scores)))
    return Space(tuple(columns), space.n_rows, space.aside)


def drawn_given_row(z: Floats, gaussian: Mixture, rng: np.random.Generator) -> Floats:
    """Rows with their holes drawn from the Gaussian, given what the row shows."""
    found = z.copy()
    mean, covariance = gaussian.means[0], gaussian.matrices[0]
    patterns, which = np.unique(np.isnan(z), axis=0, return_inverse=True)
    for at, holes in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == at)
        if not holes.any():
            continue
        slopes = np.linalg.solve(covariance[np.ix_(~holes, ~holes)], covariance[np.ix_(~holes, holes)])
        left = covariance[np.ix_(holes, holes)] - covariance[np.ix_(holes, ~holes)] @ slopes
        root = np.linalg.cholesky(left + 1e-12 * np.eye(len(left)))
        given = mean[holes] + (z[np.ix_(rows, ~holes)] - mean[~holes]) @ slopes
        found[np.ix_(rows, holes)] = given + rng.standard_normal(given.shape) @ root.T
    return found


def _donated(column: SpaceColumn, rng: np.random.Generator) -> Cells:
    """Holes take the cells of other rows, at random."""
    cells = column.cells.copy()
    seen = np.flatnonzero(~column.holes)
    cells[column.holes] = cells[rng.choice(seen, int(column.holes.sum()))]
    return cells


def _drawn(
    network: MixedNetwork, cells: Mapping[str, Cells], name: str, rows: np.ndarray, rng: np.random.Generator
) -> Cells:
    """A cell for each of these rows, given all of the row."""
    many = np.repeat(rows, OFFERED)
    above = [cells[p][many] for p in network.parents(name)]
    offered = network.families[name].draw(above, len(many), rng)
    if name in network.margins:
        offered = network.margins[name].settled(np.asarray(offered, dtype=np.float64))
    logs = np.zeros(len(many))
    for child in network.children(name):
        own = [offered if p == name else cells[p][many] for p in network.parents(child)]
        logs += network.families[child].log_density(cells[child][many], own)
    spread = logs.reshape(len(rows), OFFERED) + rng.gumbel(size=(len(rows), OFFERED))
    return offered.reshape(len(rows), OFFERED)[np.arange(len(rows)), spread.argmax(axis=1)]


def _with_cells(column: SpaceColumn, cells: Cells) -> SpaceColumn:
    if column.complete:
        return column
    if not column.number:
        scores = None if column.scores is None else np.array(column.state_scores)[cells]
        return replace(column, codes=np.asarray(cells, dtype=np.int64), scores=scores)
    assert column.margin is not None
    codes = np.searchsorted(np.array(column.bounds), cells, side="right")
    return replace(column, scores=np.asarray(cells, dtype=np.float64), codes=codes.astype(np.int64))
