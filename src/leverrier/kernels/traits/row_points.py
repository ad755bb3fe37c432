"""Where each row stands on several continua: the mode of its posterior, and weighted points round it.

An item's state is s where its logistic variable lies between two thresholds, P = F(τ_s − η) − F(τ_{s−1} − η). Its slope
in η is F_a + F_b − 1 and its bend −(F_a(1 − F_a) + F_b(1 − F_b)), so the posterior has one mode. A code below 0 is a
hole, which says nothing.
"""

import math

import numpy as np
from numba import njit

SMALLEST = 1e-300
STEPS, CLOSE, LONGEST = 30, 1e-6, 2.0


@njit(cache=True, nogil=True)
def two_sides(tau, code, states, eta):
    """F at the threshold below the code and at the one above it."""
    a = 0.0 if code == 0 else 1.0 / (1.0 + math.exp(min(max(eta - tau[code - 1], -500.0), 500.0)))
    b = 1.0 if code == states - 1 else 1.0 / (1.0 + math.exp(min(max(eta - tau[code], -500.0), 500.0)))
    return a, b


@njit(cache=True, nogil=True)
def cholesky(a, d):
    """Of a symmetric matrix, in place in the lower half; the log of its determinant."""
    logs = 0.0
    for i in range(d):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= a[i, k] * a[j, k]
            if i == j:
                a[i, i] = math.sqrt(max(total, 1e-12))
                logs += 2.0 * math.log(a[i, i])
            else:
                a[i, j] = total / a[j, j]
    return logs


@njit(cache=True, nogil=True)
def row_modes(codes, states, tau, loads, offset, mean, precision, theta, bend):
    """Newton's method from `theta` (rows, traits), in place; `bend` (rows, traits, traits) is the information there.
    codes, offset: (rows, items); mean: what each row's traits are expected to be."""
    rows, items = codes.shape
    d = loads.shape[1]
    slope, low = np.empty(d), np.empty((d, d))
    for r in range(rows):
        for _step in range(STEPS):
            for i in range(d):
                slope[i] = 0.0
                for j in range(d):
                    bend[r, i, j] = precision[i, j]
                    slope[i] -= precision[i, j] * (theta[r, j] - mean[r, j])
            for c in range(items):
                if codes[r, c] < 0:
                    continue
                eta = offset[r, c]
                for j in range(d):
                    eta += loads[c, j] * theta[r, j]
                a, b = two_sides(tau[c], codes[r, c], states[c], eta)
                pull, hold = a + b - 1.0, a * (1.0 - a) + b * (1.0 - b)
                for i in range(d):
                    if loads[c, i] == 0.0:
                        continue
                    slope[i] += pull * loads[c, i]
                    for j in range(d):
                        bend[r, i, j] += hold * loads[c, i] * loads[c, j]
            low[:] = bend[r]
            cholesky(low, d)
            for i in range(d):
                for k in range(i):
                    slope[i] -= low[i, k] * slope[k]
                slope[i] /= low[i, i]
            for i in range(d - 1, -1, -1):
                for k in range(i + 1, d):
                    slope[i] -= low[k, i] * slope[k]
                slope[i] /= low[i, i]
            size = 0.0
            for i in range(d):
                size = max(size, abs(slope[i]))
            short = min(1.0, LONGEST / size) if size > 0.0 else 1.0
            for i in range(d):
                theta[r, i] += short * slope[i]
            if size < CLOSE:
                break


@njit(cache=True, nogil=True)
def row_points(codes, states, tau, loads, offset, mean, precision, theta, bend, drawn, points, weights):
    """Points (rows, points, traits) at the modes plus `drawn` (sets, points, traits; standard normal) in the shape of
    each posterior, the sets row by row in turn; their weights (rows, points), and log P(items of the row) by row."""
    rows, items = codes.shape
    sets, many, d = drawn.shape
    low, half = np.empty((d, d)), precision.copy()
    prior = 0.5 * cholesky(half, d)
    logs = np.empty(rows)
    away = np.empty(d)
    for r in range(rows):
        low[:] = bend[r]
        spread = 0.5 * cholesky(low, d)
        top = -np.inf
        for q in range(many):
            length = 0.0
            for i in range(d - 1, -1, -1):
                total = drawn[r % sets, q, i]
                length += total**2
                for k in range(i + 1, d):
                    total -= low[k, i] * away[k]
                away[i] = total / low[i, i]
            for i in range(d):
                points[r, q, i] = theta[r, i] + away[i]
            value = prior - spread + 0.5 * length
            for i in range(d):
                for j in range(d):
                    value -= 0.5 * precision[i, j] * (points[r, q, i] - mean[r, i]) * (points[r, q, j] - mean[r, j])
            product = 1.0
            for c in range(items):
                if codes[r, c] < 0:
                    continue
                eta = offset[r, c]
                for j in range(d):
                    eta += loads[c, j] * points[r, q, j]
                a, b = two_sides(tau[c], codes[r, c], states[c], eta)
                product *= max(b - a, 1e-12)
                if product < 1e-200:
                    value += math.log(product)
                    product = 1.0
            value += math.log(product)
            weights[r, q] = value
            top = max(top, value)
        whole = 0.0
        for q in range(many):
            weights[r, q] = math.exp(weights[r, q] - top)
            whole += weights[r, q]
        for q in range(many):
            weights[r, q] /= whole
        logs[r] = top + math.log(whole / many)
    return logs
