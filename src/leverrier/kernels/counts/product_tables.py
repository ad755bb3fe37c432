"""Expected tables as products of single posteriors: each slice adds the product of what its nodes are thought to be."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def add_products(slices, nodes, codes, posteriors, table):
    """nodes: variable, lag, states, stride in the table, first column of its posterior. Observed nodes have a code."""
    largest = 1
    for m in range(nodes.shape[0]):
        largest *= nodes[m, 2]
    values = np.empty(largest)
    places = np.empty(largest, dtype=np.int64)
    for s in range(len(slices)):
        values[0], places[0] = 1.0, 0
        size = 1
        for m in range(nodes.shape[0]):
            variable, lag, states, stride, first = nodes[m]
            t = slices[s] - lag
            code = codes[variable, t]
            if code >= 0:
                for k in range(size):
                    places[k] += code * stride
                continue
            for state in range(states - 1, -1, -1):  # (downwards: the first block is read until last)
                share = posteriors[t, first + state]
                for k in range(size):
                    values[state * size + k] = values[k] * share
                    places[state * size + k] = places[k] + state * stride
            size *= states
        for k in range(size):
            table[places[k]] += values[k]
