"""What of a network and its data bears on a few hidden variables, cut out so that EM costs what that is worth.

What is unobserved hangs together through families: the hidden variables, every column with holes in a family that
holds one of them, and so on. Families outside add the same to every score and are left out; their columns come along
as roots. Rows are reduced to distinct configurations with their weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from leverrier.arrays import Integers
from leverrier.counts.family import Family
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Label, Table
from leverrier.learning.structure.score import Score, family_score
from leverrier.models.graph import Graph


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A small graph around hidden variables, and the table of distinct configurations on its columns."""

    graph: Graph
    table: Table
    hidden: tuple[str, ...]
    roots: tuple[str, ...]
    """Columns whose own family does not count."""
    index: Integers = field(repr=False)
    """Row i of the data is row index[i] here."""

    @cached_property
    def counts(self) -> ObservedCounts:
        return ObservedCounts(self.table)

    def states(self, cardinalities: Mapping[str, int]) -> dict[str, tuple[Label, ...]]:
        """Every node's states, when the hidden ones have so many."""
        named = {name: tuple(str(k) for k in range(cardinalities[name])) for name in self.hidden}
        return {node: named[node] if node in named else self.table.states[node] for node in self.graph}

    def roots_score(self, score: Score) -> float:
        """What the roots would add to a score of the small graph: they are no part of the answer."""
        tables = self.counts.tables([Family(node) for node in self.roots])
        return sum(family_score(score, table, self.table.total) for table in tables)

    def by_configuration(self, labels: Integers) -> Integers:
        """States by row of the data as states by row of the small table, on which rows here must agree."""
        return labels[self._first]

    @cached_property
    def _first(self) -> Integers:
        """A row of the data for each row here."""
        first = np.full(self.table.n_rows, -1, dtype=np.int64)
        first[self.index[::-1]] = np.arange(len(self.index))[::-1]
        return first


def hangs_together(graph: Graph, table: Table, hidden: Iterable[str]) -> frozenset[str]:
    """The hidden variables, and what is unobserved somewhere and shares a family with one of them, and so on."""
    unseen: dict[str, bool] = {}  # (asked only of what is near: a table may be wide)

    def somewhere_unobserved(node: str) -> bool:
        if node not in unseen:
            unseen[node] = node not in table.variables or bool(np.any(table.column(node) == table.missing))
        return unseen[node]

    found = set(hidden)
    waiting = list(found)
    while waiting:
        node = waiting.pop()
        for child in (node, *graph.children(node)):
            for other in (child, *graph.parents(child)):
                if other not in found and somewhere_unobserved(other):
                    found.add(other)
                    waiting.append(other)
    return frozenset(found)


def cut_out(graph: Graph, table: Table, hidden: Iterable[str]) -> Surroundings:
    """The surroundings of these hidden variables, which must be all that hang together with them."""
    unseen = hangs_together(graph, table, hidden)
    open_nodes = {node for node in graph if node in unseen or not unseen.isdisjoint(graph.parents(node))}
    needed = open_nodes | {parent for node in open_nodes for parent in graph.parents(node)}
    nodes = [node for node in graph if node in needed]
    columns = [node for node in nodes if node in table.variables]
    found = table.project(columns)
    small = Table(
        tuple(table.columns[table.index(name)] for name in columns),
        np.ascontiguousarray(found.configurations),
        found.weights,
    )
    return Surroundings(
        graph=Graph.from_parents({node: graph.parents(node) if node in open_nodes else () for node in nodes}),
        table=small,
        hidden=tuple(node for node in nodes if node not in table.variables),
        roots=tuple(node for node in nodes if node not in open_nodes),
        index=found.index,
    )
