"""EM for a mixture: the E-step, the M-step, and the guard against components without spread."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.inference.gaussian.gaussian_rows import (
    DiagonalPass,
    FullPass,
    GaussianPass,
    GaussianRows,
    Moments,
    expect,
)
from leverrier.learning.mixtures.mixture_ascent import Ascent, CollapsedError, Evaluated
from leverrier.learning.mixtures.mixture_prior import Components, NormalInverseWishart, log_prior, maximise
from leverrier.models.mixture import CovarianceKind

COLLAPSED = 1e-13
"""A variance below this share of the whole table's is none: the component has shrunk onto a point, a line, a plane."""
SINGULAR = 1e-11
"""A column whose own part of the variance is a smaller share than this is lost in rounding: no float can hold it."""
SINGULAR_WITH_HOLES = 1e-8
"""Filling holes goes through the precision, and loses twice as many digits."""


@dataclass(frozen=True, eq=False)
class MixtureProblem:
    """What every start shares. `pivots` are those of the whole table's covariance."""

    rows: GaussianRows
    kind: CovarianceKind
    prior: NormalInverseWishart | None
    pivots: Floats
    tolerance: float
    accelerate: bool = True
    pool: Executor | None = None

    def ready(self, components: Components) -> GaussianPass:
        """The components for a pass over the rows; CollapsedError if one has no spread in some direction."""
        make = FullPass if self.kind.wide else DiagonalPass
        ready = make(components.weights, components.means, components.covariances)
        flat = self._flat(components, ready)
        if flat.any():
            raise CollapsedError(np.flatnonzero(flat).tolist())
        return ready

    def _flat(self, components: Components, ready: GaussianPass) -> NDArray[np.bool_]:
        """What of a column's variance the columns before it leave, against the whole table's, and against rounding."""
        covariances = components.covariances
        if self.kind.wide:
            least = SINGULAR_WITH_HOLES if self.rows.patterns.holes else SINGULAR
            flat = ~np.all(ready.pivots > least * variances_of(covariances), axis=1)
        else:
            flat = ~np.all(covariances > 0, axis=1)
        if self.prior is None:
            empty = components.weights * self.rows.total <= 1e-6
            flat |= ~np.all(ready.pivots > COLLAPSED * self.pivots, axis=1) | empty
        return flat

    def rounding(self, likelihood: float, components: Components, ready: GaussianPass) -> float:
        """A pivot is known to rounding of the variance it is the rest of, and the log-likelihood to rows times that."""
        least = (ready.pivots / variances_of(components.covariances)).min() if self.kind.wide else 1.0
        return 1e-9 + 1e-12 * abs(likelihood) + 1e-15 * self.rows.total / least


class MixtureClimb(Ascent[Components, Moments]):
    """The objective is the log-likelihood of the rows in their own units, plus the log prior."""

    def __init__(self, problem: MixtureProblem, components: Components) -> None:
        super().__init__(components, problem.tolerance, problem.accelerate)
        self.problem = problem

    @property
    def counts(self) -> Floats:
        """How many rows each component has."""
        return self.model.weights * self.problem.rows.total

    def evaluate(self, model: Components) -> Evaluated[Moments]:
        problem = self.problem
        ready = problem.ready(model)
        scaled, moments = expect(problem.rows, ready, problem.pool)
        likelihood = scaled + problem.rows.log_scale
        prior = 0.0 if problem.prior is None else log_prior(problem.kind, model, ready, problem.prior)
        return Evaluated(likelihood + prior, likelihood, moments, problem.rounding(scaled, model, ready))

    def maximise(self, model: Components, sums: Moments) -> Components:
        return maximise(self.problem.kind, model, sums, self.problem.prior)

    def coordinates(self, model: Components) -> Floats | None:
        return coordinates(self.problem.kind, model)

    def from_coordinates(self, coordinates: Floats, like: Components) -> Components | None:
        return from_coordinates(self.problem.kind, coordinates, like.means.shape)


def variances_of(covariances: Floats) -> Floats:
    return np.diagonal(covariances, axis1=1, axis2=2)


def coordinates(kind: CovarianceKind, components: Components) -> Floats | None:
    """Log weights, means, and Cholesky factors with logarithms on the diagonal (or log deviations)."""
    if kind.wide:
        try:
            spread = np.linalg.cholesky(components.covariances)
        except np.linalg.LinAlgError:  # a component is about to collapse: the plain step will say so
            return None
        places = np.arange(spread.shape[1])
        spread[:, places, places] = np.log(spread[:, places, places])
    elif np.all(components.covariances > 0):
        spread = 0.5 * np.log(components.covariances)
    else:
        return None
    logs = np.log(np.maximum(components.weights, 1e-300))
    return np.concatenate([logs, components.means.ravel(), spread.ravel()], dtype=np.float64)


def from_coordinates(kind: CovarianceKind, coordinates: Floats, shape: tuple[int, ...]) -> Components | None:
    k, d = shape
    logs, means, spread = np.split(coordinates, [k, k + k * d])
    if not np.all(np.isfinite(coordinates)) or np.abs(spread).max(initial=0.0) > 300:
        return None
    weights = np.exp(logs - logs.max())
    if kind.wide:
        low = spread.reshape(k, d, d)
        places = np.arange(d)
        low[:, places, places] = np.exp(low[:, places, places])
        covariances = low @ np.transpose(low, (0, 2, 1))
    else:
        covariances = np.exp(2 * spread.reshape(k, d))
    return Components(weights / weights.sum(), means.reshape(k, d), covariances)
