"""The same moves cell by cell, for any λ of each cause. `off` is P(x = 0) of a cell; `fail` is 1 − λ by cause.

`cells` (observed, trials) is 0, 1 or 2 for a hole; `links` and `active` are as in noisy_or_sweep.
"""

import math

import numpy as np
from numba import njit

from leverrier.kernels.counts.bits import popcount
from leverrier.kernels.noisy_or.bit_levels import fill_log_odds
from leverrier.kernels.noisy_or.random_stream import coin, uniform


@njit(cache=True, nogil=True)
def lowest(bits):
    """The place of the lowest one."""
    return popcount((bits & (~bits + np.uint64(1))) - np.uint64(1))


@njit(cache=True, nogil=True)
def scale(off, mask, factor):
    """Multiply `off` where the mask is set."""
    for w in range(mask.size):
        bits = mask[w]
        while bits != 0:
            off[w * 64 + lowest(bits)] *= factor
            bits &= bits - np.uint64(1)


@njit(cache=True, nogil=True)
def row_off(links, active, fail, size, i, epsilon, skip, also, off):
    """P(x[i, t] = 0) by trial, as if causes `skip` and `also` were not there [wood2006 eq. 3]."""
    for t in range(off.size):
        off[t] = 1.0 - epsilon
    for k in range(size):
        if links[k, i] and k != skip and k != also:
            scale(off, active[k], fail[k])


@njit(cache=True, nogil=True)
def rows_off(links, active, lam, size, rows, epsilon, skip, also, off):
    """The same for several rows, from λ."""
    for r in range(rows.size):
        row_off(links, active, 1.0 - lam, size, rows[r], epsilon, skip, also, off[r])


@njit(cache=True, nogil=True)
def gain(cells, off, mask, fail):
    """Log-likelihood ratio of one more cause reaching the cells under the mask."""
    n_zeros = 0
    ratio = 1.0
    total = 0.0
    for w in range(mask.size):
        bits = mask[w]
        while bits != 0:
            t = w * 64 + lowest(bits)
            if cells[t] == 0:
                n_zeros += 1
            elif cells[t] == 1:
                ratio *= (1.0 - off[t] * fail) / (1.0 - off[t])
                if ratio > 1e200:
                    total += math.log(ratio)
                    ratio = 1.0
            bits &= bits - np.uint64(1)
    return total + math.log(ratio) + n_zeros * math.log(fail)


@njit(cache=True, nogil=True)
def sweep_links_dense(
    cells, links, active, degree, size, rows, unbounded, pseudo, fail, epsilon, off, log_odds, stream
):
    """Draw z[i, k] for these rows [wood2006 eqs. 10, 11]; births are another move."""
    fill_log_odds(pseudo, log_odds)
    for r in range(rows.size):
        i = rows[r]
        row_off(links, active, fail, size, i, epsilon, -1, -1, off)
        for k in range(size):
            was = links[k, i]
            others = degree[k] - was
            if unbounded and others == 0:
                continue
            if was:
                scale(off, active[k], 1.0 / fail[k])
            now = coin(log_odds[others] + gain(cells[i], off, active[k], fail[k]), stream)
            if now:
                scale(off, active[k], fail[k])
            links[k, i] = now
            degree[k] = others + now


@njit(cache=True, nogil=True)
def sweep_active_dense(cells, links, active, p, fail, epsilon, off, stream):
    """Draw every y given the rest [wood2006 eq. 12]; here `off` runs over the observed variables of a trial."""
    log_odds = np.log(p) - np.log1p(-p)
    n_observed, n_trials = cells.shape
    for t in range(n_trials):
        word = t >> 6
        bit = np.uint64(1) << np.uint64(t & 63)
        for i in range(n_observed):
            off[i] = 1.0 - epsilon
        for k in range(p.size):
            if active[k, word] & bit:
                for i in range(n_observed):
                    if links[k, i]:
                        off[i] *= fail[k]
        for k in range(p.size):
            was = active[k, word] & bit
            total = log_odds[k]
            ratio = 1.0
            for i in range(n_observed):
                if links[k, i]:
                    if was:
                        off[i] /= fail[k]
                    if cells[i, t] == 0:
                        total += math.log(fail[k])
                    elif cells[i, t] == 1:
                        ratio *= (1.0 - off[i] * fail[k]) / (1.0 - off[i])
                        if ratio > 1e200:
                            total += math.log(ratio)
                            ratio = 1.0
            if coin(total + math.log(ratio), stream):
                active[k, word] |= bit
                for i in range(n_observed):
                    if links[k, i]:
                        off[i] *= fail[k]
            else:
                active[k, word] &= ~bit


@njit(cache=True, nogil=True)
def solo_gain(cells, off, lam, p):
    """Log-likelihood ratio of one more cause of this row alone, its y summed out [wood2006 eq. 15, K_new = 1]."""
    n_zeros = 0
    ratio = 1.0
    total = 0.0
    for t in range(cells.size):
        if cells[t] == 0:
            n_zeros += 1
        elif cells[t] == 1:
            ratio *= (1.0 - off[t] * (1.0 - lam * p)) / (1.0 - off[t])
            if ratio > 1e200:
                total += math.log(ratio)
                ratio = 1.0
    return total + math.log(ratio) + n_zeros * math.log1p(-lam * p)


@njit(cache=True, nogil=True)
def draw_solo(cells, off, lam, p, active, stream):
    """Draw the y of a cause linked to this row alone, given everything else."""
    for w in range(active.size):
        active[w] = 0
    for t in range(cells.size):
        chance = p
        if cells[t] == 0:
            chance = p * (1.0 - lam) / (1.0 - lam * p)
        elif cells[t] == 1:
            chance = p * (1.0 - off[t] * (1.0 - lam)) / (1.0 - off[t] * (1.0 - lam * p))
        if uniform(stream) < chance:
            active[t >> 6] |= np.uint64(1) << np.uint64(t & 63)


@njit(cache=True, nogil=True)
def gather(cells, links, active, fail, epsilon, only, base, off):
    """Cells seen 1 that cause `only` reaches now, with their P(x = 0) without it; returns how many, and the zeros.

    With only = −1: every cell, and P(x = 0) without the noise ε. Both have the form that slice_unit draws from.
    """
    n = 0
    n_zeros = 0
    for i in range(cells.shape[0]):
        if only >= 0 and links[only, i] == 0:
            continue
        row_off(links, active, fail, links.shape[0], i, 0.0 if only < 0 else epsilon, only, -1, off)
        for t in range(cells.shape[1]):
            if only >= 0 and not active[only, t >> 6] >> np.uint64(t & 63) & np.uint64(1):
                continue
            if cells[i, t] == 0:
                n_zeros += 1
            elif cells[i, t] == 1:
                base[n] = off[t]
                n += 1
    return n, n_zeros


@njit(cache=True, nogil=True)
def log_likelihood(cells, links, active, fail, epsilon, off):
    """log P(X | Z, Y) over the cells that were seen."""
    total = 0.0
    for i in range(cells.shape[0]):
        row_off(links, active, fail, links.shape[0], i, epsilon, -1, -1, off)
        for t in range(cells.shape[1]):
            if cells[i, t] == 0:
                total += math.log(off[t])
            elif cells[i, t] == 1:
                total += math.log1p(-off[t])
    return total
