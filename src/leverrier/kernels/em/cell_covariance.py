"""Covariance of the cells that rows fall in, over what is unobserved (groups and packs: kernels/em/expectation.py)."""

import numpy as np
from numba import njit

from leverrier.kernels.em.plan_columns import (
    GROUP_FIRST_ID,
    GROUP_FIRST_PACK,
    GROUP_FIRST_ROW,
    GROUP_PACKS,
    GROUP_ROWS,
    GROUP_STATES,
    PACK_BASE,
    PACK_FACTORS,
    PACK_OFFSET,
)

NEGLIGIBLE = 1e-7  # a joint state less probable than this in a row is left out of it


@njit(cache=True, nogil=True, error_model="numpy")
def add_covariance(group, packs, bases, offsets, ids, weights, posterior, place, total):
    """Add Σ_rows w Cov(a) to `total`; a is the 0/1 vector of cells, of which place[cell] ≥ 0 are wanted.

    posterior is (rows, joint states). Only the upper triangle is filled: of two cells, the first place is the row.
    """
    states, first, n_packs, n_rows = group[GROUP_STATES], group[GROUP_FIRST_PACK], group[GROUP_PACKS], group[GROUP_ROWS]
    factors = 0
    for p in range(first, first + n_packs):
        factors += packs[p, PACK_FACTORS]
    mean = np.zeros(total.shape[0])
    touched = np.empty(states * factors, dtype=np.int64)
    cells = np.empty(factors, dtype=np.int64)
    for i in range(n_rows):
        weight = weights[group[GROUP_FIRST_ROW] + i]
        n_touched = 0
        for u in range(states):
            share = posterior[i, u]
            if share < NEGLIGIBLE:
                continue
            n = 0
            for p in range(first, first + n_packs):
                width = packs[p, PACK_FACTORS]
                q = i if n_packs == 1 else np.int64(ids[group[GROUP_FIRST_ID] + i * n_packs + p - first])
                for f in range(width):
                    at = place[
                        bases[packs[p, PACK_BASE] + q * width + f] + offsets[packs[p, PACK_OFFSET] + u * width + f]
                    ]
                    if at >= 0:
                        cells[n] = at
                        n += 1
                        if mean[at] == 0.0:
                            touched[n_touched] = at
                            n_touched += 1
                        mean[at] += share
            for a in range(n):
                for b in range(n):
                    if cells[a] <= cells[b]:
                        total[cells[a], cells[b]] += weight * share
        for a in range(n_touched):
            for b in range(n_touched):
                if touched[a] <= touched[b]:
                    total[touched[a], touched[b]] -= weight * mean[touched[a]] * mean[touched[b]]
        for a in range(n_touched):
            mean[touched[a]] = 0.0
