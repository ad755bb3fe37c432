"""The strong search: climb classes and graphs in turn to a fixed point, then perturb and repair."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from leverrier.learning.structure.family_scores import members
from leverrier.learning.structure.ges import forbidden_gains, greedy_equivalence
from leverrier.learning.structure.hill_climb import drop_arcs, hill_climb, random_moves
from leverrier.learning.structure.problem import SMALLEST_GAIN, Parents, Problem, SearchLog

DROPPED_SHARE = 0.2
RANDOM_MOVES = 6
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


def perturb_and_repair(
    problem: Problem, start: Parents, rounds: int, rng: np.random.Generator, effort: SearchLog
) -> Parents:
    """Drop arcs at random or change a few, repair, keep if no worse."""
    current, score = start, problem.scores.total(start)
    shakes: tuple[Callable[[Parents], Parents], ...] = (
        lambda graph: drop_arcs(problem, graph, DROPPED_SHARE, rng),
        lambda graph: random_moves(problem, graph, RANDOM_MOVES, rng),
    )
    for round_ in range(rounds):
        if effort.spent():
            break
        repaired = fixed_point(problem, shakes[round_ % len(shakes)](current), effort)
        reached = problem.scores.total(repaired)
        if reached >= score - SMALLEST_GAIN:
            current, score = repaired, reached
    return current


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
