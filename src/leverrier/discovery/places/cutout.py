"""A region of a graph, cut out, and how a hidden variable's configurations merge there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from leverrier.discovery.places.ground import Ground
from leverrier.discovery.states.agglomeration import Agglomeration, agglomerate
from leverrier.discovery.states.first_states import first_states
from leverrier.models.graph import Graph

MOST_FIRST_STATES = 128
"""A start needs no more than this many configurations to merge from."""
KEPT_MERGED = 64


@dataclass(frozen=True, eq=False)
class Cutout:
    """A region of a graph: columns whose families may change (inside), and those that only come along (context)."""

    graph: Graph
    hidden: Mapping[str, int]
    inside: set[str]
    context: set[str]
    columns: tuple[str, ...]

    @cached_property
    def sub(self) -> Graph:
        """The graph of these columns and the hidden variables; context has no parents."""
        graph = self.graph
        return Graph.from_parents(
            {v: graph.parents(v) if v in self.inside else () for v in self.columns}
            | {h: graph.parents(h) for h in self.hidden}
        )

    @cached_property
    def above(self) -> dict[str, frozenset[str]]:
        """By column of the context, what leads to it by arcs outside the region."""
        return {c: self._above(c) for c in self.context}

    def _above(self, node: str) -> frozenset[str]:
        """As far as the region's nodes and other context."""
        found: set[str] = set()
        waiting = list(self.graph.parents(node))
        passed: set[str] = set()
        while waiting:
            parent = waiting.pop()
            if parent in passed:
                continue
            passed.add(parent)
            if parent in self.inside or parent in self.context or parent in self.hidden:
                found.add(parent)
            else:
                waiting += self.graph.parents(parent)
        return frozenset(found)

    def left_outside(self, ground: Ground) -> float:
        """The score of the families that do not change."""
        graph = self.graph
        return sum(ground.family(graph, v) for v in graph if v not in self.inside and v not in self.hidden)


def merged_states(ground: Ground, cut: Cutout, name: str) -> Agglomeration | None:
    """Its blanket's configurations merged; None if the blanket is not all columns. The last are kept: the same place
    is tried with several numbers of states."""
    graph = cut.sub
    if any(other in cut.hidden for other in graph.blanket(name)) or not graph.children(name):
        return None
    key = (cut.columns, graph.parents(name), tuple((c, graph.parents(c)) for c in graph.children(name)))
    kept = ground.merged
    found = kept.pop(key, None)
    if found is None:
        table = ground.counts(cut.columns).table
        found = agglomerate(first_states(graph, table, name), ground.scores.score, MOST_FIRST_STATES)
    kept[key] = found
    if len(kept) > KEPT_MERGED:
        del kept[next(iter(kept))]
    return found
