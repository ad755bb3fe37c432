"""Climbing orders of the nodes: for a given order each node simply takes the best set of parents before it."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def undominated(masks, scores, kept):
    """Mark the sets that no subset of theirs equals or beats; sets come by falling score. Returns how many."""
    n_sets, words = masks.shape
    places = np.empty(n_sets, dtype=np.int64)
    n_kept = 0
    for s in range(n_sets):
        wanted = True
        for k in range(n_kept):
            inside = True
            for w in range(words):
                if masks[places[k], w] & ~masks[s, w]:
                    inside = False
                    break
            if inside and scores[places[k]] >= scores[s]:
                wanted = False
                break
        kept[s] = wanted
        if wanted:
            places[n_kept] = s
            n_kept += 1
    return n_kept


@njit(cache=True, nogil=True)
def _first_within(masks, begin, end, before):
    """The first set, so the best, all of whose members come before; `end` if there is none."""
    words = masks.shape[1]
    for s in range(begin, end):
        inside = True
        for w in range(words):
            if masks[s, w] & ~before[w]:
                inside = False
                break
        if inside:
            return s
    return end


@njit(cache=True, nogil=True)
def choose(masks, scores, starts, order, chosen):
    """Each node's best set under the order; returns the total, −∞ if a node has none."""
    before = np.zeros(masks.shape[1], dtype=np.uint64)
    total = 0.0
    for v in order:
        s = _first_within(masks, starts[v], starts[v + 1], before)
        if s == starts[v + 1]:
            return -np.inf
        chosen[v] = s
        total += scores[s]
        before[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    return total


@njit(cache=True, nogil=True)
def _best_place(masks, scores, starts, order, chosen, at):
    """Where the node at this position gains most by moving, and how much: each step passes one neighbour."""
    n = len(order)
    words = masks.shape[1]
    v = order[at]
    best, place = 0.0, at
    for step in (1, -1):
        before = np.zeros(words, dtype=np.uint64)
        for k in range(at):
            before[order[k] >> 6] |= np.uint64(1) << np.uint64(order[k] & 63)
        gain = 0.0
        k = at + step
        while 0 <= k < n:
            u = order[k]
            bit = np.uint64(1) << np.uint64(u & 63)
            own = np.uint64(1) << np.uint64(v & 63)
            if step == 1:
                new_u = _first_within(masks, starts[u], starts[u + 1], before)
                before[u >> 6] |= bit
            else:
                before[u >> 6] &= ~bit
                before[v >> 6] |= own
                new_u = _first_within(masks, starts[u], starts[u + 1], before)
                before[v >> 6] &= ~own
            new_v = _first_within(masks, starts[v], starts[v + 1], before)
            if new_u == starts[u + 1] or new_v == starts[v + 1]:
                break
            gain += scores[new_u] - scores[chosen[u]]
            moved = gain + scores[new_v] - scores[chosen[v]]
            if moved > best + 1e-9:
                best, place = moved, k
            k += step
    return best, place


@njit(cache=True, nogil=True)
def _move(order, at, place):
    v = order[at]
    step = 1 if place > at else -1
    for k in range(at, place, step):
        order[k] = order[k + step]
    order[place] = v


@njit(cache=True, nogil=True)
def climb_order(masks, scores, starts, order, chosen):
    """Move one node at a time to its best place until none gains; changes the order; returns the total."""
    total = choose(masks, scores, starts, order, chosen)
    n = len(order)
    idle, at = 0, 0
    while idle < n:
        gain, place = _best_place(masks, scores, starts, order, chosen, at)
        if gain > 1e-9:
            _move(order, at, place)
            total = choose(masks, scores, starts, order, chosen)
            idle = 0
        else:
            idle += 1
            at = (at + 1) % n
    return total


@njit(cache=True, nogil=True)
def shake_orders(masks, scores, starts, order, moves):
    """Iterated climbing: move nodes at random, climb, keep if no worse. `moves[round, k]` are (from, to) positions."""
    chosen = np.empty(len(order), dtype=np.int64)
    trial = order.copy()
    best = climb_order(masks, scores, starts, order, chosen)
    for turn in range(moves.shape[0]):
        trial[:] = order
        for k in range(moves.shape[1]):
            _move(trial, moves[turn, k, 0], moves[turn, k, 1])
        if choose(masks, scores, starts, trial, chosen) == -np.inf:
            continue
        reached = climb_order(masks, scores, starts, trial, chosen)
        if reached >= best - 1e-9:
            best = reached
            order[:] = trial
    return best
