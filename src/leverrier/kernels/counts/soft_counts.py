"""Expected tables of any family from the rows and the posteriors of what each row leaves unobserved.

An *instance* is one distinct evidence of one group of unobserved variables. owner[slot, row] is the instance that
a variable belongs to in a row (slots number the variables that are unobserved somewhere).

groups:  first instance, first single, singles an instance, first clique, cliques, first belief, beliefs an instance
cliques: first belief within the instance, first member, members         (a small group has one clique: its joint)
clique_members: variable, stride, states
"""

import numpy as np
from numba import njit

from leverrier.kernels.em.plan_columns import (
    CLIQUE_CELL,
    CLIQUE_CELLS,
    CLIQUE_SEPARATOR,
    CLIQUE_UP,
    CLIQUE_WIDTH,
    GROUP_FIRST_ID,
    GROUP_FIRST_PACK,
    GROUP_PACKS,
    GROUP_ROWS,
    GROUP_STATES,
    GROUP_STRIDE,
    PACK_CELL,
)

SOFT_FIRST, SOFT_SINGLE, SOFT_SINGLES, SOFT_CLIQUE, SOFT_CLIQUES, SOFT_BELIEF, SOFT_BELIEFS = range(7)  # of groups
TABLE_BELIEF, TABLE_MEMBER, TABLE_MEMBERS = range(3)  # of cliques
IN_VARIABLE, IN_STRIDE, IN_STATES = range(3)  # of clique_members


@njit(cache=True, nogil=True, error_model="numpy")
def joint_posteriors(group, packs, ids, cells, out):
    """(rows, S): each row's posterior over a group's joint states, from the packs' filled tables."""
    states, stride, first, n_packs = (
        group[GROUP_STATES],
        group[GROUP_STRIDE],
        group[GROUP_FIRST_PACK],
        group[GROUP_PACKS],
    )
    for i in range(group[GROUP_ROWS]):
        total = 0.0
        for u in range(states):
            value = 1.0
            if n_packs == 1:
                value = cells[packs[first, PACK_CELL] + i * stride + u]
            else:
                for k in range(n_packs):
                    value *= cells[
                        packs[first + k, PACK_CELL] + ids[group[GROUP_FIRST_ID] + i * n_packs + k] * stride + u
                    ]
            out[i, u] = value
            total += value
        for u in range(states):
            out[i, u] /= total


@njit(cache=True, nogil=True, error_model="numpy")
def _lay_out(members, n_members, cards, strides, values, offsets):
    """Offsets in the table of every joint state of these members, values zero; how many there are."""
    size = 1
    for m in range(n_members):
        size *= cards[members[m]]
    for k in range(size):
        values[k] = 0.0
        offsets[k] = 0
        rest = k
        for m in range(n_members - 1, -1, -1):
            offsets[k] += (rest % cards[members[m]]) * strides[members[m]]
            rest //= cards[members[m]]
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def _step_in(clique, clique_members, variable):
    """A variable's stride in a clique's table, 0 if it is not in the clique."""
    for k in range(clique[TABLE_MEMBER], clique[TABLE_MEMBER] + clique[TABLE_MEMBERS]):
        if clique_members[k, IN_VARIABLE] == variable:
            return clique_members[k, IN_STRIDE]
    return 0


