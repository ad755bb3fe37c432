"""How far a posterior over structures lies from a known truth, whatever the causes are called [wood2006 section 5]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from leverrier.arrays import Floats
from leverrier.noisy_or.draws import Draw


def in_degree_error(shared: ArrayLike, links: ArrayLike) -> float:
    """Σ_i |true in-degree − expected in-degree|; `shared` is E[Z Zᵀ], `links` the truth (observed, causes)."""
    difference = np.asarray(shared) - _shared(links)
    return float(np.abs(np.diag(difference)).sum())


def structure_error(shared: ArrayLike, links: ArrayLike) -> float:
    """Σ over pairs of signs of |causes truly shared − causes shared in expectation|."""
    difference = np.asarray(shared) - _shared(links)
    return float(np.abs(np.triu(difference, 1)).sum())


def _shared(links: ArrayLike) -> Floats:
    z = np.asarray(links, np.float64)
    return z @ z.T


def edge_f1(found: ArrayLike, links: ArrayLike) -> float:
    """F1 of the links, causes matched as well as they can be; both (observed, causes), 0/1."""
    a, b = np.asarray(found, np.float64), np.asarray(links, np.float64)
    both = a.T @ b
    rows, columns = linear_sum_assignment(both, maximize=True)
    total = a.sum() + b.sum()
    return float(2 * both[rows, columns].sum() / total) if total else 1.0


@dataclass(frozen=True, eq=False)
class ErrorPath:
    """Errors after so many sweeps, the expectation taken over the second half of them [wood2006 figure 4]."""

    sweeps: NDArray[np.int64]
    in_degree: Floats
    structure: Floats


def error_path(draws: Sequence[Draw], links: ArrayLike, points: int = 12) -> ErrorPath:
    """Errors against sweeps, from the draws of one chain kept from its first sweep on (warmup=0)."""
    matrices = np.array([draw.links.T.astype(np.float64) @ draw.links for draw in draws])
    sums = np.concatenate([np.zeros((1, *matrices.shape[1:])), np.cumsum(matrices, axis=0)])
    ends = np.unique(np.geomspace(1, len(draws), points).round().astype(np.int64))
    means = [(sums[end] - sums[end // 2]) / (end - end // 2) for end in ends]
    return ErrorPath(
        np.array([draws[end - 1].sweep + 1 for end in ends]),
        np.array([in_degree_error(mean, links) for mean in means]),
        np.array([structure_error(mean, links) for mean in means]),
    )
