"""Whether chains agree: R-hat and effective samples."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from leverrier.errors import MissingExtraError

AGREED = 1.05
"""Chains whose R-hat is below this for every traced number count as converged."""


def r_hat(values: NDArray[np.float64]) -> float:
    """Rank-normalised split R-hat of (chains, sweeps), the larger of location and scale [Vehtari et al. 2021].

    The same formula as arviz's, which takes seconds to load. A constant has nothing to disagree about: 1.
    """
    if values.shape[1] < 4:
        return float("nan")
    if np.all(values == values.flat[0]):
        return 1.0
    half = values.shape[1] // 2
    split = np.concatenate([values[:, :half], values[:, -half:]])
    folded = np.abs(split - np.median(split))
    return max(_plain(_normal_scores(split)), _plain(_normal_scores(folded)))


def _arviz() -> Any:
    """arviz's functions of arrays, or None where it is not installed."""
    try:
        return importlib.import_module("arviz_stats.base").array_stats
    except ImportError:
        return None


def _normal_scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2  # equal values share their mean rank (scipy.stats loads for a second)
    return ndtri((ranks[place] - 0.375) / (values.size + 0.25)).reshape(values.shape)


def _plain(values: NDArray[np.float64]) -> float:
    n = values.shape[1]
    within = values.var(axis=1, ddof=1).mean()
    between = n * values.mean(axis=1).var(ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.sqrt((between / within + n - 1) / n))


def effective_samples(values: NDArray[np.float64]) -> float:
    """How many independent draws (chains, sweeps) are worth, by arviz."""
    if np.all(values == values.flat[0]):
        return float(values.size)
    arviz = _arviz()
    if arviz is None:
        raise MissingExtraError(
            "effective samples need arviz-stats, which is not installed: pip install 'leverrier[mcmc]'"
        )
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(arviz.ess(values, chain_axis=0, draw_axis=1))
