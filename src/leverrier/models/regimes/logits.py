"""Multinomial logits, weighted: chances of categories, and steps of Newton's method that never go down."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from leverrier.arrays import Floats, Integers
from leverrier.models.regimes.terms import distinct_rows

RIDGE = 1e-6
"""Of the information's mean diagonal: keeps coefficients finite where categories are told apart without error."""
SMALLEST = 1e-9
"""A weight below this is none."""
MOST_EXACT = 80
"""Up to so many coefficients the whole information is used, beyond it Böhning's bound of it."""


def log_shares(z: Floats, coefficients: Floats) -> Floats:
    """(rows, [states,] categories): ln P; the last one's predictor is 0. coefficients (terms, …, categories − 1)."""
    eta = np.tensordot(z, coefficients, axes=(1, 0))
    if eta.shape[-1] == 1:  # (two categories: the commonest case, and four times as fast)
        size = np.log1p(np.exp(-np.abs(eta)))
        return np.concatenate([np.minimum(eta, 0.0) - size, np.minimum(-eta, 0.0) - size], axis=-1)
    whole = np.concatenate([eta, np.zeros((*eta.shape[:-1], 1))], axis=-1)
    top = whole.max(axis=-1, keepdims=True)
    return whole - top - np.log(np.exp(whole - top).sum(axis=-1, keepdims=True))


def logit_step(
    z: Floats, own: list[int], shared: list[int], cells: Integers, weights: Floats, coefficients: Floats
) -> Floats:
    """One step for (states, terms, categories − 1); terms in `shared` have one coefficient for all states."""
    k, _, m = coefficients.shape
    a = len(own)
    theta = np.concatenate([coefficients[:, own].reshape(k * a, m), coefficients[0, shared]])
    rows, which = distinct_rows(z)
    if 2 * len(rows) <= len(z):  # (slices whose regressors are the same count together)
        d = len(rows)
        counts = np.stack([np.bincount(which * (m + 1) + cells, w, d * (m + 1)) for w in weights.T])
        counts = counts.reshape(k * d, m + 1).astype(np.float64)
        total = counts.sum(axis=1)
        use = np.flatnonzero(total > SMALLEST)
        theta = ascend(_stacked(rows, own, shared, k)[use], theta, counts[use, :m], total[use])
    else:
        w = np.ascontiguousarray(weights.T).ravel()
        use = np.flatnonzero(w > SMALLEST)
        theta = newton_step(_stacked(z, own, shared, k)[use], theta, np.tile(cells, k)[use], w[use])
    made = np.empty_like(coefficients)
    made[:, own] = theta[: k * a].reshape(k, a, m)
    made[:, shared] = theta[k * a :]
    return made


def newton_step(x: Floats, theta: Floats, y: Integers, w: Floats) -> Floats:
    """One damped step of the weighted multinomial log-likelihood; theta (terms, categories − 1)."""
    target = np.zeros((len(y), theta.shape[1]))
    inside = y < theta.shape[1]
    target[np.flatnonzero(inside), y[inside]] = 1.0
    return ascend(x, theta, target * w[:, None], w)


def ascend(x: Floats, theta: Floats, counts: Floats, total: Floats) -> Floats:
    """The same from counts (rows, categories − 1) out of `total`: rows may stand for many."""
    p, m = theta.shape
    chance = np.exp(log_shares(x, theta))[:, :-1]
    gradient = x.T @ (counts - total[:, None] * chance)
    if p * m <= MOST_EXACT:
        information = np.empty((m, p, m, p))
        for c in range(m):
            for d in range(c, m):
                part = total * (chance[:, c] * (1.0 if c == d else 0.0) - chance[:, c] * chance[:, d])
                information[c, :, d, :] = x.T @ (part[:, None] * x)
                information[d, :, c, :] = information[c, :, d, :].T
        whole = information.reshape(m * p, m * p)
        whole[np.diag_indices(m * p)] += RIDGE * np.trace(whole) / (m * p) + 1e-12
        step = cho_solve(cho_factor(whole), gradient.T.ravel()).reshape(m, p).T
    else:  # [Böhning 1992]: information ≤ ½ (I − 11'/(m + 1)) ⊗ X'WX
        gram = x.T @ (total[:, None] * x)
        gram[np.diag_indices(p)] += RIDGE * np.trace(gram) / p + 1e-12
        inverse = 2 * (np.eye(m) + 1.0)
        step = cho_solve(cho_factor(gram), gradient) @ inverse
    before, length = _value(x, theta, counts, total), 1.0
    while length > 1e-4:
        new = theta + length * step
        if _value(x, new, counts, total) >= before:
            return new
        length /= 2
    return theta


def _value(x: Floats, theta: Floats, counts: Floats, total: Floats) -> float:
    logs = log_shares(x, theta)
    last = total - counts.sum(axis=1)
    return float((counts * logs[:, :-1]).sum() + last @ logs[:, -1]) - 0.5 * RIDGE * float((theta**2).sum())


def _stacked(z: Floats, own: list[int], shared: list[int], k: int) -> Floats:
    """(states · slices, states · own + shared)."""
    n, a, b = len(z), len(own), len(shared)
    x = np.zeros((k, n, k * a + b))
    for s in range(k):
        x[s, :, s * a : (s + 1) * a] = z[:, own]
        x[s, :, k * a :] = z[:, shared]
    return x.reshape(k * n, -1)
