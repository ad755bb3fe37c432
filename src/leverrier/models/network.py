"""A Bayesian network over finite-state variables, as a frozen value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leverrier.chart_of import chart_of
from leverrier.data.card import card
from leverrier.data.table import Label, Table
from leverrier.errors import NetworkError, OptionError, TooLargeError
from leverrier.models.families.conditional import StateConditional
from leverrier.models.families.state_table import TableKind
from leverrier.models.graph import Graph
from leverrier.models.over_graph import OverGraph
from leverrier.models.tabled import Method
from leverrier.words_of import words_of

if TYPE_CHECKING:
    import altair

MOST_CELLS = 2**26
"""Tables above this many cells (half a gigabyte) are refused before they are allocated."""
NEARLY_ONE = 1e-6
"""How far a row of a table may be from summing to one."""
ROUNDING = 1e-13
"""A row that sums to one within this does so up to rounding."""


@dataclass(frozen=True, eq=False)
class Network(OverGraph):
    """Graph, states, and for each node P(node | parents) with axes: parents in order, then the node."""

    graph: Graph
    states: Mapping[str, tuple[Label, ...]]
    tables: Mapping[str, NDArray[np.float64]]
    notes: Mapping[str, object] = field(default_factory=dict)
    """Where it came from, and what reading it changed."""
    families: Mapping[str, StateConditional] = field(default_factory=dict)
    """The nodes whose table is written out from something shorter: a tree, a logit, a function with noise…"""

    def __post_init__(self) -> None:
        """Check, and keep our own read-only copies: nothing outside can change a network afterwards."""
        for node in self.graph:
            if node not in self.states or node not in self.tables:
                raise NetworkError(f"{node!r} has no {'states' if node not in self.states else 'table'}")
        states = {node: _checked_states(node, tuple(self.states[node])) for node in self.graph}
        object.__setattr__(self, "states", MappingProxyType(states))
        tables = {node: _checked_table(node, self.tables[node], self.shape(node)) for node in self.graph}
        object.__setattr__(self, "tables", MappingProxyType(tables))
        object.__setattr__(self, "notes", MappingProxyType(dict(self.notes)))
        strangers = [node for node in self.families if node not in tables]
        if strangers:
            raise NetworkError(f"a family is given for {strangers[0]!r}, which is no node of the graph")
        object.__setattr__(self, "families", MappingProxyType(dict(self.families)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Network, (self.graph, dict(self.states), dict(self.tables), dict(self.notes), dict(self.families))

    def __eq__(self, other: object) -> bool:
        """Equal graphs, states, tables and families, bit for bit; the notes do not count."""
        if not isinstance(other, Network):
            return NotImplemented
        return (
            self.graph == other.graph
            and self.states == other.states
            and all(np.array_equal(self.tables[node], other.tables[node]) for node in self.graph)
            and dict(self.families) == dict(other.families)
        )

    def __hash__(self) -> int:
        return hash((self.graph, tuple(self.states.values())))

    @classmethod
    def build(
        cls,
        graph: Graph,
        states: Mapping[str, Sequence[Label]],
        tables: Mapping[str, ArrayLike],
        notes: Mapping[str, Any] | None = None,
        families: Mapping[str, StateConditional] | None = None,
    ) -> Network:
        """A network from anything array-like; rows within 1e-6 of summing to one are made exact.

        Rows that already sum to one up to rounding are left as they are, bit for bit.
        """
        given = {node: np.array(tables[node], dtype=np.float64, ndmin=1) for node in graph if node in tables}
        exact = {node: normalised(table, NEARLY_ONE) for node, table in given.items()}
        labels = {node: tuple(states[node]) for node in graph if node in states}
        return cls(graph, labels, exact, notes or {}, families or {})

    @classmethod
    def trusted(
        cls,
        graph: Graph,
        states: Mapping[str, tuple[Label, ...]],
        tables: Mapping[str, NDArray[np.float64]],
        families: Mapping[str, StateConditional] | None = None,
    ) -> Network:
        """The same from tables that were just normalised and have the right shapes: only frozen, not checked again.

        For learners, which make thousands; whatever comes from outside goes through `build`.
        """
        network = object.__new__(cls)
        object.__setattr__(network, "graph", graph)
        object.__setattr__(network, "states", MappingProxyType({node: states[node] for node in graph}))
        object.__setattr__(network, "tables", MappingProxyType({node: _frozen(tables[node]) for node in graph}))
        object.__setattr__(network, "notes", MappingProxyType({}))
        object.__setattr__(network, "families", MappingProxyType(dict(families or {})))
        return network

    def cardinality(self, node: str) -> int:
        return self.shape(node)[-1]

    def shape(self, node: str) -> tuple[int, ...]:
        return tuple(len(self.states[other]) for other in (*self.graph.parents(node), node))

    def cpt(self, node: str) -> NDArray[np.float64]:
        """P(node | parents): axes are the parents in order, then the node itself."""
        self.graph.parents(node)
        return self.tables[node]

    def kind(self, node: str) -> str:
        """What P(node | parents) is said by: "table", "tree", "logit", "noisy-max"…"""
        self.graph.parents(node)
        return self.families[node].kind if node in self.families else "table"

    def explain(self, node: str) -> str:
        """In one sentence, how the node follows from its parents."""
        parents = self.graph.parents(node)
        family = self.families.get(node)
        own = TableKind(self.tables[node]) if family is None else family
        return words_of("family_words.family_words", own, node, parents)

    @cached_property
    def dimension(self) -> int:
        """The number of free parameters."""
        tables = sum(t.size - t.size // t.shape[-1] for node, t in self.tables.items() if node not in self.families)
        return tables + sum(family.dimension for family in self.families.values())

    def sample(self, n_rows: int, seed: int | np.random.Generator = 0) -> Table:
        """Rows drawn from the network, parents first, as a Table."""
        if n_rows < 0:
            raise OptionError(f"{n_rows} rows cannot be drawn: give a number of at least 0")
        rng = np.random.default_rng(seed)
        drawn: dict[str, NDArray[np.int64]] = {}
        for node in self.graph.order:
            table = self.tables[node]
            rows = np.zeros(n_rows, dtype=np.int64)
            for parent in self.graph.parents(node):
                rows = rows * self.cardinality(parent) + drawn[parent]
            cumulative = np.cumsum(table.reshape(-1, table.shape[-1]), axis=1)
            # The last possible state takes what rounding left over: a state of probability zero is never drawn.
            cumulative = np.where(cumulative >= cumulative[:, -1:], np.inf, cumulative)[:, :-1]
            uniform = rng.random(n_rows)
            drawn[node] = sum(
                ((uniform >= column[rows]).astype(np.int64) for column in cumulative.T), np.zeros(n_rows, np.int64)
            )
        return Table.from_codes(
            {node: self.states[node] for node in self.graph}, np.stack([drawn[node] for node in self.graph])
        )

    def log_likelihood(self, data: Any, method: Method = "exact") -> float:
        """log P(data) in nats, over all rows with their weights; holes and absent columns are summed out."""
        from leverrier.models.network_query import log_likelihood

        return log_likelihood(self, data, method)

    def row_log_likelihood(self, data: Any, method: Method = "exact") -> NDArray[np.float64]:
        """The same for each row, weights left aside; −∞ where a row is impossible."""
        from leverrier.models.network_query import row_log_likelihood

        return row_log_likelihood(self, data, method)

    def posterior(self, data: Any, variable: str | Sequence[str], method: Method = "exact") -> NDArray[np.float64]:
        """P(variable | the rest of the row), (rows, states); the variable's own column is ignored.

        Several variables give their joint, an axis each. A row whose rest is impossible is all zero.
        """
        from leverrier.models.network_query import posterior

        return posterior(self, data, variable, method)

    def complete(self, data: Any) -> Table:
        """The rows with every hole and absent variable filled in, all together as is most probable."""
        from leverrier.models.network_query import complete

        return complete(self, data)

    def without(self, node: str) -> Network:
        """The network after marginalising `node` out: the minimal I-map, with the exact distribution."""
        graph = self.graph.without(node)
        children = [child for child in self.graph.order if child in self.graph.children(node)]
        for child in children:
            cells = math.prod(self.cardinality(v) for v in (*graph.parents(child), child, node))
            if cells > MOST_CELLS:
                raise TooLargeError(
                    f"without {node!r} the table of {child!r} would need {cells:,} cells "
                    f"(at most {MOST_CELLS:,}); graph.without({node!r}) gives the graph alone"
                )
        tables = {other: self.tables[other] for other in graph}
        joint = _Factor((*self.parents(node), node), self.tables[node])
        before = _Factor((), np.ones(()))
        for child in children:
            scope = (*graph.parents(child), child)
            joint = joint.times(_Factor((*self.parents(child), child), self.tables[child]))
            now = joint.sum_out(node)
            tables[child] = _conditional(now.aligned(scope), before.aligned(scope[:-1]))
            before = now
        states = {other: self.states[other] for other in graph}
        kept = {other: family for other, family in self.families.items() if other != node and other not in children}
        return Network.build(graph, states, tables, {"marginalised": node}, kept)

    def relabelled(self, states: Mapping[str, Sequence[Label]]) -> Network:
        """The same network with other labels for some variables' states."""
        named = {**self.states, **{k: tuple(v) for k, v in states.items()}}
        return Network(self.graph, named, self.tables, self.notes, self.families)

    def with_tables(self, tables: Mapping[str, NDArray[np.float64]]) -> Network:
        kept = {node: family for node, family in self.families.items() if node not in tables}
        return Network(self.graph, self.states, {**self.tables, **tables}, self.notes, kept)

    def with_families(self, families: Mapping[str, StateConditional]) -> Network:
        """The same with these nodes said by other kinds, their tables written out."""
        tables = {node: family.table(self.shape(node)) for node, family in families.items()}
        every = {**self.families, **families}
        return Network(self.graph, self.states, {**self.tables, **tables}, self.notes, every)

    def plot_graph(self, hidden: Iterable[str] = ()) -> altair.TopLevelMixin:
        """The graph as an Altair chart; the nodes in `hidden` are drawn as such."""
        return chart_of("network_chart.graph_chart", self, hidden)

    def _repr_html_(self) -> str:
        facts = {"variables": len(self.graph), "arcs": len(self.edges), "parameters": f"{self.dimension:,}"}
        rows = [(node, self.cardinality(node), ", ".join(self.parents(node))) for node in self.graph.order]
        return card("Network", facts, ("variable", "states", "parents"), rows)

    def __repr__(self) -> str:
        return f"Network({len(self.graph)} variables, {len(self.edges)} edges, {self.dimension} parameters)"


