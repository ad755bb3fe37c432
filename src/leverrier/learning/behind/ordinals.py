"""Logits of a column of states with weights, by Newton's method with halved steps: the likelihood never falls.

`features` (cases, q) has no constant; `weights` (cases, states) says how often each case showed each state. A little
ridge keeps separated states finite.
"""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats
from leverrier.models.behind.logit_chances import (
    multinomial_probabilities,
    ordered_probabilities,
    probabilities,
    thresholds,
)

RIDGE = 1e-3
STEPS, CLOSE = 25, 1e-7


def start_theta(weights: Floats, q: int, ordered: bool) -> Floats:
    """No slopes: the margin's own logits."""
    share = weights.sum(axis=0) + 0.5
    share = share / share.sum()
    states = len(share)
    if not ordered:
        return np.concatenate([np.log(share[1:] / share[0]), np.zeros(q * (states - 1))])
    below = np.cumsum(share)[:-1]
    tau = np.log(below / (1 - below))
    return np.concatenate([tau[:1], np.log(np.maximum(np.diff(tau), 1e-3)), np.zeros(q)])


def climb_logit(theta: Floats, features: Floats, weights: Floats, ordered: bool, steps: int = STEPS) -> Floats:
    """Parameters at least as good as those given."""
    now, value = theta, _objective(theta, features, weights, ordered)
    for _ in range(steps):
        slope, bend = (_ordered_slopes if ordered else _multinomial_slopes)(now, features, weights)
        slope = slope - RIDGE * now
        bend = bend + RIDGE * np.eye(len(now))
        move = np.linalg.solve(bend, slope)
        size = 1.0
        while size > 1e-4:
            trial = np.clip(now + size * move, -30, 30)
            better = _objective(trial, features, weights, ordered)
            if better >= value:
                break
            size /= 2
        else:
            return now
        gained, now, value = better - value, trial, better
        if gained < CLOSE * (1 + abs(value)):
            break
    return now


def _objective(theta: Floats, features: Floats, weights: Floats, ordered: bool) -> float:
    logs = np.log(probabilities(theta, features, weights.shape[1], ordered))
    return float((weights * logs).sum() - 0.5 * RIDGE * theta @ theta)


def _multinomial_slopes(theta: Floats, features: Floats, weights: Floats) -> tuple[Floats, Floats]:
    states, total = weights.shape[1], weights.sum(axis=1)
    share = multinomial_probabilities(theta, features, states)[:, 1:]
    x = np.concatenate([np.ones((len(features), 1)), features], axis=1)
    slope = x.T @ (weights[:, 1:] - total[:, None] * share)
    size = (states - 1) * x.shape[1]
    bend = np.empty((x.shape[1], states - 1, x.shape[1], states - 1))
    for s in range(states - 1):
        for r in range(s, states - 1):
            own = total * share[:, s] * ((r == s) - share[:, r])
            bend[:, s, :, r] = bend[:, r, :, s] = (x * own[:, None]).T @ x
    return slope.ravel(), bend.reshape(size, size)


def _ordered_slopes(theta: Floats, features: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The gradient, and the expected information (Fisher's scoring)."""
    states, total = weights.shape[1], weights.sum(axis=1)
    share = ordered_probabilities(theta, features, states)
    tau = thresholds(theta, states)
    upper = 1 / (1 + np.exp(np.clip((features @ theta[states - 1 :])[:, None] - tau, -500, 500)))
    steep = np.concatenate([np.zeros((len(features), 1)), upper * (1 - upper), np.zeros((len(features), 1))], axis=1)
    ratio = 1 / share
    by_threshold = np.zeros((len(theta), states))  # d tau_s / d theta_j, bordered by zeros below
    by_threshold[0, : states - 1] = 1
    for j in range(1, states - 1):
        by_threshold[j, j : states - 1] = np.exp(theta[j])
    grads = np.empty((len(theta), *share.shape))  # d share[:, s] / d theta_j
    for j in range(states - 1):
        inner = steep[:, 1:] * by_threshold[j]
        grads[j] = np.diff(np.concatenate([np.zeros((len(features), 1)), inner], axis=1), axis=1)
    by_eta = -np.diff(steep, axis=1)
    for j in range(features.shape[1]):
        grads[states - 1 + j] = by_eta * features[:, j : j + 1]
    flat = grads.reshape(len(theta), -1)
    slope = flat @ (weights * ratio).ravel()
    bend = (flat * (total[:, None] * ratio).ravel()) @ flat.T
    return slope, bend
