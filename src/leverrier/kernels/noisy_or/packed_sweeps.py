"""Sweeps over links and over active causes on packed bits, for one λ shared by all causes.

Layouts: `ones`, `zeros` (observed, words of trials) mark cells seen 1 and seen 0, a hole is in neither; `links`
(causes, observed) is 0/1; `active` (causes, words of trials) is bits. A sweep over active causes reads the
same cells turned: (trials, words of observed).
"""

import math

import numpy as np
from numba import njit

from leverrier.kernels.counts.bits import popcount
from leverrier.kernels.noisy_or.bit_levels import (
    evidence,
    fill_log_odds,
    fill_steps,
    histogram,
    lower_levels,
    raise_levels,
    row_levels,
)
from leverrier.kernels.noisy_or.new_causes import draw_births, draw_new_active, drop_own, place
from leverrier.kernels.noisy_or.random_stream import coin


@njit(cache=True, nogil=True)
def flip_row(ones, zeros, links, active, degree, size, i, unbounded, log_odds, step, miss, above, top, rest, stream):
    """Draw z[i, k] for every column [wood2006 eqs. 10, 11]; returns the levels in use.

    `log_odds[m]` is the prior's, with m other links in the column. In the unbounded model a column that
    only row i uses is left for the births.
    """
    for k in range(size):
        was = links[k, i]
        others = degree[k] - was
        if unbounded and others == 0:
            continue
        if was:
            top = lower_levels(above, top, active[k], rest)
        now = coin(log_odds[others] + evidence(active[k], ones, zeros, above, top, step, miss, rest), stream)
        if now:
            top = raise_levels(above, top, active[k], rest)
        links[k, i] = now
        degree[k] = others + now
    return top


@njit(cache=True, nogil=True)
def sweep_links(
    ones,
    zeros,
    links,
    active,
    degree,
    size,
    rows,
    first,
    unbounded,
    pseudo,
    rate,
    epsilon,
    lam,
    p,
    n_trials,
    above,
    rest,
    counts,
    step,
    log_odds,
    weights,
    stream,
):
    """Visit rows[first:]; returns (rows done, columns), early when the arrays could become too small.

    A rate of 0 leaves births out.
    """
    fill_log_odds(pseudo, log_odds)
    miss = math.log1p(-lam)
    filled = 0
    for r in range(first, rows.size):
        i = rows[r]
        if size + 1 > filled:
            filled = min(size + 8, step.size)
            fill_steps(epsilon, lam, step[:filled])
        top = row_levels(links, active, size, i, above, rest)
        top = flip_row(
            ones[i], zeros[i], links, active, degree, size, i, unbounded, log_odds, step, miss, above, top, rest, stream
        )
        if rate == 0.0:
            continue
        size, top = drop_own(links, active, degree, size, i, above, top, rest)
        histogram(ones[i], above, top, counts)
        n_zeros = 0
        for w in range(zeros.shape[1]):
            n_zeros += popcount(zeros[i, w])
        n_new = draw_births(counts, top, n_zeros, rate, epsilon, lam, p, weights, stream)
        if n_new:
            draw_new_active(ones[i], zeros[i], above, top, active, size, n_new, epsilon, lam, p, n_trials, stream)
            for k in range(size, size + n_new):
                for other in range(links.shape[1]):
                    links[k, other] = 0
                links[k, i] = 1
                degree[k] = 1
                place(links, active, degree, k, stream)
            size += n_new
        if size + weights.size > degree.size:
            return r + 1, size
    return rows.size, size


@njit(cache=True, nogil=True)
def raise_word(above, top, mask):
    """Add one to the counts under the mask, within one word; returns the levels in use."""
    for c in range(top):
        both = above[c] & mask
        above[c] |= mask
        mask = both
    if mask != 0:
        above[top] = mask
        top += 1
    return top


@njit(cache=True, nogil=True)
def lower_word(above, top, mask):
    """Take one from the counts under the mask, within one word; returns the levels in use."""
    for c in range(top - 1, -1, -1):
        hit = above[c] & mask
        above[c] ^= hit
        mask ^= hit
    while top > 0 and above[top - 1] == 0:
        top -= 1
    return top


@njit(cache=True, nogil=True)
def fill_masks(links, masks):
    """Links as bits: (causes, words of observed)."""
    for k in range(links.shape[0]):
        for w in range(masks.shape[1]):
            masks[k, w] = 0
        for i in range(links.shape[1]):
            if links[k, i]:
                masks[k, i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@njit(cache=True, nogil=True)
def sweep_active(ones, zeros, links, active, p, epsilon, lam, step, masks, above, stream):
    """Draw every y given the rest [wood2006 eq. 12], for at most 64 observed variables: one word a trial.

    Causes are visited in order of place, which is random (see new_causes.place).
    """
    fill_masks(links, masks.reshape(masks.size, 1))
    n_causes = masks.size
    log_odds = np.log(p) - np.log1p(-p)
    fill_steps(epsilon, lam, step)
    miss = math.log1p(-lam)
    for t in range(ones.size):
        word = t >> 6
        bit = np.uint64(1) << np.uint64(t & 63)
        top = np.int64(0)
        for k in range(n_causes):
            if active[k, word] & bit:
                top = raise_word(above, top, masks[k])
        for k in range(n_causes):
            children = masks[k]
            if active[k, word] & bit:
                top = lower_word(above, top, children)
            seen = children & ones[t]
            total = log_odds[k] + popcount(children & zeros[t]) * miss + popcount(seen) * step[0]
            for c in range(top):
                total += popcount(seen & above[c]) * step[c + 1]
            if coin(total, stream):
                top = raise_word(above, top, children)
                active[k, word] |= bit
            else:
                active[k, word] &= ~bit


@njit(cache=True, nogil=True)
def sweep_active_wide(ones, zeros, links, active, p, epsilon, lam, step, masks, above, tops, stream):
    """The same for any number of observed variables: a row of levels for each word."""
    fill_masks(links, masks)
    n_causes = masks.shape[0]
    log_odds = np.log(p) - np.log1p(-p)
    fill_steps(epsilon, lam, step)
    miss = math.log1p(-lam)
    for t in range(ones.shape[0]):
        word = t >> 6
        bit = np.uint64(1) << np.uint64(t & 63)
        for w in range(tops.size):
            tops[w] = 0
            for k in range(n_causes):
                if active[k, word] & bit:
                    tops[w] = raise_word(above[w], tops[w], masks[k, w])
        for k in range(n_causes):
            was = active[k, word] & bit
            total = log_odds[k]
            for w in range(tops.size):
                if was:
                    tops[w] = lower_word(above[w], tops[w], masks[k, w])
                seen = masks[k, w] & ones[t, w]
                total += popcount(masks[k, w] & zeros[t, w]) * miss + popcount(seen) * step[0]
                for c in range(tops[w]):
                    total += popcount(seen & above[w, c]) * step[c + 1]
            if coin(total, stream):
                for w in range(tops.size):
                    tops[w] = raise_word(above[w], tops[w], masks[k, w])
                active[k, word] |= bit
            else:
                active[k, word] &= ~bit
