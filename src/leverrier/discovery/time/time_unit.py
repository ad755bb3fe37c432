"""What one slice is in the reader's own time: days, visits, waves; or only a time step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.time_axis import TimeKind

UNITS = frozenset(
    {"second", "minute", "hour", "day", "night", "week", "month", "quarter", "season", "year"}
    | {"visit", "wave", "trial", "session", "round", "block", "shift", "lesson", "period", "generation"}
    | {"game", "match", "lap", "beat", "measure", "frame"}
)
OTHER_NAMES = {"age": "year", "timepoint": "time point"}
DATED = (("year", 365.25), ("quarter", 91.3), ("month", 30.44), ("week", 7.0), ("day", 1.0), ("hour", 1 / 24))
CLOSE = 0.03
"""Steps that differ by no more than this share are one and the same: months are not equally long."""


@dataclass(frozen=True)
class TimeUnit:
    """A unit's name and how many of them lie between two slices."""

    name: str = "time step"
    step: float = 1.0


STEP = TimeUnit()


def time_unit(sequences: Sequences) -> TimeUnit:
    """From the name of the time column and its steps; a time step where they tell nothing."""
    named = _named(sequences.time or "")
    if not sequences.time_kind.measured:
        return STEP if named is None else TimeUnit(named)
    inside = np.flatnonzero(sequences.position > 0)
    steps = sequences.times[inside] - sequences.times[inside - 1]
    if not len(steps) or not np.all(np.isfinite(steps)):
        return STEP
    usual = float(np.median(steps))
    dated = sequences.time_kind is TimeKind.DATE
    if usual <= 0 or np.mean(np.abs(steps - usual) > (0.1 if dated else CLOSE) * usual) > CLOSE:
        return STEP  # (uneven times: so many slices are no length of time)
    if dated:
        return next((TimeUnit(name) for name, days in DATED if abs(usual / days - 1) < 0.1), TimeUnit("day", usual))
    return STEP if named is None else TimeUnit(named, usual)


def _named(column: str) -> str | None:
    word = column.strip().lower()
    for each in (word, word.removesuffix("s"), word.removesuffix("_nr").removesuffix("_no")):
        if each in UNITS or each in OTHER_NAMES:
            return OTHER_NAMES.get(each, each)
    return None
