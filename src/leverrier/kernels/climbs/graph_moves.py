"""Which single change of a graph gains most and closes no cycle: the choice of learning/structure/hill_climb.py."""

import numpy as np
from numba import njit

ADD, DELETE, REVERSE = 0, 1, 2


@njit(cache=True, nogil=True)
def fill_below(parents, outside, below):
    """below[v]: what v leads to, as bits, by its arcs and by those outside."""
    n = parents.size
    above = np.zeros(n, dtype=np.int64)
    done = np.int64(0)
    left = n
    while left > 0:
        before = left
        for v in range(n):
            own = parents[v] | outside[v]
            if done >> v & 1 or own & ~done:
                continue
            reach = own
            for p in range(n):
                if own >> p & 1:
                    reach |= above[p]
            above[v] = reach
            done |= np.int64(1) << v
            left -= 1
        if left == before:
            break  # (a cycle: callers never make one)
    for v in range(n):
        below[v] = 0
    for v in range(n):
        for p in range(n):
            if above[v] >> p & 1:
                below[p] |= np.int64(1) << v


@njit(cache=True, nogil=True)
def _other_path(p, c, parents, outside, below):
    """Whether p leads to c by another way than the arc itself."""
    if outside[c] >> p & 1:
        return True
    return (parents[c] | outside[c]) & ~(np.int64(1) << p) & below[p] != 0


@njit(cache=True, nogil=True)
def best_move(parents, outside, allowed, adding, deleting, below, move):
    """The legal move that gains most, the first among equals; its gain, −∞ if there is none. adding[p, c] and
    deleting[p, c] are gains; move: what, parent, child."""
    n = parents.size
    best = -np.inf
    for p in range(n):
        for c in range(n):
            if adding[p, c] > best and not below[c] >> p & 1:
                best = adding[p, c]
                move[0], move[1], move[2] = ADD, p, c
    for p in range(n):
        for c in range(n):
            if deleting[p, c] > best:
                best = deleting[p, c]
                move[0], move[1], move[2] = DELETE, p, c
    for p in range(n):
        for c in range(n):
            if parents[c] >> p & 1 and allowed[p] >> c & 1:
                gain = deleting[p, c] + adding[c, p]
                if gain > best and not _other_path(p, c, parents, outside, below):
                    best = gain
                    move[0], move[1], move[2] = REVERSE, p, c
    return best


@njit(cache=True, nogil=True)
def make_move(move, parents):
    """The graph after the move."""
    what, p, c = move[0], move[1], move[2]
    if what == ADD:
        parents[c] |= np.int64(1) << p
        return
    parents[c] &= ~(np.int64(1) << p)
    if what == REVERSE:
        parents[p] |= np.int64(1) << c