@dataclass(frozen=True)
class _Factor:
    """A small dense factor with named axes, for marginalising by hand."""

    scope: tuple[str, ...]
    values: NDArray[np.float64]

    def aligned(self, scope: Iterable[str]) -> NDArray[np.float64]:
        """Values with these axes in this order, length 1 where the factor does not depend on one."""
        scope = tuple(scope)
        present = [name for name in scope if name in self.scope]
        moved = self.values.transpose([self.scope.index(name) for name in present])
        return moved.reshape([self.values.shape[self.scope.index(n)] if n in self.scope else 1 for n in scope])

    def times(self, other: _Factor) -> _Factor:
        scope = tuple(dict.fromkeys((*self.scope, *other.scope)))
        return _Factor(scope, self.aligned(scope) * other.aligned(scope))

    def sum_out(self, name: str) -> _Factor:
        axis = self.scope.index(name)
        return _Factor(self.scope[:axis] + self.scope[axis + 1 :], self.values.sum(axis=axis))


def _conditional(joint: NDArray[np.float64], given: NDArray[np.float64]) -> NDArray[np.float64]:
    """joint / given, and uniform where the condition has probability zero (it never happens)."""
    denominator = np.broadcast_to(given[..., None], joint.shape)
    uniform = np.full(joint.shape, 1.0 / joint.shape[-1])
    return np.divide(joint, denominator, out=uniform, where=denominator > 0)


