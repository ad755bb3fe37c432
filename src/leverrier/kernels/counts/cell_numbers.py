"""Which cell of each of several tables a configuration is counted in; only cells that occur have a number."""

import numpy as np
from numba import njit

ROOM = np.int64(2**16)  # possible keys, or as many as a column's states times the configurations


@njit(cache=True, nogil=True)
def rank_keys(keys, size, seen):
    """Keys below `size` become their ranks among those that occur; −1 stays. Gives how many there are."""
    for k in range(size):
        seen[k] = 0
    for m in range(keys.size):
        if keys[m] >= 0:
            seen[keys[m]] = 1
    found = np.int64(0)
    for k in range(size):
        if seen[k]:
            seen[k] = found
            found += 1
    for m in range(keys.size):
        if keys[m] >= 0:
            keys[m] = seen[keys[m]]
    return found


@njit(cache=True, nogil=True)
def number_cells(codes, states, missing, scopes, starts, keyed, cells, begins):
    """cells[f, m]: where configuration m is counted in table f, −1 if a column of the table's scope is a hole there.

    Table f is over the columns scopes[starts[f] : starts[f + 1]], of which the first keyed[f] make up its cells, in
    their order; its own are numbered from begins[f].
    """
    n = codes.shape[1]
    most = np.int64(1)
    for v in range(states.size):
        most = max(most, states[v])
    seen = np.empty(max(ROOM, n * most), dtype=np.int64)
    begins[0] = 0
    for f in range(keyed.size):
        keys = cells[f]
        keys[:] = 0
        size = np.int64(1)
        for at in range(starts[f], starts[f + 1]):
            v = scopes[at]
            column = codes[v]
            counts = at < starts[f] + keyed[f]
            if counts and size * states[v] > ROOM:
                size = rank_keys(keys, size, seen)
            for m in range(n):
                if keys[m] >= 0:
                    if column[m] == missing:
                        keys[m] = -1
                    elif counts:
                        keys[m] = keys[m] * states[v] + column[m]
            if counts:
                size *= states[v]
        found = rank_keys(keys, size, seen)
        for m in range(n):
            if keys[m] >= 0:
                keys[m] += begins[f]
        begins[f + 1] = begins[f] + found


@njit(cache=True, nogil=True)
def place_seeds(cells, weights, seeds, counts):
    """counts[c, i]: how often cell c occurs in configuration seeds[i]."""
    for i in range(seeds.size):
        for f in range(cells.shape[0]):
            c = cells[f, seeds[i]]
            if c >= 0:
                counts[c, i] += weights[seeds[i]]
