"""What every round of structural EM shares, and the search problem of a round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from leverrier.counts.expected_counts import ExpectedCounts
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.learning.em.fit_result import Method
from leverrier.learning.structure.constraints import make_problem
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.known_scores import KnownScores, members
from leverrier.learning.structure.problem import Parents, Problem
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Edge, Graph
from leverrier.run.run import UNBOUNDED, Run

MOST_CELLS = 2**12
TOLERANCE = 1e-3
"""Nats still to be gained when a round's EM stops: far less than decides between graphs."""
MOVES = 2
"""Arcs changed before the posteriors are renewed. They speak for the graph they were taken under: a long search on the
same ones ties columns to each other that belong to the hidden variable."""


@dataclass(frozen=True, eq=False)
class StructuralTask:
    """What every round shares: the rows, what may change, and the scores of families without hidden members."""

    table: Table
    counts: ObservedCounts
    observed: KnownScores | None
    score: Score
    required: tuple[Edge, ...]
    forbidden: tuple[Edge, ...]
    region: tuple[str, ...] | None
    max_parents: int | None
    max_cells: int
    method: Method
    above: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By node, what stays above it by arcs that are not among these nodes: no cycle may be closed through it."""
    moves: float = MOVES
    tolerance: float = TOLERANCE
    run: Run = UNBOUNDED
    been_here: Callable[[Graph], bool] | None = None
    """Whether an earlier climb came through this graph: going on from it would end where that one ended."""

    problems: dict[tuple[tuple[str, int], ...], Problem] = field(default_factory=dict, repr=False)
    """The first round's, for the next."""


def make_task(
    table: Table,
    score: Score,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    region: Iterable[str] | None = None,
    max_parents: int | None = None,
    max_cells: int = MOST_CELLS,
    method: Method = "vb",
    run: Run = UNBOUNDED,
) -> StructuralTask:
    counts = ObservedCounts(table, threads=run.workers.jobs)
    observed = FamilyScores(counts, score, max_cells) if counts.complete else None
    return StructuralTask(
        table,
        counts,
        observed,
        score,
        tuple(required),
        tuple(forbidden),
        None if region is None else tuple(region),
        max_parents,
        max_cells,
        method,
        run=run,
    )


def problem_of(task: StructuralTask, expected: ExpectedCounts, graph: Graph) -> Problem:
    """What a round's search must respect. It is the same in every round: arcs that may not change have not changed."""
    sizes = tuple(expected.cardinalities.items())
    first = task.problems.get(sizes)
    if first is None:
        first = task.problems[sizes] = _first_problem(task, expected, graph)
        return first
    return replace(first, scores=first.scores.renewed(expected))


def _first_problem(task: StructuralTask, expected: ExpectedCounts, graph: Graph) -> Problem:
    scores = FamilyScores(expected, task.score, task.max_cells, observed=task.observed)
    problem = make_problem(scores, graph, task.required, task.forbidden, task.region, task.max_parents, None)
    scores.candidates = problem.allowed
    if not task.above:
        return problem
    place = {name: v for v, name in enumerate(scores.names)}
    above = [sum(1 << place[p] for p in task.above.get(name, ()) if p in place) for name in scores.names]
    return replace(problem, above=above)


def named(problem: Problem, parents: Parents) -> Graph:
    names = problem.scores.names
    return Graph.from_parents({name: [names[p] for p in members(parents[v])] for v, name in enumerate(names)})
