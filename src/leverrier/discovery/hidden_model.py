"""One face for every model with something hidden: who asks for states of rows need not know which kind it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.reading.read_table import read_table
from leverrier.data.table import Label, Table, Variable
from leverrier.discovery.model_tables import ModelTables, of_causes, of_network
from leverrier.models.graph import Graph
from leverrier.models.mixed_class_model import MixedClasses
from leverrier.models.mixture import Mixture
from leverrier.models.network import Network
from leverrier.models.noisy_or.noisy_or_model import HiddenCauses

Content = Mapping[str, Any]
EXACT_CAUSES = 18
"""With more causes their posteriors are sampled."""


@dataclass(frozen=True, eq=False)
class NodeCard:
    """What a node's own numbers are: a line for each combination of what it is given."""

    hidden: bool
    states: int | None
    """How many it has; None for a column of numbers."""
    given: tuple[str, ...]
    given_states: tuple[Sequence[Label], ...]
    values: tuple[Label, ...]
    cells: Floats
    """One line after another, of as many as there are values."""
    shares: bool = True
    """Whether cells are shares; else they are numbers."""


class HiddenModel(Protocol):
    """What can be asked of a model with hidden variables over a table."""

    @property
    def names(self) -> tuple[str, ...]:
        """The hidden variables that were found."""
        ...

    @property
    def network(self) -> Network | None:
        """The model itself where it is a network."""
        ...

    @property
    def numbers(self) -> Mixture | None:
        """The columns of numbers by class, where numbers are taken as they are: rows must then come as they are."""
        ...

    @property
    def causes(self) -> HiddenCauses | None:
        """Causes that overlap, where it has any."""
        ...

    @property
    def labels(self) -> dict[str, tuple[Label, ...]]:
        """By hidden variable, its states."""
        ...

    @property
    def graph(self) -> Graph:
        """What is drawn of it."""
        ...

    def posterior(self, rows: Any, name: str | None = None) -> dict[str, Floats]:
        """By hidden variable (rows, states); at least that of the one that is named."""
        ...

    def sample(self, n_rows: int, like: Table, rng: np.random.Generator) -> Table:
        """Rows drawn from the model, with the columns and states of a table."""
        ...

    def card(self, node: str) -> NodeCard:
        """The numbers of one node."""
        ...

    def tables(self) -> ModelTables | None:
        """Written as a network of tables; None where it cannot be."""
        ...

    def content(self) -> dict[str, Any] | None:
        """As JSON holds it; None where the network says it all."""
        ...


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """Hidden variables in a network."""

    network: Network
    names: tuple[str, ...]
    columns: tuple[Variable, ...] = ()
    numbers: None = None
    causes: None = None

    @property
    def labels(self) -> dict[str, tuple[Label, ...]]:
        return {name: self.network.states[name] for name in self.names}

    @property
    def graph(self) -> Graph:
        return self.network.graph

    def posterior(self, rows: Any, name: str | None = None) -> dict[str, Floats]:
        table = like_columns(rows, self.columns)
        return {each: self.network.posterior(table, each) for each in self.names if name in (None, each)}

    def sample(self, n_rows: int, like: Table, rng: np.random.Generator) -> Table:
        return self.network.sample(n_rows, rng).select(like.variables)

    def card(self, node: str) -> NodeCard:
        network, parents = self.network, self.network.parents(node)
        given = tuple(network.states[parent] for parent in parents)
        states = network.states[node]
        return NodeCard(node in self.names, len(states), parents, given, states, network.cpt(node))

    def tables(self) -> ModelTables:
        return of_network(self.network)

    def content(self) -> None:
        return None


@dataclass(frozen=True, eq=False)
class ClassModel:
    """One hidden class behind numbers and categories."""

    classes: MixedClasses
    name: str
    columns: tuple[Variable, ...] = ()
    network: None = None
    causes: None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def numbers(self) -> Mixture:
        return self.classes.numbers

    @property
    def labels(self) -> dict[str, tuple[Label, ...]]:
        return {self.name: tuple(range(self.classes.n_classes))}

    @property
    def graph(self) -> Graph:
        columns = [column.name for column in self.columns]
        return Graph.from_edges([self.name, *columns], [(self.name, column) for column in columns])

    def posterior(self, rows: Any, name: str | None = None) -> dict[str, Floats]:  # noqa: ARG002
        return {self.name: self.classes.posterior(rows)}

    def sample(self, n_rows: int, like: Table, rng: np.random.Generator) -> Table:
        return read_table(self.classes.sample(n_rows, rng), like=like, unseen="hole")

    def card(self, node: str) -> NodeCard:
        given, states = (self.name,), (self.labels[self.name],)
        if node == self.name:
            return NodeCard(True, self.classes.n_classes, (), (), states[0], self.classes.weights)
        if node in self.classes.states:
            values = self.classes.states[node]
            return NodeCard(False, len(values), given, states, values, self.classes.tables[node])
        place, numbers = self.numbers.names.index(node), self.numbers
        deviations = np.sqrt(np.diagonal(numbers.matrices, axis1=1, axis2=2))
        cells = np.column_stack([numbers.means[:, place], deviations[:, place]])
        return NodeCard(False, None, given, states, ("mean", "deviation"), cells, shares=False)

    def tables(self) -> ModelTables | None:
        """Of categories alone: numbers have no table."""
        own = self.classes
        if not own.tables:
            return None
        parents: dict[str, tuple[str, ...]] = {self.name: (), **dict.fromkeys(own.tables, (self.name,))}
        return ModelTables(parents, {**self.labels, **own.states}, {self.name: own.weights, **own.tables})

    def content(self) -> dict[str, Any]:
        numbers = self.numbers
        arrays = {name: getattr(numbers, name).tolist() for name in ("weights", "means", "covariances")}
        tables = {name: table.tolist() for name, table in self.classes.tables.items()}
        states = {name: list(states) for name, states in self.classes.states.items()}
        kinds = {"kind": numbers.kind, "names": list(numbers.names)}
        return {"classes": {**arrays, **kinds, "tables": tables, "states": states}}


