"""Counts from rows in which everything asked for is observed."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Table
from leverrier.errors import TableError, TooLargeError
from leverrier.kernels.bits import fill_masks
from leverrier.kernels.expand import base_codes, expand_counts, histogram, weighted_histogram
from leverrier.statistics.family import Family
from leverrier.statistics.packed import Counts, PackedTables

BITMAP_CELLS = 256
"""Up to this many cells a table is counted by AND and popcount, beyond it by a histogram of row codes."""
MOST_CELLS = 2**26
THREADED_ROWS = 200_000
"""From this many rows on, candidates are shared out over threads; each family is still counted by one."""


class ObservedCounts:
    """Counts of complete rows, by bitmaps where tables are small and by histograms where they are not.

    A row with a hole in a family is left out of *that family's* table only (available cases); learners that
    must not do so ask `complete` first.
    """

    def __init__(self, table: Table, threads: int = 1) -> None:
        self.table = table
        self._names = {name: position for position, name in enumerate(table.variables)}
        self._constant = len(self._names)  # stands for "no parent": one state, every row
        self._states = np.append(table.cardinalities, 1).astype(np.int64)
        self._full = np.append([not np.any(column == table.missing) for column in table.codes], True)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 and table.n_rows >= THREADED_ROWS else None
        self._threads = threads
        self._base: tuple[tuple[int, tuple[int, ...]], NDArray[np.int64], int] | None = None

    @property
    def cardinalities(self) -> dict[str, int]:
        return {column.name: column.cardinality for column in self.table.columns}

    @property
    def total(self) -> float:
        return self.table.total

    @property
    def complete(self) -> bool:
        """Whether no cell is missing, so that every table sums to the number of rows."""
        return bool(self._full.all())

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self._states)]).astype(np.int64)

    @cached_property
    def _masks(self) -> NDArray[np.uint64]:
        n = self.table.n_rows
        masks = np.zeros((int(self._first[-1]), (n + 63) // 64), dtype=np.uint64)
        fill_masks(self.table.codes, self._first[:-1].copy(), masks)
        masks[-1] = ~np.uint64(0)
        if n % 64:
            masks[-1, -1] = (np.uint64(1) << np.uint64(n % 64)) - np.uint64(1)
        return masks

    def _index(self, name: str | None) -> int:
        if name is None:
            return self._constant
        if name not in self._names:
            raise TableError(f"no column {name!r} in the table: counts can be asked of its columns only")
        return self._names[name]

    def tables(self, families: Sequence[Family]) -> list[NDArray[np.float64]]:
        """One array a family: axes are the parents in order, then the child."""
        answers = []
        for family in families:
            child = self._index(family.child)
            parents = tuple(self._index(parent) for parent in family.parents)
            shape = tuple(int(self._states[v]) for v in (*parents, child))
            if np.prod(shape, dtype=np.float64) > MOST_CELLS:
                raise TooLargeError(
                    f"the table of {family.child!r} given {len(parents)} parents would need "
                    f"{np.prod(shape, dtype=np.float64):.3g} cells (at most {MOST_CELLS:,}): use fewer parents"
                )
            last = parents[-1] if parents else self._constant
            counts, _ = self._count(child, parents[:-1], np.array([last]), keep_empty=True)
            answers.append(counts.reshape(shape).astype(np.float64))
        return answers

    def expand(self, child: str, parents: Sequence[str], candidates: Sequence[str | None]) -> PackedTables:
        """Packed tables of the child with these parents and each candidate (None: no further parent)."""
        extra = np.array([self._index(name) for name in candidates], dtype=np.int64)
        return self.expand_indices(self._index(child), tuple(self._index(p) for p in parents), extra)

    def expand_indices(self, child: int, parents: tuple[int, ...], extra: NDArray[np.int64]) -> PackedTables:
        """The same by column number; the number of columns itself stands for no further parent."""
        if self._pool is None or len(extra) < 2:
            return PackedTables(*self._count(child, parents, extra))
        parts = np.array_split(extra, self._threads)
        if self.table.weights is not None:
            self._row_codes(child, parents, False)  # once, before the threads ask for it
        done = list(self._pool.map(lambda part: self._count(child, parents, part), parts))
        offsets = np.cumsum([0, *(starts[-1] for _, starts in done)])
        starts = np.concatenate([starts[:-1] + at for (_, starts), at in zip(done, offsets, strict=False)])
        return PackedTables(
            np.concatenate([counts for counts, _ in done]), np.append(starts, offsets[-1]).astype(np.int64)
        )

    def _count(
        self, child: int, parents: tuple[int, ...], extra: NDArray[np.int64], keep_empty: bool = False
    ) -> tuple[Counts, NDArray[np.int64]]:
        base = float(np.prod([self._states[v] for v in (*parents, child)], dtype=np.float64))
        small = self._states[extra] * base <= BITMAP_CELLS
        if self.table.weights is None and small.all():
            starts = _starts(self._states[extra] * int(base))
            counts = np.zeros(starts[-1], dtype=np.int64)
            self._by_bitmaps(child, parents, extra, starts, counts)
            return counts, starts
        codes, rows = self._row_codes(child, parents, keep_empty)
        starts = _starts(self._states[extra] * rows * int(self._states[child]))
        weights = self.table.weights
        if weights is not None:
            real = np.zeros(starts[-1])
            self._by_histograms(codes, child, extra, starts, real)
            return real, starts
        counts = np.zeros(starts[-1], dtype=np.int64)
        if rows * self._states[child] == base and small.any():
            where = np.flatnonzero(small)
            self._by_bitmaps(child, parents, extra[where], starts[where], counts)
            self._by_histograms(codes, child, extra, starts, counts, skip=small)
        else:
            self._by_histograms(codes, child, extra, starts, counts)
        return counts, starts

    def _by_bitmaps(
        self,
        child: int,
        parents: tuple[int, ...],
        extra: NDArray[np.int64],
        starts: NDArray[np.int64],
        counts: NDArray[np.int64],
    ) -> None:
        above = np.array(parents, dtype=np.int64)
        expand_counts(self._masks, self._first, self._states, self._full, child, above, extra, starts, counts)

    def _by_histograms(
        self,
        codes: NDArray[np.int64],
        child: int,
        extra: NDArray[np.int64],
        starts: NDArray[np.int64],
        counts: Counts,
        skip: NDArray[np.bool_] | None = None,
    ) -> None:
        r = int(self._states[child])
        weights = self.table.weights
        for c, v in enumerate(extra):
            if skip is not None and skip[c]:
                continue
            column = self._column(int(v))
            part = counts[starts[c] : starts[c + 1]]
            if weights is None:
                histogram(codes, r, column, int(self._states[v]), part)
            else:
                weighted_histogram(codes, r, column, int(self._states[v]), weights, part)

    def _column(self, v: int) -> NDArray[np.unsignedinteger]:
        if v < self._constant:
            return self.table.codes[v]
        return np.zeros(self.table.n_rows, dtype=self.table.codes.dtype)

    def _row_codes(self, child: int, parents: tuple[int, ...], keep_empty: bool) -> tuple[NDArray[np.int64], int]:
        """Each row's (parents, child) cell and the number of parent rows, ranked when most would be empty."""
        q = float(np.prod(self._states[list(parents)], dtype=np.float64))
        n = self.table.n_rows
        key = (child, parents)
        if self._base is not None and self._base[0] == key and not keep_empty:
            return self._base[1], self._base[2]
        codes = np.empty(n, dtype=np.int64)
        states = self._states
        if q * states[child] >= 2**62:
            raise TooLargeError(f"a family of {len(parents) + 1} variables has more than 2^62 cells: use fewer parents")
        base_codes(self.table.codes, states, child, np.array(parents, dtype=np.int64), codes)
        rows = int(q)
        if q > n and not keep_empty:
            r = int(states[child])
            present, ranks = np.unique(codes // r, return_inverse=True)  # −1 // r = −1: holes rank first
            holes = bool(len(present)) and present[0] < 0
            ranks = ranks - int(holes)
            codes = np.where(codes < 0, -1, ranks * r + codes % r)
            rows = len(present) - int(holes)
        if not keep_empty:
            self._base = (key, codes, rows)
        return codes, rows


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
