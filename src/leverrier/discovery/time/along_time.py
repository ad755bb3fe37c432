"""Of sequences, small numbers that a report shows: states along time, how long they last, what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leverrier.discovery.time.time_unit import STEP, TimeUnit


@dataclass(frozen=True)
class Span:
    """Slices in a row in one state: where they lie in time, which state, and how sure that is on average."""

    begin: float
    end: float
    state: int
    certainty: float


@dataclass(frozen=True)
class Ribbon:
    """One sequence's most probable states of one hidden variable."""

    hidden: str
    sequence: str
    spans: tuple[Span, ...]
    slices: int
    left_out: int


@dataclass(frozen=True)
class Stays:
    """How long one state lasted each time: lengths and how often each was seen (ends of sequences included)."""

    hidden: str
    state: int
    lengths: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def mean(self) -> float:
        total = sum(self.counts)
        return sum(length * count for length, count in zip(self.lengths, self.counts, strict=True)) / max(total, 1)


@dataclass(frozen=True)
class Ahead:
    """After one sequence, so many slices ahead: P(state) of a hidden variable or a column."""

    name: str
    sequence: str
    labels: tuple[str, ...]
    probabilities: tuple[tuple[float, ...], ...]
    hidden: bool


@dataclass(frozen=True)
class AlongTime:
    """What a report shows of sequences beside the findings."""

    longest: int
    shortest: int
    time: str
    """The name of what orders slices."""
    certainty: Mapping[str, float]
    """By hidden variable: the mean probability of the most probable state."""
    ribbons: tuple[Ribbon, ...] = ()
    stays: tuple[Stays, ...] = ()
    ahead: tuple[Ahead, ...] = ()
    unit: TimeUnit = STEP
    """What one slice is in the reader's own time."""
    sequences: int = 0
    """How many there are, drawn or not; 0 in files saved before."""
