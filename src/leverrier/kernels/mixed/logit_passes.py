"""Logits of states on a hidden variable's places and on columns beside it: value, gradient, information in one pass.

A case is a place and a row; it counts by `share` (places, rows). `theta` of an ordered logit: first threshold, logs of
the steps between thresholds, slopes; of an unordered one: constants of all states but the first, slopes by feature.
"""

import math

import numpy as np
from numba import njit

LEAST = 1e-12


@njit(cache=True, nogil=True)
def thresholds(theta, states):
    """Where one state ends and the next begins."""
    tau = np.empty(states - 1)
    tau[0] = theta[0]
    for s in range(1, states - 1):
        tau[s] = tau[s - 1] + math.exp(theta[s])
    return tau


@njit(cache=True, nogil=True)
def ordered_chances(tau, eta, chances, steep):
    """P(state) and the density at each threshold, of a case with this sum of features."""
    states = chances.shape[0]
    below = 0.0
    steep[0] = 0.0
    for s in range(states - 1):
        away = min(max(eta - tau[s], -500.0), 500.0)
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
    tau = thresholds(theta, states) if ordered else np.empty(0)
    for k in range(places):
        features[:q] = basis[k]
        for r in range(codes.shape[0]):
            features[q:] = terms[:, r]
            if ordered:
                eta = 0.0
                for j in range(features.shape[0]):
                    eta += features[j] * theta[states - 1 + j]
                ordered_chances(tau, eta, chances, steep)
            else:
                unordered_chances(theta, features, chances)
            out[k, r] += math.log(chances[codes[r]])


@njit(cache=True, nogil=True)
def threshold_pass(tau, slopes, basis, terms, codes, share, slope, bend):
    """Σ share · log P of an ordered logit by its thresholds and slopes, with its gradient and expected information
    (Fisher's scoring), both overwritten. The information of thresholds has three diagonals."""
    places, q = basis.shape
    n, m = tau.shape[0], q + terms.shape[0]
    features = np.empty(m)
    chances, steep = np.empty(n + 1), np.empty(n + 2)
    slope[:] = 0.0
    bend[:] = 0.0
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
                eta += features[j] * slopes[j]
            ordered_chances(tau, eta, chances, steep)
            code = codes[r]
            value += w * math.log(chances[code])
            along = w * (steep[code] - steep[code + 1]) / chances[code]
            if code < n:
                slope[code] += w * steep[code + 1] / chances[code]
            if code > 0:
                slope[code - 1] -= w * steep[code] / chances[code]
            for j in range(m):
                slope[n + j] += along * features[j]
            whole = 0.0
            before = -steep[1] / chances[0]
            whole += steep[1] * steep[1] / chances[0]
            for s in range(n):
                after = (steep[s + 1] - steep[s + 2]) / chances[s + 1]
                whole += after * (steep[s + 1] - steep[s + 2])
                here = w * steep[s + 1]
                bend[s, s] += here * steep[s + 1] * (1.0 / chances[s] + 1.0 / chances[s + 1])
                if s + 1 < n:
                    bend[s + 1, s] -= here * steep[s + 2] / chances[s + 1]
                across = here * (before - after)
                for j in range(m):
                    bend[n + j, s] += across * features[j]
                before = after
            for i in range(m):
                f = w * whole * features[i]
                for j in range(i + 1):
                    bend[n + i, n + j] += f * features[j]
    for i in range(n + m):
        for j in range(i):
            bend[j, i] = bend[i, j]
    return value


@njit(cache=True, nogil=True)
def ordered_pass(theta, basis, terms, codes, share, states, gradient, information):
    """The same by `theta`: rows are summed by thresholds, and turned into it at the end."""
    d, n = theta.shape[0], states - 1
    slope, bend = np.empty(d), np.empty((d, d))
    value = threshold_pass(thresholds(theta, states), theta[n:], basis, terms, codes, share, slope, bend)
    _by_theta(theta, n, slope, bend, gradient, information)
    return value


@njit(cache=True, nogil=True)
def _by_theta(theta, n, slope, bend, gradient, information):
    """From thresholds to the first one and the logs of the steps: each step moves all thresholds after it."""
    d = slope.shape[0]
    gradient[:] = slope
    half = bend.copy()
    for j in range(n):
        size = 1.0 if j == 0 else math.exp(theta[j])
        gradient[j] = size * slope[j:n].sum()
        for i in range(d):
            half[j, i] = size * bend[j:n, i].sum()
    information[:] = half
    for j in range(n):
        size = 1.0 if j == 0 else math.exp(theta[j])
        for i in range(d):
            information[i, j] = size * half[i, j:n].sum()


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
