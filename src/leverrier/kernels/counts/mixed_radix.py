"""Rows to mixed-radix numbers, and how often each number occurs."""

import numpy as np
from numba import njit

_BLOCK = 4096  # rows at a time: their numbers stay in the first cache while the columns pass by


@njit(cache=True, nogil=True)
def mixed_radix(codes, positions, cardinalities, missing, keys):
    """`keys[i]` ← keys[i] · ∏ radices + row i's number over `positions`; a hole is the digit after the last state."""
    rows = keys.shape[0]
    for start in range(0, rows, _BLOCK):
        stop = min(start + _BLOCK, rows)
        block = keys[start:stop]
        for j in range(positions.shape[0]):
            column = codes[positions[j], start:stop]
            cardinality = cardinalities[j]
            for i in range(stop - start):
                code = np.int64(column[i])
                digit = cardinality if code == missing else code
                block[i] = block[i] * (cardinality + 1) + digit


@njit(cache=True, nogil=True)
def tally(keys, weights, first, totals):
    """The first row with each number (−1 where none has it) and the weight of all of them; no weights means ones."""
    weighted = weights.shape[0] > 0
    for i in range(keys.shape[0]):
        key = keys[i]
        if first[key] < 0:
            first[key] = i
        totals[key] += weights[i] if weighted else 1.0
