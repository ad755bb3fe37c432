"""What a slice can be predicted from: columns at earlier slices, and memories that are fixed functions of the past.

Every feature of slice t is computed from slices before t (lag 0 aside), within its own sequence. A code one beyond the
feature's states means "not known": before the sequence began, or a hole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Table, Variable
from leverrier.kinds import Kinds

Codes = NDArray[np.unsignedinteger]
Offsets = NDArray[np.int64]
LEVELS = 24
"""A moving average is read on a grid of this many levels."""
SPANS = np.array([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 19, 24, 30, 40, 55, 75, 100, 150, 250, 500])
"""Lengths of time are told apart at these many slices."""


@dataclass(frozen=True)
class Lag:
    """A column so many slices back."""

    variable: str
    lag: int

    @property
    def name(self) -> str:
        return f"{self.variable}[-{self.lag}]" if self.lag else self.variable


class MemoryKind(Kinds):
    """What of a column's past is kept."""

    AVERAGE = "average"
    """The mean of the column's codes, older slices weighing less (`span` slices on average)."""
    ACTIVITY = "activity"
    """How often it changed lately, in the same way."""
    STEP = "step"
    """How far it moved over the last `span` slices."""
    RUN = "run"
    """For how many slices it has had its present state."""
    SINCE = "since"
    """Slices since it was last in `state`."""
    BEFORE = "before"
    """The state it had before the present one."""
    TOTAL = "total"
    """The sum of its numbers since the sequence began, modulo `span`."""
    POSITION = "position"
    """Slices since the sequence began."""


_NAMED = {
    MemoryKind.AVERAGE: "average of {0.variable} over {0.span}",
    MemoryKind.ACTIVITY: "activity of {0.variable} over {0.span}",
    MemoryKind.STEP: "step of {0.variable} over {0.span}",
    MemoryKind.RUN: "run length of {0.variable}",
    MemoryKind.SINCE: "slices since {0.variable} = {0.which}",
    MemoryKind.BEFORE: "{0.variable} before its last change",
    MemoryKind.TOTAL: "sum of {0.variable} mod {0.span}",
    MemoryKind.POSITION: "slices since the start",
}


@dataclass(frozen=True)
class Memory:
    """A fixed function of a column's past."""

    variable: str
    kind: MemoryKind
    span: int = 0
    state: int = 0
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", MemoryKind(self.kind))

    @property
    def which(self) -> str | int:
        """The state that is meant, as it is called if that is known."""
        return self.label or self.state

    @property
    def name(self) -> str:
        return _NAMED[self.kind].format(self)


Feature = Lag | Memory


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Codes of (features, slices), each feature's number of codes (the unknown one too), and which are in order."""

    features: tuple[Feature, ...]
    codes: Codes
    cardinalities: NDArray[np.int64]
    ordinal: NDArray[np.bool_]


def numbers(variable: Variable) -> NDArray[np.int64] | None:
    """The states' labels as whole numbers, if that is what they all are."""
    values = []
    for label in variable.states:
        try:
            value = float(str(label))
        except ValueError:
            return None
        if not value.is_integer() or abs(value) > 10**6:
            return None
        values.append(int(value))
    return np.array(values, dtype=np.int64)


def feature_table(table: Table, starts: Offsets, features: Sequence[Feature]) -> FeatureTable:
    """Compute features for every slice of stacked sequences (starts: where each begins, and the end)."""
    rows, sizes, ordered = [], [], []
    begun = _position(starts)
    for feature in features:
        variable = table.columns[table.index(feature.variable)]
        known = table.codes[table.index(feature.variable)]
        cells = np.where(known == table.missing, variable.cardinality, known).astype(np.int64)
        if isinstance(feature, Lag):
            row, size = _lagged(cells, begun, feature.lag, variable.cardinality), variable.cardinality
            in_order = variable.ordered
        else:
            row, size = _REMEMBERED[feature.kind](feature, _Past(cells, starts, begun, variable))
            in_order = {MemoryKind.BEFORE: variable.ordered, MemoryKind.TOTAL: False}.get(feature.kind, True)
        rows.append(row)
        sizes.append(size + 1)
        ordered.append(in_order)
    width = int(starts[-1])
    kind = np.uint8 if max(sizes, default=0) <= 256 else np.uint16
    codes = np.array(rows, dtype=kind) if rows else np.zeros((0, width), dtype=kind)
    return FeatureTable(tuple(features), codes, np.array(sizes, dtype=np.int64), np.array(ordered, dtype=np.bool_))


