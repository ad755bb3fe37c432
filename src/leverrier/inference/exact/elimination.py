"""Elimination orders and the clique trees they give: how large exact inference will be, before any array exists."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from leverrier.errors import TooLargeError
from leverrier.inference.exact.factors import Scope, count_cells

EXTRA_TRIES = 24
"""Perturbed searches for a better order, made only where the best order so far is costly but not hopeless."""
COSTLY = 2**18
"""Cells above which a better order saves more time than the search for it takes."""
HOPELESS = 2**36
"""Cells above which no other greedy order will make exact inference possible."""

Cost = Callable[[int, Sequence[int], Sequence[float]], float]


@dataclass(frozen=True)
class Triangulation:
    """An elimination order with its maximal cliques, as a tree in which every variable's cliques are connected.

    `parents[i]` is clique i's parent, −1 for the first; parents come before children. Parts of the graph that are not
    connected hang under the first clique by empty separators, so there is always one tree. Any such tree is a
    maximum-weight spanning tree on separator sizes, so none is searched for.
    """

    order: tuple[int, ...]
    cliques: tuple[Scope, ...]
    parents: tuple[int, ...]
    homes: tuple[int, ...]
    """For each step the clique its variable goes in; it holds every complete set of which that variable goes first."""
    cells: int
    largest: int

    @property
    def width(self) -> int:
        """Variables in the largest clique less one: the treewidth this order reaches (an upper bound of the true)."""
        return max(map(len, self.cliques)) - 1


def triangulate(cardinalities: Sequence[int], scopes: Iterable[Scope]) -> Triangulation:
    """The best of several greedy orders: least clique weight, least fill, least weighted fill; ties by number."""
    linked = _neighbours(len(cardinalities), scopes)
    weights = [float(cardinality) for cardinality in cardinalities]
    costs = (_fill, _weighted_fill) if len(set(weights)) > 1 else (_fill,)
    order, cliques, best = _eliminate(linked, weights, _clique_weight, math.inf) or ([], [], math.inf)
    rng = np.random.default_rng(0)
    for attempt in range(len(costs) + EXTRA_TRIES):
        plain = attempt < len(costs)
        if attempt and (best > HOPELESS or (best < COSTLY and not plain)):
            break
        noise = None if plain else rng.uniform(0.8, 1.25, len(weights)).tolist()
        found = _eliminate(linked, weights, costs[attempt % len(costs)], best, noise)
        if found:
            order, cliques, best = found
    scopes_of, parents, homes = _tree(order, cliques)
    sizes = [count_cells(clique, cardinalities) for clique in scopes_of]
    return Triangulation(tuple(order), scopes_of, parents, homes, sum(sizes), max(sizes))


def require_cells(found: Triangulation, max_cells: int) -> None:
    """Refuse exact inference before allocating, with the size."""
    if found.cells > max_cells:
        raise TooLargeError(
            f"exact inference needs {in_words(found.cells)} cells (largest clique: {found.width + 1} variables, "
            f"{in_words(found.largest)} cells), at most {in_words(max_cells)} are allowed: observe more variables, "
            'raise max_cells, or ask for method="approximate"'
        )


def in_words(count: int) -> str:
    """A count a person can read, however large."""
    return f"{count:,}" if count < 10**9 else f"{float(count):.1e}" if count < 10**300 else "more than 1e+300"


def _neighbours(n: int, scopes: Iterable[Scope]) -> list[int]:
    """Each variable's neighbours as a set of bits: Python's integers make subset tests and unions one operation."""
    linked = [0] * n
    for scope in scopes:
        members = 0
        for variable in scope:
            members |= 1 << variable
        for variable in scope:
            linked[variable] |= members & ~(1 << variable)
    return linked


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _clique_weight(variable: int, linked: Sequence[int], weights: Sequence[float]) -> float:
    return math.log(weights[variable]) + math.fsum(math.log(weights[other]) for other in _bits(linked[variable]))


def _fill(variable: int, linked: Sequence[int], _: Sequence[float]) -> float:
    around = linked[variable]
    return float(sum((around & ~linked[other]).bit_count() - 1 for other in _bits(around)))


def _weighted_fill(variable: int, linked: Sequence[int], weights: Sequence[float]) -> float:
    around = linked[variable]
    total = 0.0
    for other in _bits(around):
        missing = around & ~linked[other] & ~(1 << other)
        if missing:
            total += weights[other] * sum(weights[far] for far in _bits(missing))
    return total


def _eliminate(
    linked: Sequence[int], weights: Sequence[float], cost: Cost, bound: float, noise: Sequence[float] | None = None
) -> tuple[list[int], list[int], float] | None:
    """Greedy elimination: order, the clique of each step as bits, cells in all. None once it reaches the bound."""
    linked = list(linked)
    factor = noise or [1.0] * len(linked)
    price = [cost(variable, linked, weights) * factor[variable] for variable in range(len(linked))]
    heap = [(value, variable) for variable, value in enumerate(price)]
    heapq.heapify(heap)
    order: list[int] = []
    cliques: list[int] = []
    cells = 0.0
    gone = [False] * len(linked)
    while heap:
        value, variable = heapq.heappop(heap)
        if gone[variable] or value != price[variable]:
            continue  # an older price of this variable
        around = linked[variable]
        cells += _product(weights, around | (1 << variable))
        if cells >= bound:
            return None
        order.append(variable)
        cliques.append(around | (1 << variable))
        gone[variable] = True
        for other in _bits(_connect(linked, variable)):
            fresh = cost(other, linked, weights) * factor[other]
            if fresh != price[other]:
                price[other] = fresh
                heapq.heappush(heap, (fresh, other))
    return order, cliques, cells


def _connect(linked: list[int], variable: int) -> int:
    """Take the variable out, join its neighbours; give back whose cost may have changed."""
    around = linked[variable]
    stale = around
    for other in _bits(around):
        missing = around & ~linked[other] & ~(1 << other)
        linked[other] &= ~(1 << variable)
        for far in _bits(missing >> (other + 1) << (other + 1)):
            stale |= linked[other] & linked[far]
            linked[other] |= 1 << far
            linked[far] |= 1 << other
    return stale & ~(1 << variable)


def _product(weights: Sequence[float], mask: int) -> float:
    total = math.fsum(math.log(weights[variable]) for variable in _bits(mask))
    return math.exp(total) if total < 700 else math.inf


def _tree(order: Sequence[int], cliques: Sequence[int]) -> tuple[tuple[Scope, ...], tuple[int, ...], tuple[int, ...]]:
    """Maximal cliques and their tree, read off the elimination: a step's clique less its variable lies in the
    clique of the next of its members to go. A step whose clique lies in an earlier one's is folded into that."""
    step = {variable: position for position, variable in enumerate(order)}
    above = [
        min((step[other] for other in _bits(clique & ~(1 << variable))), default=-1)
        for variable, clique in zip(order, cliques, strict=True)
    ]
    stands_for = list(range(len(order)))  # the step whose clique holds this step's
    top = list(range(len(order)))  # the last step folded into this one's clique
    for position, parent in enumerate(above):
        unfolded = parent >= 0 and stands_for[parent] == parent
        if unfolded and cliques[position].bit_count() == cliques[parent].bit_count() + 1:
            stands_for[parent] = stands_for[position]
            top[stands_for[position]] = parent
    kept = [position for position in reversed(range(len(order))) if stands_for[position] == position]
    kept.sort(key=lambda position: -top[position])  # parents first
    number = {position: index for index, position in enumerate(kept)}
    parents = []
    for index, position in enumerate(kept):
        parent = above[top[position]]
        parents.append(number[stands_for[parent]] if parent >= 0 else (0 if index else -1))
    homes = tuple(number[position] for position in stands_for)
    return tuple(tuple(_bits(cliques[position])) for position in kept) or ((),), tuple(parents) or (-1,), homes
