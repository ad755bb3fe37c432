"""Expected tables of families that hold the hidden variable, and their Bayesian scores.

A table is (rows, child's states, width) with the hidden states last in the width, padded to the stride; of the hidden
variable's own family it is (rows, stride). Padding is zero, and zero counts add nothing to a score.

prior: pseudo-count in every cell, or 0 and then the prior strength that is spread over the cells.
"""

import math

from numba import njit

from leverrier.kernels.em.iteration import digamma

SMALL = 1e-6  # up to this share of α the rise is a straight line, to thirteen digits
LARGE = 9.0  # from here on Stirling's series is exact enough


@njit(cache=True, nogil=True, error_model="numpy")
def log_gamma_soft(x):
    """ln Γ(x), x > 0, to 1e-13: below LARGE by the recurrence, of which one logarithm is taken."""
    product = 1.0
    while x < LARGE:
        product *= x
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
    value = (x - 0.5) * math.log(x) - x + 0.9189385332046727 + series
    return value - math.log(product) if product != 1.0 else value


@njit(cache=True, nogil=True, error_model="numpy")
def alpha_of_cell(prior, r, q):
    return prior[0] if prior[0] > 0.0 else prior[1] / (q * r)


@njit(cache=True, nogil=True, error_model="numpy")
def alpha_of_row(prior, r, q):
    return prior[0] * r if prior[0] > 0.0 else prior[1] / q


@njit(cache=True, nogil=True, error_model="numpy")
def score_child(table, rows, r, width, q, prior):
    """Of a child with the hidden variable above it: q rows in all, hidden states counted."""
    cell, row = alpha_of_cell(prior, r, q), alpha_of_row(prior, r, q)
    log_cell, log_row = log_gamma_soft(cell), log_gamma_soft(row)
    slope_cell, slope_row = digamma(cell), digamma(row)
    total = 0.0
    for j in range(rows):
        for m in range(width):
            whole = 0.0
            at = j * r * width + m
            for _ in range(r):
                n = table[at]
                at += width
                whole += n
                if n > SMALL * cell:
                    total += log_gamma_soft(cell + n) - log_cell
                else:
                    total += n * slope_cell
            if whole > SMALL * row:
                total -= log_gamma_soft(row + whole) - log_row
            else:
                total -= whole * slope_row
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def score_own(table, rows, n_hidden, stride, prior):
    """Of the hidden variable's own family."""
    cell, row = alpha_of_cell(prior, n_hidden, rows), alpha_of_row(prior, n_hidden, rows)
    log_cell, log_row = log_gamma_soft(cell), log_gamma_soft(row)
    slope_cell, slope_row = digamma(cell), digamma(row)
    total = 0.0
    for j in range(rows):
        whole = 0.0
        for u in range(n_hidden):
            n = table[j * stride + u]
            whole += n
            if n > SMALL * cell:
                total += log_gamma_soft(cell + n) - log_cell
            else:
                total += n * slope_cell
        if whole > SMALL * row:
            total -= log_gamma_soft(row + whole) - log_row
        else:
            total -= whole * slope_row
    return total


@njit(cache=True, nogil=True)
def number_cells(codes, states, above, child, rows, count, cells):
    """Each listed row's cell in a family's table without the hidden variable: parents ascending, the child fastest
    (−1: none). Gives how many cells there are, the child's states left out."""
    for e in range(count):
        cells[e] = 0
    size = 1
    for v in range(codes.shape[0]):
        if above >> v & 1:
            column, r = codes[v], states[v]
            size *= r
            for e in range(count):
                cells[e] = cells[e] * r + column[rows[e]]
    if child >= 0:
        column, r = codes[child], states[child]
        for e in range(count):
            cells[e] = cells[e] * r + column[rows[e]]
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def fill_table(at, rows, weights, count, cells, column, r, posteriors, stride, size, table):
    """Add up weight × posterior: entry e lies in cell cells[at[e]] with state column[rows[e]] of one more parent (of r
    states), and its posterior is posteriors[at[e]]."""
    for k in range(size):
        table[k] = 0.0
    for e in range(count):
        i = at[e]
        t = (cells[i] * r + column[rows[e]]) * stride
        weight = weights[e]
        for u in range(stride):
            table[t + u] += weight * posteriors[i, u]


@njit(cache=True, nogil=True)
def list_pairs(ids, count, column, states, weights, sums, at, rows, totals):
    """The distinct pairs of a row's number and a column's state: number, example row and weight of each; how many."""
    for k in range(count * states):
        sums[k] = -1
    found = 0
    for i in range(ids.size):
        k = ids[i] * states + column[i]
        e = sums[k]
        if e < 0:
            sums[k] = found
            at[found] = ids[i]
            rows[found] = i
            totals[found] = weights[i]
            found += 1
        else:
            totals[e] += weights[i]
    return found
