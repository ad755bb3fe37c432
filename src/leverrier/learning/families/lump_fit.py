"""States of the parents lumped together where they tell the same of the child, whatever order they are in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from leverrier.arrays import Floats
from leverrier.kernels.families.lumping import add_rows, lump
from leverrier.learning.families.family_counts import MANY_STATES, FamilyCounts, Price
from leverrier.learning.families.offered import Offered, by_parts
from leverrier.learning.slices.tree_growing import log_rises
from leverrier.models.families.state_lumps import LumpsKind

FEW = 4
"""Parents with fewer states have few groups, and a tree says those."""
SWEEPS = 2
MOST_CELLS = 2**16
MOST_WORK = 2_000_000
"""Pairs of states times cells beside them: above, a parent's states are left alone."""

Groups = tuple[NDArray[np.int64], ...]


def offer_lumps(family: FamilyCounts, price: Price, floor: float) -> Iterator[Offered]:
    """A table over groups of states, under the score's own prior and under a lean one."""
    cells = float(np.prod(family.sizes, dtype=np.float64)) * family.states
    if price.cell <= 0 or max(family.sizes) < FEW or cells > MOST_CELLS:
        return
    for alpha in [price.cell] if family.states < MANY_STATES else [price.cell, 1.0 / family.states]:
        groups = _grouped(family, alpha)
        sizes = tuple(int(own.max()) + 1 for own in groups)
        if sizes == family.sizes:
            continue
        part = np.zeros(family.codes.shape[1], dtype=np.int64)
        for own, size, codes in zip(groups, sizes, family.codes, strict=True):
            part = part * size + own[codes]
        spent = sum(partition_price(len(own))[size] for own, size in zip(groups, sizes, strict=True))
        make = partial(_made, groups, sizes)
        offered = by_parts("lumps", make, part, int(np.prod(sizes)), alpha, -float(spent), family)
        if offered.score > floor:
            yield offered


@cache
def partition_price(states: int) -> Floats:
    """[groups]: the log of the ways to put so many states into so many groups, and of the choice of their number."""
    groups = np.arange(1, states + 1)
    ways = np.maximum(states * np.log(groups) - gammaln(groups + 1), 0.0)
    ways[-1] = 0.0
    return np.concatenate([[np.inf], ways + np.log(states)])


def _made(groups: Groups, sizes: tuple[int, ...], shares: Floats) -> LumpsKind:
    return LumpsKind(shares.reshape(*sizes, shares.shape[-1]), groups)


def _grouped(family: FamilyCounts, alpha: float) -> Groups:
    """Each parent's states lumped, the others being as they were lumped last."""
    sizes, states = family.sizes, family.states
    groups = [np.arange(size) for size in sizes]
    cells, rows = log_rises(alpha, states)
    for _ in range(SWEEPS):
        before = [own.copy() for own in groups]
        for i in sorted(range(len(sizes)), key=lambda p: -sizes[p]):
            if sizes[i] < FEW:
                continue
            counts = _beside(family, groups, i)
            if sizes[i] * sizes[i] * counts.shape[1] * states > MOST_WORK:
                continue
            found = np.empty(sizes[i], dtype=np.int64)
            lump(counts, alpha, cells, rows, partition_price(sizes[i]), found)
            groups[i] = np.unique(found, return_inverse=True)[1].reshape(-1)
        if all(np.array_equal(old, new) for old, new in zip(before, groups, strict=True)):
            break
    return tuple(groups)


def _beside(family: FamilyCounts, groups: Sequence[NDArray[np.int64]], parent: int) -> Floats:
    """(the parent's states, what occurs beside them, the child's states): the counts, states of the other parents in
    one group added up."""
    place, size = np.zeros(family.codes.shape[1], dtype=np.int64), 1
    for j, own in enumerate(groups):
        if j != parent:
            kinds = int(own.max()) + 1
            place, size = place * kinds + own[family.codes[j]], size * kinds
    seen = np.zeros(size, dtype=np.bool_)
    seen[place] = True
    number = np.cumsum(seen) - 1
    out = np.zeros((family.sizes[parent], int(number[-1]) + 1, family.states))
    add_rows(out, family.codes[parent], number[place], family.counts)
    return out
