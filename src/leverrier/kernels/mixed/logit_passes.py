"""Logits of states on a hidden variable's places and on columns beside it: value, gradient, information in one pass.

A case is a place and a row (or a cell of like rows); it counts by `share` (places, rows). Rows next to each other with
the same terms are a group, group g from `begins[g]` on: chances are worked out once for a place and a group, and what
terms share among places once for a group. `theta` of an ordered logit: first threshold, logs of
the steps between thresholds, slopes; of an unordered one: constants of all states but the first, slopes by feature.
"""

import math

import numpy as np
from numba import njit

LEAST = 1e-12
NOTHING = 1e-14


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
def softmax(level, chances):
    """P(state) from the levels of all states but the first, whose level is 0."""
    top = 0.0
    for s in range(level.shape[0]):
        top = max(top, level[s])
    chances[0] = math.exp(-top)
    whole = chances[0]
    for s in range(level.shape[0]):
        chances[s + 1] = math.exp(level[s] - top)
        whole += chances[s + 1]
    for s in range(chances.shape[0]):
        chances[s] = max(chances[s] / whole, LEAST)


@njit(cache=True, nogil=True)
def levels_of(theta, basis, one, out):
    """out[place, state] of an unordered logit: constants and what the places add."""
    for k in range(basis.shape[0]):
        for s in range(one):
            out[k, s] = theta[s]
            for j in range(basis.shape[1]):
                out[k, s] += basis[k, j] * theta[one + j * one + s]


@njit(cache=True, nogil=True)
def logit_logs(theta, basis, terms, codes, begins, states, ordered, out):
    """Adds log P(state of the row | place, terms) to `out` (places, rows)."""
    places, q = basis.shape
    one, p = states - 1, terms.shape[0]
    n_levels = 1 if ordered else one
    own, at, both = np.empty(n_levels), np.zeros((places, n_levels)), np.empty(n_levels)
    chances, steep = np.empty(states), np.empty(states + 1)
    tau = thresholds(theta, states) if ordered else np.empty(0)
    if ordered:
        for k in range(places):
            for j in range(q):
                at[k, 0] += basis[k, j] * theta[one + j]
    else:
        levels_of(theta, basis, one, at)
    first_term = one + q * n_levels
    for g in range(begins.shape[0] - 1):
        first, last = begins[g], begins[g + 1]
        own[:] = 0.0
        for j in range(p):
            for s in range(n_levels):
                own[s] += terms[j, first] * theta[first_term + j * n_levels + s]
        for k in range(places):
            for s in range(n_levels):
                both[s] = own[s] + at[k, s]
            if ordered:
                ordered_chances(tau, both[0], chances, steep)
            else:
                softmax(both, chances)
            for r in range(first, last):
                out[k, r] += math.log(chances[codes[r]])


@njit(cache=True, nogil=True)
def threshold_pass(tau, slopes, basis, terms, codes, begins, share, slope, bend):
    """Σ share · log P of an ordered logit by its thresholds and slopes, with its gradient and expected information
    (Fisher's scoring), both overwritten. The information of thresholds has three diagonals."""
    places, q = basis.shape
    n, p = tau.shape[0], terms.shape[0]
    t = n + q  # (where slopes of terms begin)
    chances, steep = np.empty(n + 1), np.empty(n + 2)
    x, steps = np.empty(p), np.empty(n)
    at, along, whole = np.zeros(places), np.zeros(places), np.zeros(places)
    across, wide = np.zeros((places, n)), np.zeros((places, p))
    for k in range(places):
        for j in range(q):
            at[k] += basis[k, j] * slopes[j]
    slope[:] = 0.0
    bend[:] = 0.0
    value = 0.0
    for g in range(begins.shape[0] - 1):
        first, last = begins[g], begins[g + 1]
        level, pull_here, whole_here = 0.0, 0.0, 0.0
        steps[:] = 0.0
        for j in range(p):
            x[j] = terms[j, first]
            level += x[j] * slopes[q + j]
        for k in range(places):
            weight = 0.0
            for r in range(first, last):
                weight += share[k, r]
            if weight <= NOTHING:
                continue
            ordered_chances(tau, level + at[k], chances, steep)
            pull = 0.0
            for r in range(first, last):
                w, code = share[k, r], codes[r]
                if w <= NOTHING:
                    continue
                value += w * math.log(chances[code])
                pull += w * (steep[code] - steep[code + 1]) / chances[code]
                if code < n:
                    slope[code] += w * steep[code + 1] / chances[code]
                if code > 0:
                    slope[code - 1] -= w * steep[code] / chances[code]
            before = -steep[1] / chances[0]
            spread = steep[1] * steep[1] / chances[0]
            for s in range(n):
                after = (steep[s + 1] - steep[s + 2]) / chances[s + 1]
                spread += after * (steep[s + 1] - steep[s + 2])
                here = weight * steep[s + 1]
                bend[s, s] += here * steep[s + 1] * (1.0 / chances[s] + 1.0 / chances[s + 1])
                if s + 1 < n:
                    bend[s + 1, s] -= here * steep[s + 2] / chances[s + 1]
                turned = here * (before - after)
                across[k, s] += turned
                steps[s] += turned
                before = after
            spread *= weight
            along[k] += pull
            whole[k] += spread
            pull_here += pull
            whole_here += spread
            for j in range(p):
                wide[k, j] += spread * x[j]
        for i in range(p):
            slope[t + i] += pull_here * x[i]
            for s in range(n):
                bend[t + i, s] += steps[s] * x[i]
            f = whole_here * x[i]
            for j in range(i + 1):
                bend[t + i, t + j] += f * x[j]
    for k in range(places):
        for i in range(q):
            b = basis[k, i]
            slope[n + i] += along[k] * b
            for s in range(n):
                bend[n + i, s] += across[k, s] * b
            for j in range(i + 1):
                bend[n + i, n + j] += whole[k] * b * basis[k, j]
            for j in range(p):
                bend[t + j, n + i] += wide[k, j] * b
    for i in range(t + p):
        for j in range(i):
            bend[j, i] = bend[i, j]
    return value


