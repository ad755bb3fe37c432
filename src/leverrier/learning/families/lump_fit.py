"""States of the parents lumped together where they tell the same of the child, whatever order they are in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from leverrier.arrays import Floats
from leverrier.kernels.families.lumping import lump
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
    dense = np.zeros((*family.sizes, family.states))
    dense[tuple(family.codes)] = family.counts
    for alpha in [price.cell] if family.states < MANY_STATES else [price.cell, 1.0 / family.states]:
        groups = _grouped(dense, alpha)
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


def partition_price(states: int) -> Floats:
    """[groups]: the log of the ways to put so many states into so many groups, and of the choice of their number."""
    groups = np.arange(1, states + 1)
    ways = np.maximum(states * np.log(groups) - gammaln(groups + 1), 0.0)
    ways[-1] = 0.0
    return np.concatenate([[np.inf], ways + np.log(states)])


def _made(groups: Groups, sizes: tuple[int, ...], shares: Floats) -> LumpsKind:
    return LumpsKind(shares.reshape(*sizes, shares.shape[-1]), groups)


def _grouped(dense: Floats, alpha: float) -> Groups:
    """Each parent's states lumped, the others being as they were lumped last."""
    sizes = dense.shape[:-1]
    groups = [np.arange(size) for size in sizes]
    cells, rows = log_rises(alpha, dense.shape[-1])
    for _ in range(SWEEPS):
        before = [own.copy() for own in groups]
        for i in sorted(range(len(sizes)), key=lambda p: -sizes[p]):
            if sizes[i] < FEW:
                continue
            counts = dense
            for j, own in enumerate(groups):
                if j != i and own.max() + 1 < sizes[j]:
                    counts = _summed(counts, own, j)
            counts = np.moveaxis(counts, i, 0).reshape(sizes[i], -1, dense.shape[-1])
            counts = counts[:, counts.sum(axis=(0, 2)) > 0]
            if sizes[i] * sizes[i] * counts.shape[1] * counts.shape[2] > MOST_WORK:
                continue
            found = np.empty(sizes[i], dtype=np.int64)
            lump(np.ascontiguousarray(counts), alpha, cells, rows, partition_price(sizes[i]), found)
            groups[i] = np.unique(found, return_inverse=True)[1].reshape(-1)
        if all(np.array_equal(old, new) for old, new in zip(before, groups, strict=True)):
            break
    return tuple(groups)


def _summed(counts: Floats, groups: NDArray[np.int64], axis: int) -> Floats:
    """States of one group added up."""
    moved = np.moveaxis(counts, axis, 0)
    out = np.zeros((int(groups.max()) + 1, *moved.shape[1:]))
    for own, state in zip(groups.tolist(), moved, strict=True):
        out[own] += state
    return np.moveaxis(out, 0, axis)
