"""What a fit of one family hands back, whatever its kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats
from leverrier.models.families.conditional import Conditional

ADDED, FLOOR = 4.0, 0.3
"""The prior of a variance: s² = (SSR + 4·0.3)/(n + 4)."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A family with its log-likelihood (nats of z, or of codes) and what it pays for its parameters and choices."""

    family: Conditional
    log_likelihood: float
    paid: float
    residuals: Floats | None = None
    """A number's residuals in units of their spread, by row of those that show the family."""

    @property
    def score(self) -> float:
        return self.log_likelihood - self.paid


def gaussian(rest: float, n: float) -> tuple[float, float]:
    """The variance of residuals with this sum of squares, and their log-likelihood under it."""
    s2 = (rest + ADDED * FLOOR) / (n + ADDED)
    return s2, -0.5 * n * float(np.log(2 * np.pi * s2)) - 0.5 * rest / s2