def lag_features(variables: Sequence[str], lags: int) -> tuple[Lag, ...]:
    """Every column at lags 1 to `lags`, nearest first."""
    return tuple(Lag(name, lag) for lag in range(1, lags + 1) for name in variables)


def memory_features(table: Table) -> tuple[Memory, ...]:
    """The memories worth trying for these columns."""
    found: list[Memory] = []
    for variable in table.columns:
        name, r = variable.name, variable.cardinality
        if r < 2:
            continue
        codes = table.column(name)
        share = np.bincount(codes[codes != table.missing], minlength=r) / max(table.n_rows, 1)
        if variable.ordered or r == 2:
            found += [Memory(name, MemoryKind.AVERAGE, span) for span in (4, 16, 64, 256)]
        found += [Memory(name, MemoryKind.ACTIVITY, span) for span in (8, 64)]
        if variable.ordered and 3 < r < 120:
            found += [Memory(name, MemoryKind.STEP, span) for span in (1, 2, 4)]
        found.append(Memory(name, MemoryKind.RUN))
        if r > 2:
            found.append(Memory(name, MemoryKind.BEFORE))
        rare = [int(s) for s in np.argsort(share) if 0 < share[s] < 0.3][:3]
        found += [Memory(name, MemoryKind.SINCE, state=s, label=str(variable.states[s])) for s in rare]
        if variable.ordered and numbers(variable) is not None and r > 2:
            found += [Memory(name, MemoryKind.TOTAL, span) for span in (8, 12, 16)]
    if table.columns:
        found.append(Memory(table.columns[0].name, MemoryKind.POSITION))
    return tuple(found)


def _position(starts: Offsets) -> NDArray[np.int64]:
    """By slice, how many slices of its sequence came before it."""
    return np.arange(int(starts[-1])) - np.repeat(starts[:-1], np.diff(starts))


def _lagged(cells: NDArray[np.int64], begun: NDArray[np.int64], lag: int, unknown: int) -> NDArray[np.int64]:
    if lag == 0:
        return cells
    out = np.full(len(cells), unknown, dtype=np.int64)
    out[lag:] = cells[:-lag] if lag < len(cells) else []
    out[begun < lag] = unknown
    return out


