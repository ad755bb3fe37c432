"""All sets of a few columns: what their counts add to scores, and the best graph over them [silander2006]."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def sums_of_subsets(codes, weights, states, rises, sums):
    """sums[k, s] = Σ rises[k, n] over the counts n of the configurations of the columns that are the bits of s.

    A set's rows are grouped as those of the set without its last column are, each group cut by that column: sets are
    gone through depth first, and one grouping a depth is kept.
    """
    n, m = codes.shape
    groups, found = np.zeros((n + 1, m), dtype=np.int64), np.ones(n + 1, dtype=np.int64)
    number = np.full(m * np.max(states), -1, dtype=np.int64)
    counts = np.zeros(m, dtype=np.int64)
    total = np.sum(weights)
    for k in range(rises.shape[0]):
        sums[k, 0] = rises[k, total]
    last, depth, column, of_depth = np.zeros(n + 1, dtype=np.int64), 0, np.int64(0), np.zeros(n + 1, dtype=np.int64)
    while True:
        if column == n:  # nothing more to add here: back to the set before, whose last column moves on
            if depth == 0:
                return
            column = last[depth] + 1
            depth -= 1
            continue
        depth += 1
        last[depth] = column
        of_depth[depth] = of_depth[depth - 1] | np.int64(1) << column
        found[depth] = _cut(groups[depth - 1], codes[column], states[column], weights, number, groups[depth], counts)
        for k in range(rises.shape[0]):
            total_rise = 0.0
            for g in range(found[depth]):
                total_rise += rises[k, counts[g]]
            sums[k, of_depth[depth]] = total_rise
        column += 1


@njit(cache=True, nogil=True)
def _cut(before, codes, states, weights, number, after, counts):
    """Groups cut by a column; `number` is all −1 before and after. Returns how many there are, with their counts."""
    found = 0
    for i in range(len(codes)):
        key = before[i] * states + codes[i]
        if number[key] < 0:
            number[key] = found
            counts[found] = 0
            found += 1
        after[i] = number[key]
        counts[after[i]] += weights[i]
    for i in range(len(codes)):
        number[before[i] * states + codes[i]] = -1
    return found


@njit(cache=True, nogil=True)
def best_order(scores, chosen):
    """The highest total of scores[child, set of parents], by which `chosen` become the nodes' sets; −∞ if no graph is
    allowed. Sets that hold the child are not looked at."""
    n, n_sets = scores.shape
    best, within = scores.copy(), np.empty((n, n_sets), dtype=np.int64)
    for v in range(n):  # [silander2006 step 2]: a node's best parents within each set
        for s in range(n_sets):
            within[v, s] = s
            for p in range(n):
                less = s ^ (1 << p)
                if s >> p & 1 and p != v and not s >> v & 1 and best[v, less] >= best[v, s]:
                    best[v, s], within[v, s] = best[v, less], within[v, less]
    total, sink = np.full(n_sets, -np.inf), np.zeros(n_sets, dtype=np.int64)
    total[0] = 0.0
    for s in range(1, n_sets):  # [silander2006 step 3]: who comes last in each set
        for v in range(n):
            if s >> v & 1 and total[s ^ (1 << v)] + best[v, s ^ (1 << v)] > total[s]:
                total[s], sink[s] = total[s ^ (1 << v)] + best[v, s ^ (1 << v)], v
    left = n_sets - 1
    if total[left] == -np.inf:
        return total[left]
    while left:
        v = sink[left]
        left ^= 1 << v
        chosen[v] = within[v, left]
    return total[n_sets - 1]
