"""Counts of all columns in the cells of a few: one pass serves every family that adds one column to the few."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Table
from leverrier.kernels.counts.cell_sums import POSITIONS, count_pairs, mark_rows, split_cells

MOST_ROWS = 2**16 - 1
"""So that a count fits 16 bits; larger tables are counted by bitmaps, which need less memory."""
MOST_MARKS = 2**26
"""Bytes of the rows laid out for adding."""
MOST_COUNTS = 2**24
"""Counts of one set of columns; beyond it tables are counted one by one."""
KEPT_COUNTS = 2**25
"""Of all sets that are kept, together, a row's place as much as a count."""


class Cells(NamedTuple):
    """The configurations of a set of columns that occur, and every column's counts in each.

    counts[at // POSITIONS, cell, at % POSITIONS] belongs to state at − first[v] of column v; its last state is the
    rest of the cell's size.
    """

    place: NDArray[np.uint16]
    sizes: NDArray[np.int64]
    examples: NDArray[np.uint16]
    """A row of each cell."""
    counts: NDArray[np.uint16]

    @property
    def room(self) -> int:
        return self.counts.size + self.place.size


class CellCounts:
    """Cells by set of columns (as bits), kept: a set is split from one with a column less."""

    def __init__(self, table: Table, masks: NDArray[np.uint64]) -> None:
        """`masks` are the bitmaps of every column's states, in order."""
        self.codes = table.codes
        self.states = table.cardinalities.astype(np.int64)
        self.first = np.concatenate([[0], np.cumsum(self.states - 1)]).astype(np.int64)
        blocks = -(-int(self.first[-1]) // POSITIONS)
        marks = np.zeros((blocks, table.n_rows, POSITIONS // 2), dtype=np.uint8)
        self._examples = np.zeros((len(self.states), int(self.states.max(initial=1))), dtype=np.uint16)
        mark_rows(self.codes, self.first, marks, self._examples)
        self._words = marks.view(np.uint64)
        last = np.cumsum(self.states) - 1
        self._pairs = np.zeros((int(self.first[-1]), blocks * POSITIONS), dtype=np.uint16)
        count_pairs(masks, np.delete(np.arange(len(self._pairs) + len(last)), last), self._pairs)
        self._totals = np.zeros(self._pairs.shape[1], dtype=np.uint16)
        self._totals[: len(self._pairs)] = np.diagonal(self._pairs)
        self._kept: dict[int, Cells] = {}
        self._kept_counts = 0

    @staticmethod
    def serve(table: Table) -> bool:
        """Whether the rows of a complete table can be added up, and pairs of states kept."""
        positions = int((table.cardinalities - 1).sum())
        small = table.n_rows * positions <= 2 * MOST_MARKS and positions**2 <= MOST_COUNTS
        return small and 0 < table.n_rows <= MOST_ROWS and table.weights is None

    def fits(self, cells: float) -> bool:
        """Whether a set of so many cells is counted this way."""
        return cells <= MOST_ROWS and min(cells, self.codes.shape[1]) * self._pairs.shape[1] <= MOST_COUNTS

    def cells(self, columns: int) -> Cells:
        """The cells of a set, given as bits."""
        known = self._kept.get(columns)
        if known is None:
            known = self._single(columns.bit_length() - 1) if columns & (columns - 1) == 0 else self._split(columns)
            self._kept_counts += known.room
            while self._kept and self._kept_counts > KEPT_COUNTS:
                self._kept_counts -= self._kept.pop(next(iter(self._kept))).room
            self._kept[columns] = known
        return known

    def _single(self, v: int) -> Cells:
        """A column's states as cells: two states in common were counted without adding rows."""
        own = self._pairs[self.first[v] : self.first[v + 1]]
        rest = self._totals.copy()
        for each in own:
            rest -= each
        counts = np.concatenate([own, rest[None]])
        sizes = np.empty(len(counts), dtype=np.int64)
        sizes[:-1] = self._totals[self.first[v] : self.first[v + 1]]
        sizes[-1] = self.codes.shape[1] - sizes[:-1].sum()
        place, examples = self.codes[v].astype(np.uint16), self._examples[v, : len(counts)]
        if not sizes.all():
            occurs = sizes > 0
            place = (np.cumsum(occurs) - 1).astype(np.uint16)[place]
            counts, sizes, examples = counts[occurs], sizes[occurs], examples[occurs]
        planes = counts.reshape(len(counts), -1, POSITIONS).transpose(1, 0, 2)
        return Cells(place, sizes, examples, np.ascontiguousarray(planes))

    def _split(self, columns: int) -> Cells:
        """From a known set with one column less, or from a single column: the more cells, the more rows are in a
        largest part, which is not added up."""
        whole, by = self._nearest(columns)
        return Cells(
            *split_cells(self._words, self.codes, self.states, self.first, whole.place, whole.sizes, whole.counts, by)
        )

    def _nearest(self, columns: int) -> tuple[Cells, NDArray[np.int64]]:
        """Known cells to split, and the columns to split them by."""
        nearest, by, members = None, -1, []
        bits = columns
        while bits:
            low = bits & -bits
            bits ^= low
            v = low.bit_length() - 1
            members.append(v)
            known = self._kept.get(columns ^ low)
            if known is not None and (nearest is None or len(known.sizes) > len(nearest.sizes)):
                nearest, by = known, v
        if nearest is not None:
            return nearest, np.array([by])
        begin = max(members, key=lambda v: self.states[v])
        return self.cells(1 << begin), np.array([v for v in members if v != begin])
