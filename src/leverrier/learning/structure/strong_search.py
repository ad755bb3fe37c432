"""The strong search: classes and graphs in turn to a fixed point, then orders, and perturbations of either."""

from __future__ import annotations

import numpy as np

from leverrier.learning.structure.family_scores import members
from leverrier.learning.structure.ges import forbidden_gains, greedy_equivalence
from leverrier.learning.structure.hill_climb import drop_arcs, hill_climb
from leverrier.learning.structure.order_search import Ordered, settle, wander
from leverrier.learning.structure.parent_sets import ParentSets
from leverrier.learning.structure.problem import SMALLEST_GAIN, Parents, Problem, SearchLog

DROPPED_SHARE = 0.2
"""Of the arcs, before a repair."""
MOVED_SHARE = 0.3
"""Of the nodes, before a climb from elsewhere."""
TURNS, FEW_TURNS = 400, 100
"""Climbs from a shaken order, each time: where the search begins, and where it has been before."""
LEAST_WORK = 20_000
PATIENCE = 16


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


def strip_each(problem: Problem, start: Parents, effort: SearchLog, patience: int = PATIENCE) -> Parents:
    """Take a node's arcs away, repair, and keep what is better; until `patience` nodes in a row did not help.

    A node that was tied wrongly early on cannot be moved by single arcs; taken out whole it finds its place. Such a
    node shows: an arc at it would gain much, and only a path through the wrong arcs forbids it. So nodes take their
    turn by the gain that is forbidden there. The sweep may cost a quarter as many new family scores as the climb did:
    on wide tables of many states not every node gets its turn, and work, unlike time, is the same on every machine.
    """
    current, score = start, problem.scores.total(start)
    scored = problem.scores.families_scored
    allowance = scored + max(scored // 4, LEAST_WORK)
    waiting = forbidden_gains(problem, current)
    failed = 0
    while waiting and failed < patience and not effort.spent() and problem.scores.families_scored <= allowance:
        node = waiting.pop(0)
        bare = _stripped(problem, current, node)
        if bare == current or _degree(current, node) < 2:
            continue
        repaired = greedy_equivalence(problem, bare, effort, near=_neighbourhood(current, node))
        failed += 1
        if problem.scores.total(repaired) > score + SMALLEST_GAIN:
            current = fixed_point(problem, repaired, effort)
            score = problem.scores.total(current)
            waiting, failed = forbidden_gains(problem, current), 0
    return current


def strong_search(
    problem: Problem, start: Parents, rounds: int, rng: np.random.Generator, effort: SearchLog
) -> Parents:
    """Settle on an order; then wander off, settle there, and see whether what was met there helps here."""
    graph = fixed_point(problem, start, effort)
    sets = ParentSets(problem)
    best = settle(sets, Ordered.of(graph, problem.scores.total(graph)), TURNS, rng, effort)
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


def _stripped(problem: Problem, graph: Parents, node: int) -> Parents:
    """The graph without the node's arcs, but for those required."""
    bare = list(graph)
    for p in members(graph[node]):
        if not problem.required[p, node]:
            bare[node] &= ~(1 << p)
    for child, above in enumerate(graph):
        if above >> node & 1 and not problem.required[node, child]:
            bare[child] &= ~(1 << node)
    return bare


def _neighbourhood(graph: Parents, node: int) -> int:
    """The node, its parents, its children and their parents, as bits."""
    near = 1 << node | graph[node]
    for child, above in enumerate(graph):
        if above >> node & 1:
            near |= 1 << child | above
    return near


def _degree(graph: Parents, node: int) -> int:
    return graph[node].bit_count() + sum(above >> node & 1 for above in graph)
