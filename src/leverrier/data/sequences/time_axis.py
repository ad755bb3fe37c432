"""When rows happened: times as numbers, rows put in order within their sequence, gaps found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.data.column import Column, date_text, is_number
from leverrier.data.reading.encoding import numbers
from leverrier.errors import OptionError, TableError
from leverrier.hints import option
from leverrier.kinds import Kinds

Gaps = Literal["fill", "split", "ignore"]

MOST_FILLED = 20
"""Gaps are not filled when that would make more than so many slices of each row: the step is surely another."""
UNEVEN = 1e-6
"""A distance this near to a whole number of steps, in steps, is one."""


class TimeKind(Kinds):
    """What times are."""

    NUMBER = "number"
    DATE = "date"
    """Days since 1970."""
    TEXT = "text"
    """Labels that only have an order."""
    ORDER = "order"
    """There are none, only the order of the rows."""

    @property
    def measured(self) -> bool:
        """Whether distances between times mean something."""
        return self in (TimeKind.NUMBER, TimeKind.DATE)


@dataclass(frozen=True, eq=False)
class Slices:
    """Rows in time order, sequence after sequence: `rows[s]` is the row of slice s, −1 where a gap was filled."""

    rows: Integers
    times: Floats
    starts: Integers
    sequence: Integers
    """Which of the source's sequences each of ours is (a split one comes several times)."""
    notes: tuple[str, ...]


def time_numbers(column: Column, codes: NDArray[np.signedinteger]) -> tuple[Floats, TimeKind, tuple[str, ...]]:
    """Each row's time as a number, what kind it is, and for text the labels that the numbers stand for."""
    hole = np.flatnonzero(codes < 0)
    if len(hole):
        raise TableError(f"time={column.name!r} is missing in row {hole[0] + 1}: every row needs a time")
    if column.dated:
        return numbers(column)[codes], TimeKind.DATE, ()
    if column.numeric or all(is_number(value) for value in column.values):
        values = numbers(column)
        if not np.isfinite(values).all():
            raise TableError(f"time={column.name!r} holds {values[~np.isfinite(values)][0]}: times must be finite")
        return values[codes], TimeKind.NUMBER, ()
    days = _days(column.values)
    if days is not None:
        return days[codes], TimeKind.DATE, ()
    return codes.astype(np.float64), TimeKind.TEXT, tuple(str(value) for value in column.labels)


def _days(values: Sequence[Any] | NDArray[Any]) -> Floats | None:
    """Texts such as 2024-05-01 or 2024-05-01T12:30 as days since 1970, if all of them are."""
    texts = [str(value).strip() for value in values]
    if not all(text[:4].isdigit() and text[4:5] == "-" for text in texts):
        return None
    try:
        moments = np.array(texts, dtype="M8[us]")
    except ValueError:
        return None
    return moments.astype(np.int64) / 864e8


def time_text(value: float, kind: TimeKind, labels: Sequence[str]) -> str:
    """A time as the user wrote it."""
    if kind is TimeKind.DATE:
        return date_text(value)
    if kind is TimeKind.TEXT:
        return labels[int(value)]
    return repr(float(value)).removesuffix(".0")


def lay_out(
    sequence: Integers, names: Sequence[Any], times: Floats, kind: TimeKind, labels: Sequence[str], gaps: Gaps
) -> Slices:
    """Rows sorted by sequence (in the order they first appear) and time; gaps filled, split or left."""
    if gaps not in ("fill", "split", "ignore"):
        raise OptionError(f'gaps={gaps!r}: expected "fill", "split" or "ignore"')
    order = np.lexsort((times, sequence))
    notes: list[str] = []
    if np.any((np.diff(sequence) == 0) & (np.diff(times) < 0)):
        notes.append("the rows of a sequence were not in time order and have been sorted by time.")
    sorted_times, which = times[order], sequence[order]
    inside = np.diff(which) == 0
    steps = np.diff(sorted_times)
    twice = np.flatnonzero(inside & (steps == 0))
    if len(twice):
        at = int(twice[0])
        rows = sorted(int(order[place]) + 1 for place in (at, at + 1))
        where = f" of sequence {names[which[at]]!r}" if len(names) > 1 else ""
        raise TableError(
            f"rows {rows[0]} and {rows[1]}{where} have the same time {time_text(sorted_times[at], kind, labels)}: "
            f"a sequence has one row a time; {option('by')} names what tells sequences apart, or make them one"
        )
    skipped = np.zeros(len(steps), dtype=np.int64)
    if kind.measured and gaps != "ignore":
        skipped, said = _skipped(steps, inside, kind)
        notes += said
    if gaps == "split":
        return _split(order, sorted_times, which, inside & (skipped == 0), notes)
    return _filled(order, sorted_times, which, inside, skipped, notes)


def _skipped(steps: Floats, inside: NDArray[np.bool_], kind: TimeKind) -> tuple[Integers, list[str]]:
    """How many times are left out between each row and the next: those of the commonest step."""
    none = np.zeros(len(steps), dtype=np.int64)
    within = steps[inside]
    if not len(within):
        return none, []
    values, counts = np.unique(np.round(within, 9), return_counts=True)
    step = float(values[np.argmax(counts)])
    if step <= 0:
        return none, []
    whole = np.rint(within / step)
    if np.any(np.abs(within / step - whole) > UNEVEN * np.maximum(whole, 1)) or np.any(whole < 1):
        return none, ["times are not evenly spaced: each row is taken as one slice after the row before it."]
    none[inside] = whole.astype(np.int64) - 1
    if none.any():
        unit = " days" if kind is TimeKind.DATE else ""
        return none, [
            f"{int((none > 0).sum())} gaps in time, {int(none.sum())} slices of step {step:g}{unit} "
            "without a row: those are all holes."
        ]
    return none, []


def _split(order: Integers, times: Floats, which: Integers, joined: NDArray[np.bool_], notes: list[str]) -> Slices:
    """A new sequence wherever two rows do not follow each other."""
    starts = np.concatenate([[0], np.flatnonzero(~joined) + 1, [len(order)]]).astype(np.int64)
    notes = [note.replace("those are all holes", "a new sequence begins after each") for note in notes]
    return Slices(order, times, starts, which[starts[:-1]], tuple(notes))


def _filled(
    order: Integers, times: Floats, which: Integers, inside: NDArray[np.bool_], skipped: Integers, notes: list[str]
) -> Slices:
    """Every slice in its place; those without a row are −1."""
    total = len(order) + int(skipped.sum())
    if total > MOST_FILLED * len(order) + 1000:
        raise TableError(
            f"filling the gaps in time would make {total:,} slices of {len(order):,} rows: "
            'gaps="split" begins a new sequence after each gap, gaps="ignore" takes rows as successive slices'
        )
    place = np.concatenate([[0], np.cumsum(skipped + 1)]).astype(np.int64)
    rows = np.full(total, -1, dtype=np.int64)
    rows[place] = order
    filled = np.interp(np.arange(total), place, times)
    firsts = np.concatenate([[0], np.flatnonzero(~inside) + 1]).astype(np.int64)
    return Slices(rows, filled, np.append(place[firsts], total), which[firsts], tuple(notes))
