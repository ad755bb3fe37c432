"""Splitting the rows of a leaf in two, each side with a line of its own and its own variance."""

import math

import numpy as np
from numba import njit

LOG_2_PI = 1.8378770664093453


@njit(cache=True, nogil=True)
def residual_squares(moments, work):
    """What a least-squares line leaves of the last column, from the moments of (1, x…, y); `work` is spent."""
    k = moments.shape[0]
    for i in range(k):
        for j in range(i, k):
            work[i, j] = moments[i, j]
    for j in range(k - 1):
        d = work[j, j]
        if d <= 1e-9 * moments[j, j] + 1e-12:
            continue
        for i in range(j + 1, k):
            f = work[j, i] / d
            for l in range(i, k):
                work[i, l] -= f * work[j, l]
    return max(work[k - 1, k - 1], 0.0)


@njit(cache=True, nogil=True)
def side_log_likelihood(moments, work, added, floor):
    """Of a Gaussian line with its own variance, (SSR + added·floor)/(n + added)."""
    n = moments[0, 0]
    rest = residual_squares(moments, work)
    s2 = (rest + added * floor) / (n + added)
    return -0.5 * n * (LOG_2_PI + math.log(s2)) - 0.5 * rest / s2


@njit(cache=True, nogil=True)
def best_linear_split(x, rows, codes, n_codes, ordered, least, added, floor):
    """The split of these rows that gains most: (gain, parent, code, own log-likelihood).

    x: (columns, rows), the constant first and the response last   codes: (parents, rows)
    An ordered parent sends codes up to `code` to the left, any other the one code. Parent −1: no split is possible.
    """
    k, p = x.shape[0], codes.shape[0]
    most = 1
    for f in range(p):
        most = max(most, n_codes[f])
    work = np.empty((k, k))
    whole, left, right = np.zeros((k, k)), np.empty((k, k)), np.empty((k, k))
    row = np.empty(k)
    best_gain, best_parent, best_code = -np.inf, -1, -1
    by_code = np.empty((most, k, k))
    own = 0.0
    for f in range(p):
        by_code[:] = 0.0
        for i in rows:
            for a in range(k):
                row[a] = x[a, i]
            cell = by_code[codes[f, i]]
            for a in range(k):
                for b in range(a, k):
                    cell[a, b] += row[a] * row[b]
        if f == 0:
            for c in range(n_codes[f]):
                whole += by_code[c]
            own = side_log_likelihood(whole, work, added, floor)
        left[:] = 0.0
        for c in range(n_codes[f] - (1 if ordered[f] else 0)):
            if ordered[f]:
                left += by_code[c]
            else:
                left[:] = by_code[c]
            if left[0, 0] < least or whole[0, 0] - left[0, 0] < least:
                continue
            right[:] = whole - left
            gain = side_log_likelihood(left, work, added, floor)
            gain += side_log_likelihood(right, work, added, floor) - own
            if gain > best_gain:
                best_gain, best_parent, best_code = gain, f, c
    return best_gain, best_parent, best_code, own
