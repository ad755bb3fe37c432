"""Tables of every pair of columns, counted from the rows."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def pair_tables(codes, starts):
    """counts[starts[u] + a, starts[v] + b]: in how many rows column u is in state a and v in b; codes: (columns, rows).
    The table of a column with itself has its own counts."""
    n_columns, rows = codes.shape
    counts = np.zeros((starts[-1], starts[-1]))
    for u in range(n_columns):
        for v in range(u + 1):
            for r in range(rows):
                counts[starts[u] + codes[u, r], starts[v] + codes[v, r]] += 1.0
    for i in range(counts.shape[0]):
        for j in range(i):
            counts[j, i] = max(counts[i, j], counts[j, i])
            counts[i, j] = counts[j, i]
    return counts
