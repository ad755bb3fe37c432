"""What a table says about a graph: which families it leaves unobserved somewhere, and the evidence on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.family import Family, Statistics
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.counts.parted_expectation import AnyPlan
from leverrier.data.projection import Projection
from leverrier.data.table import Label, Table
from leverrier.errors import TableError
from leverrier.inference.exact.groups import LARGEST_JOINT, Plan, make_plan
from leverrier.inference.exact.parameter_layout import Layout
from leverrier.inference.exact.unobserved import Evidence
from leverrier.models.graph import Graph

KEPT_GRAPHS = 16
"""Counts that are handed on remember so many graphs they were paired with, the latest: some come back."""


@dataclass(frozen=True, eq=False)
class Pairing(ABC):
    """A graph and its states paired with data, wherever the rows are. Nodes that no row shows are hidden.

    `open_nodes` are those whose family is unobserved in some row: only their parameters need EM. The others'
    are counted once.
    """

    graph: Graph
    states: Mapping[str, tuple[Label, ...]]
    table: Table
    """The rows; none of them, but the columns, where they are elsewhere."""
    counts: Statistics

    @cached_property
    def incomplete(self) -> frozenset[str]:
        """Variables that some row lacks."""
        return self._find_incomplete()

    @cached_property
    def hidden(self) -> tuple[str, ...]:
        """Variables that every row lacks."""
        return self._find_hidden()

    @abstractmethod
    def _find_incomplete(self) -> frozenset[str]: ...

    @abstractmethod
    def _find_hidden(self) -> tuple[str, ...]: ...

    @property
    def total(self) -> float:
        """The number of rows, or the sum of their weights."""
        return self.counts.total

    @abstractmethod
    def project(self, names: Sequence[str]) -> Projection:
        """The distinct configurations of these columns over all rows, with their weights."""

    @abstractmethod
    def plan(self, prune: bool) -> AnyPlan:
        """The plan of an E-step over the rows, kept."""

    def release(self) -> None:  # noqa: B027
        """Whoever holds plans elsewhere may drop them: they are made again if they are asked for."""

    @cached_property
    def open_nodes(self) -> tuple[str, ...]:
        """Nodes whose family is unobserved in some row, parents before children."""
        parents = self.graph.parent_map
        lacking = self.incomplete
        return tuple(n for n in self.graph.order if n in lacking or not lacking.isdisjoint(parents[n]))

    @cached_property
    def closed_nodes(self) -> tuple[str, ...]:
        opened = set(self.open_nodes)
        return tuple(node for node in self.graph if node not in opened)

    @cached_property
    def layout(self) -> Layout:
        """Where the open families' tables lie; variables are numbered in the graph's order of nodes."""
        number = {node: position for position, node in enumerate(self.graph)}
        scopes = tuple(tuple(number[v] for v in (*self.graph.parents(node), node)) for node in self.open_nodes)
        return Layout(scopes, tuple(len(self.states[node]) for node in self.graph))

    @cached_property
    def open_counts(self) -> list[NDArray[np.float64]]:
        """`observed_tables` of the open nodes; not to be written to."""
        return self.observed_tables(self.open_nodes)

    @cached_property
    def closed_counts(self) -> list[NDArray[np.float64]]:
        """`observed_tables` of the closed nodes, which is all that is to be known of them; not to be written to."""
        return self.observed_tables(self.closed_nodes)

    def observed_tables(self, nodes: Sequence[str]) -> list[NDArray[np.float64]]:
        """Counts of these nodes' families over the rows in which the whole family is observed."""
        hidden = set(self.hidden)
        families = [Family(node, self.graph.parents(node)) for node in nodes]
        visible = [f for f in families if hidden.isdisjoint((f.child, *f.parents))]
        found = dict(zip(visible, self.counts.tables(visible), strict=True))
        shape = self.shape
        return [found[f] if f in found else np.zeros(shape(f.child)) for f in families]

    def shape(self, node: str) -> tuple[int, ...]:
        return tuple(len(self.states[other]) for other in (*self.graph.parents(node), node))


@dataclass(frozen=True, eq=False)
class Observation(Pairing):
    """With the rows in a table whose columns have the graph's states."""

    counts: ObservedCounts
    kept: NDArray[np.bool_] | None = None
    """Which rows of the table given are in `table`, if those of weight zero were left out."""

    @cached_property
    def evidence(self) -> Evidence:
        place = {name: position for position, name in enumerate(self.table.variables)}
        found = [place.get(node, -1) for node in self.graph]
        empty = self.counts.empty_columns
        column_of = [-1 if c in empty else c for c in found]
        return Evidence(self.table.codes, np.array(column_of, dtype=np.int64), self.table.weights, ~self.counts.full)

    def _find_incomplete(self) -> frozenset[str]:
        lacking = self.evidence.incomplete()
        return frozenset(node for node, is_lacking in zip(self.graph, lacking, strict=True) if is_lacking)

    def _find_hidden(self) -> tuple[str, ...]:
        return tuple(n for n, c in zip(self.graph, self.evidence.column_of, strict=True) if c < 0)

    def project(self, names: Sequence[str]) -> Projection:
        return self.table.project(names)

    @cached_property
    def _plans(self) -> dict[tuple[bool, int], Plan]:
        return {}

    def plan(self, prune: bool, largest_joint: int = LARGEST_JOINT) -> Plan:
        """The plan of an E-step, kept. Where nothing was pruned it serves both ways, and where no group needed a tree
        it serves any larger joint."""
        for (pruned, largest), made in list(self._plans.items()):
            same_joint = largest == largest_joint or (largest < largest_joint and not made.needs_passes)
            if same_joint and (pruned == prune or (pruned and not made.pruned)):
                return made
        order = np.arange(len(self.open_nodes), dtype=np.int64)
        made = make_plan(self.evidence, self.layout, order, prune=prune, largest_joint=largest_joint)
        self._plans[prune, largest_joint] = made
        return made


def observe(
    graph: Graph,
    states: Mapping[str, Sequence[Label]],
    table: Table,
    counts: ObservedCounts | None = None,
    *,
    keep_weightless: bool = False,
) -> Observation:
    """Pair a graph with a table. `counts` of the same table may be handed on from one graph to the next.

    Rows of weight zero teach nothing and are left out, unless their posteriors are wanted too.
    """
    for column in table.columns:
        if column.name in graph and tuple(states[column.name]) != column.states:
            expected = tuple(states[column.name])
            raise TableError(f"column {column.name!r} has states {column.states}, expected {expected}")
    kept = None
    if table.weights is not None and not bool(np.all(table.weights > 0)):
        if not bool(np.all(table.weights >= 0)):
            raise TableError("a weight is negative or not a number: weights say how often a row counts")
        if not keep_weightless:
            kept = table.weights > 0
            table, counts = table.take(kept), None
    if table.n_rows == 0:
        raise TableError("the table has no rows (with a weight above zero): there is nothing to learn from")
    own = {node: tuple(states[node]) for node in graph}
    if counts is None or counts.table is not table:
        return Observation(graph, own, table, ObservedCounts(table), kept)
    key = (graph, tuple(own.values()))
    found = counts.paired.pop(key, None) or Observation(graph, own, table, counts, kept)
    counts.paired[key] = found
    for old in list(counts.paired)[:-KEPT_GRAPHS]:  # (another thread may have dropped it)
        counts.paired.pop(old, None)
    return found
