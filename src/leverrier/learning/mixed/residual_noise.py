"""Private noise: two or three Gaussians for residuals that one does not fit."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats
from leverrier.kernels.mixed.binned_noise import fill_histogram, fit_binned, mixture_log_likelihood, shape_of
from leverrier.models.families.number_regression import LOG_2_PI, Noise

BINS = 120
LEAST_DEVIATION = 0.08
"""In units of the residuals' spread: narrower parts would follow rounding."""
MOST_STEPS = 60
Start = tuple[tuple[float, ...], ...]
_WIDE: Start = ((0.8, 0.2), (0.0, 0.0), (0.7, 1.8))
_SKEWED: Start = ((0.75, 0.25), (-0.4, 1.2), (0.6, 1.0))
_APART: Start = ((0.5, 0.5), (-0.8, 0.8), (0.6, 0.6))
_WIDE_3: Start = ((0.6, 0.3, 0.1), (0.0, 0.0, 0.0), (0.6, 1.2, 2.5))
_SKEWED_3: Start = ((0.5, 0.35, 0.15), (-0.6, 0.4, 1.6), (0.4, 0.6, 0.9))
_APART_3: Start = ((0.34, 0.33, 0.33), (-1.0, 0.0, 1.0), (0.5, 0.5, 0.5))


def fit_noise(e: Floats, log_n: float) -> tuple[Noise, float]:
    """The best noise for standardised residuals, and its gain over one Gaussian, three parameters a part paid."""
    plain = Noise()
    if len(e) < 30:
        return plain, 0.0
    _, spread, skewness, excess, low, high = shape_of(e)
    # whether skewness and kurtosis leave hope that three parameters pay
    if spread < 1e-6 or len(e) * (skewness**2 / 6 + excess**2 / 24) < 2.0 * log_n:
        return plain, 0.0
    base = -0.5 * (len(e) * LOG_2_PI + float(e @ e))
    counts = np.zeros(BINS)
    fill_histogram(e, low, high, counts)
    centres = low + (np.arange(BINS) + 0.5) * (high - low) / BINS
    best, best_gain = plain, 0.0
    for starts in _starts(skewness, excess):
        weights, means, deviations = max((_climbed(centres, counts, start) for start in starts), key=lambda c: c[0])[1]
        cost = 1.5 * (len(weights) - 1) * log_n
        gain = float(mixture_log_likelihood(e, weights, means, deviations)) - base - cost
        if gain <= best_gain:
            break
        best = Noise(tuple(weights.tolist()), tuple(means.tolist()), tuple(deviations.tolist()))
        best_gain = gain
    return best, best_gain


def _starts(skewness: float, excess: float) -> tuple[list[Start], list[Start]]:
    """Beginnings with two and with three parts that look like the residuals."""
    side = 1.0 if skewness >= 0 else -1.0
    two, three = ([_WIDE], [_WIDE_3]) if excess > 0 else ([_APART], [_APART_3])
    if abs(skewness) > 0.2:
        two.append(_turned(_SKEWED, side))
        three.append(_turned(_SKEWED_3, side))
    return two, three


def _turned(start: Start, side: float) -> Start:
    return start[0], tuple(side * mean for mean in start[1]), start[2]


def _climbed(centres: Floats, counts: Floats, start: Start) -> tuple[float, tuple[Floats, Floats, Floats]]:
    weights, means, deviations = (np.array(part) for part in start)
    reached = fit_binned(centres, counts, weights, means, deviations, LEAST_DEVIATION, MOST_STEPS, 0.05)
    return reached, (weights / weights.sum(), means, deviations)
