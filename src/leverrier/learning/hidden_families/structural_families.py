"""Structural EM with families of any kind: on from where tables alone ended, never below it."""

from __future__ import annotations

from dataclasses import dataclass

from leverrier.arrays import Floats
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.learning.hidden_families.completed_rows import CompletedRows
from leverrier.learning.hidden_families.families_em import MOST_COMPLETED, FamiliesClimb, Standing
from leverrier.learning.hidden_families.structural_rounds import StructuralRounds
from leverrier.learning.structure.constraints import make_problem
from leverrier.learning.structure.kind_scores import KindScores, said_by_kinds
from leverrier.learning.structure.problem import Problem
from leverrier.learning.structure.structural_task import StructuralTask
from leverrier.models.graph import Graph
from leverrier.models.network import Network


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
    kept = whole.climbed(network.graph, posterior, max_rounds)
    trace = tuple(whole.worth(each) for each in kept)
    return SaidByKinds(whole.network(network, kept[-1]), trace[-1], trace)


class _Whole(StructuralRounds):
    """All columns and what is hidden beside them."""

    least = 1e-3

    def __init__(self, task: StructuralTask, sizes: dict[str, int]) -> None:
        self.task, self.sizes = task, sizes
        self.observed = KindScores(ObservedCounts(task.table), task.score, task.max_cells)
        completed = CompletedRows(task.table, sizes)
        climb = FamiliesClimb(completed, task.score, task.max_cells, self.observed, run=task.run)
        super().__init__(climb, task.moves, task.required)
        self._place = {name: v for v, name in enumerate(task.table.variables)}

    def worth(self, standing: Standing) -> float:
        shown = [v for v in standing.graph if v not in standing.families]
        return standing.score + sum(self.observed.family(*self._family(standing.graph, v)) for v in shown)

    def problem(self, best: Standing) -> Problem:
        task, scores = self.task, self.climb.scores(best.posterior)
        problem = make_problem(scores, best.graph, task.required, task.forbidden, task.region, task.max_parents, None)
        scores.candidates = problem.allowed
        return problem

    def network(self, first: Network, standing: Standing) -> Network:
        """The families behind what is hidden as EM left them, the others by their best kind."""
        inner = self.climb.network(standing)
        states = {**inner.states, **{name: first.states[name] for name in self.sizes}}
        return said_by_kinds(Network.trusted(inner.graph, states, inner.tables, inner.families), self.observed)

    def _family(self, graph: Graph, node: str) -> tuple[int, int]:
        return self._place[node], sum(1 << self._place[p] for p in graph.parents(node))
