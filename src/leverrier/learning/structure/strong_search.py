"""The strong search: classes and graphs in turn to a fixed point, then orders, and perturbations of either."""

from __future__ import annotations

import numpy as np

from leverrier.learning.structure.exact_search import best_graph
from leverrier.learning.structure.family_scores import SMALLEST_GAIN
from leverrier.learning.structure.ges import greedy_equivalence
from leverrier.learning.structure.hill_climb import drop_arcs, hill_climb
from leverrier.learning.structure.order_search import Ordered, settle, wander
from leverrier.learning.structure.parent_sets import ParentSets
from leverrier.learning.structure.problem import Parents, Problem, SearchLog

DROPPED_SHARE = 0.2
"""Of the arcs, before a repair."""
MOVED_SHARE = 0.3
"""Of the nodes, before a climb from elsewhere."""
TURNS, FEW_TURNS = 400, 100
"""Climbs from a shaken order, each time: where the search begins, and where it has been before."""


def fixed_point(problem: Problem, start: Parents, effort: SearchLog) -> Parents:
    """Greedy equivalence search and hill-climbing in turn until neither improves the other's answer."""
    current = greedy_equivalence(problem, start, effort)
    score = problem.scores.total(current)
    while not effort.spent():
        climbed = hill_climb(problem, current, effort)
        if problem.scores.total(climbed) <= score + SMALLEST_GAIN:
            break
        current = greedy_equivalence(problem, climbed, effort)
        score = problem.scores.total(current)
    return current


def strong_search(
    problem: Problem, start: Parents, rounds: int, rng: np.random.Generator, effort: SearchLog, reached: float = -np.inf
) -> Parents:
    """Settle on an order; then wander off, settle there, and see whether what was met there helps here. Where another
    start has `reached` the same score in this way, that was done there. Where columns are few all graphs are compared
    instead."""
    exact = best_graph(problem) if effort.unlimited else None
    if exact is not None:
        effort.moved("exact", problem.scores.total(exact))
        return exact
    graph = fixed_point(problem, start, effort)
    score = problem.scores.total(graph)
    if abs(score - reached) <= SMALLEST_GAIN:
        return graph
    sets = ParentSets(problem)
    best = settle(sets, Ordered.of(graph, score), TURNS, rng, effort)
    for round_ in range(rounds):
        if effort.spent():
            break
        away = settle(sets, _away(sets, best, round_, rng, effort), FEW_TURNS, rng, effort)
        best = settle(sets, max(best, away, key=lambda end: end.score), FEW_TURNS, rng, effort)
    return best.graph


def _away(sets: ParentSets, best: Ordered, round_: int, rng: np.random.Generator, effort: SearchLog) -> Ordered:
    """Nodes moved in the order, and every other time arcs dropped, with what repair comes next to it."""
    problem = sets.problem
    if round_ % 2:
        graph = fixed_point(problem, drop_arcs(problem, best.graph, DROPPED_SHARE, rng), effort)
        return Ordered.of(graph, problem.scores.total(graph))
    return wander(sets.known(best.graph), best, 2 + round(MOVED_SHARE * problem.n_nodes), rng)
