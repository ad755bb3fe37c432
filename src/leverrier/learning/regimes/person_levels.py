"""Persons' own levels: a number for each person that shifts a column and stays (a random intercept)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats, Integers

RATIOS = np.concatenate([[0.0], np.exp(np.linspace(np.log(1e-3), np.log(1e3), 61))])
"""Variance between persons over variance within: looked for among these."""


@dataclass(frozen=True, eq=False)
class Levels:
    """One column: y = z'β + u_person + e, both normal."""

    name: str
    coefficients: Floats
    spread: float
    ratio: float
    log_likelihood: float

    @property
    def between(self) -> float:
        """The standard deviation of persons' levels."""
        return self.spread * float(np.sqrt(self.ratio))

    @property
    def dimension(self) -> int:
        return len(self.coefficients) + 2


def fit_levels(name: str, y: Floats, z: Floats, person: Integers) -> Levels:
    """Maximum likelihood: for each ratio of variances the rest is least squares of y − θ ȳ [Wallace & Hussain 1969]."""
    seen = ~np.isnan(y)
    y, z, person = y[seen], z[seen], person[seen]
    _, who = np.unique(person, return_inverse=True)
    best: Levels | None = None
    for ratio in RATIOS.tolist():
        one = _at(name, y, z, who, ratio)
        if best is None or one.log_likelihood > best.log_likelihood:
            best = one
    assert best is not None
    return best


def _at(name: str, y: Floats, z: Floats, who: Integers, ratio: float) -> Levels:
    count = np.bincount(who).astype(np.float64)
    share = 1 - 1 / np.sqrt(1 + count * ratio)
    mean_y = np.bincount(who, y) / count
    ty = y - (share * mean_y)[who]
    tz = z - (share[:, None] * (_sums(z, who) / count[:, None]))[who]
    gram = tz.T @ tz
    gram[np.diag_indices_from(gram)] += 1e-10 * max(float(np.trace(gram)) / len(gram), 1e-300)
    beta = np.asarray(np.linalg.solve(gram, tz.T @ ty), dtype=np.float64)
    n = len(y)
    variance = max(float(((ty - tz @ beta) ** 2).sum()) / n, 1e-300)
    value = -0.5 * n * (np.log(2 * np.pi * variance) + 1) - 0.5 * float(np.log1p(count * ratio).sum())
    return Levels(name, beta, float(np.sqrt(variance)), ratio, value)


def _sums(z: Floats, who: Integers) -> Floats:
    return np.stack([np.bincount(who, column) for column in z.T], axis=1).astype(np.float64)
