"""The same two passes for components whose columns are independent: a hole is just a column that says nothing.

parameters[c]: log weight, then the means   variances, inverse: (components, columns)   otherwise as in gaussian.py
"""

import math

import numpy as np
from numba import njit, uint64

from leverrier.kernels.gaussian.full_passes import FAST, LOG_2_PI


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def log_densities_diagonal(x, lo, hi, rows, shift, scale, parameters, variances, logs):
    """logs[c, i] = log w_c + Σ over observed columns of log N(x_ij | μ_cj, σ²_cj)."""
    k, d = variances.shape
    block, total = np.empty(d * rows), np.empty(rows)
    step = uint64(rows)
    for first in range(lo, hi, rows):
        size = uint64(min(rows, hi - first))
        for r in range(size):
            for j in range(d):
                block[uint64(j) * step + r] = (x[first + np.int64(r), j] - shift[j]) * scale[j]
        for c in range(k):
            for r in range(size):
                total[r] = 0.0
            for j in range(d):
                mean, at = parameters[c, 1 + j], uint64(j) * step
                half, constant = 0.5 / variances[c, j], 0.5 * (math.log(variances[c, j]) + LOG_2_PI)
                for r in range(size):
                    u = block[at + r] - mean
                    total[r] += half * (u * u) + constant if u == u else 0.0
            out = logs[c, first - lo :]
            for r in range(size):
                out[r] = parameters[c, 0] - total[r]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def add_moments_diagonal(x, lo, hi, rows, shift, scale, parameters, variances, posterior, s0, s1, s2):
    """s0 += Σ p, s1 += Σ p u, s2 += Σ p u² about the present means; a hole has E[u] = 0 and E[u²] = σ²."""
    k, d = variances.shape
    block = np.empty(d * rows)
    step = uint64(rows)
    for first in range(lo, hi, rows):
        size = uint64(min(rows, hi - first))
        for r in range(size):
            for j in range(d):
                block[uint64(j) * step + r] = (x[first + np.int64(r), j] - shift[j]) * scale[j]
        for c in range(k):
            p = posterior[c, first - lo :]
            t0 = 0.0
            for r in range(size):
                t0 += p[r]
            s0[c] += t0
            for j in range(d):
                mean, variance, at = parameters[c, 1 + j], variances[c, j], uint64(j) * step
                t1 = t2 = 0.0
                for r in range(size):
                    u = block[at + r] - mean
                    v, q = (u, u * u) if u == u else (0.0, variance)
                    t1 += p[r] * v
                    t2 += p[r] * q
                s1[c, j] += t1
                s2[c, j] += t2
