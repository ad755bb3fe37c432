"""Mean field: groups of unobserved variables that are too large to be summed over, as products of single posteriors.

groups:  first member, members, first row, rows, factors, first base, first single, singles a row
members: first single within the row, states, first touch, touches
touches: factor (first axis, axes), which of its axes the member is, column of its base
axes:    first single within the row, states, stride in the parameters
"""

import numpy as np
from numba import njit

from leverrier.kernels.em.plan_columns import (
    AXIS_SINGLE,
    AXIS_STATES,
    AXIS_STRIDE,
    MEMBER_SINGLE,
    MEMBER_STATES,
    MEMBER_TOUCH,
    MEMBER_TOUCHES,
    PRODUCT_BASE,
    PRODUCT_FACTORS,
    PRODUCT_FIRST_MEMBER,
    PRODUCT_FIRST_ROW,
    PRODUCT_MEMBERS,
    PRODUCT_ROWS,
    PRODUCT_SINGLE,
    PRODUCT_WIDTH,
    TOUCH_AXES,
    TOUCH_AXIS,
    TOUCH_COLUMN,
    TOUCH_OWN,
)


@njit(cache=True, nogil=True, error_model="numpy")
def _next(at, n, first, axes):
    """The next joint state of a factor's axes, the last fastest; whether there is one."""
    for a in range(n - 1, -1, -1):
        at[a] += 1
        if at[a] < axes[first + a, AXIS_STATES]:
            return True
        at[a] = 0
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _field(touch, axes, base, logs, q, field, states):
    """Add to field[s] what one factor says of a member's state s, the others' states averaged out under q."""
    first, n, own = touch[TOUCH_AXIS], touch[TOUCH_AXES], touch[TOUCH_OWN]
    at = states[:n]
    at[:] = 0
    while True:
        cell = base
        share = 1.0
        for a in range(n):
            cell += at[a] * axes[first + a, AXIS_STRIDE]
            if a != own:
                share *= q[axes[first + a, AXIS_SINGLE] + at[a]]
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
            cell += at[a] * axes[first + a, AXIS_STRIDE]
            share *= q[axes[first + a, AXIS_SINGLE] + at[a]]
        if share > 0.0:
            counts[cell] += weight * share
            total += share * logs[cell]
        if not _next(at, n, first, axes):
            return total


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep(group, members, touches, axes, bases, row, logs, q, field, states):
    """Each member's posterior given the others', in turn; how far any moved. None of this lowers the bound."""
    moved = 0.0
    for m in range(group[PRODUCT_FIRST_MEMBER], group[PRODUCT_FIRST_MEMBER] + group[PRODUCT_MEMBERS]):
        start, size = members[m, MEMBER_SINGLE], members[m, MEMBER_STATES]
        field[:size] = 0.0
        for t in range(members[m, MEMBER_TOUCH], members[m, MEMBER_TOUCH] + members[m, MEMBER_TOUCHES]):
            base = bases[group[PRODUCT_BASE] + row * group[PRODUCT_FACTORS] + touches[t, TOUCH_COLUMN]]
            _field(touches[t], axes, base, logs, q, field, states)
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
        for row in range(group[PRODUCT_ROWS]):
            begin = group[PRODUCT_SINGLE] + row * group[PRODUCT_WIDTH]
            q = singles[begin : begin + group[PRODUCT_WIDTH]]
            for _ in range(sweeps):
                if _sweep(group, members, touches, axes, bases, row, logs, q, field, states) <= tolerance:
                    break
            weight = weights[group[PRODUCT_FIRST_ROW] + row]
            value = 0.0
            for m in range(group[PRODUCT_FIRST_MEMBER], group[PRODUCT_FIRST_MEMBER] + group[PRODUCT_MEMBERS]):
                for t in range(members[m, MEMBER_TOUCH], members[m, MEMBER_TOUCH] + members[m, MEMBER_TOUCHES]):
                    if touches[t, TOUCH_OWN] == 0:  # (each factor once: by the member on its first axis)
                        base = bases[group[PRODUCT_BASE] + row * group[PRODUCT_FACTORS] + touches[t, TOUCH_COLUMN]]
                        value += _spread(
                            touches[t, TOUCH_AXIS], touches[t, TOUCH_AXES], axes, base, logs, q, weight, counts, states
                        )
            for u in range(group[PRODUCT_WIDTH]):
                if q[u] > 0.0:
                    value -= q[u] * np.log(q[u])
            bound += weight * value
    return bound
