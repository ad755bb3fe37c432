"""A Bayesian network over finite-state variables, as a frozen value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leverrier.data.table import Label, Table
from leverrier.errors import NetworkError, TooLargeError
from leverrier.model.graph import Graph

MOST_CELLS = 2**26
"""Tables above this many cells (half a gigabyte) are refused before they are allocated."""


@dataclass(frozen=True, eq=False)
class Network:
    """Graph, states, and for each node P(node | parents) with axes: parents in order, then the node."""

    graph: Graph
    states: Mapping[str, tuple[Label, ...]]
    tables: Mapping[str, NDArray[np.float64]]
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Where it came from, and what reading it changed."""

    def __post_init__(self) -> None:
        for node in self.graph:
            if node not in self.states or node not in self.tables:
                raise NetworkError(f"{node!r} has no {'states' if node not in self.states else 'table'}")
            expected = self.shape(node)
            table = self.tables[node]
            if table.shape != expected:
                raise NetworkError(f"the table of {node!r} has shape {table.shape}, expected {expected}")
            if not np.all(table >= 0) or not np.allclose(table.sum(axis=-1), 1, atol=1e-6):
                raise NetworkError(
                    f"the table of {node!r} is not a distribution: "
                    "entries must be at least 0 and sum to 1 for each parent configuration"
                )
            table.flags.writeable = False

    @classmethod
    def build(
        cls,
        graph: Graph,
        states: Mapping[str, Sequence[Label]],
        tables: Mapping[str, ArrayLike],
        notes: Mapping[str, Any] | None = None,
    ) -> Network:
        """A network from anything array-like; rows within 1e-6 of summing to one are made exact."""
        exact = {node: _normalised(np.array(tables[node], dtype=np.float64)) for node in graph if node in tables}
        return cls(graph, {node: tuple(states[node]) for node in graph if node in states}, exact, notes or {})

    @property
    def variables(self) -> tuple[str, ...]:
        return self.graph.nodes

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        return self.graph.edges

    def parents(self, node: str) -> tuple[str, ...]:
        return self.graph.parents(node)

    def children(self, node: str) -> tuple[str, ...]:
        return self.graph.children(node)

    def blanket(self, node: str) -> tuple[str, ...]:
        return self.graph.blanket(node)

    def cardinality(self, node: str) -> int:
        return len(self.states[node])

    def shape(self, node: str) -> tuple[int, ...]:
        return tuple(len(self.states[other]) for other in (*self.graph.parents(node), node))

    def cpt(self, node: str) -> NDArray[np.float64]:
        """P(node | parents): axes are the parents in order, then the node itself."""
        self.graph.parents(node)
        return self.tables[node]

    @cached_property
    def dimension(self) -> int:
        """The number of free parameters."""
        return sum(
            (self.cardinality(node) - 1) * int(np.prod(self.shape(node)[:-1], dtype=np.int64)) for node in self.graph
        )

    def sample(self, n_rows: int, seed: int | np.random.Generator = 0) -> Table:
        """Rows drawn from the network, parents first, as a Table."""
        rng = np.random.default_rng(seed)
        drawn: dict[str, NDArray[np.int64]] = {}
        for node in self.graph.order:
            table = self.tables[node]
            rows = np.zeros(n_rows, dtype=np.int64)
            for parent in self.graph.parents(node):
                rows = rows * self.cardinality(parent) + drawn[parent]
            cumulative = np.cumsum(table.reshape(-1, table.shape[-1]), axis=1)[:, :-1]
            uniform = rng.random(n_rows)
            drawn[node] = sum(
                ((uniform >= column[rows]).astype(np.int64) for column in cumulative.T), np.zeros(n_rows, np.int64)
            )
        return Table.from_codes(
            {node: self.states[node] for node in self.graph}, np.stack([drawn[node] for node in self.graph])
        )

    def without(self, node: str) -> Network:
        """The network after marginalising `node` out: the minimal I-map, with the exact distribution."""
        graph = self.graph.without(node)
        tables = {other: self.tables[other] for other in graph}
        children = [child for child in self.graph.order if child in self.graph.children(node)]
        joint = _Factor((*self.parents(node), node), self.tables[node])
        before = _Factor((), np.ones(()))
        for child in children:
            scope = (*graph.parents(child), child)
            cells = int(np.prod([self.cardinality(v) for v in (*scope, node)], dtype=np.float64))
            if cells > MOST_CELLS:
                raise TooLargeError(
                    f"without {node!r} the table of {child!r} would need {cells:,} cells "
                    f"(at most {MOST_CELLS:,}); graph.without({node!r}) gives the graph alone"
                )
            joint = joint.times(_Factor((*self.parents(child), child), self.tables[child]))
            now = joint.sum_out(node)
            tables[child] = _conditional(now.aligned(scope), before.aligned(scope[:-1]))
            before = now
        states = {other: self.states[other] for other in graph}
        return Network.build(graph, states, tables, {"marginalised": node})

    def relabelled(self, states: Mapping[str, Sequence[Label]]) -> Network:
        """The same network with other labels for some variables' states."""
        return Network(self.graph, {**self.states, **{k: tuple(v) for k, v in states.items()}}, self.tables, self.notes)

    def with_tables(self, tables: Mapping[str, NDArray[np.float64]]) -> Network:
        return Network(self.graph, self.states, {**self.tables, **tables}, self.notes)

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


def _normalised(table: NDArray[np.float64]) -> NDArray[np.float64]:
    total = table.sum(axis=-1, keepdims=True) if table.ndim else table
    if table.ndim and np.all(table >= 0) and np.allclose(total, 1, atol=1e-6):
        return table / total
    return table
