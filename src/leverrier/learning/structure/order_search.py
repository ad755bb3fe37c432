"""Search over orders of the nodes [teyssier2005], on sets of parents whose scores are known.

Greedy search turns arcs one by one; where tables are nearly deterministic, many must turn together. For an order of
the nodes the best graph is immediate, each node takes its best known set of parents among those before it, and moving
one node in the order turns many arcs at once. What is not known yet is looked for near the graph that was found, until
the two agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.search.order_climb import choose, shake_orders
from leverrier.learning.structure.family_scores import SMALLEST_GAIN
from leverrier.learning.structure.parent_sets import Known, ParentSets, topological
from leverrier.learning.structure.problem import Parents, SearchLog

GROUP = 6
"""The most nodes that are put together before a climb."""

MOST_SCORED = 600_000
"""Families, by then: where few rows make dense graphs cheap, sets worth having never end."""


@dataclass(frozen=True, eq=False)
class Ordered:
    """A graph with an order of its nodes, parents first."""

    graph: Parents
    order: NDArray[np.int64]
    score: float

    @classmethod
    def of(cls, graph: Parents, score: float) -> Ordered:
        return cls(graph, np.array(topological(graph), dtype=np.int64), score)


def settle(sets: ParentSets, start: Ordered, turns: int, rng: np.random.Generator, effort: SearchLog) -> Ordered:
    """Look for sets near a graph and for orders among the sets in turn, until neither helps the other."""
    current = start
    while not (effort.spent() or sets.problem.scores.families_scored > MOST_SCORED):
        sets.take_known()
        sets.look_near(current.graph)
        sets.look_along(current.order.tolist())
        sets.look_along(topological(current.graph))
        found = climb_orders(sets.known(current.graph), current, turns, rng)
        if found.score <= current.score + SMALLEST_GAIN:
            return current
        current = found
        effort.moved("order", current.score)
    return current


def climb_orders(known: Known, start: Ordered, turns: int, rng: np.random.Generator) -> Ordered:
    """The best graph found in so many climbs, each from the best order a little shaken; the start if none is better."""
    order = start.order.copy()
    n = len(order)
    shake_orders(known.masks, known.scores, known.starts, order, rng.integers(0, 2**31, (turns, GROUP + 2)))
    chosen = np.empty(n, dtype=np.int64)
    score = choose(known.masks, known.scores, known.starts, order, chosen)
    return Ordered(known.graph(chosen), order, score) if score > start.score else start


def wander(known: Known, start: Ordered, moved: int, rng: np.random.Generator) -> Ordered:
    """Where one climb ends from the order with so many nodes moved at random, better or worse."""
    order = start.order.tolist()
    n = len(order)
    for a, b in rng.integers(0, n, (moved, 2)).tolist():
        order.insert(b, order.pop(a))
    away = Ordered(start.graph, np.array(order, dtype=np.int64), -np.inf)
    found = climb_orders(known, away, 0, rng)
    return start if found is away else found  # (what is required may rule the order out)
