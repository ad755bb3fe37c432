"""What a family's distribution expects of the child beside every other column, against what is seen."""

from numba import njit


@njit(cache=True, nogil=True)
def expect_beside(codes, columns, index, shares, weights, starts, out):
    """out[starts[c] + code, k] += weight · P(k | the row's configuration), for each of the columns."""
    states = shares.shape[1]
    for c in range(columns.size):
        column = codes[columns[c]]
        base = starts[c]
        for i in range(index.size):
            row = shares[index[i]]
            target = out[base + column[i]]
            for k in range(states):
                target[k] += weights[i] * row[k]


@njit(cache=True, nogil=True)
def count_beside(codes, columns, index, weights, starts, out):
    """out[starts[c] + code, the row's configuration] += weight, for each of the columns."""
    for c in range(columns.size):
        column = codes[columns[c]]
        base = starts[c]
        for i in range(index.size):
            out[base + column[i], index[i]] += weights[i]
