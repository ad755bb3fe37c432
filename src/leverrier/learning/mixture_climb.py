"""EM for a mixture: the climber that goes with `climb`."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.inference.gaussian import DiagonalPass, FullPass, GaussianRows, Moments, Pass, expect
from leverrier.learning.climb import Outcome
from leverrier.learning.mixture_prior import Components, NormalInverseWishart, log_prior, maximise
from leverrier.learning.mixture_start import wide
from leverrier.model.mixture import Kind

Floats = NDArray[np.float64]

COLLAPSED = 1e-13
"""A variance below this share of the whole table's is none: the component has shrunk onto a point, a line, a plane."""
CALM = 2
"""Iterations in a row whose estimated distance to the end is below the tolerance."""


class CollapsedError(Exception):
    """Without a prior a component lost its spread: its likelihood has no bound. Never leaves the learner."""

    def __init__(self, which: list[int], counts: Floats, components: Components) -> None:
        super().__init__(f"components {which} collapsed")
        self.which = which
        self.counts = counts
        self.components = components


@dataclass(frozen=True, eq=False)
class MixtureProblem:
    """What every start shares. `pivots` are those of the whole table's covariance."""

    rows: GaussianRows
    kind: Kind
    prior: NormalInverseWishart | None
    pivots: Floats
    tolerance: float
    pool: Executor | None = None

    def ready(self, components: Components) -> Pass:
        make = FullPass if wide(self.kind) else DiagonalPass
        return make(components.weights, components.means, components.covariances)


class MixtureClimb:
    """Components on their way up; the objective is the log-likelihood of the rows in their own units, plus log prior."""

    def __init__(self, problem: MixtureProblem, components: Components) -> None:
        self.problem = problem
        self.components = components
        self.counts = components.weights * problem.rows.total
        self.log_likelihood = -np.inf
        self.likelihoods: list[float] = []
        self._last = -np.inf
        self._gain = 0.0
        self._calm = 0
        self._slack = 0.0

    def climb(self, evaluations: int) -> tuple[Floats, Outcome]:
        values = []
        for _ in range(evaluations):
            value, moments = self._evaluate()
            values.append(value)
            outcome = self._judge(value)
            if outcome is not Outcome.RUNNING:
                return np.array(values), outcome
            self.components = maximise(self.problem.kind, self.components, moments, self.problem.prior)
        return np.array(values), Outcome.RUNNING

    def settle(self) -> float:
        value, _ = self._evaluate()
        return max(value, self._last) if value >= self._last - self._slack else value

    def _evaluate(self) -> tuple[float, Moments]:
        problem, now = self.problem, self.components
        ready = problem.ready(now)
        if problem.prior is None:
            self._require_spread(ready)
        likelihood, moments = expect(problem.rows, ready, problem.pool)
        self.counts = moments.count
        self.log_likelihood = likelihood + problem.rows.log_scale
        self.likelihoods.append(self.log_likelihood)
        steepest = np.abs(ready.inverse).max() if isinstance(ready, FullPass) else ready.variances.min() ** -0.5
        self._slack = 1e-9 + 1e-12 * abs(likelihood) + 4e-15 * problem.rows.total * steepest
        if problem.prior is None:
            return self.log_likelihood, moments
        return self.log_likelihood + log_prior(problem.kind, now, ready, problem.prior), moments

    def _require_spread(self, ready: Pass) -> None:
        """Compared with the whole table, column by column given those before it."""
        pivots = ready.pivots if wide(self.problem.kind) else self.components.covariances
        whole = self.problem.pivots
        flat = ~np.all(pivots > COLLAPSED * whole, axis=1) | ~(self.counts > 1e-6)
        if flat.any() or not ready.positive:
            which = np.flatnonzero(flat).tolist() or list(range(len(flat)))
            raise CollapsedError(which, self.counts, self.components)

    def _judge(self, value: float) -> Outcome:
        """Gains fall geometrically near the end: gain·ρ/(1−ρ) is what is still to come (Aitken)."""
        gain, before = value - self._last, self._gain
        if not gain >= -self._slack:
            return Outcome.FELL
        ratio = gain / before if before > 0 else 1.0
        self._last, self._gain = value, gain
        near = ratio < 1 and gain * ratio < self.problem.tolerance * (1 - ratio) and gain < self.problem.tolerance
        self._calm = self._calm + 1 if near or gain <= self._slack else 0
        return Outcome.CONVERGED if self._calm >= CALM else Outcome.RUNNING
