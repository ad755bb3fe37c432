"""Forward–backward over one small joint hidden state, with what each slice says of it given as likelihoods."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def filter_chain(likelihood, initial, transition, starts, predicted, scale):
    """predicted[t]: P(state | slices before t); scale[t]: P(slice t | slices before t), up to the caller's scaling."""
    states = initial.shape[0]
    posterior = np.empty(states)
    for s in range(starts.shape[0] - 1):
        for t in range(starts[s], starts[s + 1]):
            if t == starts[s]:
                predicted[t] = initial
            else:
                for k in range(states):
                    predicted[t, k] = 0.0
                for j in range(states):
                    share = posterior[j]
                    for k in range(states):
                        predicted[t, k] += share * transition[j, k]
            total = 0.0
            for k in range(states):
                posterior[k] = predicted[t, k] * likelihood[t, k]
                total += posterior[k]
            total = max(total, 1e-300)
            scale[t] = total
            for k in range(states):
                posterior[k] /= total


@njit(cache=True, nogil=True)
def smooth_chain(likelihood, initial, transition, starts, predicted, scale, posterior, moves, first):
    """After filtering: posterior[t, state], expected moves from state to state, and expected first states."""
    states = initial.shape[0]
    message = np.empty(states)
    weighted = np.empty(states)
    for s in range(starts.shape[0] - 1):
        message[:] = 1.0
        for t in range(starts[s + 1] - 1, starts[s] - 1, -1):
            for k in range(states):
                weighted[k] = likelihood[t, k] * message[k] / scale[t]
                posterior[t, k] = predicted[t, k] * weighted[k]
            if t > starts[s]:
                for j in range(states):
                    before = predicted[t - 1, j] * likelihood[t - 1, j] / scale[t - 1]
                    total = 0.0
                    for k in range(states):
                        step = transition[j, k] * weighted[k]
                        total += step
                        moves[j, k] += before * step
                    message[j] = total
        first += posterior[starts[s]]
