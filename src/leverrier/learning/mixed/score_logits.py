"""Multinomial and ordered logits by Newton steps, on columns of the design: cases are rows, or cells of like rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax

from leverrier.arrays import Floats
from leverrier.kernels.mixed.logit_climbs import climb_thresholds

Codes = NDArray[np.int64]

RIDGE = 0.02
"""Half a hundredth of each squared coefficient is taken off while climbing: separated states stay finite."""
STEPS = 25
ENOUGH = 1e-3
_LEAST = 1e-12


def multinomial(
    x: Floats, codes: Codes, n_codes: int, start: Floats | None = None, weights: Floats | None = None
) -> tuple[Floats, float, Floats]:
    """Coefficients (codes − 1, columns), the log-likelihood, and the residuals (codes − 1, cases).

    x: (columns, cases), the constant first.
    """
    k, m = len(x), n_codes - 1
    w = np.ones(len(codes)) if weights is None else weights
    beta = np.zeros((m, k)) if start is None else start.copy()
    truth = np.zeros((n_codes, x.shape[1]))
    truth[codes, np.arange(len(codes))] = 1.0
    best, shares = _multinomial_logs(beta, x, codes, w)
    for _ in range(STEPS):
        gradient = (w * (truth[1:] - shares[1:])) @ x.T - RIDGE * beta
        hessian = np.empty((m, k, m, k))
        for a in range(m):
            for b in range(a + 1):
                weight = -shares[a + 1] * shares[b + 1] + (shares[a + 1] if a == b else 0.0)
                hessian[a, :, b, :] = (x * (w * weight)) @ x.T
                hessian[b, :, a, :] = hessian[a, :, b, :].T
        matrix = hessian.reshape(m * k, m * k) + RIDGE * np.eye(m * k)
        step = np.linalg.solve(matrix, gradient.ravel()).reshape(m, k)
        size = 1.0
        logs, new = _multinomial_logs(beta + step, x, codes, w)
        while logs < best and size > 1e-3:
            size /= 2
            logs, new = _multinomial_logs(beta + size * step, x, codes, w)
        if logs < best:
            break
        beta, shares, gained, best = beta + size * step, new, logs - best, logs
        if gained < ENOUGH:
            break
    raw = float(w @ np.log(np.maximum(shares[codes, np.arange(len(codes))], _LEAST)))
    return beta, raw, truth[1:] - shares[1:]


def _multinomial_logs(beta: Floats, x: Floats, codes: Codes, weights: Floats) -> tuple[float, Floats]:
    sums = np.zeros((len(beta) + 1, x.shape[1]))
    sums[1:] = beta @ x
    logs = log_softmax(sums, axis=0)
    each = logs[codes, np.arange(len(codes))]
    return float(weights @ each) - 0.5 * RIDGE * float((beta**2).sum()), np.exp(logs)


def ordered(
    x: Floats, codes: Codes, n_codes: int, start: tuple[Floats, Floats] | None = None, weights: Floats | None = None
) -> tuple[Floats, Floats, float, Floats]:
    """Thresholds, coefficients, the log-likelihood and the residuals (cases): P(≤ k) = logistic(threshold − βx).

    x: (columns, cases) without a constant. By Fisher scoring.
    """
    w = np.ones(len(codes)) if weights is None else weights
    upto = np.cumsum(np.bincount(codes, w, n_codes))[:-1] / w.sum()
    clipped = np.clip(upto, 1e-4, 1 - 1e-4)
    plain: Floats = np.maximum.accumulate(np.log(clipped / (1 - clipped)) + 1e-6 * np.arange(n_codes - 1))
    tau: Floats = plain if start is None else start[0].copy()
    beta: Floats = np.zeros(len(x)) if start is None else start[1].copy()
    logs = climb_thresholds(
        tau, beta, np.ascontiguousarray(x), codes, np.arange(len(codes) + 1), w[None, :], STEPS, RIDGE, ENOUGH
    )
    edges = np.concatenate([[-np.inf], tau, [np.inf]])
    along = beta @ x
    return tau, beta, float(logs), 1.0 - expit(edges[codes] - along) - expit(edges[codes + 1] - along)