@dataclass(frozen=True, eq=False)
class _Past:
    """A column's codes by slice (one beyond its states for a hole), and what memories ask of them."""

    cells: NDArray[np.int64]
    starts: Offsets
    begun: NDArray[np.int64]
    variable: Variable

    @property
    def states(self) -> int:
        return self.variable.cardinality

    @property
    def place(self) -> NDArray[np.int64]:
        return np.arange(len(self.cells))

    @cached_property
    def before(self) -> NDArray[np.int64]:
        return self.lagged(1)

    @cached_property
    def changed(self) -> NDArray[np.bool_]:
        return (self.cells != self.before) & (self.cells < self.states) & (self.before < self.states)

    @cached_property
    def turn(self) -> NDArray[np.int64]:
        """Where the present run began."""
        return np.maximum.accumulate(np.where(self.changed | (self.begun == 0), self.place, -1))

    def lagged(self, lag: int) -> NDArray[np.int64]:
        return _lagged(self.cells, self.begun, lag, self.states)

    def spans(self, lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
        """Lengths of time as codes; unknown at the first slice."""
        known = np.searchsorted(SPANS, lengths, side="left")
        return np.where(self.begun == 0, len(SPANS) + 1, known), len(SPANS) + 1

    def levels(self, values: NDArray[np.float64], span: int) -> tuple[NDArray[np.int64], int]:
        """A moving average of these values on the grid."""
        return _grid(_smoothed(values, span, self.starts), self.begun), LEVELS


_Codes = tuple[NDArray[np.int64], int]
"""Codes by slice, and how many there are beside the unknown one."""


def _average(memory: Memory, past: _Past) -> _Codes:
    known = np.where(past.cells < past.states, past.cells / max(past.states - 1, 1), np.nan)
    return past.levels(known, memory.span)


def _activity(memory: Memory, past: _Past) -> _Codes:
    return past.levels(past.changed.astype(np.float64), memory.span)


def _step(memory: Memory, past: _Past) -> _Codes:
    r, now, old = past.states, past.before, past.lagged(1 + memory.span)
    return np.where((now < r) & (old < r), now - old + r - 1, 2 * r - 1), 2 * r - 1


def _run(memory: Memory, past: _Past) -> _Codes:  # noqa: ARG001
    return past.spans(past.place - _lagged(past.turn, past.begun, 1, 0))


def _since(memory: Memory, past: _Past) -> _Codes:
    first = np.repeat(past.starts[:-1], np.diff(past.starts))
    last = np.maximum.accumulate(np.where(past.cells == memory.state, past.place, -1))
    last = _lagged(last, past.begun, 1, -1)
    return past.spans(np.where(last >= first, past.place - last, SPANS[-1] + 1))


def _before(memory: Memory, past: _Past) -> _Codes:  # noqa: ARG001
    old = past.before[past.turn]  # at the run's first slice, the state one slice earlier
    return _lagged(old, past.begun, 1, past.states), past.states


def _total(memory: Memory, past: _Past) -> _Codes:
    r, starts, values = past.states, past.starts, numbers(past.variable)
    step = np.where(past.cells < r, (np.arange(r) if values is None else values)[np.minimum(past.cells, r - 1)], 0)
    running = np.cumsum(step) - step
    lengths = np.diff(starts)
    earlier = running - np.repeat(running[starts[:-1][lengths > 0]], lengths[lengths > 0])
    return np.mod(earlier, memory.span), memory.span


def _begun(memory: Memory, past: _Past) -> _Codes:  # noqa: ARG001
    return np.searchsorted(SPANS, past.begun, side="right"), len(SPANS) + 1


_REMEMBERED: dict[MemoryKind, Callable[[Memory, _Past], _Codes]] = {
    MemoryKind.AVERAGE: _average,
    MemoryKind.ACTIVITY: _activity,
    MemoryKind.STEP: _step,
    MemoryKind.RUN: _run,
    MemoryKind.SINCE: _since,
    MemoryKind.BEFORE: _before,
    MemoryKind.TOTAL: _total,
    MemoryKind.POSITION: _begun,
}


def _smoothed(values: NDArray[np.float64], span: int, starts: Offsets) -> NDArray[np.float64]:
    """The mean of all values before each slice, each `span` slices counting e times less; NaN before the first."""
    from scipy.signal import lfilter  # (late: with what it brings along it loads for a second)

    keep = np.exp(-1.0 / span)
    out = np.full(len(values), np.nan)
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        if end - begin < 2:
            continue
        part = values[begin : end - 1]
        seen = ~np.isnan(part)
        total = lfilter([1.0], [1.0, -keep], np.where(seen, part, 0.0))
        weight = lfilter([1.0], [1.0, -keep], seen.astype(np.float64))
        with np.errstate(invalid="ignore", divide="ignore"):
            out[begin + 1 : end] = np.asarray(total) / np.asarray(weight)
    return out


def _grid(values: NDArray[np.float64], begun: NDArray[np.int64]) -> NDArray[np.int64]:
    known = ~np.isnan(values) & (begun > 0)
    level = np.minimum((np.where(known, values, 0.0) * LEVELS).astype(np.int64), LEVELS - 1)
    return np.where(known, level, LEVELS)
