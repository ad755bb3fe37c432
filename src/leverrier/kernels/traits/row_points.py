"""Where each row stands on several continua: the mode of its posterior, and weighted points round it.

An item's state is s where its logistic variable lies between two thresholds, P = F(τ_s − η) − F(τ_{s−1} − η). Its slope
in η is F_a + F_b − 1 and its bend −(F_a(1 − F_a) + F_b(1 − F_b)), so the posterior has one mode. A code below 0 is a
hole, which says nothing.

With E = e^η and e^−τ of both thresholds, below and above, P = E (below − above) / ((1 + E below)(1 + E above)): one
exponential does for both. Below the first state P = 1 / (1 + E above), and e^−τ above the last one is 0.
"""

import math

import numpy as np
from numba import njit

from leverrier.kernels.traits.strips import STRIP, exps, logs

STEPS, CLOSE, LONGEST = 30, 1e-6, 2.0
TOGETHER = 8
"""So many items' chances are multiplied before a logarithm is taken: none is below 1e-12."""


@njit(cache=True, nogil=True)
def cholesky(a, d):
    """Of a symmetric matrix, in place in the lower half; the log of its determinant."""
    logs_ = 0.0
    for i in range(d):
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= a[i, k] * a[j, k]
            if i == j:
                a[i, i] = math.sqrt(max(total, 1e-12))
                logs_ += 2.0 * math.log(a[i, i])
            else:
                a[i, j] = total / a[j, j]
    return logs_


@njit(cache=True, nogil=True)
def thresholds(tau, states):
    """(2, items, states): e^−τ of the thresholds below and above each state."""
    found = np.zeros((2, tau.shape[0], tau.shape[1] + 1))
    for c in range(tau.shape[0]):
        for s in range(states[c] - 1):
            found[1, c, s] = found[0, c, s + 1] = math.exp(-tau[c, s])
    return found


@njit(cache=True, nogil=True)
def row_modes(codes, around, loads, offset, mean, precision, theta, bend):
    """Newton's method from `theta` (rows, traits), in place; `bend` (rows, traits, traits) is the information there.
    codes, offset: (rows, items); mean: what each row's traits are expected to be; around: see `thresholds`."""
    rows, items = codes.shape
    d = loads.shape[1]
    slope, low, eta, e, room = np.empty(d), np.empty((d, d)), np.empty(items), np.empty(items), np.empty(items)
    for r in range(rows):
        for _step in range(STEPS):
            for i in range(d):
                slope[i] = 0.0
                for j in range(d):
                    bend[r, i, j] = precision[i, j]
                    slope[i] -= precision[i, j] * (theta[r, j] - mean[r, j])
            for c in range(items):
                eta[c] = offset[r, c]
                for j in range(d):
                    eta[c] += loads[c, j] * theta[r, j]
            exps(eta, e, room, items)
            for c in range(items):
                code = codes[r, c]
                if code < 0:
                    continue
                a = 0.0 if code == 0 else 1.0 / (1.0 + e[c] * around[0, c, code])
                b = 1.0 / (1.0 + e[c] * around[1, c, code])
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
def laid_points(r, mean, precision, theta, bend, drawn, low, away, points, values):
    """A row's points (traits, points), and log prior − log density there, less what all points of all rows share."""
    many, d = drawn.shape[0], drawn.shape[1]
    low[:] = bend[r]
    spread = 0.5 * cholesky(low, d)
    for q in range(many):
        length = 0.0
        for i in range(d - 1, -1, -1):
            total = drawn[q, i]
            length += total**2
            for k in range(i + 1, d):
                total -= low[k, i] * away[k]
            away[i] = total / low[i, i]
        value = 0.5 * length - spread
        for i in range(d):
            points[i, r, q] = theta[r, i] + away[i]
        for i in range(d):
            for j in range(d):
                value -= 0.5 * precision[i, j] * (points[i, r, q] - mean[r, i]) * (points[j, r, q] - mean[r, j])
        values[q] = value


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def item_chances(e, below, above, apart, lowest, product, size):
    """`product` times P of the item's state at each point, from `apart`, below − above, and `lowest`, 1 in the lowest
    state, whose others are 0; a hole has 1 and 0 as the lowest state of none above."""
    for i in range(size):
        p = (lowest[i] + e[i] * apart[i]) / ((1.0 + e[i] * below[i]) * (1.0 + e[i] * above[i]))
        product[i] *= p if p > 1e-12 else 1e-12


@njit(cache=True, nogil=True)
def add_items(codes, around, loads, offset, points, first, rows, values, room):
    """log P(items of the row) at each point of so many rows from the `first`, added to `values`."""
    items, d, many = codes.shape[1], loads.shape[1], points.shape[2]
    size = rows * many
    eta, e, spare, product = room[0], room[1], room[2], room[3]
    below, above, apart, lowest = room[4], room[5], room[6], room[7]
    product[:size] = 1.0
    for c in range(items):
        for r in range(rows):
            code, at = codes[first + r, c], r * many
            seen = code >= 0
            low, high = (around[0, c, code], around[1, c, code]) if seen else (0.0, 0.0)
            eta[at : at + many] = offset[first + r, c]
            below[at : at + many] = low
            above[at : at + many] = high
            apart[at : at + many] = low - high if code > 0 else 0.0
            lowest[at : at + many] = 0.0 if code > 0 else 1.0
        for j in range(d):
            load = loads[c, j]
            if load != 0.0:
                for r in range(rows):
                    own, out = points[j, first + r], eta[r * many :]
                    for q in range(many):
                        out[q] += load * own[q]
        exps(eta, e, spare, size)
        item_chances(e, below, above, apart, lowest, product, size)
        if (c + 1) % TOGETHER == 0 or c + 1 == items:
            logs(product, spare, size)
            for i in range(size):
                values[i] += product[i]
            product[:size] = 1.0


@njit(cache=True, nogil=True)
def row_points(codes, around, loads, offset, mean, precision, theta, bend, drawn, points, weights):
    """Points (traits, rows, points) at the modes plus `drawn` (sets, points, traits; standard normal) in the shape of
    each posterior, the sets row by row in turn; their weights (rows, points), and log P(items of the row) by row."""
    rows, d = theta.shape
    sets, many = drawn.shape[0], drawn.shape[1]
    half = precision.copy()
    prior = 0.5 * cholesky(half, d)
    low, away, found = np.empty((d, d)), np.empty(d), np.empty(rows)
    step = max(1, STRIP // many)
    values, room = np.empty(step * many), np.empty((8, step * many))
    for first in range(0, rows, step):
        block = min(step, rows - first)
        for r in range(block):
            own = drawn[(first + r) % sets]
            laid_points(first + r, mean, precision, theta, bend, own, low, away, points, values[r * many :])
        add_items(codes, around, loads, offset, points, first, block, values, room)
        for r in range(block):
            top = values[r * many : (r + 1) * many].max()
            found[first + r] = top
            for q in range(many):
                values[r * many + q] -= top
        e = room[0]
        exps(values, e, room[1], block * many)
        for r in range(block):
            whole = 0.0
            for q in range(many):
                whole += e[r * many + q]
            for q in range(many):
                weights[first + r, q] = e[r * many + q] / whole
            found[first + r] += prior + math.log(whole / many)
    return found
