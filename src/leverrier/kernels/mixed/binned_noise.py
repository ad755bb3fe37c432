"""EM for a mixture of a few Gaussians on a histogram: its cost does not depend on the rows."""

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def fit_binned(centres, counts, weights, means, deviations, least, most, tolerance):
    """Weights, means and deviations are improved in place; gives the log-likelihood of the histogram."""
    k, m = weights.size, centres.size
    part = np.empty(k)
    before = -np.inf
    total = counts.sum()
    for _ in range(most):
        mass, first, second = np.zeros(k), np.zeros(k), np.zeros(k)
        now = 0.0
        for b in range(m):
            if counts[b] == 0.0:
                continue
            top = -np.inf
            for c in range(k):
                d = (centres[b] - means[c]) / deviations[c]
                part[c] = math.log(weights[c] + 1e-300) - math.log(deviations[c]) - 0.5 * d * d
                top = max(top, part[c])
            whole = 0.0
            for c in range(k):
                part[c] = math.exp(part[c] - top)
                whole += part[c]
            now += counts[b] * (top + math.log(whole) - 0.9189385332046727)
            for c in range(k):
                share = counts[b] * part[c] / whole
                mass[c] += share
                first[c] += share * centres[b]
                second[c] += share * centres[b] * centres[b]
        if now - before < tolerance:
            break
        before = now
        for c in range(k):
            if mass[c] > 1e-9:
                weights[c] = mass[c] / total
                means[c] = first[c] / mass[c]
                deviations[c] = math.sqrt(max(second[c] / mass[c] - means[c] * means[c], least * least))
    return before
