"""Slices drawn one after another: each variable given parents of this slice and of slices before."""

from numba import njit


@njit(cache=True)
def draw_slices(families, parents, cumulative, codes, uniform, begin, end):
    """Fills codes[variable, sequence, slice] from `begin` up to `end`.

    families:   child, states, first parent, number of parents, first cell     (parents before children)
    parents:    variable, lag, states
    cumulative: each row of a table summed along, ending in infinity
    """
    for s in range(codes.shape[1]):
        for t in range(begin, end):
            for f in range(families.shape[0]):
                child, states, first, count, cell = families[f]
                row = 0
                for p in range(first, first + count):
                    row = row * parents[p, 2] + codes[parents[p, 0], s, t - parents[p, 1]]
                cell += row * states
                drawn = 0
                while uniform[child, s, t] >= cumulative[cell + drawn]:
                    drawn += 1
                codes[child, s, t] = drawn
