"""Mean field: groups of unobserved variables that are too large to be summed over, as products of single posteriors.

groups:  first member, members, first row, rows, factors, first base, first single, singles a row
members: first single within the row, states, first touch, touches
touches: factor (first axis, axes), which of its axes the member is, column of its base
axes:    first single within the row, states, stride in the parameters
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def _next(at, n, first, axes):
    """The next joint state of a factor's axes, the last fastest; whether there is one."""
    for a in range(n - 1, -1, -1):
        at[a] += 1
        if at[a] < axes[first + a, 1]:
            return True
        at[a] = 0
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _field(touch, axes, base, logs, q, field, states):
    """Add to field[s] what one factor says of a member's state s, the others' states averaged out under q."""
    first, n, own = touch[0], touch[1], touch[2]
    at = states[:n]
    at[:] = 0
    while True:
        cell = base
        share = 1.0
        for a in range(n):
            cell += at[a] * axes[first + a, 2]
            if a != own:
                share *= q[axes[first + a, 0] + at[a]]
        if share > 0.0:
            field[at[own]] += share * logs[cell]
        if not _next(at, n, first, axes):
            return


@njit(cache=True, nogil=True, error_model="numpy")
def _spread(first, n, axes, base, logs, q, weight, counts, states):
    """Add a factor's expected counts under q; gives back their E[ln θ]."""
    at = states[:n]
    at[:] = 0
    total = 0.0
    while True:
        cell = base
        share = 1.0
        for a in range(n):
            cell += at[a] * axes[first + a, 2]
            share *= q[axes[first + a, 0] + at[a]]
        if share > 0.0:
            counts[cell] += weight * share
            total += share * logs[cell]
        if not _next(at, n, first, axes):
            return total


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep(group, members, touches, axes, bases, row, logs, q, field, states):
    """Each member's posterior given the others', in turn; how far any moved. None of this lowers the bound."""
    moved = 0.0
    for m in range(group[0], group[0] + group[1]):
        start, size = members[m, 0], members[m, 1]
        field[:size] = 0.0
        for t in range(members[m, 2], members[m, 2] + members[m, 3]):
            _field(touches[t], axes, bases[group[5] + row * group[4] + touches[t, 3]], logs, q, field, states)
        peak = field[:size].max()
        total = 0.0
        for s in range(size):
            field[s] = np.exp(field[s] - peak)
            total += field[s]
        for s in range(size):
            moved = max(moved, abs(field[s] / total - q[start + s]))
            q[start + s] = field[s] / total
    return moved


@njit(cache=True, nogil=True, error_model="numpy")
def pass_products(groups, members, touches, axes, bases, weights, logs, widest, sweeps, tolerance, singles, counts):
    """The bound Σ_rows w (E_q[ln p] + H(q)) after raising it over q = `singles`; adds expected counts.

    The bound is at most the log-likelihood, and never falls from one call to the next if θ was maximised between.
    """
    field, states = np.empty(widest), np.empty(64, dtype=np.int64)
    bound = 0.0
    for g in range(groups.shape[0]):
        group = groups[g]
        for row in range(group[3]):
            q = singles[group[6] + row * group[7] : group[6] + (row + 1) * group[7]]
            for _ in range(sweeps):
                if _sweep(group, members, touches, axes, bases, row, logs, q, field, states) <= tolerance:
                    break
            weight = weights[group[2] + row]
            value = 0.0
            for m in range(group[0], group[0] + group[1]):
                for t in range(members[m, 2], members[m, 2] + members[m, 3]):
                    if touches[t, 2] == 0:  # (each factor once: by the member on its first axis)
                        base = bases[group[5] + row * group[4] + touches[t, 3]]
                        value += _spread(touches[t, 0], touches[t, 1], axes, base, logs, q, weight, counts, states)
            for u in range(group[7]):
                if q[u] > 0.0:
                    value -= q[u] * np.log(q[u])
            bound += weight * value
    return bound
