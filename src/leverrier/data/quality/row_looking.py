"""What the order of rows, and rows that are equal, show: copies, groups, a table in order of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.variable import Variable


class Table(Protocol):
    """What is looked at of a table."""

    @property
    def columns(self) -> tuple[Variable, ...]: ...
    @property
    def codes(self) -> NDArray[np.unsignedinteger]: ...
    @property
    def weights(self) -> Floats | None: ...
    @property
    def counted(self) -> bool: ...
    @property
    def raw(self) -> Mapping[str, Floats]: ...
    @property
    def numbers(self) -> Mapping[str, Floats]: ...
    @property
    def noticed(self) -> tuple[Noticed, ...]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def missing(self) -> int: ...

    def take(self, rows: Any) -> Table: ...
    def index(self, name: str) -> int: ...
    def column(self, name: str) -> NDArray[np.unsignedinteger]: ...


ROWS = 20_000
LEAST_ROWS = 50
SHUFFLES = 8
"""Of the rows within their blocks: what neighbours agree on by chance."""
SAID, DOUBTED = (8.0, 0.1), (4.0, 0.05)
"""How alike neighbours are (standard errors, share of what is left to agree on) where it is said of any table, and
where a finding is doubted for it: 30 households whose members are 0.2 alike are 6 standard errors from rows that stand
for themselves, and were found as a variable of 7.8 nats."""
MOST_KEYS = 12
"""Columns by which a table is sorted that are looked for."""
PATTERNS = 200
"""Rows with a copy that are compared with all others."""


def look_at_rows(table: Table) -> Iterator[Noticed]:
    """A last row that sums the others; rows that are copies; neighbours that are alike, and why."""
    summed = tuple(name for name in _names(table) if name in table.numbers and _summed_last(table.numbers[name]))
    if summed and not table.counted:
        yield Noticed(Notice.SUM_ROW, summed)
    if table.counted or table.weights is not None or table.n_rows < LEAST_ROWS or len(table.columns) < 3:
        return
    cells = _cells(table)
    empty = np.all(table.codes[:, :ROWS] == table.missing, axis=0)
    if empty.any():
        yield Noticed(Notice.EMPTY_ROWS, count=round(float(empty.mean()) * table.n_rows), share=float(empty.mean()))
    copied = _copies(cells[:, ~empty])
    if copied:
        share = copied / cells.shape[1]
        yield Noticed(Notice.DUPLICATE_ROWS, count=round(share * table.n_rows), share=share)
    named = {each.kind: each for each in table.noticed if each.kind in (Notice.CLUSTERED_ROWS, Notice.SORTED)}
    keys, block = _sorted_by(cells)
    pairs = _Pairs.of(table, block)
    alike = pairs is not None and pairs.alike(*SAID)
    moment = named.get(Notice.SORTED)
    if alike and moment is not None and moment.name == "date":
        yield Noticed(Notice.TIME_ORDERED, moment.columns)
        return
    if keys:
        yield Noticed(Notice.SORTED, tuple(_names(table)[key] for key in keys))
    if alike and Notice.CLUSTERED_ROWS not in named and not copied:
        yield Noticed(Notice.CLUSTERED_ROWS, count=table.n_rows)


def _summed_last(values: Floats) -> bool:
    """Whether the last number is the sum of all before it, and so lies far beyond each of them."""
    above = values[:-1][np.isfinite(values[:-1])]
    if len(above) < 10 or not np.isfinite(values[-1]):
        return False
    total = float(above.sum())
    return abs(total) > 3 * float(np.abs(above).max()) and abs(float(values[-1]) - total) <= 1e-9 * abs(total)


def rows_for_one(table: Table) -> float:
    """How many rows say what one row that stands for itself would say: 1 + 2 Σ r over the distances between rows, r how
    alike they are beyond chance there; 1 where neighbours are not clearly alike."""
    if table.counted or table.weights is not None or len(table.columns) < 3:
        return 1.0
    pairs = _Pairs.of(table, sorted_blocks(_cells(table)))
    if pairs is None or not pairs.alike(*DOUBTED):
        return 1.0
    total, before = 0.0, (0, pairs.likeness(1))
    for lag in (2**k for k in range(int(np.log2(table.n_rows)))):
        now = pairs.likeness(lag)
        total += (lag - before[0]) * (now + before[1]) / 2 if lag > 1 else now
        if now <= 2 * pairs.spread / (1 - pairs.base):
            break
        before = lag, now
    return 1 + 2 * total


def _names(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns)


def _cells(table: Table) -> NDArray[np.int64]:
    """Codes of the first rows, with numbers as finely as they came: (variables, rows)."""
    cells = table.codes[:, :ROWS].astype(np.int64)
    for place, name in enumerate(_names(table)):
        if name in table.raw:
            _, cells[place] = np.unique(table.raw[name][:ROWS], return_inverse=True)
    return cells


def _copies(cells: NDArray[np.int64]) -> int:
    """Rows that equal another one although no row differs from them in one cell alone: where copies come from chance,
    near misses are more frequent than hits."""
    rows = np.ascontiguousarray(cells.T)
    _, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    twice = np.flatnonzero(counts > 1)
    extra = int((counts[twice] - 1).sum())
    finest = max(range(len(cells)), key=lambda row: len(np.unique(cells[row])))
    if 2 * len(np.unique(cells[finest])) > len(cells[finest]):  # a number that hardly ever comes twice came twice
        by_chance = _pairs_alike(cells[finest : finest + 1]) * _pairs_alike(np.delete(cells, finest, axis=0))
        by_chance /= max(len(rows) * (len(rows) - 1) / 2, 1)
        return extra if extra >= 3 and extra > by_chance + 4 * np.sqrt(by_chance) else 0
    if not len(twice) or len(cells) < 4:
        return 0
    looked = twice[np.unique(np.linspace(0, len(twice) - 1, min(PATTERNS, len(twice))).astype(np.int64))]
    odd = sum(
        int(counts[pattern]) - 1
        for pattern in looked.tolist()
        if np.count_nonzero((rows != rows[first[pattern]]).sum(axis=1) == 1) == 0
    )
    seen = int((counts[looked] - 1).sum())
    return round(odd * extra / seen) if odd >= 3 and odd >= 0.5 * seen else 0


def _pairs_alike(cells: NDArray[np.int64]) -> float:
    """How many pairs of rows are equal in all these columns."""
    _, counts = np.unique(cells, axis=1, return_counts=True)
    return float((counts * (counts - 1)).sum() / 2)


def sorted_blocks(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """By row, the number of its block of rows that are equal in all columns that the table is sorted by."""
    return _sorted_by(cells)[1]


def _sorted_by(cells: NDArray[np.int64]) -> tuple[list[int], NDArray[np.int64]]:
    """The columns by which rows are sorted, one within the blocks of the other, and each row's block: every value
    stands in one run of rows within its block, in ascending order or another."""
    n = cells.shape[1]
    keys: list[int] = []
    block, blocks = np.zeros(n, dtype=np.int64), 1
    while len(keys) < MOST_KEYS:
        found: list[tuple[int, int]] = []
        for place, codes in enumerate(cells):
            refined = block * (1 + codes.max(initial=0)) + codes
            runs = 1 + int(np.count_nonzero(np.diff(refined)))
            if place not in keys and blocks < runs <= n // 2 and runs == len(np.unique(refined)):
                rest = n - int(np.bincount(codes).max())
                found += [(runs, place)] if rest >= LEAST_ROWS // 10 else []
        if not found:
            break
        blocks, key = min(found)
        keys.append(key)
        block = np.cumsum(np.append(0, np.diff(block * (1 + cells[key].max()) + cells[key]) != 0))
    return keys, block


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of rows of one block of a sorted table, and the share of cells in which they agree."""

    codes: NDArray[np.unsignedinteger]
    hole: NDArray[np.bool_]
    block: NDArray[np.int64]
    base: float
    """Of rows paired at random."""
    spread: float
    """Its standard error over as many pairs as there are neighbours."""

    @classmethod
    def of(cls, table: Table, block: NDArray[np.int64]) -> _Pairs | None:
        """None where there are too few neighbours to tell."""
        codes = table.codes[:, :ROWS]
        hole = codes == table.missing
        beside = np.flatnonzero(np.diff(block) == 0)
        if codes.shape[1] < 4 * LEAST_ROWS or len(beside) < 2 * LEAST_ROWS:
            return None
        rng = np.random.default_rng(0)
        orders = [np.lexsort((rng.random(len(block)), block)) for _ in range(SHUFFLES)]
        far = [_agreement(codes, hole, order[beside], order[beside + 1]) for order in orders]
        base = float(np.mean([each.mean() for each in far]))
        return cls(codes, hole, block, base, float(np.sqrt(np.mean([each.var() for each in far]) / len(beside))))

    def alike(self, errors: float, least: float) -> bool:
        """Whether neighbours agree more than at random, by so many standard errors and such a share of the rest."""
        return bool(self.likeness(1) * (1 - self.base) > max(errors * self.spread, least * (1 - self.base)))

    def likeness(self, lag: int) -> float:
        """Agreement of rows so far apart beyond that at random, as a share of what is left to agree on."""
        first = np.flatnonzero(self.block[lag:] == self.block[:-lag])
        if len(first) < LEAST_ROWS or self.base >= 1:
            return 0.0
        return float((_agreement(self.codes, self.hole, first, first + lag).mean() - self.base) / (1 - self.base))


def _agreement(
    codes: NDArray[np.unsignedinteger], hole: NDArray[np.bool_], one: NDArray[np.intp], other: NDArray[np.intp]
) -> Floats:
    """For pairs of rows the share of cells that are equal, of those that both have: where forms changed half-way, holes
    stand together, and are no agreement."""
    both = ~(hole[:, one] | hole[:, other])
    same = ((codes[:, one] == codes[:, other]) & both).sum(axis=0)
    seen = both.sum(axis=0)
    return same[seen > 0] / seen[seen > 0]
