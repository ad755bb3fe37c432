"""The E-step over groups of unobserved variables, by distinct evidence.

A *group* is a set of unobserved variables with S joint states; a *row* of a group is one distinct evidence on its
blanket, with a weight. The factors that touch a group are gathered in *packs*: a pack's table holds, for each distinct
evidence on that pack alone, the product of its factors for every joint state. So many factors cost one lookup a row,
and a hundred binary columns become thirteen. Tables have a stride of a multiple of four, zero beyond S.

groups: S, stride, first pack, packs, first row, rows, first id        (one row each; ids only where packs > 1)
packs:  configurations, factors, first base, first offset, first cell, first configuration
A factor's entry of θ for configuration q and joint state u is bases[q, factor] + offsets[u, factor].
"""

import math

import numpy as np
from numba import njit, uint64

from leverrier.kernels.em.plan_columns import (
    GROUP_FIRST_ID,
    GROUP_FIRST_PACK,
    GROUP_FIRST_ROW,
    GROUP_PACKS,
    GROUP_ROWS,
    GROUP_STATES,
    GROUP_STRIDE,
    PACK_BASE,
    PACK_CELL,
    PACK_FACTORS,
    PACK_FIRST,
    PACK_OFFSET,
    PACK_SIZE,
)

TINY = 1e-150
ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@njit(cache=True, nogil=True, error_model="numpy")
def fill_packs(groups, packs, bases, offsets, theta, pack_weights, cells):
    """Each pack's table from the parameters; gives back the logarithm of what was divided out, times its weight.

    Rows of a table are divided by their largest entry where several packs will be multiplied or where the product
    is nearly too small for a float; if it is too small, it is made again from logarithms.
    """
    taken_out = 0.0
    for g in range(groups.shape[0]):
        states, stride = groups[g, GROUP_STATES], groups[g, GROUP_STRIDE]
        several = groups[g, GROUP_PACKS] > 1
        for p in range(groups[g, GROUP_FIRST_PACK], groups[g, GROUP_FIRST_PACK] + groups[g, GROUP_PACKS]):
            n, n_factors, first = packs[p, PACK_SIZE], packs[p, PACK_FACTORS], packs[p, PACK_FIRST]
            base, offset, cell = packs[p, PACK_BASE], packs[p, PACK_OFFSET], packs[p, PACK_CELL]
            for q in range(n):
                row = cell + q * stride
                evidence = base + q * n_factors
                peak = 0.0
                place = offset
                for u in range(states):
                    product = 1.0
                    for f in range(n_factors):
                        product *= theta[bases[evidence + f] + offsets[place]]
                        place += 1
                    cells[row + u] = product
                    peak = max(peak, product)
                if peak < TINY:
                    taken_out += pack_weights[first + q] * _from_logs(
                        bases, evidence, n_factors, offsets, offset, theta, states, cells, row
                    )
                elif several:
                    for u in range(states):
                        cells[row + u] /= peak
                    taken_out += pack_weights[first + q] * math.log(peak)
    return taken_out


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _from_logs(bases, evidence, n_factors, offsets, offset, theta, states, cells, row):
    """The same product by logarithms, divided by its largest entry, whose logarithm is given back."""
    peak = -np.inf
    for u in range(states):
        total = 0.0
        for f in range(n_factors):
            value = theta[bases[evidence + f] + offsets[offset + u * n_factors + f]]
            total += math.log(value) if value > 0.0 else -np.inf
        cells[row + u] = total
        peak = max(peak, total)
    for u in range(states):
        cells[row + u] = math.exp(cells[row + u] - peak) if peak > -np.inf else 0.0
    return peak


