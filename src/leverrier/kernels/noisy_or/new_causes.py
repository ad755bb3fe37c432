"""New causes of one variable, their y summed out [wood2006 eqs. 13–15], for λ and p shared by all causes."""

import math

import numpy as np
from numba import njit

from leverrier.kernels.noisy_or.bit_levels import lower_levels
from leverrier.kernels.noisy_or.random_stream import uniform


@njit(cache=True, nogil=True)
def drop_own(links, active, degree, size, i, above, top, rest):
    """Remove the columns that only row i uses; returns how many columns stay and the levels in use."""
    k = 0
    while k < size:
        if degree[k] == 1 and links[k, i]:
            top = lower_levels(above, top, active[k], rest)
            size -= 1
            for other in range(links.shape[1]):
                links[k, other] = links[size, other]
            for w in range(active.shape[1]):
                active[k, w] = active[size, w]
            degree[k] = degree[size]
        else:
            k += 1
    return size, top


@njit(cache=True, nogil=True)
def place(links, active, degree, k, stream):
    """Swap the last column, k, with any of the k + 1: a new cause takes every place alike.

    So the places of the columns never tell their age, and visiting them in order of place is visiting them in
    random order. Appended columns visited in order make the sampler inexact.
    """
    other = int(uniform(stream) * (k + 1))
    for i in range(links.shape[1]):
        links[k, i], links[other, i] = links[other, i], links[k, i]
    for w in range(active.shape[1]):
        active[k, w], active[other, w] = active[other, w], active[k, w]
    degree[k], degree[other] = degree[other], degree[k]


@njit(cache=True, nogil=True)
def draw_births(counts, top, n_zeros, rate, epsilon, lam, p, weights, stream):
    """How many new causes a row gets, given how many of its ones have each count and how many zeros it has.

    The series is cut where the rest, bounded by the Poisson tail and by P(x = 1) ≤ 1, is below 1e-12 of the
    mass so far, so that the cut follows the numbers and not a constant.
    """
    missed = math.log1p(-lam * p)
    peak = -np.inf
    total = 0.0
    log_prior = -rate
    n = 0
    while True:
        value = log_prior + n_zeros * n * missed
        off = (1.0 - epsilon) * math.exp(n * missed)
        for c in range(top + 1):
            if counts[c]:
                value += counts[c] * math.log1p(-off)  # [wood2006 eq. 15]
            off *= 1.0 - lam
        weights[n] = value
        if value > peak:
            total = total * math.exp(peak - value) + 1.0
            peak = value
        else:
            total += math.exp(value - peak)
        log_prior += math.log(rate / (n + 1.0))
        # beyond n + 2 > 2·rate the Poisson terms halve at least, and the zeros' likelihood only falls
        tail = 0.6932 + log_prior + n_zeros * (n + 1) * missed
        if n == weights.size - 1 or (n + 2 > 2 * rate and tail - peak - math.log(total) < -27.631):
            break
        n += 1
    target = uniform(stream) * total
    for chosen in range(n + 1):
        target -= math.exp(weights[chosen] - peak)
        if target < 0.0:
            return chosen
    return 0


@njit(cache=True, nogil=True)
def draw_new_active(ones, zeros, above, top, active, size, n_new, epsilon, lam, p, n_trials, stream):
    """Draw the y of new causes of one variable: one after another, those still to come summed out."""
    for k in range(size, size + n_new):
        for w in range(active.shape[1]):
            active[k, w] = 0
    for t in range(n_trials):
        word = t >> 6
        bit = np.uint64(1) << np.uint64(t & 63)
        off = 1.0 - epsilon
        for c in range(top):
            if above[c, word] & bit:
                off *= 1.0 - lam
        for j in range(n_new):
            later = off * (1.0 - lam * p) ** (n_new - 1 - j)
            chance = p
            if zeros[word] & bit:
                chance = p * (1.0 - lam) / (1.0 - lam * p)
            elif ones[word] & bit:
                chance = p * (1.0 - later * (1.0 - lam)) / (1.0 - later * (1.0 - lam * p))
            if uniform(stream) < chance:
                active[size + j, word] |= bit
                off *= 1.0 - lam
