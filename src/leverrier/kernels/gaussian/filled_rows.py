"""Rows with holes under one Gaussian: filled with conditional means, and what those leave out.

With precision P = Σ⁻¹, observed columns O and missing ones M: E[u_M | u_O] = −P_MM⁻¹ P_MO u_O with covariance P_MM⁻¹.
The filled row has the quadratic form of u_O alone, and log|Σ_OO| = log|Σ| + log|P_MM|; so the kernels for whole
rows do the rest, and the answer is exact. Rows come sorted by pattern (see data/matrix.py).
"""

import math

import numpy as np
from numba import njit

LOG_2_PI = 1.8378770664093453


@njit(cache=True, nogil=True, error_model="numpy")
def condition(precision, columns, observed, gain, spread):
    """−P_MM⁻¹ P_MO into `gain`, P_MM⁻¹ into `spread`, by Gauss–Jordan (P_MM is positive definite); gives log|P_MM|."""
    m = columns.size - observed
    for a in range(m):
        for b in range(m):
            spread[a, b] = precision[columns[observed + a], columns[observed + b]]
    log_determinant = 0.0
    for i in range(m):
        pivot = spread[i, i]
        log_determinant += math.log(pivot)
        spread[i, i] = 1.0
        for b in range(m):
            spread[i, b] /= pivot
        for a in range(m):
            if a != i:
                f = spread[a, i]
                spread[a, i] = 0.0
                for b in range(m):
                    spread[a, b] -= f * spread[i, b]
    for a in range(m):
        for o in range(observed):
            s = 0.0
            for b in range(m):
                s += spread[a, b] * precision[columns[observed + b], columns[o]]
            gain[a, o] = -s
    return log_determinant


@njit(cache=True, nogil=True, error_model="numpy")
def fill(x, order, lo, hi, shift, scale, mean, precision, columns, observed, starts, filled, excess):
    """Positions lo to hi, moved and scaled, holes filled; `excess` is to be added to the filled row's log density."""
    d = mean.size
    gain, spread = np.empty((d, d)), np.empty((d, d))
    p = np.searchsorted(starts, lo, side="right") - 1
    i = lo
    while i < hi:
        while starts[p + 1] <= i:
            p += 1
        stop, seen = min(hi, starts[p + 1]), observed[p]
        extra = 0.0
        if seen < d:
            log_determinant = condition(precision, columns[p], seen, gain, spread)
            extra = 0.5 * ((d - seen) * LOG_2_PI - log_determinant)
        for at in range(i, stop):
            row, out = x[order[at]], filled[at - lo]
            excess[at - lo] = extra
            for o in range(seen):
                j = columns[p, o]
                out[j] = (row[j] - shift[j]) * scale[j]
            for a in range(d - seen):
                j = columns[p, seen + a]
                s = mean[j]
                for o in range(seen):
                    s += gain[a, o] * (out[columns[p, o]] - mean[columns[p, o]])
                out[j] = s
        i = stop


@njit(cache=True, nogil=True, error_model="numpy")
def add_spreads(lo, hi, precision, posterior, columns, observed, starts, second):
    """second += Σ posterior · Cov[u_M | u_O], lower triangle."""
    d = precision.shape[0]
    gain, spread = np.empty((d, d)), np.empty((d, d))
    p = np.searchsorted(starts, lo, side="right") - 1
    i = lo
    while i < hi:
        while starts[p + 1] <= i:
            p += 1
        stop, seen = min(hi, starts[p + 1]), observed[p]
        if seen < d:
            weight = 0.0
            for at in range(i, stop):
                weight += posterior[at - lo]
            condition(precision, columns[p], seen, gain, spread)
            for a in range(d - seen):
                for b in range(a + 1):
                    second[columns[p, seen + a], columns[p, seen + b]] += weight * spread[a, b]
        i = stop
