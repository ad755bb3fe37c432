"""Logits of states on a hidden variable's places and on columns beside it: value, gradient, information in one pass.

A case is a place and a row; it counts by `share` (places, rows). `theta` of an ordered logit: first threshold, logs of
the steps between thresholds, slopes; of an unordered one: constants of all states but the first, slopes by feature.
"""

import math

import numpy as np
from numba import njit

LEAST = 1e-12


@njit(cache=True, nogil=True)
def ordered_chances(theta, eta, chances, steep):
    """P(state) and the density at each threshold, of a case with this sum of features."""
    states = chances.shape[0]
    tau, below = 0.0, 0.0
    steep[0] = 0.0
    for s in range(states - 1):
        tau = theta[0] if s == 0 else tau + math.exp(theta[s])
        away = min(max(eta - tau, -500.0), 500.0)
        upto = 1.0 / (1.0 + math.exp(away))
        chances[s] = max(upto - below, LEAST)
        steep[s + 1] = upto * (1.0 - upto)
        below = upto
    chances[states - 1] = max(1.0 - below, LEAST)
    steep[states] = 0.0


@njit(cache=True, nogil=True)
def unordered_chances(theta, features, chances):
    """P(state) of a case with these features (no constant among them)."""
    states = chances.shape[0]
    top = 0.0
    chances[0] = 0.0
    for s in range(1, states):
        eta = theta[s - 1]
        for j in range(features.shape[0]):
            eta += features[j] * theta[states - 1 + j * (states - 1) + s - 1]
        chances[s] = eta
        top = max(top, eta)
    whole = 0.0
    for s in range(states):
        chances[s] = math.exp(chances[s] - top)
        whole += chances[s]
    for s in range(states):
        chances[s] = max(chances[s] / whole, LEAST)


@njit(cache=True, nogil=True)
def logit_logs(theta, basis, terms, codes, states, ordered, out):
    """Adds log P(state of the row | place, terms) to `out` (places, rows)."""
    places, q = basis.shape
    features = np.empty(q + terms.shape[0])
    chances, steep = np.empty(states), np.empty(states + 1)
    for k in range(places):
        features[:q] = basis[k]
        for r in range(codes.shape[0]):
            features[q:] = terms[:, r]
            if ordered:
                eta = 0.0
                for j in range(features.shape[0]):
                    eta += features[j] * theta[states - 1 + j]
                ordered_chances(theta, eta, chances, steep)
            else:
                unordered_chances(theta, features, chances)
            out[k, r] += math.log(chances[codes[r]])


@njit(cache=True, nogil=True)
def ordered_pass(theta, basis, terms, codes, share, states, gradient, information):
    """Σ share · log P, with its gradient and expected information (Fisher's scoring), both overwritten."""
    places, q = basis.shape
    m, d = q + terms.shape[0], theta.shape[0]
    features = np.empty(m)
    chances, steep = np.empty(states), np.empty(states + 1)
    by, steps = np.empty((states, d)), np.exp(theta)
    gradient[:] = 0.0
    information[:] = 0.0
    value = 0.0
    for k in range(places):
        features[:q] = basis[k]
        for r in range(codes.shape[0]):
            w = share[k, r]
            if w <= 1e-14:
                continue
            features[q:] = terms[:, r]
            eta = 0.0
            for j in range(m):
                eta += features[j] * theta[states - 1 + j]
            ordered_chances(theta, eta, chances, steep)
            for s in range(states):
                lower, upper = steep[s], steep[s + 1]
                by[s, 0] = upper - lower
                for j in range(1, states - 1):
                    by[s, j] = ((upper if s >= j and s < states - 1 else 0.0) - (lower if s - 1 >= j else 0.0)) * steps[
                        j
                    ]
                for j in range(m):
                    by[s, states - 1 + j] = (lower - upper) * features[j]
            code = codes[r]
            value += w * math.log(chances[code])
            for i in range(d):
                gradient[i] += w * by[code, i] / chances[code]
            for s in range(states):
                weight = w / chances[s]
                for i in range(d):
                    f = weight * by[s, i]
                    for j in range(i + 1):
                        information[i, j] += f * by[s, j]
    for i in range(d):
        for j in range(i):
            information[j, i] = information[i, j]
    return value


@njit(cache=True, nogil=True)
def unordered_pass(theta, basis, terms, codes, share, states, gradient, information):
    """The same of a multinomial logit."""
    places, q = basis.shape
    m, one = q + terms.shape[0], states - 1
    features, padded = np.empty(m), np.ones(m + 1)
    chances = np.empty(states)
    gradient[:] = 0.0
    information[:] = 0.0
    value = 0.0
    for k in range(places):
        features[:q] = basis[k]
        for r in range(codes.shape[0]):
            w = share[k, r]
            if w <= 1e-14:
                continue
            features[q:] = terms[:, r]
            padded[1:] = features
            unordered_chances(theta, features, chances)
            value += w * math.log(chances[codes[r]])
            for s in range(one):
                rest = (1.0 if codes[r] == s + 1 else 0.0) - chances[s + 1]
                for i in range(m + 1):
                    gradient[i * one + s] += w * rest * padded[i]
                for t in range(s + 1):
                    f = w * chances[s + 1] * ((1.0 if s == t else 0.0) - chances[t + 1])
                    for i in range(m + 1):
                        for j in range(m + 1):
                            information[i * one + s, j * one + t] += f * padded[i] * padded[j]
    for s in range(one):
        for t in range(s + 1, one):
            for i in range(m + 1):
                for j in range(m + 1):
                    information[i * one + s, j * one + t] = information[j * one + t, i * one + s]
    return value
