"""Hidden chains by enumeration of every path of the joint hidden state."""

from itertools import product

import numpy as np


def enumerate_paths(likelihood, initial, transition):
    """P(slices) and P(state of each slice | all slices), by summing over all paths."""
    n, states = likelihood.shape
    total, posterior = 0.0, np.zeros((n, states))
    for path in product(range(states), repeat=n):
        p = initial[path[0]] * likelihood[0, path[0]]
        for t in range(1, n):
            p *= transition[path[t - 1], path[t]] * likelihood[t, path[t]]
        total += p
        for t, state in enumerate(path):
            posterior[t, state] += p
    return total, posterior / total
