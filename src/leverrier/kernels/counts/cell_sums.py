"""Counts of every column within the cells of a few, by adding rows up.

A row is laid out as half bytes, one for each column's state but its last: 1 where the row has that state. Adding the
rows of a cell counts every column there at once, sixteen states an addition. The rows of the largest part of a cell
that is split are never added: the cell's own counts, less the other parts', are theirs.

Position p is in block p // 64; within it, words of 16 positions hold the first eight in their bytes' lower halves and
the other eight in the upper ones.
"""

import numpy as np
from numba import njit

from leverrier.kernels.counts.bits import and_count
from leverrier.kernels.search.one_more_parent import rise

POSITIONS = 64  # of a block, which is four words a row
HALF_FULL = 15  # rows before half a byte is full
FULL = 255  # and a byte
LOWER = np.uint64(0x0F0F0F0F0F0F0F0F)


@njit(cache=True, nogil=True)
def mark_rows(codes, first, marks, examples):
    """Lay rows out: marks[block, row] are the bytes of a block; column v's states begin at position first[v].

    examples[v, state] becomes a row that shows the state.
    """
    n_variables, n_rows = codes.shape
    for v in range(n_variables):
        column = codes[v]
        shown = first[v + 1] - first[v]
        for i in range(n_rows):
            examples[v, column[i]] = i
            if column[i] < shown:
                at = first[v] + column[i]
                within = at % POSITIONS
                marks[at // POSITIONS, i, within // 16 * 8 + within % 8] |= 16 if within % 16 >= 8 else 1


@njit(cache=True, nogil=True)
def _size_parts(place, within, whole, codes, states, first, columns, key, sizes):
    """key[i]: row i's part, of cells times states of the columns; sizes: how many rows each part has."""
    key[:] = place
    for v in columns:
        column = codes[v]
        r = np.uint16(states[v])
        for i in range(key.size):
            key[i] = key[i] * r + np.uint16(column[i])
    if columns.size > 1:
        for i in range(key.size):
            sizes[key[i]] += 1
        return
    v = columns[0]  # one column's states were counted in the cells
    r = states[v]
    for cell in range(within.size):
        rest = within[cell]
        for state in range(r - 1):
            at = first[v] + state
            n = np.int64(whole[at // POSITIONS, cell, at % POSITIONS])
            sizes[cell * r + state] = n
            rest -= n
        sizes[cell * r + r - 1] = rest


@njit(cache=True, nogil=True)
def _number_parts(sizes, largest, bounds, numbers, kept):
    """Number the parts that occur: the parts of a cell are bounds[cell] to bounds[cell + 1], of which largest[cell] is
    the largest. numbers[part] has bit 16 set for all others; kept: sizes by number. Returns how many there are."""
    parts = sizes.size // largest.size
    found = 0
    for cell in range(largest.size):
        bounds[cell] = found
        most = 0
        for part in range(cell * parts, (cell + 1) * parts):
            if sizes[part] > 0:
                numbers[part] = found | 1 << 16
                kept[found] = sizes[part]
                if sizes[part] > most:
                    most = sizes[part]
                    largest[cell] = part
                found += 1
        numbers[largest[cell]] &= 0xFFFF
        largest[cell] = numbers[largest[cell]]
    bounds[largest.size] = found
    return found


@njit(cache=True, nogil=True)
def _order_rows(key, numbers, sizes, place, examples, order, begins):
    """New places and an example of each; the rows that are not in a largest part, sorted: cell c's begin at begins[c].

    They are gathered first: a cell that takes most rows would make each wait for the one before.
    """
    gathered = np.empty(key.size, dtype=np.uint16)
    n = 0
    for i in range(key.size):
        number = numbers[key[i]]
        cell = number & 0xFFFF
        place[i] = cell
        examples[cell] = i
        gathered[n] = i
        n += number >> 16
    ends = np.zeros(sizes.size, dtype=np.int64)
    for i in range(n):
        ends[place[gathered[i]]] += 1
    at = 0
    for c in range(sizes.size):
        begins[c] = at
        at += ends[c]
        ends[c] = begins[c]
    for i in range(n):
        c = place[gathered[i]]
        order[ends[c]] = gathered[i]
        ends[c] += 1


@njit(cache=True, nogil=True)
def _add(rows, which, sums):
    """Sums over at most FULL rows, a byte each, eight a word; named one by one they stay in registers."""
    four = np.uint64(4)
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = np.uint64(0)
    for begin in range(0, which.size, HALF_FULL):
        a = b = c = d = np.uint64(0)
        for i in which[begin : begin + HALF_FULL]:
            row = rows[i]
            a += row[0]
            b += row[1]
            c += row[2]
            d += row[3]
        s0 += a & LOWER
        s1 += (a >> four) & LOWER
        s2 += b & LOWER
        s3 += (b >> four) & LOWER
        s4 += c & LOWER
        s5 += (c >> four) & LOWER
        s6 += d & LOWER
        s7 += (d >> four) & LOWER
    sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7] = s0, s1, s2, s3, s4, s5, s6, s7


@njit(cache=True, nogil=True)
def _add_rows(words, order, begins, sizes, bounds, largest, whole, counts):
    """counts[block, cell, position] of the parts of cells whose own counts are `whole`."""
    sums = np.empty(8, dtype=np.uint64)
    single = sums.view(np.uint8)
    for block in range(words.shape[0]):
        rows = words[block]
        for cell in range(largest.size):
            left = counts[block, largest[cell]]
            left[:] = whole[block, cell]
            for c in range(bounds[cell], bounds[cell + 1]):
                if c == largest[cell]:
                    continue
                target = counts[block, c]
                target[:] = 0
                end = begins[c] + sizes[c]
                for begin in range(begins[c], end, FULL):
                    _add(rows, order[begin : min(begin + FULL, end)], sums)
                    for b in range(POSITIONS):
                        target[b] += single[b]
                for b in range(POSITIONS):
                    left[b] -= target[b]


@njit(cache=True, nogil=True)
def split_cells(words, codes, states, first, place, within, whole, columns):
    """Split cells by further columns: the rows' new places, the new cells' sizes, a row of each, and their counts.

    place[i] is row i's cell, within[c] its size, whole[:, c] its counts.
    """
    parts = within.size
    for v in columns:
        parts *= states[v]
    n = place.size
    key, order = np.empty(n, dtype=np.uint16), np.empty(n, dtype=np.uint16)
    sizes = np.zeros(parts, dtype=np.int64)
    _size_parts(place, within, whole, codes, states, first, columns, key, sizes)
    largest, bounds = np.empty(within.size, dtype=np.int64), np.empty(within.size + 1, dtype=np.int64)
    numbers, kept = np.empty(parts, dtype=np.int64), np.empty(parts, dtype=np.int64)
    found = _number_parts(sizes, largest, bounds, numbers, kept)
    new_place, examples = np.empty(n, dtype=np.uint16), np.empty(found, dtype=np.uint16)
    begins = np.empty(found, dtype=np.int64)
    _order_rows(key, numbers, kept[:found], new_place, examples, order, begins)
    counts = np.empty((whole.shape[0], found, POSITIONS), dtype=np.uint16)
    _add_rows(words, order, begins, kept, bounds, largest, whole, counts)
    return new_place, kept[:found].copy(), examples, counts


@njit(cache=True, nogil=True)
def count_pairs(masks, shown, pairs):
    """pairs[a, b]: the rows that show both of two states, whose masks are the rows shown[a] and shown[b]."""
    for a in range(shown.size):
        for b in range(a + 1):
            pairs[a, b] = pairs[b, a] = and_count(masks[shown[a]], masks[shown[b]])


@njit(cache=True, nogil=True)
def _group(codes, states, parents, examples):
    """Cells, each known by a row of it, sorted by the parents' configuration, and where each configuration begins."""
    q = 1
    for p in parents:
        q *= states[p]
    sizes = np.zeros(q + 1, dtype=np.int64)
    keys = np.zeros(examples.size, dtype=np.int64)
    for p in parents:
        column = codes[p]
        for c in range(keys.size):
            keys[c] = keys[c] * states[p] + column[examples[c]]
    for key in keys:
        sizes[key + 1] += 1
    begins = np.empty(min(q, keys.size) + 1, dtype=np.int64)
    found = 0
    for j in range(q):
        if sizes[j + 1] > 0:
            begins[found] = sizes[j]
            found += 1
        sizes[j + 1] += sizes[j]
    begins[found] = keys.size
    cells = np.empty(keys.size, dtype=np.int64)
    for c in range(keys.size):
        cells[sizes[keys[c]]] = c
        sizes[keys[c]] += 1
    return cells, begins[: found + 1]


@njit(cache=True, nogil=True)
def _rise_at(n, rises, alpha):
    return rises[n] if n < rises.size else rise(float(n), alpha)


@njit(cache=True, nogil=True)
def _sum_rises(counts, begins, of_cell, of_row, alpha_cell, alpha_row):
    """Of every cell, less those of the rows they make up; in four sums, so that none waits for the one before."""
    a = b = c = d = 0.0
    whole = counts.size - counts.size % 4
    for i in range(0, whole, 4):
        a += _rise_at(counts[i], of_cell, alpha_cell)
        b += _rise_at(counts[i + 1], of_cell, alpha_cell)
        c += _rise_at(counts[i + 2], of_cell, alpha_cell)
        d += _rise_at(counts[i + 3], of_cell, alpha_cell)
    for i in range(whole, counts.size):
        a += _rise_at(counts[i], of_cell, alpha_cell)
    for j in range(begins.size - 1):
        row = 0
        for i in range(begins[j], begins[j + 1]):
            row += counts[i]
        b -= _rise_at(row, of_row, alpha_row)
    return a + b + (c + d)


@njit(cache=True, nogil=True)
def score_cells(counts, sizes, examples, codes, states, parents, first, wanted, kind, alphas, at, rises, out):
    """The score of each wanted column as one more parent, and of none (the last place).

    For a column of kind k, alphas[0, k] is a cell's prior count and at[0, k] its place in the rises; [1, k]: a row's.
    """
    cells, begins = _group(codes, states, parents, examples)
    rest = np.empty(cells.size, dtype=np.int64)
    part = np.empty(cells.size, dtype=np.int64)
    for v in range(wanted.size):
        if not wanted[v]:
            continue
        k = kind[v]
        of_cell, of_row = rises[at[0, k]], rises[at[1, k]]
        for c in range(cells.size):
            rest[c] = sizes[cells[c]]
        total = 0.0
        if v + 1 < wanted.size:
            for position in range(first[v], first[v + 1]):
                plane = counts[position // POSITIONS]
                byte = position % POSITIONS
                for c in range(cells.size):
                    part[c] = plane[cells[c], byte]
                    rest[c] -= part[c]
                total += _sum_rises(part, begins, of_cell, of_row, alphas[0, k], alphas[1, k])
        out[v] = total + _sum_rises(rest, begins, of_cell, of_row, alphas[0, k], alphas[1, k])
