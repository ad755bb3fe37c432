"""The E-step of a mixture of Gaussians over a stretch of rows: log densities, posteriors, centred moments.

Rows are worked on in blocks held by columns (cell (j, r) at j·rows + r), so that inner loops run along rows and become
vector instructions; a block fits the first cache. No array of rows × components × columns ever exists. Each kernel
stands alone: a kernel called by another would be compiled twice. Positions in a block are unsigned: Numba guards a
signed sum against being negative, and the guard costs the vector instructions (a factor of five).

x: (rows, columns)   order: which rows, empty for all in their order   shift, scale: x is seen as (x − shift) · scale
parameters[c]: log weight, log|Σ|, then the mean   inverse[c]: L⁻¹ where Σ = L Lᵀ   logs: (components, rows)
"""

import math

import numpy as np
from numba import njit, uint64

LOG_2_PI = 1.8378770664093453
FAST = {"contract", "reassoc", "nsz"}  # never nnan: a hole is a NaN
STRIP = 512
LOWEST = -700.0  # e⁻⁷⁰⁰ is still a normal float, and nothing beside 1
LOG2_E = 1.4426950408889634
LN2_HIGH = 0.6931471803691238
LN2_LOW = 1.9082149292705877e-10
ROUNDER = 6755399441055744.0  # 1.5·2⁵²: adding it leaves the nearest whole number in the low bits


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def log_densities(x, order, lo, hi, rows, shift, scale, parameters, inverse, logs):
    """logs[c, i] = log w_c + log N(row lo + i | component c), for positions lo to hi.

    |L⁻¹ (x − μ)|² by two rows of L⁻¹ and four columns at once, so that each number loaded is used twice.
    """
    k, d, _ = inverse.shape
    block, u = np.empty(d * rows), np.empty(d * rows)
    z, quad = np.empty(2 * rows), np.empty(rows)
    step = uint64(rows)
    for first in range(lo, hi, rows):
        size = uint64(min(rows, hi - first))
        for r in range(size):
            i = order[uint64(first) + r] if order.size else first + np.int64(r)
            for j in range(d):
                block[uint64(j) * step + r] = (x[i, j] - shift[j]) * scale[j]
        for c in range(k):
            for j in range(d):
                mean, at = parameters[c, 2 + j], uint64(j) * step
                for r in range(size):
                    u[at + r] = block[at + r] - mean
            for r in range(size):
                quad[r] = 0.0
            for j in range(0, d, 2):
                two = j + 1 < d
                i = j + 1 if two else j
                at, next_at = uint64(j) * step, uint64(i) * step
                v0, w0 = inverse[c, j, j], inverse[c, i, j]
                w1 = inverse[c, i, i] if two else 0.0
                for r in range(size):
                    z[r] = v0 * u[at + r]
                    z[step + r] = w0 * u[at + r] + w1 * u[next_at + r]
                l = 0
                while l + 4 <= j:
                    v0, v1, v2, v3 = inverse[c, j, l], inverse[c, j, l + 1], inverse[c, j, l + 2], inverse[c, j, l + 3]
                    w0, w1, w2, w3 = inverse[c, i, l], inverse[c, i, l + 1], inverse[c, i, l + 2], inverse[c, i, l + 3]
                    a0 = uint64(l) * step
                    a1, a2, a3 = a0 + step, a0 + step + step, a0 + step + step + step
                    for r in range(size):
                        u0, u1, u2, u3 = u[a0 + r], u[a1 + r], u[a2 + r], u[a3 + r]
                        z[r] += (v0 * u0 + v1 * u1) + (v2 * u2 + v3 * u3)
                        z[step + r] += (w0 * u0 + w1 * u1) + (w2 * u2 + w3 * u3)
                    l += 4
                while l < j:
                    v0, w0, a0 = inverse[c, j, l], inverse[c, i, l], uint64(l) * step
                    for r in range(size):
                        z[r] += v0 * u[a0 + r]
                        z[step + r] += w0 * u[a0 + r]
                    l += 1
                both = 1.0 if two else 0.0
                for r in range(size):
                    quad[r] += z[r] * z[r] + both * (z[step + r] * z[step + r])
            constant = parameters[c, 0] - 0.5 * (parameters[c, 1] + d * LOG_2_PI)
            out = logs[c, first - lo :]
            for r in range(size):
                out[r] = constant - 0.5 * quad[r]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def add_moments(x, order, lo, hi, rows, shift, scale, parameters, posterior, s0, s1, s2):
    """s0 += Σ p, s1 += Σ p u, s2 += Σ p u uᵀ (lower triangle) where u = row − present mean of the component.

    About the present mean nothing large is ever subtracted from something large.
    """
    k, d = s1.shape
    block, u, z = np.empty(d * rows), np.empty(d * rows), np.empty(2 * rows)
    step = uint64(rows)
    for first in range(lo, hi, rows):
        size = uint64(min(rows, hi - first))
        for r in range(size):
            i = order[uint64(first) + r] if order.size else first + np.int64(r)
            for j in range(d):
                block[uint64(j) * step + r] = (x[i, j] - shift[j]) * scale[j]
        for c in range(k):
            p = posterior[c, first - lo :]
            count = 0.0
            for r in range(size):
                count += p[r]
            s0[c] += count
            for j in range(0, d, 2):
                two = j + 1 < d
                i = j + 1 if two else j
                at, next_at = uint64(j) * step, uint64(i) * step
                mean, next_mean = parameters[c, 2 + j], parameters[c, 2 + i]
                t0 = t1 = t2 = t3 = t4 = 0.0
                for r in range(size):
                    u0, u1 = block[at + r] - mean, block[next_at + r] - next_mean
                    u[at + r] = u0
                    u[next_at + r] = u1
                    z[r] = p[r] * u0
                    z[step + r] = p[r] * u1
                    t0 += z[r]
                    t1 += z[step + r]
                    t2 += z[r] * u0
                    t3 += z[step + r] * u0
                    t4 += z[step + r] * u1
                s1[c, j] += t0
                s2[c, j, j] += t2
                if two:
                    s1[c, i] += t1
                    s2[c, i, j] += t3
                    s2[c, i, i] += t4
                l = 0
                while l + 4 <= j:
                    t0 = t1 = t2 = t3 = 0.0
                    q0 = q1 = q2 = q3 = 0.0
                    a0 = uint64(l) * step
                    a1, a2, a3 = a0 + step, a0 + step + step, a0 + step + step + step
                    for r in range(size):
                        v, w = z[r], z[step + r]
                        t0 += v * u[a0 + r]
                        t1 += v * u[a1 + r]
                        t2 += v * u[a2 + r]
                        t3 += v * u[a3 + r]
                        q0 += w * u[a0 + r]
                        q1 += w * u[a1 + r]
                        q2 += w * u[a2 + r]
                        q3 += w * u[a3 + r]
                    s2[c, j, l] += t0
                    s2[c, j, l + 1] += t1
                    s2[c, j, l + 2] += t2
                    s2[c, j, l + 3] += t3
                    if two:
                        s2[c, i, l] += q0
                        s2[c, i, l + 1] += q1
                        s2[c, i, l + 2] += q2
                        s2[c, i, l + 3] += q3
                    l += 4
                while l < j:
                    t0 = q0 = 0.0
                    a0 = uint64(l) * step
                    for r in range(size):
                        t0 += z[r] * u[a0 + r]
                        q0 += z[step + r] * u[a0 + r]
                    s2[c, j, l] += t0
                    if two:
                        s2[c, i, l] += q0
                    l += 1


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def posteriors(logs, weights, lo, row_logs):
    """logs becomes P(c | row) × the row's weight, row_logs log Σ_c exp(logs); gives back Σ weight · row_logs.

    exp is written out, as a call of it is not vectorised: x = n ln 2 + rest, a polynomial for e^rest (Taylor to the
    13th power, error below 1e-17 for |rest| ≤ ln 2 / 2), and 2ⁿ by writing n into the exponent's bits.
    """
    k, n = logs.shape
    peak, total = np.empty(STRIP), np.empty(STRIP)
    e, whole = np.empty(STRIP), np.empty(STRIP)
    bits = whole.view(np.int64)
    value = 0.0
    for first in range(0, n, STRIP):
        size = min(STRIP, n - first)
        for r in range(size):
            peak[r] = -np.inf
            total[r] = 0.0
        for c in range(k):
            own = logs[c, first:]
            for r in range(size):
                peak[r] = own[r] if own[r] > peak[r] else peak[r]
        for c in range(k):
            own = logs[c, first:]
            for r in range(size):
                v = own[r] - peak[r]
                e[r] = v if v > LOWEST else LOWEST
            for r in range(size):
                whole[r] = e[r] * LOG2_E + ROUNDER
            for r in range(size):
                turns = whole[r] - ROUNDER
                t = (e[r] - turns * LN2_HIGH) - turns * LN2_LOW
                p = 1.0 / 6227020800.0
                p = p * t + 1.0 / 479001600.0
                p = p * t + 1.0 / 39916800.0
                p = p * t + 1.0 / 3628800.0
                p = p * t + 1.0 / 362880.0
                p = p * t + 1.0 / 40320.0
                p = p * t + 1.0 / 5040.0
                p = p * t + 1.0 / 720.0
                p = p * t + 1.0 / 120.0
                p = p * t + 1.0 / 24.0
                p = p * t + 1.0 / 6.0
                p = p * t + 0.5
                p = p * t + 1.0
                e[r] = p * t + 1.0
            for r in range(size):
                bits[r] = (bits[r] << 52) + (1023 << 52)
            for r in range(size):
                v = e[r] * whole[r]
                own[r] = v
                total[r] += v
        for r in range(size):
            log_row = peak[r] + math.log(total[r])
            weight = weights[lo + first + r] if weights.size else 1.0
            row_logs[first + r] = log_row
            value += weight * log_row
            total[r] = weight / total[r]
        for c in range(k):
            own = logs[c, first:]
            for r in range(size):
                own[r] *= total[r]
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def factor(covariances, inverse, log_determinants, pivots):
    """L⁻¹ of each covariance = L Lᵀ, its log determinant and squared pivots; False if one is not positive definite.

    Of such a one the pivots from the first that is not positive on are 0.
    """
    k, d, _ = covariances.shape
    all_positive = True
    for c in range(k):
        log_determinants[c] = 0.0
        positive = True
        for j in range(d):
            pivots[c, j] = 0.0
        for j in range(d):
            if positive:
                for l in range(j + 1):
                    s = covariances[c, j, l]
                    for m in range(l):
                        s -= inverse[c, j, m] * inverse[c, l, m]
                    if l < j:
                        inverse[c, j, l] = s / inverse[c, l, l]
                    elif s > 0.0:
                        pivots[c, j] = s
                        inverse[c, j, j] = math.sqrt(s)
                        log_determinants[c] += math.log(s)
                    else:
                        positive = False
        if not positive:
            all_positive = False
            continue
        for j in range(d):  # the triangle is replaced by its inverse, row by row from the top
            diagonal = 1.0 / inverse[c, j, j]
            for l in range(j):
                s = 0.0
                for m in range(l, j):
                    s += inverse[c, j, m] * inverse[c, m, l]
                inverse[c, j, l] = -s * diagonal
            inverse[c, j, j] = diagonal
    return all_positive