@njit(cache=True, nogil=True, error_model="numpy")
def _from_clique(start, group, members, n_members, variables, cards, cliques, clique_members, beliefs, values):
    """Joint posterior of several members of one instance from a clique that has them all, if there is one."""
    step = np.empty(n_members, dtype=np.int64)
    for c in range(group[SOFT_CLIQUE], group[SOFT_CLIQUE] + group[SOFT_CLIQUES]):
        inside = True
        for m in range(n_members):
            step[m] = _step_in(cliques[c], clique_members, variables[members[m]])
            inside = inside and step[m] > 0
        if not inside:
            continue
        top = cliques[c, TABLE_MEMBER]
        for u in range(clique_members[top, IN_STRIDE] * clique_members[top, IN_STATES]):
            k = 0
            for m in range(n_members):
                k = k * cards[members[m]] + (u // step[m]) % cards[members[m]]
            values[k] += beliefs[start + cliques[c, TABLE_BELIEF] + u]
        return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _from_tree(
    start, group, members, n_members, variables, cards, cliques, clique_members, beliefs, tree, maps, size, values
):
    """The same where no clique has them all: for each of their joint states, collect with the others struck out.

    tree[c − group's first clique] is the clique's row of kernels/em/clique_trees.py; beliefs are calibrated, so what a
    clique sends up is divided by its separator's marginal.
    """
    first, n = group[SOFT_CLIQUE], group[SOFT_CLIQUES]
    scratch = np.empty(group[SOFT_BELIEFS])
    marginals = np.zeros(tree[n - 1, CLIQUE_SEPARATOR] + tree[n - 1, CLIQUE_WIDTH])
    message = np.empty(marginals.size)
    for c in range(1, n):
        up, cell, sep = tree[c, CLIQUE_UP], start + tree[c, CLIQUE_CELL], tree[c, CLIQUE_SEPARATOR]
        for u in range(tree[c, CLIQUE_CELLS]):
            marginals[sep + maps[up + u]] += beliefs[cell + u]
    for k in range(size):
        for u in range(group[SOFT_BELIEFS]):
            scratch[u] = beliefs[start + u]
        rest = k
        for m in range(n_members - 1, -1, -1):
            state = rest % cards[members[m]]
            rest //= cards[members[m]]
            for c in range(n):
                step = _step_in(cliques[first + c], clique_members, variables[members[m]])
                if step > 0:
                    for u in range(tree[c, CLIQUE_CELLS]):
                        if (u // step) % cards[members[m]] != state:
                            scratch[tree[c, CLIQUE_CELL] + u] = 0.0
                    break
        for c in range(n - 1, 0, -1):
            _, parent, n_apart, up, down, cell, sep, _, _ = tree[c]
            for s in range(n_apart):
                message[s] = 0.0
            for u in range(tree[c, CLIQUE_CELLS]):
                message[maps[up + u]] += scratch[cell + u]
            for s in range(n_apart):
                message[s] = message[s] / marginals[sep + s] if marginals[sep + s] > 0.0 else 0.0
            above = tree[parent]
            for u in range(above[CLIQUE_CELLS]):
                scratch[above[CLIQUE_CELL] + u] *= message[maps[down + u]]
        for u in range(tree[0, CLIQUE_CELLS]):
            values[k] += scratch[tree[0, CLIQUE_CELL] + u]


@njit(cache=True, nogil=True, error_model="numpy")
def soft_table(
    codes,
    columns,
    slots,
    variables,
    cards,
    strides,
    weights,
    owner,
    group_of,
    groups,
    place,
    singles,
    cliques,
    clique_members,
    beliefs,
    trees,
    maps,
    room,
    out,
):
    """Add every row's expected share to `out`. `trees` are the last cliques of `cliques`, with maps to separators.

    The family's members have these columns (−1: hidden), slots (−1: always observed), states and strides in `out`.
    """
    k = columns.size
    n_joint = cliques.shape[0] - trees.shape[0]
    unseen = np.empty(k, dtype=np.int64)
    alike = np.empty(k, dtype=np.int64)
    shares, shifts = np.empty(room), np.empty(room, dtype=np.int64)
    values, offsets = np.empty(room), np.empty(room, dtype=np.int64)
    for row in range(codes.shape[1]):
        key = 0
        n_unseen = 0
        for j in range(k):
            if slots[j] >= 0 and owner[slots[j], row] >= 0:
                unseen[n_unseen] = j
                n_unseen += 1
            else:
                key += codes[columns[j], row] * strides[j]
        weight = weights[row] if weights.size > 0 else 1.0
        if n_unseen == 0:
            out[key] += weight
            continue
        if n_unseen == 1:
            j = unseen[0]
            instance = owner[slots[j], row]
            g = group_of[instance]
            start = (
                groups[g, SOFT_SINGLE]
                + (instance - groups[g, SOFT_FIRST]) * groups[g, SOFT_SINGLES]
                + place[g, variables[j]]
            )
            for state in range(cards[j]):
                out[key + state * strides[j]] += weight * singles[start + state]
            continue
        shares[0] = weight
        shifts[0] = key
        width = 1
        for a in range(n_unseen):
            if unseen[a] < 0:
                continue
            instance = owner[slots[unseen[a]], row]
            g = group_of[instance]
            n_alike = np.int64(0)  # (not a literal: what takes it would compile twice)
            for b in range(a, n_unseen):
                if unseen[b] >= 0 and owner[slots[unseen[b]], row] == instance:
                    alike[n_alike] = unseen[b]
                    n_alike += 1
            start = groups[g, SOFT_BELIEF] + (instance - groups[g, SOFT_FIRST]) * groups[g, SOFT_BELIEFS]
            size = _lay_out(alike, n_alike, cards, strides, values, offsets)
            if not _from_clique(
                start, groups[g], alike, n_alike, variables, cards, cliques, clique_members, beliefs, values
            ):
                _from_tree(
                    start,
                    groups[g],
                    alike,
                    n_alike,
                    variables,
                    cards,
                    cliques,
                    clique_members,
                    beliefs,
                    trees[groups[g, SOFT_CLIQUE] - n_joint :],
                    maps,
                    size,
                    values,
                )
            for b in range(a, n_unseen):
                if unseen[b] >= 0 and owner[slots[unseen[b]], row] == instance:
                    unseen[b] = -1
            for x in range(width - 1, -1, -1):  # from the back, so that no share is overwritten before it is used
                share, shift = shares[x], shifts[x]
                for y in range(size - 1, -1, -1):
                    shares[x * size + y] = share * values[y]
                    shifts[x * size + y] = shift + offsets[y]
            width *= size
        for x in range(width):
            out[shifts[x]] += shares[x]


@njit(cache=True, nogil=True)
def _append(codes, column, states, cells):
    """One more digit to each row's number; a variable without a column adds nothing."""
    if column >= 0:
        digits = codes[column]
        for row in range(cells.size):
            cells[row] = cells[row] * states + digits[row]


@njit(cache=True, nogil=True)
def _count_first(cells, n_cells, tail, weights, owner, posteriors, counted, out):
    """Rows of one instance and cell are counted together, and what was counted is spread."""
    n_states = posteriors.shape[1]
    for m in range(posteriors.shape[0] * n_cells):
        counted[m] = 0.0
    for row in range(cells.size):
        counted[owner[row] * n_cells + cells[row]] += weights[row] if weights.size > 0 else 1.0
    for i in range(posteriors.shape[0]):
        for c in range(n_cells):
            n = counted[i * n_cells + c]
            if n != 0.0:
                place = c + (c // tail) * tail * (n_states - 1)
                for k in range(n_states):
                    out[place + k * tail] += n * posteriors[i, k]


@njit(cache=True, nogil=True)
def _spread_rows(cells, tail, weights, owner, posteriors, out):
    """Each row is spread by its instance's posterior at once."""
    n_states = posteriors.shape[1]
    for row in range(cells.size):
        weight = weights[row] if weights.size > 0 else 1.0
        place = cells[row] + (cells[row] // tail) * tail * (n_states - 1)
        i = owner[row]
        for k in range(n_states):
            out[place + k * tail] += weight * posteriors[i, k]


@njit(cache=True, nogil=True)
def soft_tables(codes, columns, states, child, parents, hidden, wanted, starts, weights, owner, posteriors, out):
    """Tables of (parents, candidate, child) for every wanted candidate, where one of them is the hidden variable and
    the others are columns; candidate v's table begins at starts[v].

    Variable v's column is columns[v]; the hidden variable has none, nor has the last candidate, which stands for no
    further parent. A row's cell is its number without the hidden variable; `tail` cells lie after that one's digit.
    """
    rows = owner.size
    outer, cells = np.zeros(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    counted = np.empty(rows)
    base, after = 1, 0
    for p in parents:
        if p == hidden:
            after = 1
        else:
            base *= states[p]
            after *= states[p]
            _append(codes, columns[p], states[p], outer)
    inside = states[child] if child != hidden else 1
    for v in range(wanted.size):
        if not wanted[v]:
            continue
        width = states[v] if v != hidden else 1
        tail = after * width * inside if after > 0 else inside  # (where the child is hidden it is the last: 1)
        n_cells = base * width * inside
        for row in range(rows):
            cells[row] = outer[row]
        _append(codes, columns[v], states[v], cells)
        _append(codes, columns[child], states[child], cells)
        table = out[starts[v] : starts[v + 1]]
        if n_cells * posteriors.shape[0] <= rows:
            _count_first(cells, n_cells, tail, weights, owner, posteriors, counted, table)
        else:
            _spread_rows(cells, tail, weights, owner, posteriors, table)
