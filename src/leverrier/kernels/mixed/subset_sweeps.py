"""Choosing the columns of a regression on its Gram matrix by the sweep operator: its cost is free of the rows."""

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def sweep(a, j):
    """Put column j into the regression (or, swept again with its sign turned, out of it)."""
    k = a.shape[0]
    d = a[j, j]
    for i in range(k):
        if i != j:
            f = a[i, j] / d
            if f != 0.0:
                for l in range(k):
                    if l != j:
                        a[i, l] -= f * a[j, l]
    side = 1.0 if d > 0 else -1.0
    for i in range(k):
        if i != j:
            a[i, j] /= side * d
            a[j, i] /= side * d
    a[j, j] = -1.0 / d


@njit(cache=True, nogil=True)
def choose_columns(gram, forced, costs, n_rows, most, added, floor):
    """Columns added one at a time, the one that gains most first, then taken out again where one does not pay.

    The last column of `gram` is the response, the first the constant. `forced` are put in first (and may be taken out
    in the end, the constant apart). `costs[j]` is what column j must gain, in nats; a negative one is never used.
    `added` and `floor` are the prior of the variance: (SSR + added·floor)/(n + added). Gives which columns are in, the
    coefficients, the sum of squares and the nats paid.
    """
    k = gram.shape[0] - 1
    a = gram.copy()
    inside = np.zeros(k, dtype=np.bool_)
    least = np.empty(k)
    for j in range(k):
        least[j] = 1e-7 * gram[j, j] + 1e-12
    extra = added * floor
    half = 0.5 * (n_rows + added)
    for j in range(k):
        if (j == 0 or forced[j]) and a[j, j] > least[j]:
            sweep(a, j)
            inside[j] = True
    for _ in range(most):
        best, best_gain = -1, 0.0
        rest = max(a[k, k], 0.0) + extra
        for j in range(k):
            if not inside[j] and costs[j] >= 0 and a[j, j] > least[j]:
                left = max(rest - a[j, k] * a[j, k] / a[j, j], extra)
                gain = half * math.log(rest / left) - costs[j]
                if gain > best_gain:
                    best, best_gain = j, gain
        if best < 0:
            break
        sweep(a, best)
        inside[best] = True
    while True:
        worst, worst_loss = -1, 0.0
        rest = max(a[k, k], 0.0) + extra
        for j in range(1, k):
            if inside[j]:
                more = rest + a[j, k] * a[j, k] / -a[j, j]
                loss = half * math.log(more / rest) - costs[j]
                if loss < worst_loss:
                    worst, worst_loss = j, loss
        if worst < 0:
            break
        sweep(a, worst)
        inside[worst] = False
    coefficients = np.zeros(k)
    paid = 0.0
    for j in range(k):
        if inside[j]:
            coefficients[j] = a[j, k]
            if j > 0:
                paid += costs[j]
    return inside, coefficients, max(a[k, k], 0.0), paid


@njit(cache=True, nogil=True)
def partial_gains(gram, inside, responses):
    """Half the log ratio of a response's sums of squares before and after each other column joins those inside.

    Per row; the largest over the responses. What lies in the span of the columns inside gains nothing.
    """
    k = gram.shape[0]
    a = gram.copy()
    for j in range(k):
        if inside[j] and a[j, j] > 1e-7 * gram[j, j] + 1e-12:
            sweep(a, j)
    gains = np.zeros(k)
    for r in responses:
        rest = a[r, r]
        if rest <= 1e-9 * gram[r, r] + 1e-12:
            continue
        for j in range(k):
            if a[j, j] > 1e-5 * gram[j, j] and not inside[j]:
                share = min(a[j, r] * a[j, r] / (a[j, j] * rest), 0.999999)
                gains[j] = max(gains[j], -0.5 * math.log(1.0 - share))
    return gains