@njit(cache=True, nogil=True, error_model="numpy")
def absorb(group, packs, ids, weights, lo, hi, cells, sums):
    """Rows lo to hi of one group: log-likelihood out, posterior × weight added to `sums` (laid out as `cells`)."""
    stride, first, n_packs = group[GROUP_STRIDE], group[GROUP_FIRST_PACK], group[GROUP_PACKS]
    step = uint64(stride)
    total_log = 0.0
    posterior = np.empty(stride)
    if n_packs == 1:
        origin = packs[first, PACK_CELL]
        for i in range(lo, hi):
            start = uint64(origin + i * stride)
            total = 0.0
            for u in range(stride):
                total += cells[start + uint64(u)]
            weight = weights[group[GROUP_FIRST_ROW] + i]
            total_log += weight * math.log(total) if total > 0.0 else -np.inf
            scale = weight / total if total > 0.0 else 0.0
            for u in range(stride):
                sums[start + uint64(u)] += cells[start + uint64(u)] * scale
        return total_log
    origins = np.empty(n_packs, dtype=np.uint64)
    for k in range(n_packs):
        origins[k] = packs[first + k, PACK_CELL]
    for i in range(lo, hi):
        at = group[GROUP_FIRST_ID] + i * n_packs
        total = 0.0
        for quad in range(stride // 4):
            shift = uint64(4 * quad)
            a = b = c = d = 1.0
            for k in range(n_packs):
                t = origins[k] + ids[at + k] * step + shift
                a *= cells[t]
                b *= cells[t + ONE]
                c *= cells[t + TWO]
                d *= cells[t + THREE]
            posterior[4 * quad] = a
            posterior[4 * quad + 1] = b
            posterior[4 * quad + 2] = c
            posterior[4 * quad + 3] = d
            total += (a + b) + (c + d)
        weight = weights[group[GROUP_FIRST_ROW] + i]
        if total > TINY:
            total_log += weight * math.log(total)
        else:
            peak = _by_logs(origins, ids, at, step, cells, posterior)
            total = 0.0
            for u in range(stride):
                total += posterior[u]
            total_log += weight * (math.log(total) + peak) if total > 0.0 else -np.inf
        scale = weight / total if total > 0.0 else 0.0
        for quad in range(stride // 4):
            shift = uint64(4 * quad)
            a = posterior[4 * quad] * scale
            b = posterior[4 * quad + 1] * scale
            c = posterior[4 * quad + 2] * scale
            d = posterior[4 * quad + 3] * scale
            for k in range(n_packs):
                t = origins[k] + ids[at + k] * step + shift
                sums[t] += a
                sums[t + ONE] += b
                sums[t + TWO] += c
                sums[t + THREE] += d
    return total_log


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _by_logs(origins, ids, at, step, cells, posterior):
    """The packs' product where it is too small for a float, divided by its largest entry."""
    peak = -np.inf
    for u in range(posterior.size):
        total = 0.0
        for k in range(origins.size):
            value = cells[origins[k] + ids[at + k] * step + uint64(u)]
            total += math.log(value) if value > 0.0 else -np.inf
        posterior[u] = total
        peak = max(peak, total)
    for u in range(posterior.size):
        posterior[u] = math.exp(posterior[u] - peak) if peak > -np.inf else 0.0
    return peak


@njit(cache=True, nogil=True, error_model="numpy")
def absorb_groups(groups, packs, ids, weights, longest, cells, sums):
    """All rows of every group that has no more than `longest` of them."""
    total = 0.0
    for g in range(groups.shape[0]):
        rows = groups[g, GROUP_ROWS]
        if rows <= longest:
            for lo in range(0, rows, rows):  # (once; so that `lo` is no literal, and absorb compiles once)
                total += absorb(groups[g], packs, ids, weights, lo, rows, cells, sums)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def scatter_packs(groups, packs, bases, offsets, sums, counts):
    """Add each pack's weighted posteriors to the expected counts of its factors."""
    for g in range(groups.shape[0]):
        states, stride = groups[g, GROUP_STATES], groups[g, GROUP_STRIDE]
        for p in range(groups[g, GROUP_FIRST_PACK], groups[g, GROUP_FIRST_PACK] + groups[g, GROUP_PACKS]):
            n, n_factors = packs[p, PACK_SIZE], packs[p, PACK_FACTORS]
            base, offset, cell = packs[p, PACK_BASE], packs[p, PACK_OFFSET], packs[p, PACK_CELL]
            for q in range(n):
                evidence = base + q * n_factors
                place = offset
                for u in range(states):
                    share = sums[cell + q * stride + u]
                    for f in range(n_factors):
                        counts[bases[evidence + f] + offsets[place]] += share
                        place += 1
