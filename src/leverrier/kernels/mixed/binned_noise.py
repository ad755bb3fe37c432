"""A mixture of a few Gaussians for residuals: EM runs on a histogram, so that its cost does not depend on the rows."""

import math

import numpy as np
from numba import njit

HALF_LOG_2_PI = 0.9189385332046727


@njit(cache=True, nogil=True)
def shape_of(e):
    """Mean, deviation, skewness, excess kurtosis, least and largest."""
    n = e.size
    mean = 0.0
    low, high = np.inf, -np.inf
    for x in e:
        mean += x
        low, high = min(low, x), max(high, x)
    mean /= n
    s2, s3, s4 = 0.0, 0.0, 0.0
    for x in e:
        d = x - mean
        q = d * d
        s2 += q
        s3 += q * d
        s4 += q * q
    s2 /= n
    if s2 <= 1e-24:
        return mean, 0.0, 0.0, 0.0, low, high
    return mean, math.sqrt(s2), s3 / n / s2**1.5, s4 / n / (s2 * s2) - 3.0, low, high


@njit(cache=True, nogil=True)
def fill_histogram(e, low, high, counts):
    """counts += 1 in the bin of each residual, the bins being even from `low` to `high`."""
    per = counts.size / (high - low)
    for x in e:
        counts[min(int((x - low) * per), counts.size - 1)] += 1.0


@njit(cache=True, nogil=True)
def mixture_log_likelihood(e, weights, means, deviations):
    """Σ log density of the mixture."""
    k = weights.size
    total = 0.0
    for x in e:
        top = -np.inf
        whole = 0.0
        for c in range(k):
            d = (x - means[c]) / deviations[c]
            part = -0.5 * d * d + math.log(weights[c] / deviations[c])
            if part > top:
                whole = whole * math.exp(top - part) + 1.0
                top = part
            else:
                whole += math.exp(part - top)
        total += top + math.log(whole)
    return total - e.size * HALF_LOG_2_PI


@njit(cache=True, nogil=True)
def fit_binned(centres, counts, weights, means, deviations, least, most, tolerance):
    """Weights, means and deviations are improved in place; gives the log-likelihood of the histogram."""
    k, m = weights.size, centres.size
    part, heights = np.empty(k), np.empty(k)
    before = -np.inf
    total = counts.sum()
    for _ in range(most):
        mass, first, second = np.zeros(k), np.zeros(k), np.zeros(k)
        for c in range(k):
            heights[c] = math.log(weights[c] / deviations[c])
        now = -total * HALF_LOG_2_PI
        for b in range(m):
            if counts[b] == 0.0:
                continue
            top = -np.inf
            for c in range(k):
                d = (centres[b] - means[c]) / deviations[c]
                part[c] = heights[c] - 0.5 * d * d
                top = max(top, part[c])
            whole = 0.0
            for c in range(k):
                part[c] = math.exp(part[c] - top)
                whole += part[c]
            now += counts[b] * (top + math.log(whole))
            for c in range(k):
                share = counts[b] * part[c] / whole
                mass[c] += share
                first[c] += share * centres[b]
                second[c] += share * centres[b] * centres[b]
        if now - before < tolerance:
            break
        before = now
        for c in range(k):
            weights[c] = max(mass[c] / total, 1e-6)
            if mass[c] > 1e-9:
                means[c] = first[c] / mass[c]
                deviations[c] = math.sqrt(max(second[c] / mass[c] - means[c] * means[c], least * least))
    return before
