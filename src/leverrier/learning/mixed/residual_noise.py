"""Private noise: two or three Gaussians for residuals that one does not fit."""

from __future__ import annotations

import numpy as np

from leverrier.kernels.mixed.binned_noise import fit_binned
from leverrier.learning.mixed.fitted import Floats
from leverrier.models.families.number_regression import Noise

BINS = 120
LEAST_DEVIATION = 0.08
"""In units of the residuals' spread: narrower parts would follow rounding."""
_STARTS = (
    ((0.8, 0.2), (0.0, 0.0), (0.7, 1.8)),
    ((0.75, 0.25), (-0.4, 1.2), (0.6, 1.0)),
    ((0.75, 0.25), (0.4, -1.2), (0.6, 1.0)),
    ((0.5, 0.5), (-0.8, 0.8), (0.6, 0.6)),
)
_MORE_STARTS = (
    ((0.34, 0.33, 0.33), (-1.0, 0.0, 1.0), (0.5, 0.5, 0.5)),
    ((0.6, 0.3, 0.1), (0.0, 0.0, 0.0), (0.6, 1.2, 2.5)),
    ((0.5, 0.35, 0.15), (-0.6, 0.4, 1.6), (0.4, 0.6, 0.9)),
    ((0.5, 0.35, 0.15), (0.6, -0.4, -1.6), (0.4, 0.6, 0.9)),
)


def fit_noise(e: Floats, log_n: float) -> tuple[Noise, float]:
    """The best noise for standardised residuals, and its gain over one Gaussian in nats, three parameters a part paid."""
    n = len(e)
    plain = Noise()
    if n < 30 or not _strange(e, log_n):
        return plain, 0.0
    base = float(plain.log_density(e).sum())
    low, high = float(e.min()), float(e.max())
    if not high - low > 1e-6:
        return plain, 0.0
    counts, edges = np.histogram(e, bins=BINS, range=(low, high))
    centres = (edges[1:] + edges[:-1]) / 2
    best, best_gain = plain, 0.0
    for starts in (_STARTS, _MORE_STARTS):
        noise = max((_climbed(centres, counts, start) for start in starts), key=lambda pair: pair[0])[1]
        gain = float(noise.log_density(e).sum()) - base - 0.5 * noise.dimension * log_n
        if gain <= best_gain:
            break
        best, best_gain = noise, gain
    return best, best_gain


def _strange(e: Floats, log_n: float) -> bool:
    """Whether skewness and kurtosis leave hope that three parameters pay."""
    centred = e - e.mean()
    spread = float(np.sqrt(np.mean(centred**2)))
    if spread <= 1e-12:
        return False
    skewness, excess = np.mean(centred**3) / spread**3, np.mean(centred**4) / spread**4 - 3
    return len(e) * (skewness**2 / 6 + excess**2 / 24) > 2.0 * log_n


def _climbed(centres: Floats, counts: Floats, start: tuple[tuple[float, ...], ...]) -> tuple[float, Noise]:
    weights, means, deviations = (np.array(part) for part in start)
    reached = fit_binned(centres, counts.astype(np.float64), weights, means, deviations, LEAST_DEVIATION, 60, 1e-2)
    weights /= weights.sum()
    return reached, Noise(tuple(weights.tolist()), tuple(means.tolist()), tuple(deviations.tolist()))
