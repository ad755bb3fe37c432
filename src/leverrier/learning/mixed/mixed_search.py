"""Greedy search over graphs of mixed columns: add, remove, reverse; shaken and climbed again; from any start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from leverrier.learning.mixed.mixed_scores import TRIED, MixedScores

Parents = tuple[frozenset[int], ...]
"""Each column's parents, by number."""
Arc = tuple[int, int]

SMALLEST_GAIN = 1e-6
MOST_PARENTS = 8
ROWS_A_PARENT = 25
"""A column has at most one parent for so many rows."""
SHAKES = 4
"""How often the best graph is shaken and climbed again."""


class Scored(Protocol):
    """What a climb asks of scores."""

    def family(self, child: int, parents: Iterable[int]) -> float: ...

    def promising(self, child: int, parents: Iterable[int]) -> list[int]:
        """The columns that may be worth a try as one more parent, best first."""
        ...


@dataclass(frozen=True)
class Limits:
    """What a graph must, may not and may at most have; and when to stop."""

    required: frozenset[Arc] = frozenset()
    forbidden: frozenset[Arc] = frozenset()
    max_parents: int = MOST_PARENTS
    tried: int = TRIED
    stop: Callable[[], bool] = field(default=lambda: False)


def mixed_search(
    scores: MixedScores,
    *,
    starts: Iterable[Sequence[Iterable[int]]] = (),
    limits: Limits = Limits(),
    shakes: int = SHAKES,
    seed: int = 0,
) -> Parents:
    """The best graph that climbing finds, from no arcs, from each of the `starts`, and from shaken bests."""
    rng = np.random.default_rng(seed)
    n = len(scores.space)
    few = max(1, scores.space.n_rows // ROWS_A_PARENT)
    limits = replace(limits, max_parents=min(limits.max_parents, few))
    needed = tuple(frozenset(p for p, c in limits.required if c == child) for child in range(n))
    begins: list[Parents] = [needed]
    begins += [tuple(frozenset(above) | needed[c] for c, above in enumerate(start)) for start in starts]
    best = max((climb(scores, begin, limits) for begin in begins), key=scores.total)
    for _ in range(shakes):
        if limits.stop():
            break
        again = climb(scores, shaken(best, limits, rng), limits)
        if scores.total(again) > scores.total(best) + SMALLEST_GAIN:
            best = again
    return best


def climb(scores: Scored, start: Parents, limits: Limits = Limits()) -> Parents:
    """The change that gains most, again and again until none gains."""
    parents = list(start)
    while not limits.stop():
        gain, change = _best_change(scores, parents, limits)
        if gain <= SMALLEST_GAIN:
            break
        for child, above in change:
            parents[child] = above
    return tuple(parents)


def shaken(parents: Parents, limits: Limits, rng: np.random.Generator) -> Parents:
    """Some arcs taken out or turned, at random."""
    now = list(parents)
    arcs = [(p, c) for c, above in enumerate(now) for p in sorted(above) if (p, c) not in limits.required]
    if not arcs:
        return parents
    for at in rng.permutation(len(arcs))[: max(2, len(arcs) // 4)]:
        p, c = arcs[at]
        now[c] = now[c] - {p}
        turned = (c, p) not in limits.forbidden and len(now[p]) < limits.max_parents
        if turned and rng.random() < 0.5 and not _leads(now, p, c):
            now[p] = now[p] | {c}
    return tuple(now)


Change = tuple[tuple[int, frozenset[int]], ...]


def _best_change(scores: Scored, parents: list[frozenset[int]], limits: Limits) -> tuple[float, Change]:
    best, best_change = 0.0, ()
    below = _descendants(parents)
    for child, above in enumerate(parents):
        if limits.stop():
            break
        own = scores.family(child, above)
        tried = 0
        if len(above) < limits.max_parents:
            for p in scores.promising(child, above):
                if p in below[child] or (p, child) in limits.forbidden:
                    continue
                gain = scores.family(child, above | {p}) - own
                if gain > best:
                    best, best_change = gain, ((child, above | {p}),)
                tried += 1
                if tried >= limits.tried or limits.stop():
                    break
        for p in sorted(above):
            if (p, child) in limits.required:
                continue
            without = scores.family(child, above - {p}) - own
            if without > best:
                best, best_change = without, ((child, above - {p}),)
            turned = parents[p] | {child}
            if len(turned) > limits.max_parents or (child, p) in limits.forbidden or _other_way(below, above, p):
                continue
            gain = without + scores.family(p, turned) - scores.family(p, parents[p])
            if gain > best:
                best, best_change = gain, ((child, above - {p}), (p, turned))
    return best, best_change


def _descendants(parents: Sequence[frozenset[int]]) -> list[set[int]]:
    """Each column's descendants, itself included."""
    children: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for p in above:
            children[p].append(child)
    found = []
    for node in range(len(parents)):
        seen, stack = {node}, [node]
        while stack:
            for child in children[stack.pop()]:
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
        found.append(seen)
    return found


def _other_way(below: list[set[int]], above: frozenset[int], p: int) -> bool:
    """Whether p leads to a node with these parents by another way than its own arc."""
    return any(other in below[p] for other in above if other != p)


def _leads(parents: Sequence[frozenset[int]], start: int, end: int) -> bool:
    return end in _descendants(parents)[start]
