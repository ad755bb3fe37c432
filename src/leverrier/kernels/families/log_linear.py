"""Newton's method for ln P(k | x) = a_k + Σ_c B[k, c] Σ_p X[j, p] W[p, c] + constant, from counts by configuration.

With B the unit vectors it is the multinomial logit; with B a column of scores, the adjacent-categories logit.
"""

import math

import numpy as np
from numba import njit

HOPE = 3.0  # times the last gain: what all further steps may bring together, from the third on


@njit(cache=True, nogil=True)
def predicted(design, basis, theta, out):
    """out[j, k] ← P(k | configuration j); theta holds a_1, a_2…, then W by rows. Returns nothing."""
    rows, width = design.shape
    states, columns = basis.shape
    eta = np.empty(columns)
    for j in range(rows):
        for c in range(columns):
            eta[c] = 0.0
            for p in range(width):
                eta[c] += design[j, p] * theta[states - 1 + p * columns + c]
        top = -np.inf
        for k in range(states):
            value = theta[k - 1] if k > 0 else 0.0
            for c in range(columns):
                value += basis[k, c] * eta[c]
            out[j, k] = value
            top = max(top, value)
        total = 0.0
        for k in range(states):
            out[j, k] = math.exp(out[j, k] - top)
            total += out[j, k]
        for k in range(states):
            out[j, k] /= total


@njit(cache=True, nogil=True)
def log_likelihood(counts, shares):
    """Σ n_jk ln P(k | j)."""
    total = 0.0
    for j in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            if counts[j, k] > 0.0:
                total += counts[j, k] * math.log(max(shares[j, k], 1e-300))
    return total


@njit(cache=True, nogil=True)
def _slopes(counts, design, basis, shares, gradient, hessian):
    """First and (negated) second derivatives; only the lower half of the matrix is filled."""
    rows, width = design.shape
    states, columns = basis.shape
    first = states - 1
    gradient[:] = 0.0
    hessian[:] = 0.0
    mean = np.empty(columns)
    spread = np.empty((columns, columns))
    pull = np.empty(columns)
    for j in range(rows):
        size = 0.0
        for k in range(states):
            size += counts[j, k]
        mean[:] = 0.0
        pull[:] = 0.0
        spread[:] = 0.0
        for k in range(states):
            share = shares[j, k]
            off = counts[j, k] - size * share
            if k > 0:
                gradient[k - 1] += off
                scaled = size * share
                hessian[k - 1, k - 1] += scaled
                for l in range(1, k + 1):
                    hessian[k - 1, l - 1] -= scaled * shares[j, l]
            for c in range(columns):
                mean[c] += share * basis[k, c]
                pull[c] += off * basis[k, c]
                for d in range(c + 1):
                    spread[c, d] += share * basis[k, c] * basis[k, d]
        for c in range(columns):
            for d in range(c + 1):
                spread[c, d] = size * (spread[c, d] - mean[c] * mean[d])
        for p in range(width):
            x = design[j, p]
            if x == 0.0:
                continue
            for c in range(columns):
                at = first + p * columns + c
                gradient[at] += x * pull[c]
                for k in range(1, states):
                    hessian[at, k - 1] += size * shares[j, k] * (basis[k, c] - mean[c]) * x
                for q in range(p + 1):
                    both = x * design[j, q]
                    if both == 0.0:
                        continue
                    for d in range(columns):
                        other = first + q * columns + d
                        if other <= at:
                            hessian[at, other] += both * (spread[c, d] if d <= c else spread[d, c])


@njit(cache=True, nogil=True)
def _solved(matrix, vector):
    """matrix⁻¹ vector by Cholesky, both overwritten (only the lower half is read)."""
    n = vector.size
    for i in range(n):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                matrix[i, i] = math.sqrt(max(total, 1e-12))
            else:
                matrix[i, j] = total / matrix[j, j]
    for i in range(n):
        total = vector[i]
        for k in range(i):
            total -= matrix[i, k] * vector[k]
        vector[i] = total / matrix[i, i]
    for i in range(n - 1, -1, -1):
        total = vector[i]
        for k in range(i + 1, n):
            total -= matrix[k, i] * vector[k]
        vector[i] = total / matrix[i, i]


@njit(cache=True, nogil=True)
def fit_log_linear(counts, design, basis, theta, ridge, most_steps, tolerance, needed):
    """Climb log-likelihood − ½ ridge |theta|² from theta, which is overwritten; returns the log-likelihood reached.

    Newton's steps gain less and less: once the last gain says that `needed` will not be reached, the climb ends.
    """
    shares = np.empty(counts.shape)
    gradient = np.empty(theta.size)
    hessian = np.empty((theta.size, theta.size))
    predicted(design, basis, theta, shares)
    plain = log_likelihood(counts, shares)
    value = plain - 0.5 * ridge * (theta @ theta)
    for number in range(most_steps):
        _slopes(counts, design, basis, shares, gradient, hessian)
        for i in range(theta.size):
            gradient[i] -= ridge * theta[i]
            hessian[i, i] += ridge
        _solved(hessian, gradient)
        step = 1.0
        gained = -1.0
        for _half in range(12):
            moved = theta + step * gradient
            predicted(design, basis, moved, shares)
            reached = log_likelihood(counts, shares)
            gained = reached - 0.5 * ridge * (moved @ moved) - value
            if gained >= 0.0:
                theta[:] = moved
                plain = reached
                value += gained
                break
            step *= 0.5
        hopeless = number >= 2 and step == 1.0 and plain + HOPE * gained < needed
        if gained < tolerance or hopeless:
            if gained < 0.0:
                predicted(design, basis, theta, shares)
            break
    return plain
