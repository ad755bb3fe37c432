"""Search over orders of the nodes [teyssier2005], on families whose scores are already known.

Greedy search turns arcs one by one; where tables are nearly deterministic, many must turn together. For an order of
the nodes the best graph is immediate, each node takes its best known set of parents among those before it, and moving
one node in the order turns many arcs at once. Nothing is counted here: what earlier searches scored is searched anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.search.order_climb import choose, shake_orders, undominated
from leverrier.learning.structure.family_scores import members
from leverrier.learning.structure.problem import SMALLEST_GAIN, Parents, Problem, SearchLog
from leverrier.learning.structure.strong_search import fixed_point

TURNS, FEWEST_TURNS = 200, 5
"""Climbs from a shaken order, each time: so many for 40 nodes, fewer for more, since a climb looks at every pair."""
TURNS_AT_ONCE = 50
"""Between two looks at the clock."""
SHAKEN = 3
"""Nodes moved at random before each climb."""


@dataclass(frozen=True, eq=False)
class _Known:
    """By node, the sets of parents worth having, by falling score."""

    masks: NDArray[np.uint64]
    scores: NDArray[np.float64]
    starts: NDArray[np.int64]


def climb_orders(problem: Problem, start: Parents, rng: np.random.Generator, effort: SearchLog) -> Parents:
    """Orders and arcs in turn: each search scores families that the other may put to better use."""
    current, score = start, problem.scores.total(start)
    while not effort.spent():
        _widen(problem, current)
        found = search_orders(problem, current, _turns(problem.n_nodes), rng, effort)
        if problem.scores.total(found) <= score + SMALLEST_GAIN:
            break
        current = max(found, fixed_point(problem, found, effort), key=problem.scores.total)
        score = problem.scores.total(current)
    return current


def _turns(n_nodes: int) -> int:
    return max(FEWEST_TURNS, min(TURNS, round(TURNS * (40 / n_nodes) ** 2)))


def search_orders(problem: Problem, start: Parents, turns: int, rng: np.random.Generator, effort: SearchLog) -> Parents:
    """The best graph found among those made of known families; the start if none is better."""
    known = _known(problem, start)
    order = np.array(_topological(start), dtype=np.int64)
    n = len(order)
    for begin in range(0, turns, TURNS_AT_ONCE):
        if effort.spent():
            break
        moves = rng.integers(0, n, (min(TURNS_AT_ONCE, turns - begin), SHAKEN, 2))
        shake_orders(known.masks, known.scores, known.starts, order, moves)
    chosen = np.empty(n, dtype=np.int64)
    total = choose(known.masks, known.scores, known.starts, order, chosen)
    if total <= problem.scores.total(start):
        return start
    return [_as_int(known.masks[s]) for s in chosen]


def _widen(problem: Problem, parents: Parents) -> None:
    """Score the families next to a graph's: one parent more, and one more in place of each."""
    for child, above in enumerate(parents):
        problem.scores.expand(child, above)
        for p in members(above):
            problem.scores.expand(child, above ^ (1 << p))


def _known(problem: Problem, start: Parents) -> _Known:
    words = (problem.n_nodes + 63) >> 6
    found = problem.scores.known_families()
    masks, scores = [], []
    for child in range(problem.n_nodes):
        sets = {above: score for above, score in found[child].items() if _permitted(problem, child, above)}
        sets[start[child]] = problem.scores.family(child, start[child])
        ordered = sorted(sets, key=lambda above: (-sets[above], above))
        packed = np.array([_as_words(above, words) for above in ordered], dtype=np.uint64)
        values = np.array([sets[above] for above in ordered])
        kept = np.zeros(len(ordered), dtype=np.bool_)
        undominated(packed, values, kept)
        masks.append(packed[kept])
        scores.append(values[kept])
    starts = np.concatenate([[0], np.cumsum([len(each) for each in scores])]).astype(np.int64)
    return _Known(np.concatenate(masks), np.concatenate(scores), starts)


def _permitted(problem: Problem, child: int, above: int) -> bool:
    required = problem.required_bits[child]
    return (
        above & required == required
        and not above & ~problem.allowed_bits[child]
        and above.bit_count() <= problem.max_parents
    )


def _as_words(bits: int, words: int) -> list[int]:
    return [bits >> (64 * w) & (2**64 - 1) for w in range(words)]


def _as_int(words: NDArray[np.uint64]) -> int:
    return sum(int(word) << (64 * w) for w, word in enumerate(words))


def _topological(parents: Parents) -> list[int]:
    """The nodes, parents before children, as near to the given order as that allows."""
    placed, order = 0, []
    while len(order) < len(parents):
        ready = [v for v, above in enumerate(parents) if not placed >> v & 1 and not above & ~placed]
        order += ready
        placed |= sum(1 << v for v in ready)
    return order
