"""One graded item on points of several continua and on observed columns: value, gradient and information in one pass,
and Newton's method over it."""

import math

import numpy as np
from numba import njit

from leverrier.kernels.mixed.place_steps import solve_small
from leverrier.kernels.traits.row_points import two_sides

LEAST = 1e-12


@njit(cache=True, nogil=True)
def item_pass(tau, slopes, on, points, weights, terms, codes, gradient, information):
    """Σ weight · log P, its gradient and minus its second derivatives by (thresholds, slopes), both overwritten.
    `on`: the traits it hangs on, the first slopes; `terms` (columns, rows): the other slopes. A hole counts nothing."""
    rows, many = weights.shape
    n, t = tau.shape[0], on.shape[0]
    m = t + terms.shape[0]
    gradient[:] = 0.0
    information[:] = 0.0
    sums, squares = np.empty(m), np.empty((t, t))
    at, bt = np.empty(t), np.empty(t)
    value = 0.0
    for r in range(rows):
        code = codes[r]
        if code < 0:
            continue
        beside = 0.0
        for j in range(terms.shape[0]):
            beside += terms[j, r] * slopes[t + j]
        pulled = held = 0.0
        sums[:] = 0.0
        squares[:] = 0.0
        at[:] = 0.0
        bt[:] = 0.0
        aa = bb = ab = low_pull = high_pull = 0.0
        for q in range(many):
            w = weights[r, q]
            if w <= 1e-8:
                continue
            eta = beside
            for j in range(t):
                eta += slopes[j] * points[r, q, on[j]]
            a, b = two_sides(tau, code, n + 1, eta)
            p = max(b - a, LEAST)
            value += w * math.log(p)
            fa, fb = a * (1.0 - a), b * (1.0 - b)
            pull, hold = w * (a + b - 1.0), w * (fa + fb)
            pulled += pull
            held += hold
            la, lb = -fa / p, fb / p
            low_pull += w * la
            high_pull += w * lb
            kaa = w * (la * la + fa * (1.0 - 2.0 * a) / p)
            kbb = w * (lb * lb - fb * (1.0 - 2.0 * b) / p)
            kab = w * la * lb
            aa += kaa
            bb += kbb
            ab += kab
            for j in range(t):
                x = points[r, q, on[j]]
                sums[j] += hold * x
                gradient[n + j] += pull * x
                at[j] += (kaa + kab) * x
                bt[j] += (kbb + kab) * x
                for i in range(j + 1):
                    squares[j, i] += hold * x * points[r, q, on[i]]
        over_a, over_b = aa + ab, bb + ab
        if code > 0:
            gradient[code - 1] += low_pull
            information[code - 1, code - 1] += aa
        if code < n:
            gradient[code] += high_pull
            information[code, code] += bb
        if 0 < code < n:
            information[code, code - 1] += ab
        for j in range(terms.shape[0]):
            sums[t + j] = held * terms[j, r]
            gradient[n + t + j] += pulled * terms[j, r]
        for j in range(m):
            low = at[j] if j < t else over_a * terms[j - t, r]
            high = bt[j] if j < t else over_b * terms[j - t, r]
            if code > 0:
                information[n + j, code - 1] -= low
            if code < n:
                information[n + j, code] -= high
            for i in range(j + 1):
                if j < t:
                    information[n + j, n + i] += squares[j, i]
                else:
                    information[n + j, n + i] += sums[i] * terms[j - t, r]
    for i in range(n + m):
        for j in range(i):
            information[j, i] = information[i, j]
    return value


@njit(cache=True, nogil=True)
def climb_item(tau, slopes, on, points, weights, terms, codes, steps, ridge, close):
    """Better thresholds and slopes, in place, by Newton's method with halved steps; Σ weight · log P."""
    n, m = tau.shape[0], slopes.shape[0]
    d = n + m
    gradient, information = np.empty(d), np.empty((d, d))
    next_gradient, next_information = np.empty(d), np.empty((d, d))
    a, b = np.empty((d, d)), np.empty(d)
    new_tau, new_slopes = np.empty(n), np.empty(m)
    raw = item_pass(tau, slopes, on, points, weights, terms, codes, gradient, information)
    best = raw - 0.5 * ridge * np.dot(slopes, slopes)
    for _ in range(steps):
        a[:] = information
        b[:] = gradient
        for i in range(n):
            a[i, i] += 1e-9
        for j in range(m):
            a[n + j, n + j] += ridge
            b[n + j] -= ridge * slopes[j]
        solve_small(a, b, d)
        size, value, new = 2.0, -np.inf, raw
        while not value >= best and size > 1e-3:
            size /= 2.0
            new_tau[:] = tau + size * b[:n]
            new_slopes[:] = slopes + size * b[n:]
            rising = True
            for i in range(1, n):
                rising = rising and new_tau[i] > new_tau[i - 1]
            value = -np.inf
            if rising:
                new = item_pass(new_tau, new_slopes, on, points, weights, terms, codes, next_gradient, next_information)
                value = new - 0.5 * ridge * np.dot(new_slopes, new_slopes)
        if not value >= best:
            break
        gained, best, raw = value - best, value, new
        tau[:] = new_tau
        slopes[:] = new_slopes
        gradient, next_gradient = next_gradient, gradient
        information, next_information = next_information, information
        if gained < close:
            break
    return raw


@njit(cache=True, nogil=True)
def item_pulls(tau, slopes, on, points, weights, terms, codes, pull, hold, by_trait):
    """By row, the weighed slope in η and minus the bend; by trait, Σ slope · place and Σ bend · place² over all rows
    (2, traits): the score tests of columns and traits left out. All overwritten."""
    rows, many = weights.shape
    n, t = tau.shape[0], on.shape[0]
    by_trait[:] = 0.0
    for r in range(rows):
        pull[r] = hold[r] = 0.0
        if codes[r] < 0:
            continue
        beside = 0.0
        for j in range(terms.shape[0]):
            beside += terms[j, r] * slopes[t + j]
        for q in range(many):
            w = weights[r, q]
            eta = beside
            for j in range(t):
                eta += slopes[j] * points[r, q, on[j]]
            a, b = two_sides(tau, codes[r], n + 1, eta)
            own, bent = w * (a + b - 1.0), w * (a * (1.0 - a) + b * (1.0 - b))
            pull[r] += own
            hold[r] += bent
            for i in range(points.shape[2]):
                by_trait[0, i] += own * points[r, q, i]
                by_trait[1, i] += bent * points[r, q, i] ** 2
