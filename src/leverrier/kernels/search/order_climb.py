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
def grow(places, within, gaining, onward, missing):
    """Walk down a tree of sets: at each place take the first that gains within the walk's reach, until none does.

    gaining[place] come best first, −1 after the last; onward[place, x] is where x leads, −1 if that is not known yet:
    there the walk stops and missing[walk] is x. Otherwise it is −1, and places[walk] is where the walk ended.
    """
    for walk in range(places.size):
        at = places[walk]
        missing[walk] = -1
        k = 0
        while k < gaining.shape[1] and gaining[at, k] >= 0:
            x = gaining[at, k]
            k += 1
            if within[walk, x >> 6] >> np.uint64(x & 63) & np.uint64(1):
                if onward[at, x] < 0:
                    missing[walk] = x
                    break
                at = onward[at, x]
                k = 0
        places[walk] = at


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
def _has(mask, v):
    return mask[v >> 6] >> np.uint64(v & 63) & np.uint64(1) != 0


@njit(cache=True, nogil=True)
def _flip(mask, v):
    mask[v >> 6] ^= np.uint64(1) << np.uint64(v & 63)


@njit(cache=True, nogil=True)
def _best_place(masks, scores, starts, order, chosen, before, at):
    """Where the node at this position gains most by moving, and how much: each step passes one neighbour.

    `before`: the nodes before it. Sets come by falling score: who loses a parent looks further down the list, who may
    gain one looks only at the sets above the present one.
    """
    n = len(order)
    v = order[at]
    best, place = 0.0, at
    for step in (1, -1):
        gain, own = 0.0, chosen[v]
        k = at + step
        while 0 <= k < n:
            u = order[k]
            now = chosen[u]
            if step == 1:
                if _has(masks[now], v):
                    now = _first_within(masks, now + 1, starts[u + 1], before)
                _flip(before, u)
                own = _first_within(masks, starts[v], own, before)
            else:
                _flip(before, u)
                _flip(before, v)
                now = _first_within(masks, starts[u], now, before)
                _flip(before, v)
                if _has(masks[own], u):
                    own = _first_within(masks, own + 1, starts[v + 1], before)
            if now == starts[u + 1] or own == starts[v + 1]:
                k += step
                break
            gain += scores[now] - scores[chosen[u]]
            moved = gain + scores[own] - scores[chosen[v]]
            if moved > best + 1e-9:
                best, place = moved, k
            k += step
        for back in range(at + step, k, step):
            _flip(before, order[back])
    return best, place


@njit(cache=True, nogil=True)
def _move(order, at, place):
    v = order[at]
    step = 1 if place > at else -1
    for k in range(at, place, step):
        order[k] = order[k + step]
    order[place] = v


@njit(cache=True, nogil=True)
def climb_order(masks, scores, starts, order, chosen, active):
    """Move active nodes, one at a time, to their best places until none gains; returns the total.

    A node whose parents changed, and its parents, become active. `chosen` are the sets under the order.
    """
    n = len(order)
    new = np.empty(n, dtype=np.int64)
    before = np.zeros(masks.shape[1], dtype=np.uint64)
    idle, at = 0, np.int64(0)  # (as a literal it would be compiled for apart)
    while idle < n:
        v = order[at]
        gain = 0.0
        if active[v]:
            active[v] = False
            gain, place = _best_place(masks, scores, starts, order, chosen, before, at)
        if gain > 1e-9:
            _move(order, at, place)
            choose(masks, scores, starts, order, new)
            _wake(masks, chosen, new, active)
            chosen[:] = new
            idle = 0
            at = min(at, place)
            before[:] = 0
            for k in range(at):
                _flip(before, order[k])
        else:
            idle += 1
            _flip(before, v)
            at += 1
            if at == n:
                at = 0
                before[:] = 0
    total = 0.0
    for v in range(n):
        total += scores[chosen[v]]
    return total


@njit(cache=True, nogil=True)
def _wake(masks, old, new, active):
    """Nodes whose sets differ become active, and the members of both sets."""
    for v in range(len(old)):
        if old[v] != new[v]:
            active[v] = True
            for u in range(len(old)):
                if _has(masks[old[v]], u) or _has(masks[new[v]], u):
                    active[u] = True


@njit(cache=True, nogil=True)
def _gather(masks, chosen, draws, group):
    """A node and others, each next to one of those before it in the graph (or anyone, if none is); who they are is left
    to the draws. group[v] becomes its number among them, from 1."""
    n = len(group)
    group[:] = 0
    group[draws[0] % n] = 1
    for k in range(1, len(draws)):
        for step in range(2 * n):
            v = (draws[k] + step) % n
            if group[v] > 0:
                continue
            near = step >= n
            for u in range(n):
                if group[u] > 0 and (_has(masks[chosen[u]], v) or _has(masks[chosen[v]], u)):
                    near = True
                    break
            if near:
                group[v] = k + 1
                break


@njit(cache=True, nogil=True)
def _regroup(order, group, size, which, trial):
    """The order with the group together, by number, at the place of the one of them that `which` says."""
    n = len(order)
    members = np.zeros(size, dtype=np.int64)
    for v in range(n):
        if group[v] > 0:
            members[group[v] - 1] = v
    at, seen = 0, 0
    for k in range(n):
        v = order[k]
        if group[v] == 0:
            trial[at] = v
            at += 1
            continue
        if seen == which:
            for u in members:
                trial[at] = u
                at += 1
        seen += 1


@njit(cache=True, nogil=True)
def shake_orders(masks, scores, starts, order, draws):
    """Iterated climbing: put a few nodes that belong together at one place, climb from there, keep if no worse.

    `draws[turn]` are whole numbers at random: of the group's size (at least 2) and place, then of each of its nodes.
    """
    n, most = len(order), min(draws.shape[1] - 2, len(order))
    chosen, reached = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    trial, group = order.copy(), np.empty(n, dtype=np.int64)
    active = np.ones(n, dtype=np.bool_)
    if choose(masks, scores, starts, order, chosen) == -np.inf:
        return -np.inf
    best = climb_order(masks, scores, starts, order, chosen, active)
    for turn in range(draws.shape[0]):
        size = min(2 + draws[turn, 0] % max(most - 1, 1), most)
        _gather(masks, chosen, draws[turn, 2 : size + 2], group)
        _regroup(order, group, size, draws[turn, 1] % size, trial)
        if choose(masks, scores, starts, trial, reached) == -np.inf:
            continue
        active[:] = group > 0
        _wake(masks, chosen, reached, active)
        total = climb_order(masks, scores, starts, trial, reached, active)
        if total >= best - 1e-9:
            if total > best + 1e-9:
                active[:] = True
                total = climb_order(masks, scores, starts, trial, reached, active)
            best = total
            order[:] = trial
            chosen[:] = reached
    return best
