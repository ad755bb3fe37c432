"""One step of EM for numbers behind a hidden variable: regressions with the places known in part, and their densities.

Rows are the last axis throughout: what is done to one row is done to many at once.
"""

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def solve_small(a, b, n):
    """The first n equations a x = b, by elimination with pivots; both are overwritten, b with the solution."""
    ridge = 0.0
    for i in range(n):
        ridge += a[i, i]
    ridge = 1e-9 * ridge / n + 1e-12
    for i in range(n):
        a[i, i] += ridge
    for i in range(n):
        pivot = i
        for j in range(i + 1, n):
            if abs(a[j, i]) > abs(a[pivot, i]):
                pivot = j
        if pivot != i:
            for j in range(n):
                a[i, j], a[pivot, j] = a[pivot, j], a[i, j]
            b[i], b[pivot] = b[pivot], b[i]
        if a[i, i] == 0.0:
            continue
        for j in range(i + 1, n):
            f = a[j, i] / a[i, i]
            if f != 0.0:
                for l in range(i + 1, n):
                    a[j, l] -= f * a[i, l]
                b[j] -= f * b[i]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= a[i, j] * b[j]
        b[i] = b[i] / a[i, i] if a[i, i] != 0.0 else 0.0


@njit(cache=True, nogil=True)
def shared_fit(own, gram, cross, inner, constants, slopes):
    """One regression on the terms and the expected basis: `own` is 0, the terms, the child. Gives its squares."""
    p, q = own.shape[0] - 1, inner.shape[0]
    m, at = p + q, own[p]
    a, b = np.empty((m, m)), np.empty(m)
    for i in range(p):
        for j in range(p):
            a[i, j] = gram[own[i], own[j]]
        for j in range(q):
            a[i, p + j] = a[p + j, i] = cross[own[i], j]
        b[i] = gram[own[i], at]
    for i in range(q):
        for j in range(q):
            a[p + i, p + j] = inner[i, j]
        b[p + i] = cross[at, i]
    left, right = a.copy(), b.copy()
    solve_small(a, b, m)
    squares = gram[at, at]
    for i in range(m):
        squares -= 2 * right[i] * b[i]
        for j in range(m):
            squares += b[i] * left[i, j] * b[j]
    constants[0] = b[0]
    for i in range(q):
        constants[1 + i] = b[p + i]
    for i in range(p - 1):
        slopes[i] = b[1 + i]
    return squares


@njit(cache=True, nogil=True)
def weighed_fit(own, design, share, slopes):
    """The regression of rows that count by `share`: its constant, its squares and how many rows it saw."""
    m = own.shape[0]
    a = np.empty((m, m))
    weighed = np.empty(share.shape[0])
    for i in range(m):
        x = design[own[i]]
        for r in range(share.shape[0]):
            weighed[r] = share[r] * x[r]
        for j in range(i, m):
            a[i, j] = a[j, i] = np.dot(weighed, design[own[j]])
    left, b = a.copy(), a[:, m - 1].copy()
    solve_small(a, b, m - 1)
    squares = left[m - 1, m - 1]
    for i in range(m - 1):
        squares -= 2 * left[i, m - 1] * b[i]
        for j in range(m - 1):
            squares += b[i] * left[i, j] * b[j]
    for i in range(m - 2):
        slopes[i] = b[1 + i]
    return b[0], squares, left[0, 0]


@njit(cache=True, nogil=True)
def add_densities(own, design, constant, slopes, variance, logs):
    """Adds log N(child | constant + slopes · terms, variance) of every row, without the constant ½ log 2π."""
    m = own.shape[0]
    y = design[own[m - 1]]
    away = np.empty(y.shape[0])
    for r in range(y.shape[0]):
        away[r] = y[r] - constant
    for i in range(m - 2):
        f, x = slopes[i], design[own[1 + i]]
        for r in range(y.shape[0]):
            away[r] -= f * x[r]
    half, each = 0.5 / variance, 0.5 * math.log(variance)
    for r in range(y.shape[0]):
        logs[r] -= half * away[r] * away[r] + each


@njit(cache=True, nogil=True)
def number_steps(design, owns, sizes, by_place, gram, basis, posterior, floor, constants, slopes, variances, logs):
    """All numbers behind a hidden variable: fitted to `posterior` (places, rows), densities added to `logs`.

    `owns[c, :sizes[c]]` is 0, the terms, the child; `floor` is (rows, variance) that every variance has seen besides.
    """
    places, q = basis.shape
    expected = basis.T.copy() @ posterior
    cross = design @ expected.T
    counts = np.zeros(places)
    for k in range(places):
        counts[k] = posterior[k].sum()
    inner = (basis.T * counts) @ basis
    moved = np.empty(1 + q)
    for c in range(sizes.shape[0]):
        own = owns[c, : sizes[c]]
        if by_place[c]:
            for k in range(places):
                constant, squares, rows = weighed_fit(own, design, posterior[k], slopes[c, k])
                constants[c, k] = constant
                variances[c, k] = (max(squares, 0.0) + floor[0] * floor[1]) / (rows + floor[0])
        else:
            squares = shared_fit(own, gram, cross, inner, moved, slopes[c, 0])
            for k in range(places):
                constants[c, k] = moved[0]
                for i in range(q):
                    constants[c, k] += basis[k, i] * moved[1 + i]
                slopes[c, k] = slopes[c, 0]
                variances[c, k] = (max(squares, 0.0) + floor[0] * floor[1]) / (gram[0, 0] + floor[0])
        for k in range(places):
            add_densities(own, design, constants[c, k], slopes[c, k], variances[c, k], logs[k])


@njit(cache=True, nogil=True)
def to_shares(logs):
    """log P(place, row) becomes P(place | row), in place; the sum over rows of log P(row)."""
    places, rows = logs.shape
    total = 0.0
    for r in range(rows):
        top = logs[0, r]
        for k in range(1, places):
            top = max(top, logs[k, r])
        whole = 0.0
        for k in range(places):
            logs[k, r] = math.exp(logs[k, r] - top)
            whole += logs[k, r]
        for k in range(places):
            logs[k, r] /= whole
        total += top + math.log(whole)
    return total
