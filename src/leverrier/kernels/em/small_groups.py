"""Rows with holes, one by one: the unobserved variables of a row fall into small groups, and each is enumerated.

Family f has members[starts[f]:starts[f+1]], its child last, and its table begins at theta[begins[f]] with `strides` by
member. Families stand parents first. A cell of −1 is a hole.
"""

import math

import numpy as np
from numba import njit

TINY = 1e-150


@njit(cache=True, nogil=True, error_model="numpy")
def connect(row, target, prune, starts, members, needed, root):
    """Which families matter in this row (by their child), and the group of each unobserved variable they hold.

    An unobserved child that nothing needed descends from sums to one: its family is left out if `prune`.
    """
    for v in range(row.size):
        needed[v] = row[v] >= 0 or v == target or not prune
        root[v] = v
    for f in range(starts.size - 2, -1, -1):
        if needed[members[starts[f + 1] - 1]]:
            for k in range(starts[f], starts[f + 1]):
                needed[members[k]] = True
    for f in range(starts.size - 1):
        if not needed[members[starts[f + 1] - 1]]:
            continue
        first = -1
        for k in range(starts[f], starts[f + 1]):
            v = members[k]
            if row[v] < 0:
                while root[v] != v:
                    v = root[v]
                if first < 0:
                    first = v
                root[v] = first
    for v in range(row.size):
        top = v
        while root[top] != top:
            top = root[top]
        root[v] = top


@njit(cache=True, nogil=True, error_model="numpy")
def enumerate_group(theta, bases, steps, inner, cards, n, n_factors, at, digits, out, states):
    """The product of the factors at every joint state, the last variable turning fastest; factor f starts at bases[f]
    and moves by steps[f, k] with variable k. Gives back the logarithm of what `out` was divided by."""
    for by_logs in range(2):
        for k in range(n):
            digits[k] = 0
        for f in range(n_factors):
            at[f] = bases[f]
        peak = -np.inf
        for u in range(states):
            value = 1.0 if by_logs == 0 else 0.0
            for f in range(n_factors):
                entry = theta[at[f]]
                if by_logs == 0:
                    value *= entry
                else:
                    value += math.log(entry) if entry > 0.0 else -np.inf
            out[u] = value
            peak = max(peak, value)
            for k in range(n - 1, -1, -1):
                digits[k] += 1
                size = cards[inner[k]]
                back = digits[k] == size
                move = 1 - size if back else 1
                for f in range(n_factors):
                    at[f] += move * steps[f, k]
                if not back:
                    break
                digits[k] = 0
        if by_logs == 0 and peak > TINY:
            return 0.0
    for u in range(states):
        out[u] = math.exp(out[u] - peak) if peak > -np.inf else 0.0
    return peak


@njit(cache=True, nogil=True, error_model="numpy")
def gather(row, group, starts, members, strides, begins, needed, root, inner, bases, steps):
    """The group's variables to `inner`, its factors' beginnings and steps; gives back how many of each."""
    n = n_factors = 0
    for v in range(row.size):
        if row[v] < 0 and needed[v] and root[v] == group:
            inner[n] = v
            n += 1
    for f in range(starts.size - 1):
        if not needed[members[starts[f + 1] - 1]]:
            continue
        touches = False
        bases[n_factors] = begins[f]
        for i in range(n):
            steps[n_factors, i] = 0
        for k in range(starts[f], starts[f + 1]):
            v = members[k]
            if row[v] >= 0:
                bases[n_factors] += row[v] * strides[k]
            elif root[v] == group:
                touches = True
                for i in range(n):
                    if inner[i] == v:
                        steps[n_factors, i] = strides[k]
        if touches:
            n_factors += 1
    return n, n_factors


@njit(cache=True, nogil=True, error_model="numpy")
def look_up(row, starts, members, strides, begins, theta):
    """Log-probability of the families whose variables are all observed."""
    total = 0.0
    for f in range(starts.size - 1):
        at = begins[f]
        for k in range(starts[f], starts[f + 1]):
            at = at + row[members[k]] * strides[k] if at >= 0 and row[members[k]] >= 0 else -1
        if at >= 0:
            total += math.log(theta[at]) if theta[at] > 0.0 else -np.inf
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def absorb(out, states, target, inner, cards, n, posterior, best):
    """Write what was asked from a group's joint table; gives back its log-sum, or for a completion its log-maximum."""
    value = 0.0
    top = 0
    for u in range(states):
        value += out[u]
        if out[u] > out[top]:
            top = u
    if target == -2:
        value = out[top]
    step = states
    for k in range(n):
        size = cards[inner[k]]
        step //= size
        if target == -2:
            best[inner[k]] = (top // step) % size if value > 0.0 else -1
        elif inner[k] == target and value > 0.0:
            for u in range(states):
                posterior[(u // step) % size] += out[u] / value
    return math.log(value) if value > 0.0 else -np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def solve_rows(codes, target, largest, cards, starts, members, strides, begins, theta, log_z, posterior, best, done):
    """For each row of `codes` (rows, variables): its log-probability, and with target ≥ 0 that variable's posterior, or
    with target −2 the most probable completion and its log-probability.

    A row with a group of more than `largest` joint states is left undone.
    """
    needed = np.empty(cards.size, dtype=np.bool_)
    root = np.empty(cards.size, dtype=np.int64)
    inner = np.empty(cards.size, dtype=np.int64)
    digits = np.empty(cards.size, dtype=np.int64)
    bases = np.empty(starts.size, dtype=np.int64)
    at = np.empty(starts.size, dtype=np.int64)
    steps = np.empty((starts.size, cards.size), dtype=np.int64)
    out = np.empty(largest)
    for i in range(codes.shape[0]):
        row = codes[i]
        connect(row, target, target > -2, starts, members, needed, root)
        done[i] = True
        log_z[i] = look_up(row, starts, members, strides, begins, theta)
        for v in range(cards.size):
            if row[v] >= 0 or not needed[v] or root[v] != v or (target >= 0 and root[target] != v):
                continue
            n, n_factors = gather(row, v, starts, members, strides, begins, needed, root, inner, bases, steps)
            states = 1.0
            for k in range(n):
                states *= cards[inner[k]]
            if states > largest:
                done[i] = False
                break
            size = int(states)
            log_z[i] += enumerate_group(theta, bases, steps, inner, cards, n, n_factors, at, digits, out, size)
            log_z[i] += absorb(out, size, target, inner, cards, n, posterior[i], best[i])
