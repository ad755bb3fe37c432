"""Newton's method for logits with halved steps, whole: the likelihood never falls. And sums over cells of like rows."""

import math

import numpy as np
from numba import njit

from leverrier.kernels.mixed.logit_passes import logit_logs, ordered_pass, threshold_pass, unordered_pass
from leverrier.kernels.mixed.place_steps import solve_small

SMALLEST = 1e-4
"""A step halved below this is not made."""
REACH = 30.0


@njit(cache=True, nogil=True)
def _derived(theta, basis, terms, codes, begins, share, states, ordered, slope, bend):
    if ordered:
        return ordered_pass(theta, basis, terms, codes, begins, share, states, slope, bend)
    return unordered_pass(theta, basis, terms, codes, begins, share, states, slope, bend)


@njit(cache=True, nogil=True)
def _told(theta, basis, terms, codes, begins, share, states, ordered, logs):
    """logs[place, case] ← log P(state); Σ share · log P."""
    logs[:] = 0.0
    logit_logs(theta, basis, terms, codes, begins, states, ordered, logs)
    value = 0.0
    for k in range(logs.shape[0]):
        for r in range(logs.shape[1]):
            value += share[k, r] * logs[k, r]
    return value


@njit(cache=True, nogil=True)
def climb_theta(theta, basis, terms, codes, begins, share, states, ordered, steps, ridge, close, logs):
    """Better parameters of an ordered or unordered logit, in place; logs[place, case] ← log P(state);
    Σ share · log P, the ridge left out. Nobody asks for slopes where the last step ends: its logs are enough."""
    d = theta.shape[0]
    slope, bend, next_slope, next_bend = np.empty(d), np.empty((d, d)), np.empty(d), np.empty((d, d))
    trial, a, b = np.empty(d), np.empty((d, d)), np.empty(d)
    raw = _derived(theta, basis, terms, codes, begins, share, states, ordered, slope, bend)
    value = raw - 0.5 * ridge * np.dot(theta, theta)
    told = False
    for number in range(steps):
        last = number == steps - 1
        a[:] = bend
        for i in range(d):
            a[i, i] += ridge
            b[i] = slope[i] - ridge * theta[i]
        solve_small(a, b, d)
        size, better, new = 1.0, -np.inf, raw
        while size > SMALLEST:
            for i in range(d):
                trial[i] = min(max(theta[i] + size * b[i], -REACH), REACH)
            if last:
                new = _told(trial, basis, terms, codes, begins, share, states, ordered, logs)
            else:
                new = _derived(trial, basis, terms, codes, begins, share, states, ordered, next_slope, next_bend)
            better = new - 0.5 * ridge * np.dot(trial, trial)
            if better >= value:
                break
            size /= 2
        if not better >= value:
            break
        told = last
        gained, value, raw = better - value, better, new
        theta[:] = trial
        slope, next_slope = next_slope, slope
        bend, next_bend = next_bend, bend
        if gained < close * (1 + abs(value)):
            break
    if not told:
        _told(theta, basis, terms, codes, begins, share, states, ordered, logs)
    return raw


@njit(cache=True, nogil=True)
def climb_thresholds(tau, beta, x, codes, begins, weights, steps, ridge, enough):
    """Better thresholds and slopes of an ordered logit on cases that count by `weights` (1, cases), in place; the
    log-likelihood, the ridge on slopes left out. x: (columns, cases) without a constant."""
    m, k = tau.shape[0], beta.shape[0]
    none = np.empty((1, 0))
    slope, bend, next_slope, next_bend = (
        np.empty(m + k),
        np.empty((m + k, m + k)),
        np.empty(m + k),
        np.empty((m + k, m + k)),
    )
    a, b = np.empty((m + k, m + k)), np.empty(m + k)
    new_tau, new_beta = np.empty(m), np.empty(k)
    raw = threshold_pass(tau, beta, none, x, codes, begins, weights, slope, bend)
    best = raw - 0.5 * ridge * np.dot(beta, beta)
    for _ in range(steps):
        a[:] = bend
        b[:] = slope
        for i in range(m):
            a[i, i] += 1e-9
        for i in range(k):
            a[m + i, m + i] += ridge
            b[m + i] -= ridge * beta[i]
        solve_small(a, b, m + k)
        size, logs, new = 2.0, -np.inf, raw
        while not logs >= best and size > 1e-3:
            size /= 2
            new_tau[:] = tau + size * b[:m]
            new_beta[:] = beta + size * b[m:]
            rising = True
            for i in range(1, m):
                rising = rising and new_tau[i] > new_tau[i - 1]
            logs = -np.inf
            if rising:
                new = threshold_pass(new_tau, new_beta, none, x, codes, begins, weights, next_slope, next_bend)
                logs = new - 0.5 * ridge * np.dot(new_beta, new_beta)
        if not logs >= best:
            break
        gained, best, raw = logs - best, logs, new
        tau[:] = new_tau
        beta[:] = new_beta
        slope, next_slope = next_slope, slope
        bend, next_bend = next_bend, bend
        if gained < enough:
            break
    return raw


@njit(cache=True, nogil=True)
def sum_cells(of_row, share, counts):
    """counts[place, cell] is the sum of `share` (places, rows) over the rows of the cell."""
    counts[:] = 0.0
    for k in range(share.shape[0]):
        for r in range(of_row.shape[0]):
            counts[k, of_row[r]] += share[k, r]


@njit(cache=True, nogil=True)
def spread_cells(of_row, values, out):
    """Adds to `out` (places, rows) what the row's cell has in `values` (places, cells)."""
    for k in range(out.shape[0]):
        for r in range(of_row.shape[0]):
            out[k, r] += values[k, of_row[r]]


@njit(cache=True, nogil=True)
def smoothed_tables(counts, states):
    """By place and configuration the shares of states, each having seen one row more; their logs; Σ counts · log."""
    places, cells = counts.shape
    shares, logs = np.empty((places, cells)), np.empty((places, cells))
    value = 0.0
    for k in range(places):
        for first in range(0, cells, states):
            whole = 1.0
            for s in range(states):
                whole += counts[k, first + s]
            for s in range(states):
                share = (counts[k, first + s] + 1.0 / states) / whole
                shares[k, first + s] = share
                logs[k, first + s] = math.log(share)
                value += counts[k, first + s] * logs[k, first + s]
    return shares, logs, value
