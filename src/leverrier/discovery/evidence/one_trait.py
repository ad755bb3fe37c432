"""One trait behind yes/no columns: the item response models of Rasch (one slope) and Birnbaum (a slope each).

log-odds of yes in column i = slope_i · θ + easiness_i, θ standard normal, summed out over NODES points of Gauss and
Hermite; the largest likelihood by L-BFGS (Bock and Lieberman 1970).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.models.graph import Graph
from leverrier.models.network import Network

NODES, GRADES = 31, 5
"""Points that the trait is summed over, and grades of equal share that rows are told."""


@dataclass(frozen=True, eq=False)
class Trait:
    """Slopes and easiness by column, and the log-likelihood of the rows."""

    slopes: Floats
    easiness: Floats
    log_likelihood: float
    parameters: int

    def bic(self, rows: float) -> float:
        return -2 * self.log_likelihood + self.parameters * float(np.log(rows))

    def sample(self, table: Table, rng: np.random.Generator) -> Table:
        """As many rows with this trait."""
        logits = np.outer(self.slopes, rng.normal(size=table.n_rows)) + self.easiness[:, None]
        return Table(table.columns, (rng.random(logits.shape) < expit(logits)).astype(table.codes.dtype))

    def network(self, table: Table, name: str) -> Network:
        """The trait in grades: as a network, rows can be asked for theirs."""
        points, weights = _points()
        grade = np.minimum((np.cumsum(weights) - weights / 2) * GRADES, GRADES - 1).astype(np.int64)
        share = np.bincount(grade, weights, GRADES)
        yes = expit(np.outer(self.slopes, points) + self.easiness[:, None])
        columns = {}
        for column, chance in zip(table.variables, yes, strict=True):
            by_grade = np.bincount(grade, weights * chance, GRADES) / share
            columns[column] = np.stack([1 - by_grade, by_grade], axis=1)
        graph = Graph.from_parents({**dict.fromkeys(table.variables, (name,)), name: ()})
        states = {**table.states, name: tuple(range(GRADES))}
        return Network.build(graph, states, {**columns, name: share / share.sum()})


def one_trait(table: Table, start: Trait | None = None) -> Trait | None:
    """Of the two models the one that BIC prefers, or the one that `start` is; None if a column is not yes/no."""
    if not (table.cardinalities == 2).all() or table.n_missing:
        return None
    patterns, counts = np.unique(table.codes.astype(np.float64), axis=1, return_counts=True)
    if start is not None:
        return _fitted(patterns, counts, start.slopes, start.easiness, start.parameters == len(patterns) + 1)
    means = np.clip(np.average(patterns, axis=1, weights=counts), 0.01, 0.99)
    centred = (patterns - means[:, None]) * np.sqrt(counts)
    first = np.linalg.eigh(centred @ centred.T)[1][:, -1]
    signs = np.where(first * np.sign(first.sum() or 1.0) < 0, -1.0, 1.0)
    easiness = np.log(means / (1 - means))
    both = [_fitted(patterns, counts, signs, easiness, shared) for shared in (True, False)]
    return min(both, key=lambda one: one.bic(float(counts.sum())))


def _fitted(patterns: Floats, counts: NDArray[np.int64], slopes: Floats, easiness: Floats, shared: bool) -> Trait:
    from scipy.optimize import minimize  # (late: it loads for a tenth of a second)

    points, weights = _points()
    n, signs = len(patterns), np.where(slopes < 0, -1.0, 1.0)

    def parts(x: Floats) -> tuple[Floats, Floats]:
        return (x[0] * signs if shared else x[:n]), x[-n:]

    def loss(x: Floats) -> tuple[float, Floats]:
        slope, base = parts(x)
        logits = np.outer(slope, points) + base[:, None]
        logs = patterns.T @ log_expit(logits) + (1 - patterns.T) @ log_expit(-logits) + np.log(weights)
        total = np.asarray(logsumexp(logs, axis=1))
        given = np.exp(logs - total[:, None]) * counts[:, None]
        left = patterns @ given - expit(logits) * given.sum(axis=0)
        by_slope = left @ points
        gradient = np.concatenate([[signs @ by_slope] if shared else by_slope, left.sum(axis=1)])
        return -float(counts @ total), -gradient

    begin = np.concatenate([[abs(slopes).mean()] if shared else slopes, easiness])
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=[(-8.0, 8.0)] * len(begin))
    slope, base = parts(found.x)
    return Trait(slope, base, -float(found.fun), len(begin))


def _points() -> tuple[Floats, Floats]:
    """Of a standard normal law."""
    points, weights = np.polynomial.hermite_e.hermegauss(NODES)
    return points, weights / weights.sum()
