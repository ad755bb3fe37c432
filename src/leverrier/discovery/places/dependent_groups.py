"""Groups of columns that depend on each other though no observed column explains it: a signature for small samples.

Where rows are few a structure search keeps hardly any arc, and no semi-clique forms; yet many weak dependences at once
are just what a hidden variable leaves behind. Every pair is tested, then tested again within the states of each other
column: a pair that some column separates is explained. Semi-cliques of the pairs that are left are candidates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from leverrier.data.table import Table
from leverrier.discovery.places.candidate import Candidate, Suggested
from leverrier.discovery.places.semi_clique import semi_cliques
from leverrier.models.graph import Graph

LEVEL = 0.01
"""Pairs are dependent when chance alone would show so much in one pair of a hundred."""
EXPLAINED = 0.2
"""A column explains a pair when, given it, chance would show as much in one of five."""
MOST_COLUMNS = 60


def dependent_groups(table: Table) -> list[Candidate]:
    """Semi-cliques of the graph of unexplained dependences."""
    names = table.variables
    if not 3 <= len(names) <= MOST_COLUMNS:
        return []
    pairs = [
        (names[i], names[j])
        for i in range(len(names))
        for j in range(i)
        if _p_value(table, i, j, None) < LEVEL and not _explained(table, i, j)
    ]
    graph = Graph.from_edges(names, [(b, a) for a, b in pairs])
    return [Candidate(frozenset(members), Suggested.DEPENDENT) for members in semi_cliques(graph)]


def _explained(table: Table, i: int, j: int) -> bool:
    return any(_p_value(table, i, j, k) > EXPLAINED for k in range(len(table.variables)) if k not in (i, j))


def _p_value(table: Table, i: int, j: int, given: int | None) -> float:
    """Of the G test of independence, within the states of another column if one is given."""
    g, freedom = g_statistic(joint_counts(table, [i, j] if given is None else [given, i, j]))
    return float(chdtrc(freedom, max(g, 0.0))) if freedom else 1.0


def joint_counts(table: Table, columns: list[int]) -> NDArray[np.float64]:
    """How often each combination occurs, in the rows that show them all."""
    sizes = [int(table.cardinalities[c]) for c in columns]
    codes = table.codes[columns].astype(np.int64)
    seen = (codes < table.missing).all(axis=0)
    weights = None if table.weights is None else table.weights[seen]
    flat = np.ravel_multi_index(tuple(codes[:, seen]), sizes)
    return np.bincount(flat, weights, minlength=int(np.prod(sizes))).reshape(sizes).astype(np.float64)


def g_statistic(counts: NDArray[np.float64]) -> tuple[float, int]:
    """2 Σ n ln(n / expected), and its degrees of freedom, over the last two axes; earlier axes are strata."""
    total, freedom = 0.0, 0
    for part in counts.reshape(-1, *counts.shape[-2:]):
        part = part[part.sum(axis=1) > 0][:, part.sum(axis=0) > 0]
        if min(part.shape) < 2:
            continue
        expected = part.sum(axis=1, keepdims=True) * part.sum(axis=0) / part.sum()
        used = part > 0
        total += 2.0 * float(part[used] @ np.log(part[used] / expected[used]))
        freedom += (part.shape[0] - 1) * (part.shape[1] - 1)
    return total, freedom
