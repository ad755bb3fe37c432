"""Multinomial and ordered logits by Newton steps, on columns of the design."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax

from leverrier.arrays import Floats

Codes = NDArray[np.int64]

RIDGE = 0.02
"""Half a hundredth of each squared coefficient is taken off while climbing: separated states stay finite."""
STEPS = 25
ENOUGH = 1e-3
_LEAST = 1e-12


def multinomial(x: Floats, codes: Codes, n_codes: int, start: Floats | None = None) -> tuple[Floats, float, Floats]:
    """Coefficients (codes − 1, columns), the log-likelihood, and the residuals (codes − 1, rows).

    x: (columns, rows), the constant first.
    """
    k, m = len(x), n_codes - 1
    beta = np.zeros((m, k)) if start is None else start.copy()
    truth = np.zeros((n_codes, x.shape[1]))
    truth[codes, np.arange(len(codes))] = 1.0
    best, shares = _multinomial_logs(beta, x, codes)
    for _ in range(STEPS):
        residuals = truth[1:] - shares[1:]
        gradient = residuals @ x.T - RIDGE * beta
        hessian = np.empty((m, k, m, k))
        for a in range(m):
            for b in range(a + 1):
                weight = -shares[a + 1] * shares[b + 1] + (shares[a + 1] if a == b else 0.0)
                hessian[a, :, b, :] = (x * weight) @ x.T
                hessian[b, :, a, :] = hessian[a, :, b, :].T
        matrix = hessian.reshape(m * k, m * k) + RIDGE * np.eye(m * k)
        step = np.linalg.solve(matrix, gradient.ravel()).reshape(m, k)
        size = 1.0
        logs, new = _multinomial_logs(beta + step, x, codes)
        while logs < best and size > 1e-3:
            size /= 2
            logs, new = _multinomial_logs(beta + size * step, x, codes)
        if logs < best:
            break
        beta, shares, gained, best = beta + size * step, new, logs - best, logs
        if gained < ENOUGH:
            break
    raw = float(np.log(np.maximum(shares[codes, np.arange(len(codes))], _LEAST)).sum())
    return beta, raw, truth[1:] - shares[1:]


def _multinomial_logs(beta: Floats, x: Floats, codes: Codes) -> tuple[float, Floats]:
    sums = np.zeros((len(beta) + 1, x.shape[1]))
    sums[1:] = beta @ x
    logs = log_softmax(sums, axis=0)
    each = logs[codes, np.arange(len(codes))]
    return float(each.sum()) - 0.5 * RIDGE * float((beta**2).sum()), np.exp(logs)


def ordered(
    x: Floats, codes: Codes, n_codes: int, start: tuple[Floats, Floats] | None = None
) -> tuple[Floats, Floats, float, Floats]:
    """Thresholds, coefficients, the log-likelihood and the residuals (rows): P(≤ k) = logistic(threshold − βx).

    x: (columns, rows) without a constant. By Fisher scoring.
    """
    upto = np.cumsum(np.bincount(codes, minlength=n_codes))[:-1] / len(codes)
    clipped = np.clip(upto, 1e-4, 1 - 1e-4)
    plain: Floats = np.maximum.accumulate(np.log(clipped / (1 - clipped)) + 1e-6 * np.arange(n_codes - 1))
    tau: Floats = plain if start is None else start[0].copy()
    beta: Floats = np.zeros(len(x)) if start is None else start[1].copy()
    best = _ordered_logs(tau, beta, x, codes)
    for _ in range(STEPS):
        gradient, information = _ordered_scores(tau, beta, x, codes)
        step = np.asarray(np.linalg.solve(information, gradient), dtype=np.float64)
        size, logs, new_tau, new_beta = 2.0, -np.inf, tau, beta
        while logs < best and size > 1e-3:
            size /= 2
            new_tau, new_beta = tau + size * step[: len(tau)], beta + size * step[len(tau) :]
            logs = _ordered_logs(new_tau, new_beta, x, codes) if np.all(np.diff(new_tau) > 0) else -np.inf
        if logs < best:
            break
        tau, beta, gained, best = new_tau, new_beta, logs - best, logs
        if gained < ENOUGH:
            break
    low, high = _around(tau, beta @ x, codes)
    return tau, beta, best + 0.5 * RIDGE * float((beta**2).sum()), 1.0 - low - high


def _around(tau: Floats, along: Floats, codes: Codes) -> tuple[Floats, Floats]:
    """P(below the code) and P(up to it), by row."""
    edges = np.concatenate([[-np.inf], tau, [np.inf]])
    return expit(edges[codes] - along), expit(edges[codes + 1] - along)


def _ordered_logs(tau: Floats, beta: Floats, x: Floats, codes: Codes) -> float:
    low, high = _around(tau, beta @ x, codes)
    return float(np.log(np.maximum(high - low, _LEAST)).sum()) - 0.5 * RIDGE * float((beta**2).sum())


def _ordered_scores(tau: Floats, beta: Floats, x: Floats, codes: Codes) -> tuple[Floats, Floats]:
    """The gradient and the expected information of (thresholds, coefficients)."""
    m, k = len(tau), len(beta)
    upto = expit(tau[:, None] - (beta @ x)[None])
    dense = upto * (1 - upto)
    shares = np.maximum(np.diff(upto, axis=0, prepend=0.0, append=1.0), _LEAST)
    rise = np.diff(dense, axis=0, prepend=0.0, append=0.0)  # f_k − f_{k−1}; ∂p_k/∂η is its negative
    rows = np.arange(len(codes))
    p = shares[codes, rows]
    gradient = np.empty(m + k)
    gradient[m:] = -x @ (rise[codes, rows] / p) - RIDGE * beta
    ratio = dense / 1.0
    information = np.zeros((m + k, m + k))
    information[m:, m:] = (x * (rise**2 / shares).sum(axis=0)) @ x.T + RIDGE * np.eye(k)
    for j in range(m):
        here, above = codes == j, codes == j + 1
        gradient[j] = (ratio[j][here] / p[here]).sum() - (ratio[j][above] / p[above]).sum()
        information[j, j] = (dense[j] ** 2 * (1 / shares[j] + 1 / shares[j + 1])).sum() + 1e-9
        if j + 1 < m:
            information[j, j + 1] = information[j + 1, j] = -(dense[j] * dense[j + 1] / shares[j + 1]).sum()
        cross = x @ (dense[j] * (rise[j + 1] / shares[j + 1] - rise[j] / shares[j]))
        information[j, m:] = information[m:, j] = cross
    return gradient, information
