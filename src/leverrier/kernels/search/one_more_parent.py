"""Score a child with parents P and one more, for many candidates at once.

A family's score has one shape for every score we use: Σ_jk F(N_jk) − Σ_j G(N_j) − penalty, where F and G are
"rises": zero at zero, so empty cells cost nothing. Rises come as tables by count, and as Stirling's series
(Bayesian scores) or n·log n (likelihoods) beyond the table.
"""

import math

import numpy as np
from numba import njit

from leverrier.kernels.counts.bits import and_count, count

BLOCK = 256  # words: a block of every mask in play stays in the first-level cache


@njit(cache=True, nogil=True)
def log_gamma(x):
    """ln Γ(x) for x ≥ 16 by Stirling's series to 1e-15, below by the library."""
    if x < 16.0:
        return math.lgamma(x)
    inverse = 1.0 / x
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
    return (x - 0.5) * math.log(x) - x + 0.9189385332046727 + series


@njit(cache=True, nogil=True)
def rise(n, alpha):
    """ln Γ(α+n) − ln Γ(α) [α > 0], or n·ln n [α = 0: the likelihood's]."""
    if n <= 0.0:
        return 0.0
    if alpha > 0.0:
        return log_gamma(alpha + n) - log_gamma(alpha)
    return n * math.log(n)


@njit(cache=True, nogil=True)
def fill_rises(alpha, table):
    """Rises by count: ln Γ(α+n) − ln Γ(α) is the sum of ln(α+i) over i < n."""
    total = 0.0
    for n in range(table.size):
        if alpha > 0.0:
            table[n] = total
            total += math.log(alpha + n)
        else:
            table[n] = rise(float(n), alpha)


@njit(cache=True, nogil=True)
def score_counts(counts, size, child_states, alpha_cell, alpha_row, cell_rises, row_rises):
    """Σ F(N_jk) − Σ G(N_j) over counts of which cells (j, k), k fastest, are the first `size`."""
    total = 0.0
    limit = cell_rises.size
    for start in range(0, size, child_states):
        row = 0
        for k in range(start, start + child_states):
            n = counts[k]
            if n > 0:
                row += n
                total += cell_rises[n] if n < limit else rise(float(n), alpha_cell)
        if row > 0:
            total -= row_rises[row] if row < limit else rise(float(row), alpha_row)
    return total


@njit(cache=True, nogil=True)
def _prefix(masks, first, states, parents, j, lo, hi, out):
    """AND of the masks of parent configuration j (last parent fastest), words lo to hi."""
    width = hi - lo
    started = False
    for p in range(parents.size - 1, -1, -1):
        v = parents[p]
        state = j % states[v]
        j //= states[v]
        source = masks[first[v] + state, lo:hi]
        if started:
            for w in range(width):
                out[w] &= source[w]
        else:
            for w in range(width):
                out[w] = source[w]
            started = True
    if not started:
        for w in range(width):
            out[w] = ~np.uint64(0)


@njit(cache=True, nogil=True)
def expand_counts(masks, first, states, complete, child, parents, wanted, starts, counts):
    """Counts of (parents, candidate, child) for every wanted variable; variable v's table begins at starts[v].

    The parents' masks are ANDed once for all candidates; the candidate's last state comes by subtraction.
    """
    words = masks.shape[1]
    r = states[child]
    q = 1
    for p in parents:
        q *= states[p]
    joint = np.empty((r, BLOCK), dtype=np.uint64)
    prefix = np.empty(BLOCK, dtype=np.uint64)
    totals = np.empty(r, dtype=np.int64)
    for lo in range(0, words, BLOCK):
        hi = min(words, lo + BLOCK)
        width = hi - lo
        for j in range(q):
            _prefix(masks, first, states, parents, j, lo, hi, prefix)
            if parents.size > 1 and count(prefix[:width]) == 0:
                continue
            for k in range(r):
                target = joint[k, :width]
                source = masks[first[child] + k, lo:hi]
                for w in range(width):
                    target[w] = prefix[w] & source[w]
                totals[k] = count(target)
            for v in range(wanted.size):
                if not wanted[v]:
                    continue
                explicit = states[v] - 1 if complete[v] else states[v]
                base = starts[v] + j * states[v] * r
                for k in range(r):
                    rest = totals[k]
                    if rest == 0:
                        continue
                    target = joint[k, :width]
                    for a in range(explicit):
                        n = and_count(target, masks[first[v] + a, lo:hi])
                        counts[base + a * r + k] += n
                        rest -= n
                    if complete[v]:
                        counts[base + (states[v] - 1) * r + k] += rest


@njit(cache=True, nogil=True)
def row_codes(codes, states, child, parents, out):
    """Each row's parent configuration (last parent fastest), −1 where a parent or the child is a hole."""
    column = codes[child]
    for i in range(out.size):
        out[i] = 0 if column[i] < states[child] else -1
    for p in parents:
        column = codes[p]
        r = states[p]
        for i in range(out.size):
            if column[i] >= r:
                out[i] = -1
            elif out[i] >= 0:
                out[i] = out[i] * r + column[i]


@njit(cache=True, nogil=True)
def histogram(rows, child, child_states, column, r, counts):
    """Counts of (parents, candidate, child) from each row's parent configuration and two columns."""
    for i in range(rows.size):
        if rows[i] >= 0 and column[i] < r:
            counts[(rows[i] * r + column[i]) * child_states + child[i]] += 1


@njit(cache=True, nogil=True)
def weighted_histogram(rows, child, child_states, column, r, weights, counts):
    for i in range(rows.size):
        if rows[i] >= 0 and column[i] < r:
            counts[(rows[i] * r + column[i]) * child_states + child[i]] += weights[i]


@njit(cache=True, nogil=True)
def score_real(counts, child_states, alpha_cell, alpha_row):
    """The same score from expected or weighted counts, which are not whole numbers."""
    total = 0.0
    for start in range(0, counts.size, child_states):
        row = 0.0
        for k in range(start, start + child_states):
            if counts[k] > 0.0:
                row += counts[k]
                total += rise(counts[k], alpha_cell)
        total -= rise(row, alpha_row)
    return total


@njit(cache=True, nogil=True)
def score_packed(counts, starts, wanted, r, kind, alphas, at, rises, out):
    """Scores of packed tables of whole counts; table c's prior counts are alphas[:, kind[c]], a cell's and a row's, and
    their rises the rows at[:, kind[c]]."""
    for c in range(out.size):
        if wanted[c]:
            table = counts[starts[c] : starts[c + 1]]
            k = kind[c]
            out[c] = score_counts(table, table.size, r, alphas[0, k], alphas[1, k], rises[at[0, k]], rises[at[1, k]])


@njit(cache=True, nogil=True)
def score_packed_real(counts, starts, wanted, r, kind, alphas, out):
    """Scores of packed tables of expected or weighted counts."""
    for c in range(out.size):
        if wanted[c]:
            out[c] = score_real(counts[starts[c] : starts[c + 1]], r, alphas[0, kind[c]], alphas[1, kind[c]])
