"""A neighbourhood of a graph in which a hidden variable is tried, cut out so that work there costs what it is worth.

Only the families of the region change. Their other parents come along as context (roots whose own family does not
count), rows are reduced to distinct configurations, and arcs outside are remembered only as far as they could close a
cycle. The score of the whole graph is the region's plus that of the families left outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.expected_counts import ExpectedCounts
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.discovery.states.agglomeration import agglomerate
from leverrier.discovery.states.first_states import first_states
from leverrier.learning.em.fit import Method
from leverrier.learning.structure.family_scores import FamilyScores, Renumbered
from leverrier.learning.structure.score import Score
from leverrier.learning.structure.structural_em import StructuralTask, climb_structure
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.run import UNBOUNDED, Run

MOST_FIRST_STATES = 128
"""A start needs no more than this many configurations to merge from."""
KEPT_COUNTS = 32
"""Sets of columns whose configurations are kept counted."""


@dataclass(frozen=True, eq=False)
class Ground:
    """What every candidate shares: the rows, and the scores of all families without hidden members."""

    table: Table
    scores: FamilyScores
    max_parents: int | None = None
    method: Method = "em"
    run: Run = UNBOUNDED

    def family(self, graph: Graph, node: str) -> float:
        """The score of a node's family, all of it observed."""
        parents = graph.parents(node)
        known = self._families.get((node, parents))
        if known is None:
            place = self.places
            known = self.scores.family(place[node], sum(1 << place[p] for p in parents))
            self._families[node, parents] = known
        return known

    @cached_property
    def _families(self) -> dict[tuple[str, tuple[str, ...]], float]:
        return {}

    @cached_property
    def places(self) -> dict[str, int]:
        return {name: v for v, name in enumerate(self.scores.names)}

    @cached_property
    def _counts(self) -> dict[tuple[str, ...], ObservedCounts]:
        return {}

    def counts(self, columns: tuple[str, ...]) -> ObservedCounts:
        """Counts of the rows' distinct configurations on these columns. The last asked for are kept: one candidate is
        tried in many ways."""
        found = self._counts.pop(columns, None)
        if found is None:
            projected = self.table.project(columns)
            kept = tuple(self.table.columns[self.places[name]] for name in columns)
            found = ObservedCounts(Table(kept, np.ascontiguousarray(projected.configurations), projected.weights))
        self._counts[columns] = found
        if len(self._counts) > KEPT_COUNTS:
            del self._counts[next(iter(self._counts))]
        return found

    def total(self, graph: Graph) -> float:
        """The score of a graph without hidden variables."""
        return sum(self.family(graph, node) for node in graph)

    def posterior(self, tried: Tried, name: str) -> NDArray[np.float64]:
        """(rows, states) of a hidden variable, from the region it was found in."""
        counts = self.counts(tried.columns)
        inner = ExpectedCounts(tried.network, counts.table, counts).posterior(name)
        return inner[self.table.project(tried.columns).index]


@dataclass(frozen=True, eq=False)
class Tried:
    """A whole graph with a hidden variable, its score, and the network of the region it was found in."""

    graph: Graph
    score: float
    network: Network
    columns: tuple[str, ...]
    """Those of the region."""


def try_region(
    ground: Ground,
    graph: Graph,
    hidden: Mapping[str, int],
    region: Iterable[str],
    *,
    merged: str | None = None,
    starts: int = 1,
    max_rounds: int = 30,
    tolerance: float = 1e-3,
    seen: set[Graph] | None = None,
    seed: int = 0,
) -> Tried:
    """Structural EM over the region of a graph that holds the hidden variables; the rest stays as it is.

    The region is widened to whatever is next to a hidden variable. The first start of the variable `merged` is from
    its blanket's configurations, merged down to its number of states; the others are random. `seen` holds graphs that
    earlier climbs came through, and takes this one's.
    """
    inside = {name for name in region if name not in hidden}
    inside.update(child for name in hidden for child in graph.children(name) if child not in hidden)
    inside.update(parent for name in hidden for parent in graph.parents(name) if parent not in hidden)
    context = {p for v in inside for p in graph.parents(v)} - inside - set(hidden)
    columns = tuple(name for name in ground.table.variables if name in inside or name in context)
    counts = ground.counts(columns)
    sub = Graph.from_parents(
        {v: graph.parents(v) if v in inside else () for v in columns} | {h: graph.parents(h) for h in hidden}
    )
    task = StructuralTask(
        table=counts.table,
        counts=counts,
        observed=Renumbered(ground.scores, [ground.places[v] for v in columns]),
        score=ground.scores.score,
        required=(),
        forbidden=(),
        region=tuple(inside) + tuple(hidden),
        max_parents=ground.max_parents,
        max_cells=ground.scores.max_cells,
        method=ground.method,
        above={c: _above(graph, c, inside | set(hidden), context) for c in context},
        tolerance=tolerance,
        run=ground.run,
        been_here=None if seen is None else _remember(seen, graph, (*inside, *hidden)),
    )
    given = None if merged is None else _merged_start(sub, counts.table, merged, hidden[merged], ground.scores.score)
    result = climb_structure(task, sub, hidden, given, starts, max_rounds, seed)
    whole = graph.with_parents({v: result.graph.parents(v) for v in (*inside, *hidden)})
    roots = sum(ground.scores.family(ground.places[c], 0) for c in context)
    outside = sum(ground.family(whole, v) for v in whole if v not in inside and v not in hidden)
    return Tried(whole, result.score - roots + outside, result.network, columns)


def _remember(seen: set[Graph], graph: Graph, changing: Iterable[str]) -> Callable[[Graph], bool]:
    nodes = tuple(changing)

    def been_here(found: Graph) -> bool:
        whole = graph.with_parents({v: found.parents(v) for v in nodes})
        if whole in seen:
            return True
        seen.add(whole)
        return False

    return been_here


def _above(graph: Graph, node: str, inside: set[str], context: set[str]) -> frozenset[str]:
    """What leads to a context node by arcs outside the region, as far as the region's nodes and other context."""
    found: set[str] = set()
    waiting = list(graph.parents(node))
    seen: set[str] = set()
    while waiting:
        parent = waiting.pop()
        if parent in seen:
            continue
        seen.add(parent)
        if parent in inside or parent in context:
            found.add(parent)
        else:
            waiting += graph.parents(parent)
    return frozenset(found)


def _merged_start(
    graph: Graph, table: Table, name: str, states: int, score: Score
) -> Mapping[str, NDArray[np.int64]] | None:
    """A state for each row by merging blanket configurations; None if the blanket is not all columns."""
    if any(other not in table.variables for other in graph.blanket(name)) or not graph.children(name):
        return None
    found = agglomerate(first_states(graph, table, name), score, MOST_FIRST_STATES)
    return {name: found.assignment(min(states, found.n_first))}
