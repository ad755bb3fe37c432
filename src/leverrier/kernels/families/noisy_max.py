"""EM for noisy-max: the child is the largest of what its active causes bring, each cause by its own distribution."""

import math

import numpy as np
from numba import njit

HOPE = 20.0  # times the last gain: what all further steps may bring together
PATIENCE = 8  # steps before that is asked


@njit(cache=True, nogil=True)
def largest_of(causes, active, out):
    """out[j, k] ← P(the largest is k) where configuration j has the causes active[j], −1 for none."""
    states = causes.shape[1]
    for j in range(active.shape[0]):
        for k in range(states):
            out[j, k] = 1.0
        for a in range(active.shape[1]):
            cause = active[j, a]
            if cause >= 0:
                below = 0.0
                for k in range(states):
                    below += causes[cause, k]
                    out[j, k] *= below
        for k in range(states - 1, 0, -1):
            out[j, k] -= out[j, k - 1]


@njit(cache=True, nogil=True)
def _expected(counts, active, causes, below, expected):
    """Add, for each cause, how often it is expected to have brought each state; returns the log-likelihood."""
    states = causes.shape[1]
    total = 0.0
    for j in range(counts.shape[0]):
        for y in range(states):
            n = counts[j, y]
            if n <= 0.0:
                continue
            upto, under = 1.0, 1.0
            for a in range(active.shape[1]):
                cause = active[j, a]
                if cause >= 0:
                    upto *= below[cause, y]
                    under *= below[cause, y - 1] if y > 0 else 0.0
            here = max(upto - under, 1e-300)
            total += n * math.log(here)
            for a in range(active.shape[1]):
                cause = active[j, a]
                if cause < 0:
                    continue
                others, others_under = upto / below[cause, y], 0.0
                if y > 0:
                    others_under = under / below[cause, y - 1]
                expected[cause, y] += n * causes[cause, y] * others / here
                for k in range(y):
                    expected[cause, k] += n * causes[cause, k] * (others - others_under) / here
    return total


@njit(cache=True, nogil=True)
def fit_noisy_max(counts, active, causes, prior, most_steps, tolerance, needed):
    """Climb from `causes` (overwritten): its rows stay distributions; returns the log-likelihood before the last step.

    The climb ends early once the last gain, many times over, would not reach `needed`.
    """
    n_causes, states = causes.shape
    below = np.empty((n_causes, states))
    expected = np.empty((n_causes, states))
    before = -np.inf
    total = -np.inf
    for number in range(most_steps):
        for c in range(n_causes):
            below[c, 0] = causes[c, 0]
            for k in range(1, states):
                below[c, k] = below[c, k - 1] + causes[c, k]
        expected[:] = prior
        total = _expected(counts, active, causes, below, expected)
        for c in range(n_causes):
            size = 0.0
            for k in range(states):
                size += expected[c, k]
            for k in range(states):
                causes[c, k] = expected[c, k] / size
        gained = total - before
        if gained < tolerance or (number >= PATIENCE and total + HOPE * gained < needed):
            break
        before = total
    return total
