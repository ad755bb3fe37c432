"""Scores of families of columns, looked up by child and set of parents; whoever lacks one says so.

keys: by entry the child, then the parents as bits in words of 63. scores: by entry the scores with each column as one
more parent, and last the family's own; of an entry that is not `full`, only the last. slots: open addressing.
"""

import numpy as np
from numba import njit

WORD = 63
MIX = np.int64(-7046029254386353131)


@njit(cache=True, nogil=True)
def make_key(child, bits, places, key):
    """The key of a family whose columns have these places in the whole table."""
    for w in range(key.size):
        key[w] = 0
    key[0] = places[child]
    v = 0
    while bits >> v:
        if bits >> v & 1:
            key[1 + places[v] // WORD] |= np.int64(1) << (places[v] % WORD)
        v += 1


@njit(cache=True, nogil=True)
def find_slot(slots, keys, key):
    """Where the key is, or the free slot where it would be."""
    h = np.int64(0)
    for w in range(key.size):
        h = (h ^ key[w]) * MIX
        h ^= (h >> 29) & 0x7FFFFFFFF
    mask = slots.size - 1
    at = h & mask
    while slots[at] >= 0:
        e = slots[at]
        same = True
        for w in range(key.size):
            same = same and keys[e, w] == key[w]
        if same:
            return at
        at = (at + 1) & mask
    return at


@njit(cache=True, nogil=True)
def find_family(child, bits, places, slots, keys, key):
    """The entry of a family, −1 if there is none."""
    make_key(child, bits, places, key)
    return slots[find_slot(slots, keys, key)]


@njit(cache=True, nogil=True)
def known_score(child, bits, places, slots, keys, scores, full, key):
    """A family's score, from its own entry or that of one with a parent less; NaN if it is not known."""
    e = find_family(child, bits, places, slots, keys, key)
    if e >= 0:
        return scores[e, scores.shape[1] - 1]
    v = 0
    while bits >> v:
        if bits >> v & 1:
            e = find_family(child, bits & ~(np.int64(1) << v), places, slots, keys, key)
            if e >= 0 and full[e] and scores[e, places[v]] > -np.inf:
                return scores[e, places[v]]
        v += 1
    return np.nan


@njit(cache=True, nogil=True)
def rehash(slots, keys, count):
    """Slots for the first entries, anew."""
    for at in range(slots.size):
        slots[at] = -1
    for e in range(count):
        slots[find_slot(slots, keys, keys[e])] = e
