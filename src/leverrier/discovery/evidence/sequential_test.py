"""A p-value from simulated tables that stops as soon as it can, and is valid wherever it stops.

Besag and Clifford (1991, Biometrika 78, "Sequential Monte Carlo p-values"): draw until ENOUGH of the simulated gains
reach the observed one, or until all are drawn. If the h-th such gain is the l-th draw, p = h / l; if g < h of all n
draws reach it, p = (g + 1) / (n + 1). If the observed gain is one of the simulated kind, the order of all n + 1 gains
is uniform, and P(p ≤ a) ≤ a for every a: stopping early costs only digits, where the p-value is large anyway.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.special import betaincinv

ENOUGH = 3
"""Draws that reach the observed gain: then the p-value is known to about a factor of two, and it is not small. A table
with nothing hidden needs 13 of 99 draws on average; with 5 it would need 20, with 1 six, and p = 1 / draws."""
TAIL_SHARE, LEAST_TAIL = 0.25, 12
"""The largest quarter of the draws, if so many, say how the tail falls off."""


class Stopped(StrEnum):
    """Why a test drew no more tables; the value is the words."""

    COMPLETE = "all simulated tables were drawn"
    REACHED = "simulated tables gained as much often enough"
    CUT = "the time ran out"


@dataclass(frozen=True)
class MonteCarlo:
    """A Monte Carlo test: how many tables were drawn, how many gained as much, and what follows."""

    p_value: float
    """If the test was cut, (g + 1) / (n + 1) of what there is: valid, but it cannot be small."""
    drawn: int
    reached: int
    stopped: Stopped
    interval: tuple[float, float]
    """95 % for the chance that a simulated table gains as much (Clopper and Pearson)."""
    tail: float | None = None
    """That chance extrapolated from the largest gains by a generalised Pareto tail: information, never the gate."""

    def rejects(self, level: float) -> bool:
        """Whether chance is ruled out at this level."""
        return self.p_value <= level + 1e-12


def draws_needed(level: float) -> int:
    """The fewest draws that can give a p-value of `level`."""
    return math.ceil(1 / level - 1e-9) - 1


def monte_carlo(gain: float, gains: Sequence[float], draws: int) -> MonteCarlo | None:
    """The test on the gains drawn so far, of at most `draws`; None while more are needed.

    Draws beyond the one that settled it do not count, so that the answer does not depend on how many were made at once.
    """
    above = np.cumsum(np.asarray(gains, dtype=np.float64) >= gain)
    settled = int(np.searchsorted(above, ENOUGH)) + 1
    if settled <= len(above):
        return _test(gain, gains[:settled], ENOUGH, ENOUGH / settled, Stopped.REACHED)
    if len(gains) >= draws:
        return cut_short(gain, gains, Stopped.COMPLETE)
    return None


def cut_short(gain: float, gains: Sequence[float], stopped: Stopped = Stopped.CUT) -> MonteCarlo:
    """What the draws say that there are, however few."""
    reached = sum(each >= gain for each in gains)
    return _test(gain, gains, reached, (reached + 1) / (len(gains) + 1), stopped)


def _test(gain: float, gains: Sequence[float], reached: int, p: float, stopped: Stopped) -> MonteCarlo:
    tail = None if reached else tail_chance(gain, gains)
    return MonteCarlo(p, len(gains), reached, stopped, exact_interval(reached, len(gains)), tail)


def exact_interval(reached: int, drawn: int, cover: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's, for a share of which `reached` of `drawn` were seen."""
    half = (1 - cover) / 2
    low = float(betaincinv(reached, drawn - reached + 1, half)) if reached else 0.0
    high = float(betaincinv(reached + 1, drawn - reached, 1 - half)) if reached < drawn else 1.0
    return low, high


def tail_chance(gain: float, gains: Sequence[float]) -> float | None:
    """The chance of such a gain if the largest ones fall off as a generalised Pareto law, fitted by their weighted
    moments (Hosking and Wallis 1987); None where too few were drawn."""
    ordered = np.sort(np.asarray(gains, dtype=np.float64))
    n = round(TAIL_SHARE * len(ordered))
    if n < LEAST_TAIL:
        return None
    threshold, over = ordered[-n - 1], ordered[-n:] - ordered[-n - 1]
    mean = float(over.mean())
    weighted = float(over @ (1 - (np.arange(1, n + 1) - 0.35) / n)) / n
    if mean <= 0 or mean <= 2 * weighted + 1e-12:
        return None  # ties, or a tail so heavy that it has no mean
    shape = 2 - mean / (mean - 2 * weighted)  # (minus the usual ξ: Hosking and Wallis's k is mean/(mean − 2 w) − 2)
    scale = 2 * mean * weighted / (mean - 2 * weighted)
    beyond = 1 + shape * (gain - threshold) / scale
    if abs(shape) < 1e-9:
        return n / len(ordered) * math.exp(-(gain - threshold) / scale)
    return n / len(ordered) * beyond ** (-1 / shape) if beyond > 0 else 0.0
