"""Merging states of a hidden variable on their count vectors.

counts[c, i] is how often cell c occurs in state i; a cell is a configuration of a family that holds the variable,
without the variable itself, or the sum of a child's cells over the child's states. What a state adds to the score is
Σ_c ±F_c(counts[c, i]), plus for cells and minus for sums, with rises F that are zero at zero. So a pair's gain comes
only from cells that both states have, and does not depend on any other state. values[c, i] keeps F_c(counts[c, i]).
States 0…k−1 are alive; a dead one is replaced by the last.

priors: (cells, 4)   prior count, sign, ln Γ of the prior count (0 for a likelihood, whose F is n·ln n), row of `rises`
rises:  F(0), F(1)… by row, where all counts are whole numbers; else without columns, and F is computed
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
def _risen(n, prior, rises):
    if rises.shape[1] > 0:
        return rises[int(prior[3]), int(n)]
    if prior[0] > 0.0:
        return log_gamma(prior[0] + n) - prior[2]
    return n * math.log(n)


@njit(cache=True, nogil=True)
def fill_values(k, counts, priors, rises, values):
    """F of every count; gives back what the first k states add to the score."""
    total = 0.0
    for c in range(counts.shape[0]):
        for i in range(k):
            values[c, i] = _risen(counts[c, i], priors[c], rises) if counts[c, i] > 0.0 else 0.0
            total += priors[c, 1] * values[c, i]
    return total


@njit(cache=True, nogil=True)
def add_rises(sign, own, w, counts, values, row, gains):
    """The gains of w rows more in a cell: F(n + w) − F(n) − F(w), which is nothing where n = 0."""
    for i in range(counts.size):
        n = counts[i]
        if n > 0.0:
            gains[i] += sign * (row[int(n + w)] - values[i] - own)


@njit(cache=True, nogil=True)
def state_gains(i, others, counts, priors, rises, values, out):
    """What merging state i with each of the first `others` states adds to the states' part of the score."""
    for j in range(others):
        out[j] = 0.0
    for c in range(counts.shape[0]):
        own = counts[c, i]
        if own > 0.0:
            sign, value = priors[c, 1], values[c, i]
            if rises.shape[1] > 0:
                counts[c, i] = 0.0  # (with itself it has more rows than there are: beyond the end of what is looked up)
                add_rises(sign, value, own, counts[c, :others], values[c], rises[int(priors[c, 3])], out)
                counts[c, i] = own
                continue
            for j in range(others):
                if counts[c, j] > 0.0:
                    both = _risen(own + counts[c, j], priors[c], rises)
                    out[j] += sign * (both - value - values[c, j])


@njit(cache=True, nogil=True)
def best_of(values, k):
    """The place of the largest, the first if several are equal."""
    best = 0
    for j in range(1, k):
        if values[j] > values[best]:
            best = j
    return best


@njit(cache=True, nogil=True)
def fill_gains(k, counts, priors, rises, values, gains, best):
    """Every pair's gain, and each state's best partner."""
    for i in range(k):
        state_gains(i, i, counts, priors, rises, values, gains[i])
        for j in range(i):
            gains[j, i] = gains[i, j]
        gains[i, i] = -np.inf
    for i in range(k):
        best[i] = best_of(gains[i], k)


@njit(cache=True, nogil=True)
def merge(i, j, k, counts, priors, rises, values, gains, best):
    """Add state j to state i, move the last state to j's place, and compute the one row of gains that changed."""
    last = k - 1
    for c in range(counts.shape[0]):
        if counts[c, j] > 0.0:
            counts[c, i] += counts[c, j]
            values[c, i] = _risen(counts[c, i], priors[c], rises)
        counts[c, j] = counts[c, last]
        values[c, j] = values[c, last]
    for m in range(k):
        gains[j, m] = gains[last, m]
    for m in range(k):
        gains[m, j] = gains[m, last]
    gains[j, j] = -np.inf
    best[j] = best[last]
    state_gains(i, last, counts, priors, rises, values, gains[i])
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
def merge_down(k, least, counts, priors, rises, values, gains, best, node, pairs, gained):
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
        merge(i, j, k, counts, priors, rises, values, gains, best)
        node[i] = n + step
        node[j] = node[k - 1]
        k -= 1


@njit(cache=True, nogil=True)
def absorb_rest(order, seeds, cells, weights, priors, rises, counts, place):
    """Put configurations beyond the first `seeds` (in this order) one by one into the state that gains most.

    Configuration m lies in cells[:, m] (−1: a hole, in no table of that family).
    """
    gains, values = np.empty(seeds), np.zeros(counts.shape)
    fill_values(seeds, counts, priors, rises, values)
    steps = np.zeros(counts.shape)  # what one row more would gain: many of the configurations left are one row
    for c in range(counts.shape[0]):
        for i in range(seeds):
            if counts[c, i] > 0.0:
                steps[c, i] = _risen(counts[c, i] + 1.0, priors[c], rises) - values[c, i]
    for n in range(seeds, order.size):
        m = order[n]
        w = weights[m]
        for i in range(seeds):
            gains[i] = 0.0
        for f in range(cells.shape[0]):
            c = cells[f, m]
            if c < 0:
                continue
            prior = priors[c]
            sign, own = prior[1], _risen(w, prior, rises)
            if w == 1.0:
                add_steps(sign, own, counts[c], steps[c], gains)
            elif rises.shape[1] > 0:
                add_rises(sign, own, w, counts[c], values[c], rises[int(prior[3])], gains)
            else:
                for i in range(seeds):
                    if counts[c, i] > 0.0:
                        gains[i] += sign * (_risen(counts[c, i] + w, prior, rises) - values[c, i] - own)
        top = best_of(gains, seeds)
        place[m] = top
        for f in range(cells.shape[0]):
            c = cells[f, m]
            if c >= 0:
                counts[c, top] += w
                values[c, top] = _risen(counts[c, top], priors[c], rises)
                steps[c, top] = _risen(counts[c, top] + 1.0, priors[c], rises) - values[c, top]


@njit(cache=True, nogil=True)
def add_steps(sign, own, counts, steps, gains):
    """The gains of one row more in a cell."""
    for i in range(gains.size):
        gains[i] += sign * (steps[i] - own) if counts[i] > 0.0 else 0.0
