"""Counts from rows in which everything asked for is observed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.column_cells import CellCounts
from leverrier.counts.family import Family
from leverrier.data.table import Table
from leverrier.errors import TableError, TooLargeError
from leverrier.kernels.counts.bits import fill_masks
from leverrier.kernels.search.one_more_parent import expand_counts, histogram, row_codes, weighted_histogram

BITMAP_CELLS = 768
"""Up to this many cells a table is counted by AND and popcount, beyond it by a histogram of row codes."""
MOST_CELLS = 2**26
KEPT_CELLS = 2**20
"""Of the tables that are kept, together."""
THREADED_ROWS = 100_000
"""From this many rows on counting by bitmaps is shared out over threads, from these many cells looked at
that by histograms.
Each family is counted by one thread, so that the answer is the same for any number of them."""
THREADED_CELLS = 2_000_000

Counts = NDArray[np.int64] | NDArray[np.float64]
Starts = NDArray[np.int64]


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
        self._full = np.append(table.codes.max(axis=1, initial=0) < table.missing, True)  # (a hole is the largest)
        self._largest = int(self._states.max())
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._starts: dict[int, Starts] = {}
        self._rows: tuple[tuple[int, tuple[int, ...]], NDArray[np.int64], int] | None = None
        self._tables: dict[Family, NDArray[np.float64]] = {}
        self._kept_cells = 0
        self.paired: dict[Any, Any] = {}
        """What counts/observation.py made of these rows for the latest graphs."""

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

    @property
    def full(self) -> NDArray[np.bool_]:
        """By column, whether it has no hole."""
        return self._full[:-1]

    @cached_property
    def empty_columns(self) -> frozenset[int]:
        """The columns that have nothing but holes."""
        codes, hole = self.table.codes, self.table.missing
        return frozenset(c for c in np.flatnonzero(~self.full).tolist() if bool((codes[c] == hole).all()))

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        return _running(self._states)

    @cached_property
    def _masks(self) -> NDArray[np.uint64]:
        n = self.table.n_rows
        masks = np.zeros((int(self._first[-1]), (n + 63) // 64), dtype=np.uint64)
        fill_masks(self.table.codes, self._first[:-1].copy(), masks)
        masks[-1] = ~np.uint64(0)
        if n % 64:
            masks[-1, -1] = (np.uint64(1) << np.uint64(n % 64)) - np.uint64(1)
        return masks

    @cached_property
    def cells(self) -> CellCounts | None:
        """All columns counted together, where the table allows it."""
        return CellCounts(self.table, self._masks) if self.complete and CellCounts.serve(self.table) else None

    def tables(self, families: Sequence[Family]) -> list[NDArray[np.float64]]:
        """One array a family: axes are the parents in order, then the child."""
        return [self._known(family).copy() for family in families]

    def _known(self, family: Family) -> NDArray[np.float64]:
        """A family's table, counted once: who fits many graphs to one table asks for most families again."""
        table = self._tables.get(family)
        if table is None:
            table = self._table(family)
            if self._kept_cells + table.size > KEPT_CELLS:
                self._tables, self._kept_cells = {}, 0
            self._tables[family] = table
            self._kept_cells += table.size
        return table

    def _table(self, family: Family) -> NDArray[np.float64]:
        for name in (family.child, *family.parents):
            if name not in self._names:
                raise TableError(f"no column {name!r} in the table: counts can be asked of its columns only")
        child = self._names[family.child]
        parents = [self._names[parent] for parent in family.parents]
        shape = tuple(int(self._states[v]) for v in (*parents, child))
        cells = math.prod(shape, start=1.0)
        if cells > MOST_CELLS:
            raise TooLargeError(
                f"the table of {family.child!r} given {len(parents)} parents would need {cells:.3g} cells "
                f"(at most {MOST_CELLS:,}): use fewer parents"
            )
        wanted = np.zeros(self._constant + 1, dtype=np.bool_)
        wanted[parents[-1] if parents else self._constant] = True
        if self.table.weights is None and cells <= BITMAP_CELLS:
            base = int(cells) // (shape[-2] if parents else 1)
            counts, starts = self._by_bitmaps(child, parents[:-1], wanted, base)
        else:
            counts, starts = self._by_histograms(child, parents[:-1], wanted, keep_empty=True)
        place = int(np.flatnonzero(wanted)[0])
        return counts[starts[place] : starts[place + 1]].reshape(shape).astype(np.float64)

    def expand(
        self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_], keep_empty: bool = False
    ) -> tuple[Counts, Starts]:
        """Tables of the child with these parents and each wanted column (see PackedTables), by column number. With
        `keep_empty` configurations that never occur are in them too, so that those of several tables can be added."""
        cells = int(self._states[child])
        for p in parents:
            cells *= int(self._states[p])
        if self.table.weights is None and cells * self._largest <= BITMAP_CELLS:
            if self._pool is None or self.table.n_rows < THREADED_ROWS:
                return self._by_bitmaps(child, parents, wanted, cells)
            return self._threaded_bitmaps(child, parents, wanted, cells)
        return self._by_histograms(child, parents, wanted, keep_empty)

    def _by_bitmaps(
        self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_], cells: int
    ) -> tuple[Counts, Starts]:
        starts = self._starts.get(cells)
        if starts is None:
            starts = self._starts[cells] = _running(self._states * cells)
        counts = np.zeros(starts[-1], dtype=np.int64)
        above = np.array(parents, dtype=np.int64)
        expand_counts(self._masks, self._first, self._states, self._full, child, above, wanted, starts, counts)
        return counts, starts

    def _threaded_bitmaps(
        self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_], cells: int
    ) -> tuple[Counts, Starts]:
        assert self._pool is not None
        self._masks  # noqa: B018  (made once, before the threads need it)
        shares = []
        for part in np.array_split(np.flatnonzero(wanted), self._threads):
            share = np.zeros_like(wanted)
            share[part] = True
            shares.append(share)
        done = list(self._pool.map(lambda share: self._by_bitmaps(child, parents, share, cells), shares))
        return np.sum([counts for counts, _ in done], axis=0), done[0][1]  # zero where another thread counted

    def _by_histograms(
        self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_], keep_empty: bool = False
    ) -> tuple[Counts, Starts]:
        configurations, rows = self._row_codes(child, tuple(parents), keep_empty)
        own = self.table.codes[child]
        r = int(self._states[child])
        starts = _running(np.where(wanted, self._states * rows * r, 0))
        weights = self.table.weights
        counts: Counts = np.zeros(starts[-1], dtype=np.int64 if weights is None else np.float64)

        def count(places: NDArray[np.int64]) -> None:
            for v in places.tolist():
                part = counts[starts[v] : starts[v + 1]]
                if weights is None:
                    histogram(configurations, own, r, self._column(v), int(self._states[v]), part)
                else:
                    weighted_histogram(configurations, own, r, self._column(v), int(self._states[v]), weights, part)

        places = np.flatnonzero(wanted)
        if self._pool is None or len(places) * self.table.n_rows < THREADED_CELLS:
            count(places)
        else:
            list(self._pool.map(count, np.array_split(places, self._threads)))
        return counts, starts

    def _column(self, v: int) -> NDArray[np.unsignedinteger]:
        if v < self._constant:
            return self.table.codes[v]
        return np.zeros(self.table.n_rows, dtype=self.table.codes.dtype)

    def _row_codes(self, child: int, parents: tuple[int, ...], keep_empty: bool) -> tuple[NDArray[np.int64], int]:
        """Each row's parent configuration and how many there are, ranked when most would be empty."""
        key = (child, parents)
        if self._rows is not None and self._rows[0] == key and not keep_empty:
            return self._rows[1], self._rows[2]
        q = math.prod(self._states[list(parents)].tolist(), start=1.0)
        if q >= 2**62:
            raise TooLargeError(f"{len(parents)} parents have more than 2^62 configurations: use fewer parents")
        codes = np.empty(self.table.n_rows, dtype=np.int64)
        row_codes(self.table.codes, self._states, child, np.array(parents, dtype=np.int64), codes)
        if keep_empty:
            return codes, int(q)
        rows = int(q)
        if q > self.table.n_rows:
            present, ranks = np.unique(codes, return_inverse=True)
            holes = int(len(present) > 0 and present[0] < 0)  # −1 ranks first and becomes −1 again
            codes, rows = ranks - holes, len(present) - holes
        self._rows = (key, codes, rows)
        return codes, rows


def _running(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
