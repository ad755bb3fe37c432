"""Inner loops of growing and reading tree-shaped conditional distributions."""

from __future__ import annotations

from math import lgamma, log

import numpy as np
from numba import njit

AT_MOST = 0
"""A split that sends codes up to its value to the left."""
EQUAL = 1
"""A split that sends its value to the left and every other code to the right."""


@njit(cache=True, nogil=True)
def count_by_feature(features, child, weights, rows, offsets, counts):
    """counts[offsets[f] + code, state] += weight, over these rows and every feature."""
    for f in range(features.shape[0]):
        base = offsets[f]
        column = features[f]
        for i in rows:
            counts[base + column[i], child[i]] += weights[i]


@njit(cache=True, nogil=True)
def fill_log_rises(alpha, out):
    """out[n] = ln Γ(alpha + n) − ln Γ(alpha), for whole counts from 0 on."""
    rise = 0.0
    for n in range(out.shape[0]):
        out[n] = rise
        rise += log(alpha + n)


@njit(cache=True, nogil=True)
def log_rise(n, alpha, known):
    """ln Γ(alpha + n) − ln Γ(alpha), looked up where the count is whole."""
    whole = int(n)
    if whole < known.shape[0] and whole == n:
        return known[whole]
    return lgamma(alpha + n) - lgamma(alpha)


@njit(cache=True, nogil=True)
def dirichlet_score(counts, alpha, cells, rows):
    """ln P(counts) of one leaf with prior count alpha for each state, for counts in sequence."""
    score = 0.0
    total = 0.0
    for k in range(counts.shape[0]):
        n = counts[k]
        if n > 0.0:
            score += log_rise(n, alpha, cells)
            total += n
    return score - log_rise(total, alpha * counts.shape[0], rows)


@njit(cache=True, nogil=True)
def two_sides(whole, left, right, alpha, cells, rows):
    """The score of what goes left and of the rest (which is written into `right`)."""
    for k in range(whole.shape[0]):
        right[k] = max(whole[k] - left[k], 0.0)
    return dirichlet_score(left, alpha, cells, rows) + dirichlet_score(right, alpha, cells, rows)


@njit(cache=True, nogil=True)
def best_split(counts, offsets, ordinal, alpha, cells, rows):
    """The best binary split of a node: (gain less its price, feature, kind, value).

    The price of a split is the log of how many splits there were to choose from, each of which leaves rows on both
    sides. Feature −1: there was none. `cells` and `rows` hold log rises of whole counts (see fill_log_rises).
    """
    states = counts.shape[1]
    whole = np.zeros(states)
    for v in range(offsets[0], offsets[1]):
        for k in range(states):
            whole[k] += counts[v, k]
    here = dirichlet_score(whole, alpha, cells, rows)
    left = np.zeros(states)
    right = np.zeros(states)
    best = -np.inf
    best_feature, best_kind, best_value = -1, 0, 0
    candidates = 0
    for f in range(offsets.shape[0] - 1):
        first, last = offsets[f], offsets[f + 1]
        present = 0
        top = first
        low = last
        for v in range(first, last):
            if counts[v].sum() > 0.0:
                present += 1
                top = v
                low = min(low, v)
        if present < 2:
            continue
        if ordinal[f]:
            left[:] = 0.0
            for v in range(first, top):
                seen = 0.0
                for k in range(states):
                    left[k] += counts[v, k]
                    seen += counts[v, k]
                if seen <= 0.0:
                    continue
                candidates += 1
                gain = two_sides(whole, left, right, alpha, cells, rows) - here
                if gain > best:
                    best, best_feature, best_kind, best_value = gain, f, AT_MOST, v - first
        for v in range(first, last):
            # At the ends of an order, and with two codes, the same split has been seen already.
            if ordinal[f] and v in (low, top):
                continue
            if present == 2 and v == top:
                continue
            seen = 0.0
            for k in range(states):
                left[k] = counts[v, k]
                seen += counts[v, k]
            if seen <= 0.0:
                continue
            candidates += 1
            gain = two_sides(whole, left, right, alpha, cells, rows) - here
            if gain > best:
                best, best_feature, best_kind, best_value = gain, f, EQUAL, v - first
    if candidates > 0:
        best -= log(float(candidates))
    return best, best_feature, best_kind, best_value


@njit(cache=True, nogil=True)
def find_leaves(features, feature, kind, value, left, right, out):
    """By column of `features`, the leaf its codes lead to."""
    for i in range(features.shape[1]):
        node = 0
        while feature[node] >= 0:
            code = features[feature[node], i]
            goes_left = code <= value[node] if kind[node] == AT_MOST else code == value[node]
            node = left[node] if goes_left else right[node]
        out[i] = node
