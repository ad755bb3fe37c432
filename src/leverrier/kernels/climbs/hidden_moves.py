"""A round's search: the two changes of the graph that gain most for fixed posteriors of the hidden variable."""

import numpy as np
from numba import njit

from leverrier.kernels.climbs.blanket_rows import blanket_of, distinct_on
from leverrier.kernels.climbs.graph_moves import REVERSE, best_move, fill_below, make_move
from leverrier.kernels.climbs.known_families import known_score
from leverrier.kernels.climbs.move_gains import count_bits, known_gains, lacks_around, reached, soft_score
from leverrier.kernels.climbs.soft_scores import number_cells

MOVES = 2
SMALLEST_GAIN = 1e-7


@njit(cache=True, nogil=True, error_model="numpy")
def renew(
    c,
    parents,
    codes,
    states,
    sizes,
    prior,
    allowed,
    required,
    places,
    slots,
    keys,
    scores,
    full,
    key,
    blanket,
    ids,
    n_rows,
    every,
    weights,
    posterior,
    example,
    totals,
    found,
    pairs_at,
    pairs_rows,
    pairs_totals,
    listed,
    room,
    cells,
    table,
    adding,
    deleting,
):
    """The gains of every change of one child's parents.

    Where the family lies in the blanket the distinct rows on it will do (n_rows of them: example, totals, and the
    posteriors `found`), else all rows (every, weights, posterior).
    """
    h = codes.shape[0]
    n_hidden, most, max_cells = sizes[0], sizes[2], sizes[3]
    hidden = np.int64(1) << h
    for v in range(h + 1):
        adding[v, c] = deleting[v, c] = -np.inf
    own = parents[c]
    above = own & ~hidden
    holds = c == h or own & hidden != 0
    base = 0.0
    if not holds:
        base = known_gains(
            c, parents, h, allowed, required, most, places, slots, keys, scores, full, key, adding, deleting
        )
        if not (allowed[c] & hidden and count_bits(own) < most):
            return
    scope = above if c == h else above | (np.int64(1) << c)
    near = scope & ~blanket == 0
    rows, count, sums, posteriors = every, weights.size, weights, posterior
    if near:
        rows, count, sums, posteriors = example, n_rows, totals, found
    child = -1 if c == h else c
    r = 1 if c == h else states[c]
    q = number_cells(codes, states, above, child, rows, count, cells)
    none, nothing = np.int64(1), np.zeros(weights.size, dtype=codes.dtype)
    if not holds:
        if float(q) * r * n_hidden <= max_cells:
            with_it = soft_score(
                c, q, none, every, rows, sums, count, cells, nothing, posteriors, h, states, sizes, prior, table
            )
            adding[h, c] = with_it - base
        return
    base = soft_score(c, q, none, every, rows, sums, count, cells, nothing, posteriors, h, states, sizes, prior, table)
    if count_bits(own) < most:
        largest = max_cells // (q * r * n_hidden)
        for v in range(h):
            if not allowed[c] >> v & 1 or own >> v & 1 or v == c or states[v] > largest:
                continue
            at, example_rows, weight, n = every, rows, sums, count
            if near and not blanket >> v & 1:
                n = reached(v, ids, n_rows, codes, states, weights, room, pairs_at, pairs_rows, pairs_totals, listed)
                at, example_rows, weight = pairs_at[v], pairs_rows[v], pairs_totals[v]
            new = soft_score(
                c,
                q,
                states[v],
                at,
                example_rows,
                weight,
                n,
                cells,
                codes[v],
                posteriors,
                h,
                states,
                sizes,
                prior,
                table,
            )
            adding[v, c] = new - base
    for p in range(h):
        if above >> p & 1 and not required[c] >> p & 1:
            less = number_cells(codes, states, above & ~(np.int64(1) << p), child, rows, count, cells)
            new = soft_score(
                c, less, none, every, rows, sums, count, cells, nothing, posteriors, h, states, sizes, prior, table
            )
            deleting[p, c] = new - base
    if c != h and not required[c] & hidden:
        deleting[h, c] = known_score(c, above, places, slots, keys, scores, full, key) - base


@njit(cache=True, nogil=True, error_model="numpy")
def search_round(
    codes,
    weights,
    states,
    parents,
    allowed,
    required,
    outside,
    places,
    slots,
    keys,
    scores,
    full,
    prior,
    sizes,
    room,
    posterior,
    missing,
    new,
    gains,
    waiting,
):
    """`new` becomes the graph after the moves. Gives how many families' scores are missing (then it says nothing).

    A round that waits for scores goes on where it was: gains (of adding and of deleting an arc), moves made and, as
    bits, children whose gains are stale are kept for it.
    """
    h = codes.shape[0]
    n, rows = h + 1, weights.size
    most = sizes[2]
    adding, deleting = gains[0], gains[1]
    key = np.empty(keys.shape[1], dtype=np.int64)
    count = np.int64(0)
    step, stale = waiting[0], waiting[1]
    if step == 0:
        stale = np.int64(0)
        for c in range(n):
            new[c] = parents[c]
            if allowed[c] & ~required[c]:
                stale |= np.int64(1) << c
    for c in range(n):
        if stale >> c & 1:
            count = lacks_around(c, new, h, required, most, places, slots, keys, scores, full, key, missing, count)
    if count > 0:
        return count
    blanket = blanket_of(parents, h)
    ids, example, totals = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64), np.empty(rows)
    n_rows = distinct_on(blanket, codes, states, weights, room, ids, example, totals)
    found = np.empty((n_rows, posterior.shape[1]))
    for b in range(n_rows):
        for u in range(posterior.shape[1]):
            found[b, u] = posterior[example[b], u]
    every = np.arange(rows)
    pairs_at, pairs_rows = np.empty((h, rows), dtype=np.int64), np.empty((h, rows), dtype=np.int64)
    pairs_totals, listed = np.empty((h, rows)), np.full(h, -1, dtype=np.int64)
    cells, table = np.empty(rows, dtype=np.int64), np.empty(sizes[5])
    below, move = np.empty(n, dtype=np.int64), np.zeros(3, dtype=np.int64)
    if step == 0:
        for p in range(n):
            for c in range(n):
                adding[p, c] = deleting[p, c] = -np.inf
    while step < MOVES:
        for c in range(n):
            if stale >> c & 1:
                renew(
                    c,
                    new,
                    codes,
                    states,
                    sizes,
                    prior,
                    allowed,
                    required,
                    places,
                    slots,
                    keys,
                    scores,
                    full,
                    key,
                    blanket,
                    ids,
                    n_rows,
                    every,
                    weights,
                    posterior,
                    example,
                    totals,
                    found,
                    pairs_at,
                    pairs_rows,
                    pairs_totals,
                    listed,
                    room,
                    cells,
                    table,
                    adding,
                    deleting,
                )
        fill_below(new, outside, below)
        if not best_move(new, outside, allowed, adding, deleting, below, move) > SMALLEST_GAIN:
            break
        make_move(move, new)
        stale = np.int64(1) << move[2]
        if move[0] == REVERSE:
            stale |= np.int64(1) << move[1]
        step += 1
        if step == MOVES:
            break
        for c in range(n):
            if stale >> c & 1:
                count = lacks_around(c, new, h, required, most, places, slots, keys, scores, full, key, missing, count)
        if count > 0:
            waiting[0], waiting[1] = step, stale
            return count
    waiting[0] = 0
    return 0
