"""Merging states of a hidden variable on their count vectors.

counts[i, c] is how often cell c occurs in state i; a cell is a configuration of a family that holds the variable,
without the variable itself, or the sum of a child's cells over the child's states. What a state adds to the score is
Σ_c ±F_c(counts[i, c]), plus for cells and minus for sums, with rises F that are zero at zero. So a pair's gain comes
only from cells that both states have, and does not depend on any other state. values[i, c] keeps F_c(counts[i, c]).
States 0…k−1 are alive; a dead one is replaced by the last.

priors: (cells, 3)   prior count, sign, and ln Γ of the prior count (0 for a likelihood, whose F is n·ln n)
"""

import math

import numpy as np
from numba import njit

from leverrier.kernels.search.one_more_parent import log_gamma, rise


@njit(cache=True, nogil=True)
def sum_of_rises(counts, alpha):
    total = 0.0
    for n in counts:
        total += rise(n, alpha)
    return total


@njit(cache=True, nogil=True)
def _risen(n, prior):
    if prior[0] > 0.0:
        return log_gamma(prior[0] + n) - prior[2]
    return n * math.log(n)


@njit(cache=True, nogil=True)
def fill_values(k, counts, priors, values):
    """F of every count; gives back what the first k states add to the score."""
    total = 0.0
    for i in range(k):
        for c in range(counts.shape[1]):
            values[i, c] = _risen(counts[i, c], priors[c]) if counts[i, c] > 0.0 else 0.0
            total += priors[c, 1] * values[i, c]
    return total


@njit(cache=True, nogil=True)
def state_gains(i, others, counts, priors, values, out):
    """What merging state i with each of the first `others` states adds to the states' part of the score."""
    used = np.empty(counts.shape[1], dtype=np.int64)
    n_used = 0
    for c in range(counts.shape[1]):
        if counts[i, c] > 0.0:
            used[n_used] = c
            n_used += 1
    for j in range(others):
        total = 0.0
        for n in range(n_used):
            c = used[n]
            if counts[j, c] > 0.0:
                both = _risen(counts[i, c] + counts[j, c], priors[c])
                total += priors[c, 1] * (both - values[i, c] - values[j, c])
        out[j] = total


@njit(cache=True, nogil=True)
def best_of(values, k):
    """The place of the largest, the first if several are equal."""
    best = 0
    for j in range(1, k):
        if values[j] > values[best]:
            best = j
    return best


@njit(cache=True, nogil=True)
def fill_gains(k, counts, priors, values, gains, best):
    """Every pair's gain, and each state's best partner."""
    for i in range(k):
        state_gains(i, i, counts, priors, values, gains[i])
        for j in range(i):
            gains[j, i] = gains[i, j]
        gains[i, i] = -np.inf
    for i in range(k):
        best[i] = best_of(gains[i], k)


@njit(cache=True, nogil=True)
def merge(i, j, k, counts, priors, values, gains, best):
    """Add state j to state i, move the last state to j's place, and compute the one row of gains that changed."""
    last = k - 1
    for c in range(counts.shape[1]):
        if counts[j, c] > 0.0:
            counts[i, c] += counts[j, c]
            values[i, c] = _risen(counts[i, c], priors[c])
        counts[j, c] = counts[last, c]
        values[j, c] = values[last, c]
    for m in range(k):
        gains[j, m] = gains[last, m]
    for m in range(k):
        gains[m, j] = gains[m, last]
    gains[j, j] = -np.inf
    best[j] = best[last]
    state_gains(i, last, counts, priors, values, gains[i])
    gains[i, i] = -np.inf
    for m in range(last):
        gains[m, i] = gains[i, m]
        if m == i or best[m] == i or best[m] == j:
            best[m] = best_of(gains[m], last)
        else:
            if best[m] == last:
                best[m] = j
            if gains[m, i] > gains[m, best[m]]:
                best[m] = i


@njit(cache=True, nogil=True)
def top_state(k, gains, best):
    """The state with the best partner of all."""
    top = 0
    for i in range(1, k):
        if gains[i, best[i]] > gains[top, best[top]]:
            top = i
    return top


@njit(cache=True, nogil=True)
def merge_down(k, least, counts, priors, values, gains, best, node, pairs, gained):
    """Merge the best pair until `least` of k states are left. node[i] is state i's node of the merge tree; a merge that
    leaves k states is written to pairs[n − 1 − k] (the smaller node first) and gained[n − 1 − k], n states at first."""
    n = node.size
    while k > least:
        i = top_state(k, gains, best)
        j = best[i]
        i, j = min(i, j), max(i, j)
        step = n - k
        gained[step] = gains[i, j]
        pairs[step, 0] = min(node[i], node[j])
        pairs[step, 1] = max(node[i], node[j])
        merge(i, j, k, counts, priors, values, gains, best)
        node[i] = n + step
        node[j] = node[k - 1]
        k -= 1


@njit(cache=True, nogil=True)
def absorb_rest(order, seeds, cells, weights, priors, counts, place):
    """Put configurations beyond the first `seeds` (in this order) one by one into the state that gains most.

    Configuration m lies in cells[:, m] (−1: a hole, in no table of that family).
    """
    values = np.zeros(counts.shape)
    fill_values(counts.shape[0], counts, priors, values)
    own = np.empty(cells.shape[0])
    for n in range(seeds, order.size):
        m = order[n]
        w = weights[m]
        top = 0
        top_gain = -np.inf
        for f in range(cells.shape[0]):
            if cells[f, m] >= 0:
                own[f] = _risen(w, priors[cells[f, m]])
        for i in range(seeds):
            gain = 0.0
            for f in range(cells.shape[0]):
                c = cells[f, m]
                if c >= 0 and counts[i, c] > 0.0:
                    together = _risen(counts[i, c] + w, priors[c])
                    gain += priors[c, 1] * (together - values[i, c] - own[f])
            if gain > top_gain:
                top_gain = gain
                top = i
        place[m] = top
        for f in range(cells.shape[0]):
            c = cells[f, m]
            if c >= 0:
                counts[top, c] += w
                values[top, c] = _risen(counts[top, c], priors[c])
