"""What a report shows of sequences beside the findings: states along time, how long they last, what comes next.

All of it is small and holds no cell of the data, so that a saved discovery can make its report without them.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.time_axis import TimeKind
from leverrier.discovery.time.along_time import Ahead, AlongTime, Ribbon, Span, Stays
from leverrier.discovery.time.hidden_chain import HiddenChain
from leverrier.discovery.time.time_findings import TimeFindings
from leverrier.discovery.time.time_unit import time_unit

MOST_SLICES, MOST_SPANS = 800, 250
"""Of a ribbon."""
RIBBONS, STRETCHES = 60, 4
"""So many sequences are drawn, the longest first; of a few, so many stretches."""
MOST_IN_ALL = 2_500
"""Spans of all ribbons together: more would make a page heavy."""
STEPS = 12
MOST_LENGTHS = 400
MOST_AHEAD = 4
"""Columns whose future is drawn."""


def describe(found: TimeFindings, sequences: Sequences, seed: int) -> AlongTime:
    """Everything that needs the sequences, so that the rest can do without; what comes next only if there was time."""
    ribbons = [each for one in found.hidden for each in _ribbons(one, sequences)]
    stays = [each for one in found.hidden for each in _stays(one, sequences)]
    sure = {one.name: float(one.posterior.max(axis=1).mean()) for one in found.hidden}
    return AlongTime(
        int(sequences.lengths.max()),
        int(sequences.lengths.min()),
        sequences.time or "time step",
        sure,
        tuple(ribbons),
        tuple(stays),
        tuple(_ahead(found, sequences, seed)) if found.finished else (),
        time_unit(sequences),
        len(sequences),
    )


def _ribbons(one: HiddenChain, sequences: Sequences) -> list[Ribbon]:
    """The longest sequences, or the first stretches of a few: each so long that its spans can be told apart."""
    longest = sorted(range(len(sequences)), key=lambda i: (-int(sequences.lengths[i]), i))
    few = len(sequences) < STRETCHES
    made: list[Ribbon] = []
    for index in longest[: STRETCHES if few else RIBBONS]:
        low, end = int(sequences.starts[index]), int(sequences.starts[index + 1])
        while low < end and (not few or len(made) < STRETCHES):
            made.append(_ribbon(one, sequences, index, low, end))
            low += made[-1].slices
            if not few:
                break
        if sum(len(each.spans) for each in made) > MOST_IN_ALL:
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
    if sequences.time_kind is not TimeKind.NUMBER:
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
    """After the longest sequence, what the model expects."""
    last = int(np.argmax(sequences.lengths))
    one = sequences[last]
    hidden = [each.name for each in found.hidden]
    columns = list(dict.fromkeys(name for each in found.hidden for name in each.drives)) or list(one.variables)
    drawn = found.face.ahead(one, STEPS, seed)
    made = []
    columns = [name for name in columns if name in drawn]  # (inputs are given, not foretold)
    for name in (*(each for each in hidden if each in drawn), *columns[:MOST_AHEAD]):
        labels = one.states.get(name) or _labels(found, name) or tuple(range(drawn[name].shape[1]))
        shares = tuple(tuple(row) for row in drawn[name].tolist())
        made.append(Ahead(name, str(one.names[0]), tuple(map(str, labels)), shares, name in hidden))
    return made


def _labels(found: TimeFindings, name: str) -> tuple[str, ...]:
    return next((one.labels for one in found.hidden if one.name == name), ())
