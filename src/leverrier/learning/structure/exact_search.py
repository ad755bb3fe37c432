"""The best graph of all, where columns are few: every family scored, then dynamic programming over sets of nodes
[silander2006]. It takes a few milliseconds for ten columns of a thousand rows, less than a search over orders.

Where each cell has the same prior count whatever the table, a family's score is a sum over the cells of the child and
its parents less one over the cells of the parents: a number or two for each set of columns say all families.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from leverrier.arrays import Floats
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.projection import project
from leverrier.kernels.search.every_subset import best_order, sums_of_subsets
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.problem import Parents, Problem

MOST_NODES = 12
MOST_WORK = 2**21
"""Distinct rows times sets of columns."""
MOST_ROWS = 2**17
"""Up to here what a count adds to a score is looked up."""


def best_graph(problem: Problem) -> Parents | None:
    """The graph with the highest score, or one of several; None where a search is quicker, or none is allowed."""
    scores = problem.scores
    if type(scores) is not FamilyScores or scores.n_nodes > MOST_NODES or scores.observed is not None:
        return None
    found = every_family(scores)
    if found is None:
        return None
    sets = np.arange(found.shape[1])
    size = sum((sets >> v & 1 for v in range(scores.n_nodes)), np.zeros_like(sets))
    for child, own in enumerate(found):
        required = problem.required_bits[child]
        own[(sets & ~problem.allowed_bits[child] != 0) | (sets & required != required)] = -np.inf
        own[size > problem.max_parents] = -np.inf
    chosen = np.zeros(scores.n_nodes, dtype=np.int64)
    return chosen.tolist() if best_order(found, chosen) > -np.inf else None


def every_family(scores: FamilyScores) -> Floats | None:
    """(child, set of parents): each family's score, −∞ for tables that may not be as large. None where prior counts
    depend on the table, or there are too many rows."""
    statistics, n = scores.statistics, scores.n_nodes
    states = scores.states[:-1]
    priors = np.array([[scores.score.alphas(int(r), q) for q in (1.0, 2.0)] for r in states])
    if not isinstance(statistics, ObservedCounts) or not statistics.complete or scores.candidates is not None:
        return None
    if (priors[:, :1] != priors).any() or (priors[0, 0, 0] != priors[..., 0]).any() or not statistics.total < MOST_ROWS:
        return None
    table = statistics.table
    rows = project(np.ascontiguousarray(table.codes), states, table.weights)
    weights = rows.weights.astype(np.int64)
    if len(rows) << n > MOST_WORK or (weights != rows.weights).any():
        return None
    alphas, kind = np.unique(priors[:, 0, 1], return_inverse=True)  # (a row's, by the child's number of states)
    counts = np.arange(int(weights.sum()) + 1)
    sums = np.empty((1 + len(alphas), 1 << n))
    rises = np.stack([_rises(alpha, counts) for alpha in (float(priors[0, 0, 0]), *alphas.tolist())])
    sums_of_subsets(rows.configurations.astype(np.int64), weights, states, rises, sums)
    return _families(scores, sums[0], sums[1:][kind])


def _rises(alpha: float, counts: NDArray[np.int64]) -> Floats:
    """What a count adds to the score."""
    return gammaln(alpha + counts) - gammaln(alpha) if alpha > 0 else xlogy(counts, counts)


def _families(scores: FamilyScores, cells: Floats, rows: Floats) -> Floats:
    """From the sums over the cells of each set, and over the rows (by child) that each set is as parents."""
    n, states = scores.n_nodes, scores.states[:-1].astype(np.float64)
    sets = np.arange(1 << n)
    q = np.prod([np.where(sets >> v & 1, states[v], 1.0) for v in range(n)], axis=0)
    sizes, which = np.unique(q, return_inverse=True)
    found = np.empty((n, 1 << n))
    for child, r in enumerate(states.tolist()):
        penalties = np.array([scores.score.penalty(int(r), size, scores.statistics.total) for size in sizes.tolist()])
        found[child] = cells[sets | 1 << child] - rows[child] - penalties[which]
        found[child][(sets >> child & 1 != 0) | (q * r > scores.table_cells)] = -np.inf
    scores.families_scored += int(np.isfinite(found).sum())
    return found
