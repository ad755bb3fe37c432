"""A smooth rising curve through a few points: from normal scores to the shape of a raw margin, and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.plain_values import Plain

LEAST_RISE = 0.02
"""Added to every curve as a multiple of the score: where the raw margin stands still the curve still rises a little."""
_GRID = 1024


@dataclass(frozen=True)
class Curve(Plain):
    """Monotone cubic (Fritsch and Carlson) through (knots, values), straight beyond the ends."""

    knots: tuple[float, ...]
    values: tuple[float, ...]

    @cached_property
    def _points(self) -> tuple[Floats, Floats, Floats]:
        x, y = np.array(self.knots), np.array(self.values)
        return x, y, _slopes(x, y)

    def __call__(self, z: Floats) -> Floats:
        _, y, d = self._points
        k, t, h = self._place(z)
        inner = np.clip(t, 0, 1)
        s = inner * inner
        c = s * inner
        value = (2 * c - 3 * s + 1) * y[k] + (3 * s - 2 * c) * y[k + 1]
        value += h * ((c - 2 * s + inner) * d[k] + (c - s) * d[k + 1])
        return value + h * (np.minimum(t, 0) * d[0] + np.maximum(t - 1, 0) * d[-1])

    def log_slope(self, z: Floats) -> Floats:
        """log g′(z): what a density gains when it is written in z."""
        _, y, d = self._points
        k, t, h = self._place(z)
        inner = np.clip(t, 0, 1)
        steep = (y[k + 1] - y[k]) / h
        slope = 6 * inner * (1 - inner) * steep
        slope += (1 - inner) * (1 - 3 * inner) * d[k] + inner * (3 * inner - 2) * d[k + 1]
        return np.log(np.maximum(slope, 1e-3))

    def inverse(self, w: Floats) -> Floats:
        """The score at which the curve has this value."""
        x, _, d = self._points
        grid = np.linspace(x[0], x[-1], _GRID)
        on_grid = self(grid)
        z = np.interp(w, on_grid, grid)
        z += np.where(w < on_grid[0], (w - on_grid[0]) / d[0], 0) + np.where(
            w > on_grid[-1], (w - on_grid[-1]) / d[-1], 0
        )
        for _ in range(3):
            z = z - (self(z) - w) / np.exp(self.log_slope(z))
        return z

    def _place(self, z: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
        """The piece each score falls in, how far along it, and the piece's width."""
        x = self._points[0]
        k = np.clip(np.searchsorted(x, z, side="right") - 1, 0, len(x) - 2)
        h = x[k + 1] - x[k]
        return k, (z - x[k]) / h, h


def _slopes(x: Floats, y: Floats) -> Floats:
    """Harmonic means of neighbouring secants: the cubic then never turns back."""
    h, steep = np.diff(x), np.diff(y) / np.diff(x)
    slopes = np.empty(len(x))
    slopes[0], slopes[-1] = steep[0], steep[-1]
    before, after = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    slopes[1:-1] = (before + after) / (before / steep[:-1] + after / steep[1:])
    return slopes
