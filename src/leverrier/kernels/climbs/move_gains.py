"""What each change of one child's parents gains, for fixed posteriors of the hidden variable."""

import numpy as np
from numba import njit

from leverrier.kernels.climbs.known_families import find_family, known_score
from leverrier.kernels.climbs.soft_scores import fill_table, list_pairs, score_child, score_own


@njit(cache=True, nogil=True)
def count_bits(bits):
    found = 0
    while bits:
        bits &= bits - 1
        found += 1
    return found


@njit(cache=True, nogil=True)
def lacks(child, bits, whole, places, slots, keys, scores, full, key, missing, count):
    """Note a family whose score is not known (with `whole`, 0 or 1: nor those with one more parent); how many
    are noted."""
    if whole:
        e = find_family(child, bits, places, slots, keys, key)
        known = e >= 0 and full[e]
    else:
        known = not np.isnan(known_score(child, bits, places, slots, keys, scores, full, key))
    if known:
        return count
    for m in range(count):
        if missing[m, 0] == child and missing[m, 1] == bits:
            missing[m, 2] = max(missing[m, 2], whole)
            return count
    if count < missing.shape[0]:
        missing[count, 0], missing[count, 1], missing[count, 2] = child, bits, whole
        count += 1
    return count


@njit(cache=True, nogil=True)
def lacks_around(child, parents, h, required, most, places, slots, keys, scores, full, key, missing, count):
    """Note what the gains of a child's changes need and is not known."""
    own = parents[child]
    hidden = np.int64(1) << h
    if child == h:
        return count
    if own & hidden:
        return lacks(child, own & ~hidden, np.int64(0), places, slots, keys, scores, full, key, missing, count)
    count = lacks(child, own, np.int64(count_bits(own) < most), places, slots, keys, scores, full, key, missing, count)
    for p in range(h):
        if own >> p & 1 and not required[child] >> p & 1:
            less = own & ~(np.int64(1) << p)
            count = lacks(child, less, np.int64(0), places, slots, keys, scores, full, key, missing, count)
    return count


@njit(cache=True, nogil=True)
def known_gains(c, parents, h, allowed, required, most, places, slots, keys, scores, full, key, adding, deleting):
    """Gains of a child that does not have the hidden variable among its parents, but for adding that. Its score."""
    own = parents[c]
    base = known_score(c, own, places, slots, keys, scores, full, key)
    if count_bits(own) < most:
        e = find_family(c, own, places, slots, keys, key)
        for v in range(h):
            if allowed[c] >> v & 1 and not own >> v & 1:
                adding[v, c] = scores[e, places[v]] - base
    for p in range(h):
        if own >> p & 1 and not required[c] >> p & 1:
            less = own & ~(np.int64(1) << p)
            deleting[p, c] = known_score(c, less, places, slots, keys, scores, full, key) - base
    return base


@njit(cache=True, nogil=True, error_model="numpy")
def soft_score(c, q, r, at, rows, weights, count, cells, column, posteriors, h, states, sizes, prior, table):
    """The score of a family that holds the hidden variable, with one more parent of r states (1: none)."""
    n_hidden, stride = sizes[0], sizes[1]
    own = states[c] if c < h else 1
    fill_table(at, rows, weights, count, cells, column, r, posteriors, stride, q * own * r * stride, table)
    if c == h:
        return score_own(table, q * r, n_hidden, stride, prior)
    return score_child(table, q, own, r * stride, q * r * n_hidden, prior)


@njit(cache=True, nogil=True)
def reached(v, ids, count, codes, states, weights, slots, at, rows, totals, listed):
    """List the distinct pairs with a column, once in a round."""
    if listed[v] < 0:
        listed[v] = list_pairs(ids, count, codes[v], states[v], weights, slots, at[v], rows[v], totals[v])
    return listed[v]
