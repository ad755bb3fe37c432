"""Where rows may stand, by a mixture of Gaussians with one covariance over the rank scores of all columns.

Columns that drive each other spread rows along lines that have nothing to do with a class, so that cuts of principal
components, and classes of independent columns, begin along those lines. Here they are the spread that all classes
share, and a class is what is left. Ties are broken at random: no column's own steps or humps can pose as a class.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from leverrier.arrays import Floats
from leverrier.learning.mixed.mixed_space import SpaceColumn

RUNS, STEPS, CLOSE = 8, 40, 0.05
FLOOR = 0.05
"""Of a shared variance: this part of it is not explained by classes."""
MOST_CODES = 5


def shared_spreads(columns: Sequence[SpaceColumn], states: Sequence[int], rng: np.random.Generator) -> list[Floats]:
    """Posteriors to begin from, for each of these numbers of states the best; none that is no better than one Gaussian
    by Akaike's measure, which is what chance alone would gain."""
    z = whitened(rank_scores(columns, rng))
    alone, each = -0.5 * z.size, z.shape[1] + 1
    best = [(count, max((_run(z, count, rng) for _ in range(RUNS)), key=lambda end: end[0])) for count in states]
    return [share for count, (value, share) in best if value - alone > (count - 1) * each]


def rank_scores(columns: Sequence[SpaceColumn], rng: np.random.Generator) -> Floats:
    """Normal scores of ranks, ties in random order; of a category one column for each state but the first."""
    found = []
    for column in columns:
        if column.scores is not None or column.n_codes == 2:
            sources = [column.codes if column.scores is None else column.scores]
        else:
            sources = [column.codes == code for code in range(1, min(column.n_codes, MOST_CODES))]
        found += [_ranked(each, rng) for each in sources]
    return np.column_stack(found)


def _ranked(values: np.ndarray, rng: np.random.Generator) -> Floats:
    rank = np.empty(len(values))
    rank[np.lexsort((rng.random(len(values)), values))] = np.arange(len(values))
    return np.asarray(ndtri((rank + 0.5) / len(values)), dtype=np.float64)


def whitened(x: Floats) -> Floats:
    """Uncorrelated directions of variance one; those with no spread of their own are left out."""
    centred = x - x.mean(axis=0)
    squares, turned = np.linalg.eigh(centred.T @ centred / len(x))
    own = squares > 1e-6
    return centred @ (turned[:, own] / np.sqrt(squares[own]))


def _run(z: Floats, count: int, rng: np.random.Generator) -> tuple[float, Floats]:
    """EM from centres halfway to rows drawn at random: the log-likelihood, a constant apart, and P(place | row).

    In whitened directions the shared covariance is one less what lies between the centres, so that an iteration costs
    rows × directions × places."""
    n, p = z.shape
    centres, weights, within = 0.5 * z[rng.choice(n, count, replace=False)], np.full(count, 1 / count), np.eye(p)
    value, share = -np.inf, np.empty((n, count))
    for step in range(STEPS):
        inverse = np.linalg.inv(within)
        pulled = centres @ inverse
        logs = z @ pulled.T + (np.log(weights) - 0.5 * (pulled * centres).sum(axis=1))
        top = logs.max(axis=1, keepdims=True)
        share = np.exp(logs - top)
        size = share.sum(axis=1, keepdims=True)
        share /= size
        last, value = (
            value,
            float((np.log(size) + top).sum())
            - 0.5 * n * (float(np.trace(inverse)) + float(np.linalg.slogdet(within)[1])),
        )
        if step > 4 and value - last < CLOSE:
            break
        rows = share.sum(axis=0) + 1e-9
        weights, centres = rows / rows.sum(), (share.T @ z) / rows[:, None]
        within = (1 - FLOOR) * (np.eye(p) - (centres * weights[:, None]).T @ centres) + FLOOR * np.eye(p)
    return value, share