@dataclass(frozen=True, eq=False)
class CausesModel:
    """Overlapping causes of yes/no columns; causes of one sign are part of the model, but have no name."""

    causes: HiddenCauses
    names: tuple[str, ...]
    yes: Mapping[str, Label]
    """By sign, the value that says it is there."""
    columns: tuple[Variable, ...] = field(default=())
    network: None = None
    numbers: None = None

    @property
    def labels(self) -> dict[str, tuple[Label, ...]]:
        return dict.fromkeys(self.names, (0, 1))

    @property
    def graph(self) -> Graph:
        columns = [column.name for column in self.columns]
        arcs = [(name, sign) for k, name in enumerate(self.names) for sign in self._reached(k) if sign in columns]
        return Graph.from_edges([*self.names, *columns], arcs)

    def posterior(self, rows: Any, name: str | None = None) -> dict[str, Floats]:  # noqa: ARG002
        """P(absent), P(present)."""
        signs = self._signs(like_columns(rows, self.columns))
        present = self.causes.posterior(signs, exact=self.causes.n_causes <= EXACT_CAUSES)
        return {each: np.column_stack([1 - present[:, k], present[:, k]]) for k, each in enumerate(self.names)}

    def _signs(self, table: Table) -> Floats:
        """1 where a sign is there, 0 where not, NaN where nothing was seen."""
        cells = np.full((table.n_rows, len(self.causes.names)), np.nan)
        for place, name in enumerate(self.causes.names):
            codes, yes = table.column(name), table.states[name].index(self.yes[name])
            cells[:, place] = np.where(codes == table.missing, np.nan, codes == yes)
        return cells

    def sample(self, n_rows: int, like: Table, rng: np.random.Generator) -> Table:
        yes = np.array([like.states[name].index(self.yes[name]) for name in like.variables])[:, None]
        order = [self.causes.names.index(name) for name in like.variables]
        cells = self.causes.sample(n_rows, rng)[0][:, order].T
        return Table(like.columns, np.where(cells == 1, yes, 1 - yes).astype(like.codes.dtype))

    def _reached(self, k: int) -> tuple[str, ...]:
        return tuple(sign for sign, linked in zip(self.causes.names, self.causes.links[:, k], strict=True) if linked)

    def card(self, node: str) -> NodeCard:
        """Of a cause, how often it is active; of a sign, how often it shows with one cause alone, and without any."""
        model = self.causes
        if node in self.names:
            active = float(model.p[self.names.index(node)])
            return NodeCard(True, 2, (), (), ("absent", "present"), np.array([1 - active, active]))
        place = model.names.index(node)
        reached = [k for k in range(len(self.names)) if model.links[place, k]]
        alone = [1 - (1 - model.epsilon) * (1 - float(model.lam[k])) for k in reached]
        lines = (*(self.names[k] for k in reached), "none of them")
        cells = np.array([*alone, model.epsilon])
        return NodeCard(False, 2, ("this cause alone",), (lines,), (self.yes[node],), cells)

    def tables(self) -> ModelTables | None:
        return of_causes(self.causes, self.names, self.yes, {column.name: column.states for column in self.columns})

    def content(self) -> dict[str, Any]:
        model = self.causes
        arrays = {"links": model.links.tolist(), "lam": model.lam.tolist(), "p": model.p.tolist()}
        return {"causes": {**arrays, "epsilon": model.epsilon, "names": list(model.names), "yes": dict(self.yes)}}


def like_columns(rows: Any, columns: tuple[Variable, ...]) -> Table:
    """The rows in these columns' states; a value never seen is a hole."""
    empty = Table(columns, np.empty((len(columns), 0), dtype=np.uint16))
    if isinstance(rows, Table) and rows.columns == columns:
        return rows
    return read_table(rows, like=empty, unseen="hole")


def read_hidden_model(
    content: Content | None, names: Sequence[str], columns: tuple[Variable, ...]
) -> HiddenModel | None:
    """What `content` made of a model; None where the network says it all."""
    if content is None:
        return None
    if "classes" in content:
        each = content["classes"]
        weights, means, covariances = (np.array(each[name]) for name in ("weights", "means", "covariances"))
        numbers = Mixture(weights, means, covariances, kind=each["kind"], names=tuple(each["names"]))
        tables = {name: np.array(table) for name, table in each["tables"].items()}
        states = {name: tuple(states) for name, states in each["states"].items()}
        return ClassModel(MixedClasses(numbers, tables, states), *names, columns=columns)
    each = content["causes"]
    links, lam, p = (np.array(each[name]) for name in ("links", "lam", "p"))
    model = HiddenCauses(links, each["epsilon"], lam, p, names=tuple(each["names"]))
    if set(each["yes"]) != set(model.names):
        raise ValueError("its causes do not say which value of a sign is yes")
    return CausesModel(model, tuple(names), each["yes"], columns)
