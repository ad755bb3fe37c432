"""Structural EM with families of any kind: on from where tables alone ended, never below it."""

from __future__ import annotations

from dataclasses import dataclass

from leverrier.arrays import Floats
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.learning.hidden_families.completed_rows import CompletedRows
from leverrier.learning.hidden_families.families_em import MOST_COMPLETED, FamiliesClimb, Standing
from leverrier.learning.structure.constraints import as_parents, make_problem
from leverrier.learning.structure.hill_climb import hill_climb
from leverrier.learning.structure.kind_scores import KindScores, said_by_kinds
from leverrier.learning.structure.problem import SearchLog
from leverrier.learning.structure.structural_task import StructuralTask, named
from leverrier.models.graph import Graph
from leverrier.models.network import Network

WORTH = 1e-3
"""Nats that a round must gain."""


@dataclass(frozen=True, eq=False)
class SaidByKinds:
    """Where the climb with kinds ended."""

    network: Network
    score: float
    """The Cheeseman–Stutz score with kinds, of all families."""
    trace: tuple[float, ...]
    """At the start and after each round that was kept: it never falls."""


def too_many_rows(table: Table, joint: int) -> bool:
    """Whether completed rows would be more than the climb with kinds is made for."""
    return table.n_rows * joint > MOST_COMPLETED


def structural_families(
    task: StructuralTask, network: Network, sizes: dict[str, int], posterior: Floats, max_rounds: int
) -> SaidByKinds:
    """Kinds chosen on expected counts, EM with them, a few arcs changed, and again; at the end each family has the kind
    that says it best. `posterior`: (rows, joint states) of what is hidden, as tables alone left it."""
    whole = _Whole(task, sizes)
    best = whole.climb.settle(whole.climb.begin(network.graph, posterior))
    trace = [whole.worth(best)]
    for _ in range(max_rounds):
        if task.run.late:
            break
        further = whole.searched(best)
        if further is None or whole.worth(further) <= trace[-1] + WORTH:
            break
        best = further
        trace.append(whole.worth(best))
    return SaidByKinds(whole.network(network, best), trace[-1], tuple(trace))


class _Whole:
    """All columns and what is hidden beside them."""

    def __init__(self, task: StructuralTask, sizes: dict[str, int]) -> None:
        self.task, self.sizes = task, sizes
        self.observed = KindScores(ObservedCounts(task.table), task.score, task.max_cells)
        completed = CompletedRows(task.table, sizes)
        self.climb = FamiliesClimb(completed, task.score, task.max_cells, self.observed, run=task.run)
        self._place = {name: v for v, name in enumerate(task.table.variables)}

    def worth(self, standing: Standing) -> float:
        """The score of the whole graph: EM's part, and the families that every row shows."""
        shown = [v for v in standing.graph if v not in standing.families]
        return standing.score + sum(self.observed.family(*self._family(standing.graph, v)) for v in shown)

    def searched(self, best: Standing) -> Standing | None:
        """A few arcs changed for the posteriors there are, and EM again; None if that changes nothing."""
        task = self.task
        scores = self.climb.scores(best.posterior)
        problem = make_problem(scores, best.graph, task.required, task.forbidden, task.region, task.max_parents, None)
        scores.candidates = problem.allowed
        start = as_parents(scores.names, best.graph, task.required)
        graph = self.climb.ordered(named(problem, hill_climb(problem, start, SearchLog(task.run.untold(), task.moves))))
        return None if graph == best.graph else self.climb.settle(self.climb.begin(graph, best.posterior))

    def network(self, first: Network, standing: Standing) -> Network:
        """The families behind what is hidden as EM left them, the others by their best kind."""
        inner = self.climb.network(standing)
        states = {**inner.states, **{name: first.states[name] for name in self.sizes}}
        return said_by_kinds(Network.trusted(inner.graph, states, inner.tables, inner.families), self.observed)

    def _family(self, graph: Graph, node: str) -> tuple[int, int]:
        return self._place[node], sum(1 << self._place[p] for p in graph.parents(node))
