"""Hidden classes and continua behind a table with numbers, as the model that answers for its rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.labels import lookup
from leverrier.data.table import Label, Table, Variable
from leverrier.data.variable import code_type
from leverrier.discovery.hidden_model import NodeCard
from leverrier.discovery.numbers.column_profile import ColumnProfile
from leverrier.errors import OptionError
from leverrier.formats.mixed_json import dumps_mixed, loads_mixed
from leverrier.models.behind.behind_model import BehindModel
from leverrier.models.families.conditional import Cells
from leverrier.models.graph import Graph
from leverrier.models.mixed_network import MixedNetwork


@dataclass(frozen=True, eq=False)
class BehindHidden:
    """Each hidden variable's model by its name, and the mixed network of everything that hangs on none of them."""

    behind: Mapping[str, BehindModel]
    rest: MixedNetwork
    """Families of the columns that hang on nothing hidden; those of the others are not used."""
    profiles: Mapping[str, ColumnProfile] = field(default_factory=dict)
    together: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By continuum, its correlation with others that were found together."""
    network: None = None
    numbers: None = None
    causes: None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.behind)

    @property
    def labels(self) -> dict[str, tuple[Label, ...]]:
        """A continuum has no states."""
        return {name: tuple(range(model.n_classes)) for name, model in self.behind.items()}

    @property
    def graph(self) -> Graph:
        """Observed arcs, and those from each hidden variable to its children."""
        parents: dict[str, tuple[str, ...]] = dict.fromkeys(self.behind, ())
        for node in self.rest.graph:
            above = tuple(name for name, model in self.behind.items() if node in model.children)
            parents[node] = (*above, *self.rest.parents(node))
        return Graph.from_parents(parents)

    def posterior(self, rows: Any, name: str | None = None) -> dict[str, Floats]:
        """Of classes; a continuum that is asked for by name has scores instead."""
        if name is not None and self.behind[name].continuum:
            raise OptionError(
                f"{name} is a continuum and has no states: found.scores(data) gives each row's place on it"
            )
        wanted = [each for each, model in self.behind.items() if name in (None, each) and not model.continuum]
        return {each: self.behind[each].posterior(rows) for each in wanted}

    def scores(self, rows: Any, name: str) -> tuple[Floats, Floats]:
        """Each row's place on a continuum, and its standard error."""
        return self.behind[name].scores(rows)

    def sample(self, n_rows: int, like: Table, rng: np.random.Generator) -> Table:
        cells: dict[str, Cells] = {}
        places: dict[str, Any] = self._places_together(n_rows, rng)
        for node in self.graph.order:
            if node in places:
                continue
            if node in self.behind:
                latent = self.behind[node].latent
                places[node] = rng.choice(latent.places, n_rows, p=latent.shares / latent.shares.sum())
                continue
            owner = next((name for name, model in self.behind.items() if node in model.children), None)
            if owner is None:
                above = [cells[p] for p in self.rest.parents(node)]
                drawn = self.rest.families[node].draw(above, n_rows, rng)
            else:
                drawn = self.behind[owner].draw(node, places[owner], cells, rng)
            cells[node] = self.rest.margins[node].settled(drawn) if node in self.rest.margins else drawn
        return _as_seen(self.rest.as_rows(cells), like)

    def _places_together(self, n_rows: int, rng: np.random.Generator) -> dict[str, Any]:
        """Of continua that go together, each row's nodes."""
        names = list(self.together)
        if not names:
            return {}
        matrix = np.array([[1.0 if a == b else self.together[a].get(b, 0.0) for b in names] for a in names])
        values, vectors = np.linalg.eigh(matrix)
        normal = rng.standard_normal((n_rows, len(names))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        found = {}
        for name, own in zip(names, normal.T, strict=True):
            nodes = self.behind[name].latent.basis[:, 0]
            found[name] = np.searchsorted((nodes[1:] + nodes[:-1]) / 2, own)
        return found

    @property
    def loadings(self) -> dict[str, Mapping[str, float]]:
        """By continuum and column, how strongly the column follows it."""
        return {name: model.loadings for name, model in self.behind.items() if model.continuum}

    def card(self, node: str) -> NodeCard:
        """Of a class its shares; of a column what it is in each class that drives it, or over all rows."""
        if node in self.behind:
            model = self.behind[node]
            if model.continuum:
                return NodeCard(True, None, (), (), ("mean", "deviation"), np.array([0.0, 1.0]), shares=False)
            return NodeCard(True, model.n_classes, (), (), self.labels[node], model.latent.shares)
        owner = next((n for n, m in self.behind.items() if node in m.children and not m.continuum), None)
        profile = self.profiles[node]
        given = ((owner,), (self.labels[owner],)) if owner else ((), ())
        cells = profile.by_state if owner else profile.overall
        states = None if profile.number else len(profile.values)
        return NodeCard(False, states, *given, profile.values, cells, shares=not profile.number)

    def tables(self) -> None:
        return None

    def content(self) -> dict[str, Any]:
        return {
            "behind": {
                "models": {name: dict(model.content()) for name, model in self.behind.items()},
                "rest": json.loads(dumps_mixed(self.rest)),
                "profiles": {name: each.content() for name, each in self.profiles.items()},
                "together": {name: dict(each) for name, each in self.together.items()},
            }
        }


def read_behind(content: Mapping[str, Any], variables: tuple[Variable, ...]) -> BehindHidden:
    """What `content` made of a model."""
    own = content["behind"]
    models = {name: BehindModel.of_content(each, variables) for name, each in own["models"].items()}
    profiles = {name: ColumnProfile.of_content(each) for name, each in own["profiles"].items()}
    together = {name: {k: float(v) for k, v in each.items()} for name, each in own.get("together", {}).items()}
    return BehindHidden(models, loads_mixed(json.dumps(own["rest"])), profiles, together)


def _as_seen(drawn: Table, like: Table) -> Table:
    """Drawn rows with the columns, states and bins of the data, as reading them again would give; what is not among
    the states is a hole."""
    kind = code_type(max(like.cardinalities.tolist(), default=1))
    codes = np.full((len(like.columns), drawn.n_rows), np.iinfo(kind).max, dtype=kind)
    raw = {}
    for row, variable in zip(codes, like.columns, strict=True):
        if variable.name not in drawn.variables:
            continue
        found = _codes_in(variable, drawn)
        row[:] = np.where(found < 0, row, found)
        if variable.cuts and variable.name in drawn.raw:
            raw[variable.name] = drawn.raw[variable.name]
    return Table(like.columns, codes, raw=raw)


def _codes_in(variable: Variable, drawn: Table) -> NDArray[np.integer]:
    """The state of each cell, -1 for a hole: numbers by their bin or by their value, states by their label."""
    if variable.name not in drawn.raw:
        found = np.append(lookup(drawn.states[variable.name], variable.states), np.int32(-1))
        cells = drawn.column(variable.name)
        return found[np.where(cells == drawn.missing, len(found) - 1, cells)]
    values = drawn.raw[variable.name]
    if variable.cuts:
        return np.where(np.isnan(values), -1, np.searchsorted(np.array(variable.cuts), values, side="right"))
    different, back = np.unique(values, return_inverse=True)
    labels = [int(value) if value.is_integer() else value for value in different.tolist()]
    return lookup(labels, variable.states)[back]
