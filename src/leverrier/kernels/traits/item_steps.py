"""One graded item on points of several continua and on observed columns: value, gradient and information in one pass,
and Newton's method over it.

Rows are laid out by the item's code, all their points side by side, so that both thresholds are the same all along a
strip. With E = e^η and a threshold's e^−τ, F(τ − η) = 1 / (1 + E e^−τ): one exponential a point does for both.
"""

import math

import numpy as np
from numba import njit

from leverrier.kernels.mixed.place_steps import solve_small
from leverrier.kernels.traits.strips import FAST, STRIP, exps, inner, inner_of_three, logs, total

LOG_LEAST = math.log(1e-12)
SIDES = 8
"""Numbers kept of every point: see `sides`."""


@njit(cache=True, nogil=True)
def by_code(codes, states):
    """Rows in the order of their codes, those with a hole left out, and where each code's rows begin and end."""
    ends = np.zeros(states + 1, dtype=np.int64)
    for code in codes:
        if code >= 0:
            ends[code + 1] += 1
    for s in range(states):
        ends[s + 1] += ends[s]
    place, order = ends.copy(), np.empty(ends[states], dtype=np.int64)
    for r in range(codes.shape[0]):
        if codes[r] >= 0:
            order[place[codes[r]]] = r
            place[codes[r]] += 1
    return order, ends


@njit(cache=True, nogil=True)
def laid_out(order, on, points, weights, terms):
    """Places on the traits it hangs on (traits, rows · points), weights (rows · points) and terms (columns, rows) of
    these rows in this order. points: (traits, rows, points)."""
    rows, many = order.shape[0], weights.shape[1]
    x, w, z = np.empty((on.shape[0], rows * many)), np.empty(rows * many), np.empty((terms.shape[0], rows))
    for at in range(rows):
        r, first = order[at], at * many
        for q in range(many):
            w[first + q] = weights[r, q]
        for j in range(on.shape[0]):
            for q in range(many):
                x[j, first + q] = points[on[j], r, q]
        for j in range(terms.shape[0]):
            z[j, at] = terms[j, r]
    return x, w, z


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def sides(tau, code, eta, w, size, kept):
    """Of points in one state, Σ w log P and Σ w l_a l_b.

    `kept` (SIDES, STRIP) becomes E, room, log P, w times the slope in η, w f_a, w f_b, w l_a and w l_b, where
    f = F(1 − F), and l_a = −f_a / P and l_b = f_b / P are the slopes of log P by the thresholds below and above.
    """
    e, room, lg, pull = kept[0], kept[1], kept[2], kept[3]
    fa, fb, la, lb = kept[4], kept[5], kept[6], kept[7]
    exps(eta, e, room, size)
    both = 0.0
    if code == 0:
        above = math.exp(-tau[0])
        for i in range(size):
            lg[i] = 1.0 + e[i] * above
        for i in range(size):
            lb[i] = 1.0 - 1.0 / lg[i]
        for i in range(size):
            fb[i] = w[i] * lb[i] * (1.0 - lb[i])
        for i in range(size):
            lb[i] *= w[i]
            pull[i] = -lb[i]
        for i in range(size):
            fa[i] = la[i] = 0.0
        logs(lg, room, size)
        for i in range(size):
            lg[i] = -lg[i]
    elif code == tau.shape[0]:
        below = math.exp(-tau[code - 1])
        for i in range(size):
            lg[i] = 1.0 + e[i] * below
        for i in range(size):
            la[i] = -1.0 / lg[i]
        for i in range(size):
            fa[i] = -w[i] * la[i] * (1.0 + la[i])
        for i in range(size):
            la[i] *= w[i]
            pull[i] = -la[i]
        for i in range(size):
            fb[i] = lb[i] = 0.0
        logs(lg, room, size)
        for i in range(size):
            lg[i] = eta[i] - tau[code - 1] - lg[i]
    else:
        below, above = math.exp(-tau[code - 1]), math.exp(-tau[code])
        apart = below - above
        beside, own = math.log(apart), 1.0 / apart
        for i in range(size):
            fa[i] = 1.0 / (1.0 + e[i] * below)
        for i in range(size):
            fb[i] = 1.0 / (1.0 + e[i] * above)
        for i in range(size):
            lg[i] = fa[i] * fb[i]
        for i in range(size):
            la[i] = -below * own * fa[i] / fb[i]
            lb[i] = above * own * fb[i] / fa[i]
        for i in range(size):
            both += w[i] * la[i] * lb[i]
        for i in range(size):
            pull[i] = w[i] * (fa[i] + fb[i] - 1.0)
        for i in range(size):
            fa[i] *= w[i] * (1.0 - fa[i])
            fb[i] *= w[i] * (1.0 - fb[i])
        for i in range(size):
            la[i] *= w[i]
            lb[i] *= w[i]
        logs(lg, room, size)
        for i in range(size):
            lg[i] = beside + eta[i] + lg[i]
    value = 0.0
    for i in range(size):
        value += w[i] * (lg[i] if lg[i] > LOG_LEAST else LOG_LEAST)
    return value, both


@njit(cache=True, nogil=True)
def strip_of_eta(x, z, slopes, first, rows, many, eta):
    """η of the points of so many rows from the `first`; η becomes the strip."""
    t = x.shape[0]
    for r in range(rows):
        beside = 0.0
        for j in range(z.shape[0]):
            beside += z[j, first + r] * slopes[t + j]
        for q in range(many):
            eta[r * many + q] = beside
    for j in range(t):
        own, slope = x[j, first * many :], slopes[j]
        for i in range(rows * many):
            eta[i] += slope * own[i]


