"""What each row leaves unobserved, cut into groups that must be treated together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Integers
from leverrier.inference.exact.parameter_layout import Layout
from leverrier.kernels.em.grouping import connect_unobserved

Codes = NDArray[np.unsignedinteger]

BARREN = -2


@dataclass(frozen=True, eq=False)
class Evidence:
    """The observed cells: variable v is column column_of[v] of `codes` (a hole is the type's largest value), or
    hidden in every row where that is −1."""

    codes: Codes
    column_of: Integers
    weights: NDArray[np.float64] | None = None
    holes: NDArray[np.bool_] | None = None
    """Which columns have a hole, if that is known already."""

    def __post_init__(self) -> None:
        own = self.codes.view()
        own.flags.writeable = False  # (read-only always: kernels then compile for one kind of array)
        object.__setattr__(self, "codes", own)

    @property
    def hole(self) -> int:
        return (1 << 8 * self.codes.itemsize) - 1

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])

    def column(self, variable: int) -> Codes:
        return self.codes[self.column_of[variable]]

    def incomplete(self) -> NDArray[np.bool_]:
        """By variable: whether some row lacks it."""
        holes = self.holes
        if holes is None:
            holes = np.array([bool((column == self.hole).any()) for column in self.codes], dtype=np.bool_)
        return np.where(self.column_of < 0, True, holes[self.column_of] if len(holes) else True)


@dataclass(frozen=True, eq=False)
class Group:
    """Unobserved variables that hang together given the rest, and the rows in which they do (None: in all)."""

    members: tuple[int, ...]
    rows: Integers | None


def unobserved_groups(evidence: Evidence, layout: Layout, order: Integers, prune: bool) -> tuple[list[Group], bool]:
    """The groups of every row, by their members; and whether anything was pruned.

    `order` lists the layout's families, parents' before children's. With `prune`, unobserved variables that
    have no observed descendant in a row are left out there: they add nothing to its likelihood.
    """
    incomplete = evidence.incomplete()
    first, pattern = _patterns(evidence, incomplete)
    missing = _missing(evidence, incomplete, first)
    labels = np.empty(missing.shape, dtype=np.int64)
    found = np.empty((int(missing.sum()), 3), dtype=np.int64)
    keys = _random_keys(1846, missing.shape[1])
    count = connect_unobserved(missing, order, layout.starts, layout.members, prune, keys, labels, found)
    pruned = bool((labels == BARREN).any())
    if len(first) == 1:
        roots = [root for _, root in sorted((key, root) for _, root, key in found[:count].tolist())]
        return [Group(tuple(np.flatnonzero(labels[0] == root).tolist()), None) for root in roots], pruned
    at, root, key = found[:count].T
    _, example, kind = np.unique(key, return_index=True, return_inverse=True)
    sets = [tuple(int(v) for v in np.flatnonzero(labels[at[i]] == root[i])) for i in example]
    if not sets:
        return [], pruned
    rows_of = np.argsort(pattern, kind="stable")
    counts = np.bincount(pattern, minlength=len(first))
    begin = np.cumsum(counts) - counts
    size = counts[at]
    ends = np.cumsum(size)
    every = np.arange(ends[-1] if count else 0) - np.repeat(ends - size, size) + np.repeat(begin[at], size)
    kinds = np.repeat(kind, size)
    by_kind = np.argsort(kinds, kind="stable")
    rows = rows_of[every[by_kind]]
    cuts = np.cumsum(np.bincount(kinds, minlength=len(sets)))[:-1]
    groups = [
        Group(members, None if len(part) == evidence.n_rows else np.sort(part))
        for members, part in zip(sets, np.split(rows, cuts), strict=True)
    ]
    return groups, pruned


@lru_cache(maxsize=64)
def _random_keys(seed: int, count: int) -> NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(0, 2**64, size=count, dtype=np.uint64)


def _missing(evidence: Evidence, incomplete: NDArray[np.bool_], rows: Integers) -> NDArray[np.bool_]:
    """By row and variable, whether the cell is unobserved."""
    missing = np.zeros((len(rows), len(incomplete)), dtype=np.bool_)
    for v in map(int, np.flatnonzero(incomplete)):
        missing[:, v] = True if evidence.column_of[v] < 0 else evidence.column(v)[rows] == evidence.hole
    return missing


def _patterns(evidence: Evidence, incomplete: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """The first row of each distinct pattern of holes, and each row's pattern."""
    with_holes = [int(v) for v in np.flatnonzero(incomplete) if evidence.column_of[v] >= 0]
    if not with_holes:
        return np.zeros(1, dtype=np.int64), np.zeros(evidence.n_rows, dtype=np.int64)
    for attempt in range(64):
        keys = _random_keys(attempt, len(with_holes))
        sums = np.zeros(evidence.n_rows, dtype=np.uint64)
        for key, v in zip(keys, with_holes, strict=True):
            sums ^= key * (evidence.column(v) == evidence.hole)
        _, first, pattern = np.unique(sums, return_index=True, return_inverse=True)
        same = all(  # sums could coincide by chance: make sure that they did not
            bool(np.array_equal(holes, holes[first][pattern]))
            for holes in (evidence.column(v) == evidence.hole for v in with_holes)
        )
        if same:
            return first.astype(np.int64), pattern.astype(np.int64)
    raise AssertionError("64 random sums coincided")
