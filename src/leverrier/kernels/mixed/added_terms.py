"""The expected score of a regression, and with each of several sets of terms besides, from one matrix of products."""

import math

import numpy as np
from numba import njit

LOG_2_PI = math.log(2 * math.pi)
RIDGE, OTHER_RIDGE = 1e-9, 1e-6


@njit(cache=True, nogil=True)
def rooted(a, n):
    """The lower root of the first n rows and columns of a positive matrix, in place."""
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for l in range(j):
                s -= a[i, l] * a[j, l]
            if i == j:
                a[i, i] = math.sqrt(max(s, 1e-300))
            else:
                a[i, j] = s / a[j, j]


@njit(cache=True, nogil=True)
def forward(root, n, b):
    """Solves root x = b, in place."""
    for i in range(n):
        s = b[i]
        for l in range(i):
            s -= root[i, l] * b[l]
        b[i] = s / root[i, i]


@njit(cache=True, nogil=True)
def gaussian_score(squares, rows, added, floor):
    """Of residuals with this sum of squares, under a variance that has seen `added` more of them."""
    squares = max(squares, 0.0)
    variance = (squares + added * floor) / (rows + added)
    return -0.5 * (rows * (math.log(variance) + LOG_2_PI) + squares / variance)


@njit(cache=True, nogil=True)
def add_scores(gram, base, at, extra, starts, rows, added, floor, out):
    """Adds to out[0] the score of column `at` on the columns `base`, to out[1 + e] that with
    extra[starts[e]:starts[e + 1]] besides."""
    m, n_new = base.shape[0], extra.shape[0]
    root = np.empty((m, m))
    trace = 0.0
    for i in range(m):
        trace += gram[base[i], base[i]]
        for j in range(m):
            root[i, j] = gram[base[i], base[j]]
    for i in range(m):
        root[i, i] += RIDGE * trace / m + 1e-12
    rooted(root, m)
    own = np.empty(m)
    for i in range(m):
        own[i] = gram[base[i], at]
    forward(root, m, own)
    left = gram[at, at]
    for i in range(m):
        left -= own[i] * own[i]
    out[0] += gaussian_score(left, rows, added, floor)
    sides = np.empty((n_new, m))
    along = np.empty(n_new)
    for e in range(n_new):
        for i in range(m):
            sides[e, i] = gram[base[i], extra[e]]
        forward(root, m, sides[e])
        along[e] = gram[at, extra[e]]
        for i in range(m):
            along[e] -= own[i] * sides[e, i]
    for e in range(starts.shape[0] - 1):
        gained = gained_by(gram, extra, sides, along, starts[e], starts[e + 1])
        out[1 + e] += gaussian_score(left - gained, rows, added, floor)


@njit(cache=True, nogil=True)
def gained_by(gram, extra, sides, along, first, last):
    """What the terms first..last take of the squares that are left; a term that repeats the others takes nothing."""
    k = last - first
    own = np.empty((k, k))
    trace = 0.0
    for a in range(k):
        for b in range(k):
            own[a, b] = gram[extra[first + a], extra[first + b]]
            for i in range(sides.shape[1]):
                own[a, b] -= sides[first + a, i] * sides[first + b, i]
        trace += own[a, a]
    if k == 1:
        whole = max(gram[extra[first], extra[first]], 1e-12)
        return along[first] ** 2 / own[0, 0] if own[0, 0] > 1e-6 * whole else 0.0
    for a in range(k):
        own[a, a] += OTHER_RIDGE * trace / k + 1e-9
    rooted(own, k)
    part = along[first:last].copy()
    forward(own, k, part)
    total = 0.0
    for a in range(k):
        total += part[a] * part[a]
    return total