@njit(cache=True, nogil=True)
def item_sums(tau, slopes, x, w, z, ends, many, gradient, information):
    """Σ weight · log P, its gradient and minus its second derivatives by (thresholds, slopes), both overwritten.
    Rows are laid out by code."""
    n, t, m = tau.shape[0], x.shape[0], x.shape[0] + z.shape[0]
    room = max(STRIP, many)
    eta, kept, hold = np.empty(room), np.empty((SIDES, room)), np.empty(room)
    step = room // many
    rows_of = np.empty((3 + t, step))
    gradient[:] = 0.0
    information[:] = 0.0
    value = 0.0
    for code in range(n + 1):
        for first in range(ends[code], ends[code + 1], step):
            rows = min(step, ends[code + 1] - first)
            size = rows * many
            strip_of_eta(x, z, slopes, first, rows, many, eta)
            own_w = w[first * many :]
            gained, both = sides(tau, code, eta, own_w, size, kept)
            pull, fa, fb = kept[3], kept[4], kept[5]
            value += gained
            for i in range(size):
                hold[i] = fa[i] + fb[i]
            if code > 0:
                gradient[code - 1] += total(kept[6], size)
                information[code - 1, code - 1] += total(fa, size) - both
            if code < n:
                gradient[code] += total(kept[7], size)
                information[code, code] += total(fb, size) - both
            if 0 < code < n:
                information[code, code - 1] += both
            for j in range(t):
                own = x[j, first * many :]
                gradient[n + j] += inner(pull, own, size)
                if code > 0:
                    information[n + j, code - 1] -= inner(fa, own, size)
                if code < n:
                    information[n + j, code] -= inner(fb, own, size)
                for i in range(j + 1):
                    information[n + j, n + i] += inner_of_three(hold, own, x[i, first * many :], size)
            if m > t:
                for r in range(rows):
                    at = r * many
                    rows_of[0, r] = total(pull[at:], many)
                    rows_of[1, r] = total(fa[at:], many)
                    rows_of[2, r] = total(fb[at:], many)
                    for j in range(t):
                        rows_of[3 + j, r] = inner(hold[at:], x[j, (first + r) * many :], many)
                beside(rows_of, z, first, rows, code, n, t, gradient, information)
    for i in range(n + m):
        for j in range(i):
            information[j, i] = information[i, j]
    return value


@njit(cache=True, nogil=True)
def beside(rows_of, z, first, rows, code, n, t, gradient, information):
    """What observed columns add, from sums over each row's points: slopes in η, both sides' bends, bends · places."""
    for j in range(z.shape[0]):
        own, at = z[j, first:], n + t + j
        gradient[at] += inner(rows_of[0], own, rows)
        low, high = inner(rows_of[1], own, rows), inner(rows_of[2], own, rows)
        if code > 0:
            information[at, code - 1] -= low
        if code < n:
            information[at, code] -= high
        for i in range(t):
            information[at, n + i] += inner(rows_of[3 + i], own, rows)
        for i in range(j + 1):
            other = z[i, first:]
            both = inner_of_three(rows_of[1], own, other, rows) + inner_of_three(rows_of[2], own, other, rows)
            information[at, n + t + i] += both


@njit(cache=True, nogil=True)
def item_pass(tau, slopes, on, points, weights, terms, codes, gradient, information):
    """The same of rows as they come. `on`: the traits it hangs on, the first slopes; `terms` (columns, rows): the other
    slopes. points: (traits, rows, points), weights: (rows, points). A hole counts nothing."""
    order, ends = by_code(codes, tau.shape[0] + 1)
    x, w, z = laid_out(order, on, points, weights, terms)
    return item_sums(tau, slopes, x, w, z, ends, weights.shape[1], gradient, information)


@njit(cache=True, nogil=True)
def climb_item(tau, slopes, on, points, weights, terms, codes, steps, ridge, close):
    """Better thresholds and slopes, in place, by Newton's method with halved steps; Σ weight · log P."""
    n, m, many = tau.shape[0], slopes.shape[0], weights.shape[1]
    d = n + m
    order, ends = by_code(codes, n + 1)
    x, w, z = laid_out(order, on, points, weights, terms)
    gradient, information = np.empty(d), np.empty((d, d))
    next_gradient, next_information = np.empty(d), np.empty((d, d))
    a, b = np.empty((d, d)), np.empty(d)
    new_tau, new_slopes = np.empty(n), np.empty(m)
    raw = item_sums(tau, slopes, x, w, z, ends, many, gradient, information)
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
                new = item_sums(new_tau, new_slopes, x, w, z, ends, many, next_gradient, next_information)
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
    d, many = points.shape[0], weights.shape[1]
    order, ends = by_code(codes, tau.shape[0] + 1)
    x, w, z = laid_out(order, on, points, weights, terms)
    room = max(STRIP, many)
    eta, kept, bent, own = np.empty(room), np.empty((SIDES, room)), np.empty(room), np.empty(room)
    step = room // many
    by_trait[:] = 0.0
    pull[:] = 0.0
    hold[:] = 0.0
    for code in range(tau.shape[0] + 1):
        for first in range(ends[code], ends[code + 1], step):
            rows = min(step, ends[code + 1] - first)
            size = rows * many
            strip_of_eta(x, z, slopes, first, rows, many, eta)
            sides(tau, code, eta, w[first * many :], size, kept)
            for i in range(size):
                bent[i] = kept[4, i] + kept[5, i]
            for r in range(rows):
                pull[order[first + r]] = total(kept[3, r * many :], many)
                hold[order[first + r]] = total(bent[r * many :], many)
            for v in range(d):
                for r in range(rows):
                    for q in range(many):
                        own[r * many + q] = points[v, order[first + r], q]
                by_trait[0, v] += inner(kept[3], own, size)
                by_trait[1, v] += inner_of_three(bent, own, own, size)
