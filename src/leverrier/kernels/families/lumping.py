"""States of a parent that tell the same of a child, put together one pair after another."""

from __future__ import annotations

import numpy as np
from numba import njit

from leverrier.kernels.search.tree_growth import log_rise


@njit(cache=True, nogil=True)
def gain_of_one(first, second, alpha, cells, rows):
    """What one distribution for both gains over one for each, (beside, states) of counts; never where one is empty."""
    states = first.shape[1]
    gain = 0.0
    for b in range(first.shape[0]):
        here, there = 0.0, 0.0
        for k in range(states):
            here += first[b, k]
            there += second[b, k]
        if here <= 0.0 or there <= 0.0:
            continue
        for k in range(states):
            m, n = first[b, k], second[b, k]
            if m > 0.0 and n > 0.0:
                gain += log_rise(m + n, alpha, cells) - log_rise(m, alpha, cells) - log_rise(n, alpha, cells)
        whole = alpha * states
        gain -= log_rise(here + there, whole, rows) - log_rise(here, whole, rows) - log_rise(there, whole, rows)
    return gain


@njit(cache=True, nogil=True)
def add_rows(out, first, second, rows):
    """out[first[j], second[j]] += rows[j]"""
    for j in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            out[first[j], second[j], k] += rows[j, k]


@njit(cache=True, nogil=True)
def lump(counts, alpha, cells, rows, prices, group):
    """Merge the pair that gains most until one group is left; group[s] ← the state's group at the best level.

    counts (states, beside, child's states) is overwritten; prices[g] is what naming g groups costs.
    """
    n = counts.shape[0]
    gains = np.full((n, n), -np.inf)
    for i in range(n):
        for j in range(i):
            gains[i, j] = gain_of_one(counts[i], counts[j], alpha, cells, rows)
    own = np.arange(n)
    group[:] = own
    total, best = 0.0, -prices[n]
    for left in range(n - 1, 0, -1):
        top, a, b = -np.inf, 0, 0
        for i in range(n):
            for j in range(i):
                if gains[i, j] > top:
                    top, a, b = gains[i, j], i, j
        counts[b] += counts[a]
        for s in range(n):
            if own[s] == a:
                own[s] = b
        for m in range(n):
            gains[a, m] = -np.inf
            gains[m, a] = -np.inf
        for m in range(n):
            if m < b and gains[b, m] > -np.inf:
                gains[b, m] = gain_of_one(counts[b], counts[m], alpha, cells, rows)
            elif m > b and gains[m, b] > -np.inf:
                gains[m, b] = gain_of_one(counts[m], counts[b], alpha, cells, rows)
        total += top
        if total - prices[left] > best:
            best = total - prices[left]
            group[:] = own
