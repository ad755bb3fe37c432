"""What a slice can be predicted from: columns at earlier slices, and memories that are fixed functions of the past.

Every feature of slice t is computed from slices before t (lag 0 aside), within its own sequence. A code one beyond the
feature's states means "not known": before the sequence began, or a hole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Table, Variable

Codes = NDArray[np.unsignedinteger]
Offsets = NDArray[np.int64]
MemoryKind = Literal["average", "activity", "step", "run", "since", "before", "total", "position"]
KINDS: tuple[MemoryKind, ...] = ("average", "activity", "step", "run", "since", "before", "total", "position")
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


@dataclass(frozen=True)
class Memory:
    """A fixed function of a column's past.

    average    the mean of the column's codes, older slices weighing less (`span` slices on average)
    activity   how often it changed lately, in the same way
    step       how far it moved over the last `span` slices
    run        for how many slices it has had its present state
    since      slices since it was last in `state`
    before     the state it had before the present one
    total      the sum of its numbers since the sequence began, modulo `span`
    position   slices since the sequence began
    """

    variable: str
    kind: MemoryKind
    span: int = 0
    state: int = 0
    label: str = ""

    @property
    def name(self) -> str:
        if self.kind in ("average", "activity"):
            return f"{self.kind} of {self.variable} over {self.span}"
        if self.kind == "step":
            return f"step of {self.variable} over {self.span}"
        if self.kind == "since":
            return f"slices since {self.variable} = {self.label or self.state}"
        if self.kind == "total":
            return f"sum of {self.variable} mod {self.span}"
        if self.kind == "run":
            return f"run length of {self.variable}"
        return f"{self.variable} before its last change" if self.kind == "before" else "slices since the start"


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
            row, size = _remembered(feature, cells, starts, begun, variable)
            in_order = feature.kind not in ("before", "total") or (feature.kind == "before" and variable.ordered)
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


def memory_features(table: Table, kinds: Sequence[MemoryKind] = KINDS) -> tuple[Memory, ...]:
    """The memories worth trying for these columns."""
    found: list[Memory] = []
    for variable in table.columns:
        name, r = variable.name, variable.cardinality
        if r < 2:
            continue
        share = np.bincount(
            table.codes[table.index(name)][table.codes[table.index(name)] != table.missing], minlength=r
        ) / max(table.n_rows, 1)
        if "average" in kinds and (variable.ordered or r == 2):
            found += [Memory(name, "average", span) for span in (4, 16, 64, 256)]
        if "activity" in kinds:
            found += [Memory(name, "activity", span) for span in (8, 64)]
        if "step" in kinds and variable.ordered and 3 < r < 120:
            found += [Memory(name, "step", span) for span in (1, 2, 4)]
        if "run" in kinds:
            found.append(Memory(name, "run"))
        if "before" in kinds and r > 2:
            found.append(Memory(name, "before"))
        if "since" in kinds:
            rare = [int(s) for s in np.argsort(share) if 0 < share[s] < 0.3][:3]
            found += [Memory(name, "since", state=s, label=str(variable.states[s])) for s in rare]
        if "total" in kinds and variable.ordered and numbers(variable) is not None and r > 2:
            found += [Memory(name, "total", span) for span in (8, 12, 16)]
    if "position" in kinds and table.columns:
        found.append(Memory(table.columns[0].name, "position"))
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


def _remembered(
    memory: Memory, cells: NDArray[np.int64], starts: Offsets, begun: NDArray[np.int64], variable: Variable
) -> tuple[NDArray[np.int64], int]:
    r = variable.cardinality
    before = _lagged(cells, begun, 1, r)
    if memory.kind == "position":
        return np.searchsorted(SPANS, begun, side="right"), len(SPANS) + 1
    if memory.kind == "step":
        old = _lagged(cells, begun, 1 + memory.span, r)
        return np.where((before < r) & (old < r), before - old + r - 1, 2 * r - 1), 2 * r - 1
    if memory.kind == "average":
        values = np.where(cells < r, cells / max(r - 1, 1), np.nan)
        return _grid(_smoothed(values, memory.span, starts), begun), LEVELS
    changed = (cells != before) & (cells < r) & (before < r)
    if memory.kind == "activity":
        return _grid(_smoothed(changed.astype(np.float64), memory.span, starts), begun), LEVELS
    place = np.arange(len(cells))
    first = np.repeat(starts[:-1], np.diff(starts))
    if memory.kind == "since":
        last = np.maximum.accumulate(np.where(cells == memory.state, place, -1))
        last = _lagged(last, begun, 1, -1)
        gap = np.where(last >= first, place - last, SPANS[-1] + 1)
        return np.where(begun == 0, len(SPANS) + 1, np.searchsorted(SPANS, gap, side="left")), len(SPANS) + 1
    turn = np.maximum.accumulate(np.where(changed | (begun == 0), place, -1))  # where the present run began
    if memory.kind == "run":
        length = place - _lagged(turn, begun, 1, 0)
        return np.where(begun == 0, len(SPANS) + 1, np.searchsorted(SPANS, length, side="left")), len(SPANS) + 1
    if memory.kind == "before":
        old = before[turn]  # at the run's first slice, the state one slice earlier
        return _lagged(old, begun, 1, r), r
    values = numbers(variable)
    step = np.where(cells < r, (np.arange(r) if values is None else values)[np.minimum(cells, r - 1)], 0)
    running = np.cumsum(step)
    earlier = (
        running
        - step
        - np.repeat((running - step)[starts[:-1][np.diff(starts) > 0]], np.diff(starts)[np.diff(starts) > 0])
    )
    return np.mod(earlier, memory.span), memory.span


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
