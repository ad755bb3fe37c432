"""How many active causes reach each cell, for 64 cells at once.

The count is kept in unary: bit j of `above[c]` says that more than c causes reach cell j, and `top` is the number of
levels in use. Levels are nested, so one AND and one popcount a level weigh a whole word of cells.
With `step[0]` = log P(1|1) − log P(1|0) and `step[c]` the further differences of log P(x=1 | c+1 causes) −
log P(x=1 | c causes), and `miss` = log(1 − λ), a flip's evidence is a dot product of counts [wood2006 eq. 3].
"""

import math

import numpy as np
from numba import njit

from leverrier.kernels.counts.bits import popcount


@njit(cache=True, nogil=True)
def fill_steps(epsilon, lam, step):
    """`step` for these numbers."""
    off = 1.0 - epsilon
    before = math.log1p(-off)
    gain = 0.0
    for c in range(step.size):
        off *= 1.0 - lam
        now = math.log1p(-off)
        step[c] = now - before - gain
        gain = now - before
        before = now


@njit(cache=True, nogil=True)
def fill_log_odds(pseudo, log_odds):
    """log P(z = 1)/P(z = 0) given m other links in the column: (m + α/K)/(N − m) [wood2006 eq. 10, see structure]."""
    n = log_odds.size
    for m in range(n):
        if m + pseudo > 0.0:  # no links and no pseudo-count: the births' affair
            log_odds[m] = math.log((m + pseudo) / (n - m))


@njit(cache=True, nogil=True)
def raise_levels(above, top, mask, rest):
    """Add one to the counts under the mask; returns the levels in use."""
    some = np.uint64(0)
    for w in range(mask.size):
        rest[w] = mask[w]
        some |= mask[w]
    c = 0
    while some != 0:
        if c == top:
            for w in range(mask.size):
                above[c, w] = 0
            top += 1
        some = np.uint64(0)
        for w in range(mask.size):
            both = above[c, w] & rest[w]
            above[c, w] |= rest[w]
            rest[w] = both
            some |= both
        c += 1
    return top


@njit(cache=True, nogil=True)
def lower_levels(above, top, mask, rest):
    """Take one from the counts under the mask (they are at least one there); returns the levels in use."""
    for w in range(mask.size):
        rest[w] = mask[w]
    for c in range(top - 1, -1, -1):
        some = np.uint64(0)
        for w in range(mask.size):
            hit = above[c, w] & rest[w]
            above[c, w] ^= hit
            rest[w] ^= hit
            some |= above[c, w]
        if some == 0:
            top = c
    return top


@njit(cache=True, nogil=True)
def evidence(cells, ones, zeros, above, top, step, miss, rest):
    """Log-likelihood ratio of one more cause reaching these cells, whose other causes are in the levels."""
    n_zeros = 0
    n = 0
    for w in range(cells.size):
        n_zeros += popcount(cells[w] & zeros[w])
        seen = cells[w] & ones[w]
        rest[w] = seen
        n += popcount(seen)
    total = n_zeros * miss + n * step[0]
    c = 0
    while c < top and n > 0:
        n = 0
        for w in range(cells.size):
            seen = rest[w] & above[c, w]
            rest[w] = seen
            n += popcount(seen)
        c += 1
        total += n * step[c]
    return total


@njit(cache=True, nogil=True)
def histogram(cells, above, top, counts):
    """How many of the cells have each count; `counts` is filled up to `top`."""
    n = 0
    for w in range(cells.size):
        n += popcount(cells[w])
    for c in range(top):
        more = 0
        for w in range(cells.size):
            more += popcount(cells[w] & above[c, w])
        counts[c] = n - more
        n = more
    counts[top] = n


@njit(cache=True, nogil=True)
def row_levels(links, active, size, i, above, rest):
    """The levels of variable i, by trial, from its linked causes; returns how many are in use."""
    top = np.int64(0)
    for k in range(size):
        if links[k, i]:
            top = raise_levels(above, top, active[k], rest)
    return top


@njit(cache=True, nogil=True)
def count_cells(ones, zeros, links, active, above, rest, seen):
    """`seen[x, c]`: how many cells are x with c active linked causes. λ and ε need to know no more. Give zeros."""
    counts = np.zeros(seen.shape[1], np.int64)
    for i in range(ones.shape[0]):
        top = row_levels(links, active, links.shape[0], i, above, rest)
        histogram(zeros[i], above, top, counts)
        for c in range(top + 1):
            seen[0, c] += counts[c]
        histogram(ones[i], above, top, counts)
        for c in range(top + 1):
            seen[1, c] += counts[c]
