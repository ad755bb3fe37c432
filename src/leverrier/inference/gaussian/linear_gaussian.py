"""Numbers that are linear in each other: their joint Gaussian, and rows with holes under it. All by matrices, exact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats

LOG_2_PI = float(np.log(2 * np.pi))


def joint_gaussian(slopes: Floats, constants: Floats, deviations: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance of x = slopes·x + constants + deviations·noise, where nothing depends on itself.

    slopes[i, j] is what x_j adds to x_i. (I − B)x = c + De: the mean is (I − B)⁻¹c, the covariance MMᵀ, M = (I − B)⁻¹D.
    """
    inverse = np.linalg.inv(np.eye(len(slopes)) - slopes)
    spread = inverse * deviations
    return inverse @ constants, spread @ spread.T


def log_marginal(x: Floats, mean: Floats, covariance: Floats) -> Floats:
    """log density of each row (rows, columns) with the same columns observed."""
    if x.shape[1] == 0:
        return np.zeros(len(x))
    root = np.linalg.cholesky(covariance)
    e = np.linalg.solve(root, (x - mean).T)
    return -0.5 * (x.shape[1] * LOG_2_PI + (e**2).sum(axis=0)) - np.log(np.diag(root)).sum()


def conditioned(
    x: Floats, mean: Floats, covariance: Floats, seen: NDArray[np.bool_], asked: int
) -> tuple[Floats, float]:
    """Mean by row and variance of one column given the columns `seen` (a mask; x has these alone)."""
    if not seen.any():
        return np.full(len(x), mean[asked]), float(covariance[asked, asked])
    gain = np.linalg.solve(covariance[np.ix_(seen, seen)], covariance[seen, asked])
    variance = covariance[asked, asked] - gain @ covariance[seen, asked]
    return mean[asked] + (x - mean[seen]) @ gain, float(max(variance, 0.0))
