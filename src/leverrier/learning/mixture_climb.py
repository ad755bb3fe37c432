"""EM for a mixture: the climber that goes with `climb`."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from enum import Enum

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
SINGULAR = 1e-11
"""A column whose own part of the variance is a smaller share than this is lost in rounding: no float can hold it."""
SINGULAR_WITH_HOLES = 1e-8
"""Filling holes goes through the precision, and loses twice as many digits."""
PLAIN_STEPS = 3
"""EM steps in a row, without extrapolation, before the distance to the end is estimated."""
FIRST_STEP = 4.0


class _Phase(Enum):
    """What the components to be evaluated are: a first point, an EM step from the one before, or an extrapolation."""

    FIRST = 0
    SECOND = 1
    PROPOSAL = 2


class CollapsedError(Exception):
    """A component lost its spread in some direction: without a prior its likelihood has no bound; with one, a row is
    so far out that one matrix cannot hold both. Never leaves the learner."""

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
    accelerate: bool = True
    pool: Executor | None = None

    def ready(self, components: Components) -> Pass:
        make = FullPass if wide(self.kind) else DiagonalPass
        return make(components.weights, components.means, components.covariances)


class MixtureClimb:
    """Components on their way up; the objective is the log-likelihood of the rows in their own units, plus log prior.

    Two EM steps are followed by an extrapolation [varadhan2008, SQUAREM S3]; one that is no improvement is taken back.
    """

    def __init__(self, problem: MixtureProblem, components: Components) -> None:
        self.problem = problem
        self.components = components
        self.counts = components.weights * problem.rows.total
        self.log_likelihood = -np.inf
        self.likelihoods: list[float] = []
        """At the steps that were kept."""
        self._last = -np.inf
        self._slack = 0.0
        self._phase = _Phase.FIRST
        self._before: Components | None = None
        self._plain_step: Components | None = None
        """The EM step that a proposal goes beyond."""
        self._step, self._longest = 1.0, FIRST_STEP
        self._gain, self._check_below, self._plain = 0.0, 1.0, 0

    def climb(self, evaluations: int) -> tuple[Floats, Outcome]:
        values: list[float] = []
        for _ in range(evaluations):
            found = self._evaluate_or_take_back()
            if found is None:
                continue
            value, moments = found
            values.append(value)
            self.likelihoods.append(self.log_likelihood)
            gain = value - self._last
            if not gain >= -self._slack:
                return np.array(values), Outcome.FELL
            self._last = value
            if self._phase is _Phase.SECOND and self._settled(gain):
                return np.array(values), Outcome.CONVERGED
            self._move(moments)
        return np.array(values), Outcome.RUNNING

    def settle(self) -> float:
        found = self._evaluate_or_take_back() or self._evaluate()
        self.likelihoods.append(self.log_likelihood)
        self._phase, self._plain = _Phase.FIRST, 0
        value = found[0]
        return max(value, self._last) if value >= self._last - self._slack else value

    def _evaluate_or_take_back(self) -> tuple[float, Moments] | None:
        """The objective and the moments here; None if here was a proposal that is no improvement, and was left."""
        try:
            value, moments = self._evaluate()
        except CollapsedError:
            if self._phase is not _Phase.PROPOSAL:
                raise
            value, moments = -np.inf, None
        if moments is not None and (self._phase is not _Phase.PROPOSAL or value >= self._last):
            return value, moments
        assert self._plain_step is not None
        self.components = self._plain_step
        self._phase = _Phase.FIRST
        self._longest = max(2.0, self._step / 4)
        return None

    def _move(self, moments: Moments) -> None:
        """Replace the components by those to evaluate next: an EM step, or beyond two of them."""
        now = self.components
        after = maximise(self.problem.kind, now, moments, self.problem.prior)
        second = self._phase is _Phase.SECOND
        if self.problem.accelerate and second and not self._plain and self._before is not None:
            proposal, self._step = extrapolate(self.problem.kind, self._before, now, after, self._longest)
            if proposal is not None:
                if self._step >= self._longest:
                    self._longest *= 4
                self.components, self._plain_step, self._phase = proposal, after, _Phase.PROPOSAL
                return
        self._before, self.components, self._phase = now, after, _Phase.SECOND

    def _settled(self, gain: float) -> bool:
        """Whether what is still to come is below the tolerance.

        Gains fall geometrically near the end: gain·ρ/(1−ρ) is still to come (Aitken). Extrapolation stirs up quickly
        falling errors that hide a slow one, so ρ is taken after several plain steps in a row.
        """
        limit = self.problem.tolerance
        if not self._plain and not gain < max(self._check_below * limit, self._slack):
            self._gain = gain
            return False
        ratio = gain / self._gain if self._gain > 0 else 0.0
        self._gain = gain
        self._plain += 1
        if self._plain < PLAIN_STEPS:
            return False
        if gain <= self._slack or (ratio < 1 and gain * ratio < limit * (1 - ratio)):
            return True
        self._plain = 0
        self._check_below = min(self._check_below, gain / limit if limit > 0 else 0.0) / 4  # (a check costs steps)
        return False

    def _evaluate(self) -> tuple[float, Moments]:
        problem, now = self.problem, self.components
        ready = problem.ready(now)
        self._require_spread(ready)
        likelihood, moments = expect(problem.rows, ready, problem.pool)
        self.counts = moments.count
        self.log_likelihood = likelihood + problem.rows.log_scale
        # A pivot is known to rounding of the variance it is the rest of, and the log-likelihood to rows times that.
        least = (ready.pivots / variances_of(now.covariances)).min() if wide(problem.kind) else 1.0
        self._slack = 1e-9 + 1e-12 * abs(likelihood) + 1e-15 * problem.rows.total / least
        if problem.prior is None:
            return self.log_likelihood, moments
        return self.log_likelihood + log_prior(problem.kind, now, ready, problem.prior), moments

    def _require_spread(self, ready: Pass) -> None:
        """What of a column's variance the columns before it leave, against the whole table's, and against rounding."""
        covariances = self.components.covariances
        if wide(self.problem.kind):
            least = SINGULAR_WITH_HOLES if self.problem.rows.patterns.holes else SINGULAR
            flat = ~np.all(ready.pivots > least * variances_of(covariances), axis=1)
        else:
            flat = ~np.all(covariances > 0, axis=1)
        if self.problem.prior is None:
            flat |= ~np.all(ready.pivots > COLLAPSED * self.problem.pivots, axis=1) | ~(self.counts > 1e-6)
        if flat.any():
            raise CollapsedError(np.flatnonzero(flat).tolist(), self.counts, self.components)


def variances_of(covariances: Floats) -> Floats:
    return np.diagonal(covariances, axis1=1, axis2=2)


def extrapolate(
    kind: Kind, before: Components, now: Components, after: Components, longest: float
) -> tuple[Components | None, float]:
    """Beyond three iterates, in coordinates without bounds: log weights, means, Cholesky factors with log diagonals."""
    if not wide(kind) and not np.all(after.covariances > 0):
        return None, 1.0
    try:
        zero, one, two = (_coordinates(kind, each) for each in (before, now, after))
    except np.linalg.LinAlgError:  # a component is about to collapse: the plain step will say so
        return None, 1.0
    change, bend = one - zero, two - 2 * one + zero
    size = float(bend @ bend)
    step = min(float(np.sqrt(change @ change / size)), longest) if size > 0 else 1.0
    if not step > 1 or not np.isfinite(step):
        return None, 1.0
    return _components(kind, zero + 2 * step * change + step**2 * bend, now.means.shape), step


def _coordinates(kind: Kind, components: Components) -> Floats:
    if wide(kind):
        spread = np.linalg.cholesky(components.covariances)
        places = np.arange(spread.shape[1])
        spread[:, places, places] = np.log(spread[:, places, places])
    else:
        spread = 0.5 * np.log(components.covariances)
    logs = np.log(np.maximum(components.weights, 1e-300))
    return np.concatenate([logs, components.means.ravel(), spread.ravel()], dtype=np.float64)


def _components(kind: Kind, coordinates: Floats, shape: tuple[int, ...]) -> Components | None:
    """None where the coordinates are beyond what floats can hold."""
    k, d = shape
    logs, means, spread = np.split(coordinates, [k, k + k * d])
    if np.abs(spread).max() > 300 or not np.all(np.isfinite(coordinates)):
        return None
    weights = np.exp(logs - logs.max())
    if wide(kind):
        low = spread.reshape(k, d, d)
        places = np.arange(d)
        low[:, places, places] = np.exp(low[:, places, places])
        covariances = low @ np.transpose(low, (0, 2, 1))
    else:
        covariances = np.exp(2 * spread.reshape(k, d))
    return Components(weights / weights.sum(), means.reshape(k, d), covariances)
