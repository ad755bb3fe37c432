"""Between a graph and its equivalence class. arcs[a, b] = 1 says a → b; both directions say a – b."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def extend(arcs, dag):
    """Direct the undirected arcs without a new v-structure (Dor and Tarsi 1992); False if impossible.

    Sinks are taken off one by one; only a removed sink's neighbours can become sinks, so only they are asked again.
    """
    n = len(arcs)
    work = arcs.copy()
    dag[:] = 0
    left = np.ones(n, dtype=np.bool_)
    waiting = np.ones(n, dtype=np.bool_)
    stack = np.empty(n, dtype=np.int64)
    for x in range(n):
        stack[x] = n - 1 - x
    size = n
    removed = 0
    while size > 0:
        size -= 1
        x = stack[size]
        waiting[x] = False
        if not left[x] or not _is_sink(work, x):
            continue
        left[x] = False
        removed += 1
        for y in range(n):
            if work[y, x]:
                dag[y, x] = 1
                work[y, x] = 0
                work[x, y] = 0
                if not waiting[y]:
                    waiting[y] = True
                    stack[size] = y
                    size += 1
    return removed == n


@njit(cache=True, nogil=True)
def _is_sink(work, x):
    """No arc leaves x, and each undirected neighbour is adjacent to all that is adjacent to x."""
    n = len(work)
    for y in range(n):
        if work[x, y] and not work[y, x]:
            return False
    for y in range(n):
        if work[x, y] and work[y, x]:
            for z in range(n):
                if z != y and (work[z, x] or work[x, z]) and not (work[y, z] or work[z, y]):
                    return False
    return True


@njit(cache=True, nogil=True)
def topological(dag):
    n = len(dag)
    waiting = np.zeros(n, dtype=np.int64)
    for v in range(n):
        for child in range(n):
            waiting[child] += dag[v, child]
    order = np.empty(n, dtype=np.int64)
    done = 0
    for v in range(n):
        if waiting[v] == 0:
            order[done] = v
            done += 1
    at = 0
    while at < done:
        for child in range(n):
            if dag[order[at], child]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    order[done] = child
                    done += 1
        at += 1
    return order


@njit(cache=True, nogil=True)
def essential(dag, arcs):
    """The class of a graph: compelled arcs stay, reversible ones become undirected (Chickering 1995)."""
    n = len(dag)
    order = topological(dag)
    label = np.zeros((n, n), dtype=np.int8)  # 1 compelled, 2 reversible
    for at in range(n):
        y = order[at]
        for back in range(at - 1, -1, -1):
            x = order[back]
            if dag[x, y] and label[x, y] == 0:
                _label(dag, label, x, y)
    for x in range(n):
        for y in range(n):
            arcs[x, y] = 1 if dag[x, y] or (dag[y, x] and label[y, x] == 2) else 0


@njit(cache=True, nogil=True)
def _label(dag, label, x, y):
    n = len(dag)
    for w in range(n):
        if dag[w, x] and label[w, x] == 1:
            if not dag[w, y]:
                for z in range(n):
                    if dag[z, y]:
                        label[z, y] = 1
                return
            label[w, y] = 1
    kind = 2
    for z in range(n):
        if z != x and dag[z, y] and not dag[z, x]:
            kind = 1
            break
    for z in range(n):
        if dag[z, y] and label[z, y] == 0:
            label[z, y] = kind


@njit(cache=True, nogil=True)
def orient(arcs, allowed):
    """Turn undirected arcs that may point one way only, and all that follows (Meek's rules); False if impossible."""
    n = len(arcs)
    changed = True
    while changed:
        changed = False
        for a in range(n):
            for b in range(n):
                if arcs[a, b] and not arcs[b, a] and not allowed[a, b]:
                    return False
                if arcs[a, b] and arcs[b, a] and (not allowed[b, a] or _follows(arcs, a, b)):
                    if not allowed[a, b]:
                        return False
                    arcs[b, a] = 0  # a → b
                    changed = True
    return True


@njit(cache=True, nogil=True)
def _follows(arcs, a, b):
    """Whether a – b must be a → b: Meek's rules 1 to 4."""
    n = len(arcs)
    for c in range(n):
        if c in (a, b):
            continue
        into_b = arcs[c, b] and not arcs[b, c]
        apart = not (arcs[c, b] or arcs[b, c])
        if apart and arcs[c, a] and not arcs[a, c]:  # 1: c → a – b
            return True
        if into_b and arcs[a, c] and not arcs[c, a]:  # 2: a → c → b
            return True
        if not (arcs[a, c] and arcs[c, a]):
            continue
        for d in range(n):
            if d in (a, b, c) or not (arcs[d, b] and not arcs[b, d]):
                continue
            beside = arcs[a, d] and arcs[d, a]
            if into_b and beside and not (arcs[c, d] or arcs[d, c]):  # 3: c → b ← d, a between them
                return True
            if apart and arcs[c, d] and not arcs[d, c] and (arcs[a, d] or arcs[d, a]):  # 4: a – c → d → b
                return True
    return False


@njit(cache=True, nogil=True)
def settle(arcs, allowed, free, dag, after, bits):
    """From arcs that some graphs share to one of these graphs and to their class proper, `bits` too; False if there is
    no such graph, or none that is allowed."""
    legal = extend(arcs, dag)
    essential(dag, after)
    if not free:
        legal &= orient(after, allowed)
    bits[:] = 0
    n = len(arcs)
    for a in range(n):
        for b in range(n):
            if after[a, b]:  # bits[0, v]: what leads to v; bits[1, v]: what v leads to; 64 nodes a word
                bits[0, b, a >> 6] |= np.uint64(1) << np.uint64(a & 63)
                bits[1, a, b >> 6] |= np.uint64(1) << np.uint64(b & 63)
    return legal


@njit(cache=True, nogil=True)
def resettle(arcs, allowed, free, before, log_states, log_most_cells, most_parents, dag, after, bits, changed):
    """The same after a change, within the caps: how many nodes have other arcs than `before` (the bits then), which are
    listed; −1 if it is not legal."""
    if not settle(arcs, allowed, free, dag, after, bits) or not _within(dag, log_states, log_most_cells, most_parents):
        return -1
    found = 0
    for v in range(len(arcs)):
        for w in range(bits.shape[2]):
            if bits[0, v, w] != before[0, v, w] or bits[1, v, w] != before[1, v, w]:
                changed[found] = v
                found += 1
                break
    return found


@njit(cache=True, nogil=True)
def _within(dag, log_states, log_most_cells, most_parents):
    """Whether every node has at most so many parents, and its table so many cells."""
    n = len(dag)
    count = np.zeros(n, dtype=np.int64)
    cells = log_states.copy()
    for p in range(n):
        for c in range(n):
            if dag[p, c]:
                count[c] += 1
                cells[c] += log_states[p]
    return count.max() <= most_parents and cells.max() <= log_most_cells