@njit(cache=True, nogil=True)
def ordered_pass(theta, basis, terms, codes, begins, share, states, gradient, information):
    """The same by `theta`: rows are summed by thresholds, and turned into it at the end."""
    d, n = theta.shape[0], states - 1
    slope, bend = np.empty(d), np.empty((d, d))
    value = threshold_pass(thresholds(theta, states), theta[n:], basis, terms, codes, begins, share, slope, bend)
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
def unordered_pass(theta, basis, terms, codes, begins, share, states, gradient, information):
    """The same of a multinomial logit."""
    places, q = basis.shape
    one, p = states - 1, terms.shape[0]
    at, own, both, chances = np.empty((places, one)), np.empty(one), np.empty(one), np.empty(states)
    levels_of(theta, basis, one, at)
    x, rest, rest_here = np.empty(p), np.zeros((places, one)), np.empty(one)
    of_place, of_terms = np.zeros((places, one, one)), np.zeros((one, one, p, p))
    wide, here = np.zeros((places, one, one, p)), np.empty((one, one))
    gradient[:] = 0.0
    value = 0.0
    for g in range(begins.shape[0] - 1):
        first, last = begins[g], begins[g + 1]
        own[:] = 0.0
        rest_here[:] = 0.0
        here[:] = 0.0
        for j in range(p):
            x[j] = terms[j, first]
            for s in range(one):
                own[s] += x[j] * theta[one * (1 + q + j) + s]
        for k in range(places):
            weight = 0.0
            for r in range(first, last):
                weight += share[k, r]
            if weight <= NOTHING:
                continue
            for s in range(one):
                both[s] = own[s] + at[k, s]
            softmax(both, chances)
            for r in range(first, last):
                w, code = share[k, r], codes[r]
                if w <= NOTHING:
                    continue
                value += w * math.log(chances[code])
                if code > 0:
                    rest[k, code - 1] += w
                    rest_here[code - 1] += w
            for s in range(one):
                expected = weight * chances[s + 1]
                rest[k, s] -= expected
                rest_here[s] -= expected
                for t in range(s + 1):
                    f = expected * ((1.0 if s == t else 0.0) - chances[t + 1])
                    of_place[k, s, t] += f
                    here[s, t] += f
                    for j in range(p):
                        wide[k, s, t, j] += f * x[j]
        for i in range(p):
            for s in range(one):
                gradient[one * (1 + q + i) + s] += rest_here[s] * x[i]
                for t in range(s + 1):
                    f = here[s, t] * x[i]
                    for j in range(i + 1):
                        of_terms[s, t, i, j] += f * x[j]
    _gather(basis, one, p, rest, of_place, wide, of_terms, gradient, information)
    return value


@njit(cache=True, nogil=True)
def _gather(basis, one, p, rest, of_place, wide, of_terms, gradient, information):
    """Sums by place and by terms put where constants, slopes of the basis and slopes of terms stand."""
    places, q = basis.shape
    padded = np.ones((places, 1 + q))
    padded[:, 1:] = basis
    information[:] = 0.0
    for k in range(places):
        for i in range(1 + q):
            for s in range(one):
                gradient[i * one + s] += rest[k, s] * padded[k, i]
                for t in range(s + 1):
                    for j in range(1 + q):
                        information[i * one + s, j * one + t] += of_place[k, s, t] * padded[k, i] * padded[k, j]
                    for j in range(p):
                        f = wide[k, s, t, j] * padded[k, i]
                        information[(1 + q + j) * one + s, i * one + t] += f
                        information[i * one + s, (1 + q + j) * one + t] += f
    for s in range(one):
        for t in range(s + 1):
            for i in range(p):
                for j in range(p):
                    f = of_terms[s, t, max(i, j), min(i, j)]
                    information[(1 + q + i) * one + s, (1 + q + j) * one + t] = f
    for i in range(1 + q + p):
        for j in range(1 + q + p):
            for s in range(one):
                for t in range(s):
                    information[j * one + t, i * one + s] = information[i * one + s, j * one + t]
