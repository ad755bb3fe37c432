"""Sequences as the learners see them: one table of all slices, in time order, and where each sequence begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.data.sequences.time_axis import TimeKind, time_text
from leverrier.data.table import Label, Table
from leverrier.errors import OptionError, TableError


def lagged(name: str, lag: int) -> str:
    """How a variable so many slices ago is called: X for now, X[-1] for the slice before."""
    return f"{name}[-{lag}]" if lag else name


@dataclass(frozen=True, eq=False)
class Sequences:
    """`table` holds all slices; sequence i is its rows `starts[i]` to `starts[i + 1]`, in time order."""

    table: Table
    starts: Integers
    names: tuple[Label, ...]
    times: Floats
    """Each slice's time as a number (dates as days since 1970, text by its place among `time_labels`)."""
    rows: Integers
    """Which row of the source each slice was, −1 where a gap in time was filled."""
    numbers: Mapping[str, Floats] = field(default_factory=dict, repr=False)
    """The numbers themselves of the columns that hold numbers, by slice, NaN for a hole."""
    by: tuple[str, ...] = ()
    time: str | None = None
    time_kind: TimeKind = TimeKind.ORDER
    time_labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "time_kind", TimeKind(self.time_kind))
        starts = self.starts
        if starts[0] != 0 or starts[-1] != self.table.n_rows or np.any(np.diff(starts) < 1):
            raise TableError(f"starts {starts[:4]}… do not cut {self.table.n_rows} slices into sequences of at least 1")
        if len(self.names) != len(starts) - 1 or len(self.times) != self.table.n_rows:
            raise TableError(
                f"{len(self.names)} names and {len(self.times)} times for {len(starts) - 1} sequences "
                f"of {self.table.n_rows} slices"
            )

    @classmethod
    def from_table(cls, table: Table, starts: Sequence[int] | Integers | None = None) -> Sequences:
        """A table's rows as they stand, cut into sequences (without `starts` they are one)."""
        cuts = np.asarray([0, table.n_rows] if starts is None else starts, dtype=np.int64)
        place = np.arange(table.n_rows) - np.repeat(cuts[:-1], np.diff(cuts))
        rows = np.arange(table.n_rows)
        return cls(table, cuts, tuple(range(len(cuts) - 1)), place.astype(np.float64), rows)

    @property
    def variables(self) -> tuple[str, ...]:
        return self.table.variables

    @property
    def states(self) -> dict[str, tuple[Label, ...]]:
        return self.table.states

    @property
    def n_slices(self) -> int:
        return self.table.n_rows

    @property
    def lengths(self) -> Integers:
        return np.diff(self.starts)

    @cached_property
    def position(self) -> Integers:
        """How far each slice is from the beginning of its sequence."""
        return np.arange(self.n_slices) - np.repeat(self.starts[:-1], self.lengths)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Sequences:
        return self.take([range(len(self))[index]])

    def __iter__(self) -> Iterator[Sequences]:
        return (self[index] for index in range(len(self)))

    def take(self, indices: Iterable[int] | NDArray[np.integer]) -> Sequences:
        """These sequences, in this order (repeats allowed: that is a resample)."""
        chosen = [range(len(self))[int(index)] for index in indices]
        return self._cut([(int(self.starts[i]), int(self.starts[i + 1]), i) for i in chosen])

    def stretches(self, ranges: Iterable[tuple[int, int]]) -> Sequences:
        """The slices of each range (from, up to), every range cut where a sequence ends: blocks, folds, halves."""
        pieces = []
        for low, high in ranges:
            if not 0 <= low <= high <= self.n_slices:
                raise OptionError(f"slices {low} to {high}: expected a range within 0 to {self.n_slices}")
            first = int(np.searchsorted(self.starts, low, side="right")) - 1
            while low < high:
                end = min(high, int(self.starts[first + 1]))
                pieces.append((low, end, first))
                low, first = end, first + 1
        return self._cut(pieces)

    def split(self, time: Any = None, *, slices: int | None = None) -> tuple[Sequences, Sequences]:
        """What comes before a time (or the first so many slices), and what comes from then on."""
        if (time is None) == (slices is None):
            raise OptionError("split at a time, or at a number of slices (slices=): give one of them")
        if slices is not None:
            return self.stretches([(0, slices)]), self.stretches([(slices, self.n_slices)])
        moment = self._moment(time)
        pairs = zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)
        cuts = [(low, low + int(np.searchsorted(self.times[low:high], moment)), high) for low, high in pairs]
        return self.stretches((a, b) for a, b, _ in cuts), self.stretches((b, c) for _, b, c in cuts)

    def _moment(self, time: Any) -> float:
        if self.time_kind is TimeKind.TEXT:
            if str(time) not in self.time_labels:
                raise OptionError(f"split at {time!r}, which is no time here: {', '.join(self.time_labels[:4])}, …")
            return float(self.time_labels.index(str(time)))
        if self.time_kind is TimeKind.DATE:
            try:
                return float(np.datetime64(time, "us").astype(np.int64)) / 864e8
            except ValueError:
                raise OptionError(f"split at {time!r}: expected a date such as 2024-05-01") from None
        return float(time)

    def _cut(self, pieces: Sequence[tuple[int, int, int]]) -> Sequences:
        """Slices low to high of sequence i, piece after piece."""
        kept = [(low, high, i) for low, high, i in pieces if high > low]
        if not kept:
            raise OptionError("no slices are left: choose sequences or a time that leave some")
        chosen = np.concatenate([np.arange(low, high) for low, high, _ in kept])
        return replace(
            self,
            table=self.table.take(chosen),
            starts=np.concatenate([[0], np.cumsum([high - low for low, high, _ in kept])]).astype(np.int64),
            names=tuple(self.names[i] for _, _, i in kept),
            times=self.times[chosen],
            rows=self.rows[chosen],
            numbers={name: values[chosen] for name, values in self.numbers.items()},
        )

    def with_table(self, table: Table) -> Sequences:
        """The same slices with other columns: something computed, or only some of them."""
        if table.n_rows != self.n_slices:
            raise TableError(f"{table.n_rows} rows for {self.n_slices} slices: one each is needed")
        return replace(self, table=table)

    def select(self, names: Iterable[str]) -> Sequences:
        """These columns, in this order."""
        return self.with_table(self.table.select(names))

    def drop(self, *names: str) -> Sequences:
        """Every column but these."""
        return self.with_table(self.table.drop(*names))

    def window_slices(self, lags: int, *, partial: bool = False) -> Integers:
        """The slices that `windows` has rows for: those with all lags in their own sequence, or all (partial)."""
        return np.arange(self.n_slices) if partial else np.flatnonzero(self.position >= lags)

    def windows(self, lags: int, *, partial: bool = False) -> Table:
        """One row a slice, with columns X for now, X[-1], X[-2]… for the slices before, so that any search of
        networks learns about time. `partial` keeps the beginnings, with holes for what was before them."""
        if lags < 0:
            raise OptionError(f"lags={lags}: expected 0 or more")
        slices = self.window_slices(lags, partial=partial)
        if not len(slices):
            raise TableError(f"no sequence is longer than {lags} slices: fewer lags, or partial=True, are needed")
        codes = np.empty(((lags + 1) * len(self.table.columns), len(slices)), dtype=self.table.codes.dtype)
        for lag in range(lags + 1):
            block = codes[lag * len(self.table.columns) : (lag + 1) * len(self.table.columns)]
            block[:] = self.table.codes[:, np.maximum(slices - lag, 0)]
            block[:, self.position[slices] < lag] = self.table.missing
        columns = tuple(
            replace(column, name=lagged(column.name, lag)) for lag in range(lags + 1) for column in self.table.columns
        )
        return Table(columns, codes)

    def time_text(self, slice_: int) -> str:
        """A slice's time as the user would write it."""
        return time_text(float(self.times[slice_]), self.time_kind, self.time_labels)

    def by_row(self, values: NDArray[Any]) -> NDArray[Any]:
        """What was computed for each slice, put back in the order of the rows as they came (filled gaps left out)."""
        there = self.rows >= 0
        return values[there][np.argsort(self.rows[there], kind="stable")]

    def __repr__(self) -> str:
        holes = f", {self.table.n_missing} holes" if self.table.n_missing else ""
        return f"Sequences({len(self)} of {self.n_slices} slices in all, {len(self.table.columns)} variables{holes})"
