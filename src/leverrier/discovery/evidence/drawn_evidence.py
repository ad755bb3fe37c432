"""A gain beside those of simulated tables, drawn until the test is decided, as evidence with a level.

Whoever knows how to draw a table with nothing hidden and to search it hands over that function: tables of states, of
numbers, of classes are tested by the same rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from leverrier.discovery.evidence import sequential_test
from leverrier.discovery.evidence.evidence import Compared, Evidence, Stopped
from leverrier.discovery.evidence.sequential_test import MonteCarlo, cut_short, draws_needed, monte_carlo
from leverrier.run.codecs import Key
from leverrier.run.event import Event
from leverrier.run.run import Run

FIRST_BATCH, MOST_BATCH = 4, 32
"""Draws between two looks at whether the answer is clear; the answer does not depend on them."""

Draw = Callable[[np.random.SeedSequence], float]
"""The gain in one simulated table; NaN if time ran out over it."""


def drawn_evidence(
    gain: float,
    draw: Draw,
    seeds: Sequence[np.random.SeedSequence],
    keys: Sequence[Key],
    level: float,
    run: Run,
    event: Event = Event.NULL_TABLES,
    kind: Compared = Compared.SCORE,
) -> Evidence:
    """Tables drawn one after another until so many gain as much that chance explains it, or all are drawn."""
    draws, gains = len(seeds), list[float]()
    test: MonteCarlo | None = None
    for batch in _batches(draws):
        drawn = run.map(draw, [(seed,) for seed in seeds[batch]], keys[batch])
        whole = _before_the_end(drawn)
        gains += whole
        run.tell(event, len(gains) / draws)
        test = monte_carlo(gain, gains, draws)
        if test is not None or len(whole) < batch.stop - batch.start:
            break
    return evidence_of(gain, gains, test, level, kind)


def evidence_of(
    gain: float, gains: Sequence[float], test: MonteCarlo | None, level: float, kind: Compared = Compared.SCORE
) -> Evidence:
    """What the draws that there are say; `test` is None where time ended them.

    With fewer draws than the level needs, a gain that none of them reaches is accepted for the time being: see
    `Evidence.provisional`.
    """
    said = cut_short(gain, gains) if test is None else test
    enough = said.drawn >= draws_needed(level)
    accepted = said.rejects(level) if enough else said.reached == 0
    return Evidence(
        gain,
        tuple(gains[: said.drawn]),
        said.p_value if said.drawn else None,
        accepted,
        tested=said.drawn > 0,  # (in no time at all nothing is tested)
        stopped=_WHY[said.stopped],
        kind=kind,
        level=level,
        p_interval=said.interval if said.drawn else None,
        tail=said.tail,
    )


def unseen(level: float) -> Evidence:
    """Of a gain that the statistic of the test does not see in the data: every simulated table gains as much, so none
    need be drawn."""
    return Evidence(0.0, p_value=1.0, accepted=False, tested=True, stopped=Stopped.UNSEEN, level=level)


_WHY = {
    sequential_test.Stopped.COMPLETE: None,
    sequential_test.Stopped.REACHED: Stopped.ALIKE,
    sequential_test.Stopped.CUT: Stopped.BUDGET,
}


def _batches(draws: int) -> Iterator[slice]:
    first, size = 0, FIRST_BATCH
    while first < draws:
        yield slice(first, min(first + size, draws))
        first, size = first + size, min(2 * size, MOST_BATCH)


def _before_the_end(drawn: Sequence[float]) -> list[float]:
    """Those before the first that time cut: a later one that came through in time was a quick one, not any one."""
    cut = next((place for place, each in enumerate(drawn) if np.isnan(each)), len(drawn))
    return list(drawn[:cut])
