"""A tree whose counts go on while it predicts."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def predict_and_count(leaf, above, child, counted, counts, base, strength, floor, forget, out):
    """out[t]: the distribution of slice t before its child is counted (where `counted`) along its path.

    Each node leans on the one above it, as its counts stand at that moment. `forget` shrinks a node's counts whenever
    it is visited, so that what was seen lately weighs more.
    """
    nodes, states = counts.shape
    totals = np.zeros(nodes)
    for node in range(nodes):
        totals[node] = counts[node].sum()
    path = np.empty(nodes, dtype=np.int64)
    for t in range(leaf.shape[0]):
        depth = 0
        node = leaf[t]
        while node >= 0:
            path[depth] = node
            depth += 1
            node = above[node]
        for k in range(states):
            out[t, k] = base[k]
        for d in range(depth - 1, -1, -1):
            node = path[d]
            for k in range(states):
                lean = out[t, k] if d == depth - 1 else (1.0 - floor) * out[t, k] + floor / states
                out[t, k] = (counts[node, k] + strength * lean) / (totals[node] + strength)
        if counted[t]:
            for d in range(depth):
                node = path[d]
                totals[node] = totals[node] * forget + 1.0
                for k in range(states):
                    counts[node, k] *= forget
                counts[node, child[t]] += 1.0
