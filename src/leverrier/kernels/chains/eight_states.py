"""Forward and backward for up to eight states, side by side: neither has to wait for its own last sum.

All arrays are flat, rows of eight numbers with idle states as zeros; slice t's row begins at 8 t.
"""

from numba import njit

from leverrier.kernels.chains.eight_lanes import LANES, add_pairs, add_row, moved_row, times_row


@njit(cache=True, nogil=True, error_model="numpy")
def both_ways(transitions, turned, emissions, ones, which, symbol, raw, totals, later, beta):
    """raw and totals as of `forward`, beta as of `backward`, and later[t] = P(slice t | state) · beta[t].

    `ones` is a row of ones; which and symbol are those of `scaled_passes`.
    """
    last, square = len(symbol) - 1, LANES * LANES
    before = 1.0
    for j in range(LANES):
        beta[LANES * last + j] = 1.0
    for t in range(last + 1):
        m, e = which[t], LANES * symbol[t]
        if m < 0:
            before = times_row(ones, 0, emissions, e, 1.0, raw, LANES * t)
        else:
            scale = 1.0 / before if before > 0.0 else 0.0
            before = moved_row(raw, LANES * (t - 1), transitions, square * m, emissions, e, scale, raw, LANES * t)
        totals[t] = before
        u = last - t
        m, e = which[u], LANES * symbol[u]
        total = times_row(emissions, e, beta, LANES * u, 1.0, later, LANES * u)
        if m >= 0:
            scale = 1.0 / total if total > 0.0 else 0.0
            moved_row(later, LANES * u, turned, square * m, ones, 0, scale, beta, LANES * (u - 1))
        elif u > 0:
            for j in range(LANES):
                beta[LANES * (u - 1) + j] = 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def both_counts(which, symbol, raw, totals, later, beta, ones, shown, joint):
    """beta becomes P(state | whole sequence), added up by symbol in `shown`; joint · transitions are expected moves."""
    for t in range(len(symbol)):
        at, m = LANES * t, which[t]
        total = times_row(raw, at, beta, at, 1.0, beta, at)
        inverse = 1.0 / total if total > 0.0 else 0.0
        times_row(beta, at, ones, 0, inverse, beta, at)
        add_row(beta, at, shown, LANES * symbol[t])
        if m >= 0 and totals[t - 1] > 0.0:
            add_pairs(raw, at - LANES, later, at, inverse / totals[t - 1], joint, LANES * LANES * m)
