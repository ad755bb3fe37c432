"""Slow twins of the fits of families: plain formulas, row by row."""

from __future__ import annotations

from itertools import product

import numpy as np

from leverrier.learning.families.family_counts import FamilyCounts


def counts_of_table(table, child, parents):
    """From a dense table with axes: parents in order, then the child."""
    flat = table.reshape(-1, table.shape[-1])
    seen = np.flatnonzero(flat.sum(axis=1) > 0)
    codes = np.stack(np.unravel_index(seen, table.shape[:-1])).astype(np.int64) if parents else np.zeros((0, 1), int)
    return FamilyCounts(np.ascontiguousarray(codes), flat[seen], child, tuple(parents))


def log_linear_rows(design, basis, theta):
    """P(k | j) ∝ exp(a_k + Σ_c B[k, c] Σ_p X[j, p] W[p, c]), a_0 = 0."""
    states, columns = basis.shape
    own = np.concatenate([[0.0], theta[: states - 1]])
    weights = theta[states - 1 :].reshape(-1, columns)
    rows = []
    for x in design:
        unnormalised = np.exp([own[k] + basis[k] @ (x @ weights) for k in range(states)])
        rows.append(unnormalised / unnormalised.sum())
    return np.array(rows)


def largest_by_enumeration(causes, active):
    """P(the largest is k) by going through every combination of what the active causes bring."""
    states = causes.shape[1]
    rows = np.zeros((len(active), states))
    for j, which in enumerate(active):
        present = [c for c in which if c >= 0]
        for brought in product(range(states), repeat=len(present)):
            rows[j, max(brought)] += np.prod([causes[c, k] for c, k in zip(present, brought, strict=True)])
    return rows


def expected_beside(codes, columns, index, shares, weights, starts, size):
    out = np.zeros((size, shares.shape[1]))
    for c, column in enumerate(columns):
        for i in range(codes.shape[1]):
            out[starts[c] + codes[column, i]] += weights[i] * shares[index[i]]
    return out
