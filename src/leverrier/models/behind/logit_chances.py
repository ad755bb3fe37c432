"""Logits of states: ordered (cumulative) and unordered (multinomial), from their parameters to probabilities."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats


def ordered_probabilities(theta: Floats, features: Floats, states: int) -> Floats:
    """P(state ≤ s) = 1 / (1 + exp(η − τ_s)): (cases, states). theta: first threshold, log steps, slopes."""
    tau = thresholds(theta, states)
    upper = 1 / (1 + np.exp(np.clip((features @ theta[states - 1 :])[:, None] - tau, -500, 500)))
    bounds = np.concatenate([np.zeros((len(features), 1)), upper, np.ones((len(features), 1))], axis=1)
    return np.maximum(np.diff(bounds, axis=1), 1e-12)


def thresholds(theta: Floats, states: int) -> Floats:
    return np.cumsum(np.concatenate([theta[:1], np.exp(theta[1 : states - 1])]))


def multinomial_probabilities(theta: Floats, features: Floats, states: int) -> Floats:
    """theta: (states − 1) constants, then slopes (q, states − 1) row by row."""
    slopes = theta[states - 1 :].reshape(features.shape[1], states - 1)
    eta = np.concatenate([np.zeros((len(features), 1)), theta[: states - 1] + features @ slopes], axis=1)
    eta -= eta.max(axis=1, keepdims=True)
    share = np.exp(eta)
    return np.maximum(share / share.sum(axis=1, keepdims=True), 1e-12)


def probabilities(theta: Floats, features: Floats, states: int, ordered: bool) -> Floats:
    return (ordered_probabilities if ordered else multinomial_probabilities)(theta, features, states)