def normalised(table: NDArray[np.float64], within: float) -> NDArray[np.float64]:
    """Rows (along the last axis) that sum to one within `within` made to sum to one.

    A row that does so up to rounding is left alone, so that doing it twice changes nothing. Rows further off
    stay as they are, for the check that refuses them.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        total = table.sum(axis=-1, keepdims=True)
    off = np.abs(total - 1)
    return np.divide(table, total, out=table.copy(), where=(off > ROUNDING) & (off <= within))


def _checked_states(node: str, states: tuple[Label, ...]) -> tuple[Label, ...]:
    if not states:
        raise NetworkError(f"{node!r} has no states: at least one is needed")
    if len(set(states)) != len(states):
        twice = next(label for label in states if states.count(label) > 1)
        raise NetworkError(f"{node!r} has the state {twice!r} twice: the states of a variable must differ")
    return states


def _checked_table(node: str, table: NDArray[np.float64], expected: tuple[int, ...]) -> NDArray[np.float64]:
    if table.shape != expected:
        raise NetworkError(f"the table of {node!r} has shape {table.shape}, expected {expected}")
    if not (np.all(table >= 0) and np.all(np.abs(table.sum(axis=-1) - 1) <= NEARLY_ONE)):
        raise NetworkError(
            f"the table of {node!r} is not a distribution: "
            "entries must be at least 0 and sum to 1 for each parent configuration"
        )
    return _frozen(table)


def _frozen(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same numbers over immutable bytes, which no flag can make writable again."""
    if table.dtype == np.float64 and table.flags.c_contiguous and isinstance(_owner(table), bytes):
        return table
    return np.frombuffer(np.asarray(table, dtype=np.float64).tobytes()).reshape(table.shape)


def _owner(array: Any) -> Any:
    while isinstance(array, np.ndarray):
        array = array.base
    return array


def as_network(given: object) -> Network:
    """What is a network of states, where others could stand too."""
    if isinstance(given, Network):
        return given
    raise NetworkError(f"a network of states was expected, not {type(given).__name__}")


def known_states(network: Any) -> dict[str, tuple[Label, ...]]:
    """The states that whatever was given as a network knows of: a bare graph none."""
    return dict(network.states) if isinstance(network, Network) else {}


def as_graph(network: Any) -> Graph:
    """The graph of whatever was given as a network."""
    if isinstance(network, Graph):
        return network
    if isinstance(network, Network):
        return network.graph
    if hasattr(network, "nodes") and hasattr(network, "edges"):
        return Graph.from_networkx(network)
    raise OptionError(f"a network was expected (Network, Graph or networkx.DiGraph), not {type(network).__name__}")
