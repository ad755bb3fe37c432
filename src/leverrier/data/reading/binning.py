"""Numbers cut into bins: where to cut, and what to call the pieces."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.errors import OptionError

Rule = Literal["quantile", "width"]


def choose_cuts(values: NDArray[np.float64], weights: NDArray[np.float64], bins: int, rule: Rule) -> tuple[float, ...]:
    """Inner cuts, ascending, for distinct ascending values with their weights: no bin is empty.

    "quantile" aims at equal weight in each bin; equal values are never parted, so ties may leave fewer bins.
    "width" aims at equal width between the least and the greatest finite value; empty bins join the next one.
    """
    if rule == "quantile":
        inner = _quantile_boundaries(weights, bins)
        return tuple(roundest(float(values[at - 1]), float(values[at])) for at in inner.tolist())
    if rule == "width":
        return _width_cuts(values, bins)
    raise OptionError(f'bin_rule={rule!r}: expected "quantile" or "width"')


def _width_cuts(values: NDArray[np.float64], bins: int) -> tuple[float, ...]:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return ()
    edges = np.linspace(finite[0], finite[-1], bins + 1)[1:-1]
    slack = (finite[-1] - finite[0]) / bins / 1000  # an edge may move this far to have fewer digits
    above, first = np.unique(np.searchsorted(values, edges, side="left"), return_index=True)
    return tuple(
        roundest(max(float(values[at - 1]), edge - slack), min(float(values[at]), edge + slack))
        for at, edge in zip(above.tolist(), edges[first].tolist(), strict=True)
        if 0 < at < len(values)
    )


def _quantile_boundaries(weights: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    """For each target k/bins the gap between two values that is nearest to it in weight."""
    below = np.cumsum(weights)[:-1]
    if not len(below) or below[-1] + weights[-1] <= 0:
        return np.empty(0, dtype=np.int64)
    targets = np.arange(1, bins) * ((below[-1] + weights[-1]) / bins)
    right = np.clip(np.searchsorted(below, targets), 0, len(below) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(np.abs(below[left] - targets) <= np.abs(below[right] - targets), left, right)
    return np.unique(nearest + 1)


def roundest(low: float, high: float) -> float:
    """The number with the fewest digits that parts two neighbours: low < cut <= high."""
    if not math.isfinite(low):
        return high if math.isfinite(high) else 0.0
    if not math.isfinite(high):
        if low == sys.float_info.max:
            return high  # no number lies between
        high = min(low + max(1.0, abs(low)), sys.float_info.max)  # (twice the largest numbers is infinite)
    if low < 0 <= high:
        return 0.0
    gap = high - low
    if not 1e-300 < gap < 1e300:
        return high
    coarsest = math.floor(math.log10(gap)) + 1
    for exponent in range(coarsest, coarsest - 4, -1):
        for digit in (5, 2, 1):
            step = digit * 10.0**exponent
            cut = round(math.floor(high / step) * step, max(0, -exponent))
            if low < cut <= high:
                return cut
    return high


def bin_labels(cuts: Sequence[float], text: Callable[[float], str] | None = None) -> tuple[str, ...]:
    """State names that show the cuts: "< 3.5", "3.5 – 7", "≥ 7"; each bin holds its lower cut."""
    shown = [(text or number_text)(cut) for cut in cuts]
    between = [f"{low} – {high}" for low, high in pairwise(shown)]
    return (f"< {shown[0]}", *between, f"≥ {shown[-1]}")


def cuts_of(states: Sequence[Hashable]) -> tuple[float, ...]:
    """The cuts that these state names show, or none if they are not the names of bins."""
    if len(states) < 2 or not all(isinstance(state, str) for state in states):
        return ()
    names = [str(state) for state in states]
    try:
        cuts = tuple(float(name.removeprefix("≥ ").partition(" – ")[0]) for name in names[1:])
    except ValueError:
        return ()
    return cuts if bin_labels(cuts) == tuple(names) else ()


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number; whole numbers without a point."""
    return repr(float(value)).removesuffix(".0")


def check_cuts(cuts: Sequence[float], name: str) -> tuple[float, ...]:
    """Cuts given by the user: finite and ascending."""
    given = tuple(float(cut) for cut in cuts)
    if not given or not all(map(math.isfinite, given)) or any(low >= high for low, high in pairwise(given)):
        raise OptionError(f"bins for {name!r} are {list(cuts)}: cuts must be finite, ascending and at least one")
    return given
