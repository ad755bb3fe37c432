"""What a report shows of sequences beside the findings: states along time, how long they last, what comes next.

All of it is small and holds no cell of the data, so that a saved discovery can make its report without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.sequences.sequences import Sequences
from leverrier.discovery.time.time_findings import HiddenChain, TimeFindings
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.slices.slice_forecast import simulate

Floats = NDArray[np.float64]
MOST_SLICES, MOST_SPANS = 800, 250
"""Of a ribbon."""
RIBBONS = 4
"""So many sequences are drawn, the longest first."""
STEPS = 12
DRAWS = 200
MOST_LENGTHS = 400
MOST_AHEAD = 4
"""Columns whose future is drawn."""


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
class TimeSummary:
    """The small numbers of a report."""

    sequences: int
    longest: int
    shortest: int
    holes: int
    columns: int
    time: str
    certainty: Mapping[str, float]
    """By hidden variable: the mean probability of the most probable state."""
    ribbons: tuple[Ribbon, ...] = ()
    stays: tuple[Stays, ...] = ()
    ahead: tuple[Ahead, ...] = ()
    seconds: float = 0.0


def describe(found: TimeFindings, sequences: Sequences, seed: int, seconds: float = 0.0) -> TimeSummary:
    """Everything that needs the sequences, so that the rest can do without; what comes next only if there was time."""
    ribbons = [each for one in found.hidden for each in _ribbons(one, sequences)]
    stays = [each for one in found.hidden for each in _stays(one, sequences)]
    sure = {one.name: float(one.posterior.max(axis=1).mean()) for one in found.hidden}
    return TimeSummary(
        len(sequences),
        int(sequences.lengths.max()),
        int(sequences.lengths.min()),
        int(sequences.table.n_missing),
        len(sequences.variables),
        sequences.time or "slice",
        sure,
        tuple(ribbons),
        tuple(stays),
        tuple(_ahead(found, sequences, seed)) if found.finished else (),
        seconds,
    )


def _ribbons(one: HiddenChain, sequences: Sequences) -> list[Ribbon]:
    """The longest sequences, or the first stretches of a few: each so long that its spans can be told apart."""
    longest = sorted(range(len(sequences)), key=lambda i: (-int(sequences.lengths[i]), i))
    made: list[Ribbon] = []
    for index in longest:
        low, end = int(sequences.starts[index]), int(sequences.starts[index + 1])
        while low < end and len(made) < RIBBONS:
            made.append(_ribbon(one, sequences, index, low, end))
            low += made[-1].slices
            if len(sequences) >= RIBBONS:
                break
    return made


def _ribbon(one: HiddenChain, sequences: Sequences, index: int, low: int, end: int) -> Ribbon:
    high = min(end, low + MOST_SLICES)
    path = one.posterior[low:high].argmax(axis=1)
    edges = [0, *(np.flatnonzero(np.diff(path)) + 1).tolist(), len(path)][: MOST_SPANS + 1]
    high = low + edges[-1]
    sure = one.posterior[low:high].max(axis=1)
    times = _times(sequences, low, high)
    spans = tuple(
        Span(float(times[a]), float(times[b]), int(path[a]), float(sure[a:b].mean())) for a, b in pairwise(edges)
    )
    return Ribbon(one.name, str(sequences.names[index]), spans, high - low, end - high)


def _times(sequences: Sequences, low: int, high: int) -> Floats:
    """The time of each slice and of the one after the last; places where times are text or dates."""
    if sequences.time_kind != "number":
        begin = int(sequences.position[low])
        return np.arange(begin, begin + high - low + 1, dtype=np.float64)
    times = sequences.times[low:high]
    step = float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    return np.append(times, times[-1] + step)


def _stays(one: HiddenChain, sequences: Sequences) -> list[Stays]:
    path = one.posterior.argmax(axis=1)
    breaks = np.flatnonzero((np.diff(path) != 0) | (np.diff(sequences.position) < 1)) + 1
    edges = np.concatenate([[0], breaks, [len(path)]])
    lengths, states = np.diff(edges), path[edges[:-1]]
    made = []
    for state in range(one.states):
        found, counts = (
            each[-MOST_LENGTHS:].tolist() for each in np.unique(lengths[states == state], return_counts=True)
        )
        made.append(Stays(one.name, state, tuple(found), tuple(counts)))
    return made


def _ahead(found: TimeFindings, sequences: Sequences, seed: int) -> list[Ahead]:
    """After the longest sequence: a network computes it, a model of slices is sampled on."""
    last = int(np.argmax(sequences.lengths))
    one = sequences[last]
    hidden = [each.name for each in found.hidden]
    columns = list(dict.fromkeys(name for each in found.hidden for name in each.drives)) or list(one.variables)
    if isinstance(found.model, DynamicNetwork):
        drawn = {name: table[0] for name, table in found.model.forecast(one, STEPS).probabilities.items()}
    else:
        drawn = simulate(found.model, one, STEPS, DRAWS, np.random.default_rng(seed), found.order)
    made = []
    for name in (*hidden, *columns[:MOST_AHEAD]):
        labels = one.states.get(name) or _labels(found, name) or tuple(range(drawn[name].shape[1]))
        shares = tuple(tuple(row) for row in drawn[name].tolist())
        made.append(Ahead(name, str(one.names[0]), tuple(map(str, labels)), shares, name in hidden))
    return made


def _labels(found: TimeFindings, name: str) -> tuple[str, ...]:
    return next((one.labels for one in found.hidden if one.name == name), ())


def read_summary(content: Mapping[str, Any]) -> TimeSummary:
    """What `asdict` made of one."""
    ribbons = tuple(
        Ribbon(**{**each, "spans": tuple(Span(**span) for span in each["spans"])}) for each in content["ribbons"]
    )
    stays = tuple(
        Stays(each["hidden"], each["state"], tuple(each["lengths"]), tuple(each["counts"])) for each in content["stays"]
    )
    ahead = tuple(
        Ahead(
            each["name"],
            each["sequence"],
            tuple(each["labels"]),
            tuple(map(tuple, each["probabilities"])),
            each["hidden"],
        )
        for each in content["ahead"]
    )
    return TimeSummary(**{**content, "ribbons": ribbons, "stays": stays, "ahead": ahead})
