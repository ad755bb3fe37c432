"""The rows of a region as one hidden variable sees them: distinct on its blanket, with each family's place in θ.

Nodes are columns 0…h−1 and the hidden variable h; sets of nodes are the bits of an int. A family that holds the hidden
variable is *open*. Its table lies in θ with the hidden states last, padded to `stride`, a multiple of four:
(other parents ascending, child, hidden states); the hidden variable's own is (parents ascending, hidden states).
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def lay_out(parents, h, states, stride, nodes, begins, steps):
    """The open families: their children, where each begins in θ (begins[-1]: θ's length), and by column the step in θ
    between two of its states. Gives how many there are; the hidden variable's own is the last."""
    count, at = 0, 0
    for v in range(h + 1):
        if v < h and not parents[v] >> h & 1:
            continue
        size = stride
        for w in range(h):
            steps[count, w] = 0
        if v < h:
            steps[count, v] = size
            size *= states[v]
        for w in range(h - 1, -1, -1):
            if parents[v] >> w & 1:
                steps[count, w] = size
                size *= states[w]
        nodes[count] = v
        begins[count] = at
        at += size
        count += 1
    begins[count] = at
    return count


@njit(cache=True, nogil=True)
def blanket_of(parents, h):
    """Its parents, children and the children's other parents, as bits."""
    found = parents[h]
    for v in range(h):
        if parents[v] >> h & 1:
            found |= parents[v] | (np.int64(1) << v)
    return found & ~(np.int64(1) << h)


@njit(cache=True, nogil=True)
def refine(ids, count, column, states, slots):
    """Make numbers of rows finer by one more column, in order of first appearance; gives how many there are then."""
    for k in range(count * states):
        slots[k] = -1
    found = 0
    for i in range(ids.size):
        k = ids[i] * states + column[i]
        if slots[k] < 0:
            slots[k] = found
            found += 1
        ids[i] = slots[k]
    return found


@njit(cache=True, nogil=True)
def distinct_on(bits, codes, states, weights, slots, ids, example, totals):
    """Number rows by their configuration of these columns: ids by row, an example and the weight of each number."""
    for i in range(ids.size):
        ids[i] = 0
    count = np.int64(1)
    for v in range(codes.shape[0]):
        if bits >> v & 1:
            count = refine(ids, count, codes[v], states[v], slots)
    for b in range(count):
        totals[b] = 0.0
    for i in range(ids.size - 1, -1, -1):
        example[ids[i]] = i
        totals[ids[i]] += weights[i]
    return count


@njit(cache=True, nogil=True)
def find_bases(codes, example, count, n_open, begins, steps, bases):
    """Where each open family's states begin in θ, for each distinct row."""
    for f in range(n_open):
        for b in range(count):
            bases[b * n_open + f] = begins[f]
        for v in range(codes.shape[0]):
            step = steps[f, v]
            if step > 0:
                column = codes[v]
                for b in range(count):
                    bases[b * n_open + f] += step * column[example[b]]
