"""Which unobserved variables must be treated together, and where their factors lie in the parameter vector."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def connect_unobserved(missing, order, starts, members, prune, keys, labels, found):
    """Label each pattern's unobserved variables by connected group; write (pattern, root, key) of each group found.

    Two are connected when a family holds both. With `prune`, an unobserved variable without an observed descendant
    (barren) is left out with its family: it changes nothing that is observed. A family's child is its last member;
    labels: the group's root, −1 observed, −2 barren. A group's key is its variables' keys, XORed.
    """
    n_patterns, n_variables = missing.shape
    sums = np.zeros(n_variables, dtype=np.uint64)
    count = 0
    for p in range(n_patterns):
        label = labels[p]
        for v in range(n_variables):
            label[v] = (-2 if prune else v) if missing[p, v] else -1
        for place in range(order.size - 1, -1, -1):  # children first: whoever has a living child lives
            j = order[place]
            child = members[starts[j + 1] - 1]
            if label[child] == -2:
                continue
            for k in range(starts[j], starts[j + 1] - 1):
                if label[members[k]] == -2:
                    label[members[k]] = members[k]
        for place in range(order.size):
            j = order[place]
            if label[members[starts[j + 1] - 1]] == -2:
                continue
            first = -1
            for k in range(starts[j], starts[j + 1]):
                v = members[k]
                if label[v] < 0:
                    continue
                while label[v] != v:
                    label[v] = label[label[v]]
                    v = label[v]
                if first < 0 or v == first:
                    first = v
                else:
                    label[max(v, first)] = min(v, first)
                    first = min(v, first)
        for v in range(n_variables):
            if label[v] >= 0:
                label[v] = label[label[v]]  # roots are the smallest of their group, so already final
                sums[label[v]] ^= keys[v]
        for v in range(n_variables):
            if label[v] == v:
                found[count, 0] = p
                found[count, 1] = v
                found[count, 2] = np.int64(sums[v] >> np.uint64(1))
                sums[v] = 0
                count += 1
    return count


@njit(cache=True, nogil=True)
def locate(
    codes, column_of, hole, begins, starts, members, strides, ones, rows, kind, within, needs, first, bases, key
):
    """Each instance's bases: for instance i of a group of kind t, where the factors needs[t, :] begin given its row.

    within[t, v] tells whether variable v is in the group; the others of a present factor are observed. A factor
    with an unobserved child outside the group is barren: it points at ones. `key` gets a hash of kind and bases.
    """
    left, right, spread = np.uint64(7), np.uint64(57), np.uint64(2654435761)
    for i in range(rows.size):
        t = kind[i]
        mixed = np.uint64(t + 1) * spread
        place = first[i]
        for n in range(needs.shape[1]):
            j = needs[t, n]
            if j < 0:
                break
            base = begins[j]
            for k in range(starts[j], starts[j + 1]):
                v = members[k]
                if within[t, v]:
                    continue
                code = hole if column_of[v] < 0 else np.int64(codes[column_of[v], rows[i]])
                if code == hole:
                    base = ones
                    break
                base += code * strides[k]
            bases[place] = base
            place += 1
            mixed = ((mixed << left) | (mixed >> right)) ^ (np.uint64(base) * spread)
        key[i] = mixed


@njit(cache=True, nogil=True)
def number_keys(key, slots, example, place):
    """Number distinct keys by first appearance: place[i] is key i's number, example[n] the first key with number n.

    Gives back how many. `slots` is a table of −1, a power of two long and longer than there are keys.
    """
    mask = np.uint64(slots.size - 1)
    count = 0
    for i in range(key.size):
        at = (key[i] ^ (key[i] >> np.uint64(29))) & mask
        while slots[at] >= 0 and key[example[slots[at]]] != key[i]:
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            slots[at] = count
            example[count] = i
            count += 1
        place[i] = slots[at]
    return count


@njit(cache=True, nogil=True)
def equal_runs(bases, first, length, other):
    """Whether every run bases[first[i]:…+length[i]] equals that of its representative other[i]."""
    for i in range(first.size):
        a, b = first[i], first[other[i]]
        if length[i] != length[other[i]]:
            return False
        for k in range(length[i]):
            if bases[a + k] != bases[b + k]:
                return False
    return True
