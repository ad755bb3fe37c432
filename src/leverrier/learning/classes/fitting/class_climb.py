"""The climb of a latent class model: EM, then quasi-Newton, then Newton with the exact information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.learning.classes.fitting.class_spec import ClassSpec
from leverrier.learning.classes.parts.class_likelihood import ClassLikelihood
from leverrier.learning.classes.parts.indicator import IndicatorKind, Role
from leverrier.run.one_thread import one_thread
from leverrier.run.run import Run
from leverrier.status import Status

EM_STEPS = 30
NEWTON_STEPS = 60
LITTLE = 1e-3
"""A logit with less information than this is at its edge: its probability is 0 or 1 as far as the rows can tell."""
CRAWL = 0.01
"""An EM step that gains fewer nats is followed by Newton's."""
CHEAP = 3e7
"""Up to so many products an information matrix takes milliseconds, and Newton's few steps are the fastest."""
ALIKE = 1e-3
"""Ends within so many nats are the same."""
LIMITS = {Role.SHARE: 30.0, Role.THRESHOLD: 40.0, Role.SHARED: 30.0}


@dataclass(frozen=True, eq=False)
class Ended:
    """Where a climb ended."""

    likelihood: ClassLikelihood
    theta: Floats
    value: float
    status: Status


@dataclass(frozen=True, eq=False)
class ClassFitted:
    """The best end of all starts, its classes in order of size, and which parameters are at an edge."""

    spec: ClassSpec
    likelihood: ClassLikelihood
    theta: Floats
    log_likelihood: float
    status: Status
    ends: tuple[float, ...]
    """The log-likelihood at which each start ended."""
    edge: NDArray[np.bool_]

    @property
    def classes(self) -> int:
        return self.likelihood.classes

    @property
    def best_count(self) -> int:
        return int(sum(end > self.log_likelihood - max(ALIKE, 1e-7 * abs(self.log_likelihood)) for end in self.ends))

    @property
    def posterior(self) -> Floats:
        """(rows, classes); NaN for rows that were left out."""
        return self.by_row(self.likelihood.posterior(self.theta))

    def by_row(self, found: Floats) -> Floats:
        """What patterns have, by row."""
        place = self.likelihood.pattern_of_row
        rows = found[np.maximum(place, 0)].astype(np.float64)
        rows[place < 0] = np.nan
        return rows

    @property
    def shares(self) -> Floats:
        """Of each class, over all rows."""
        found = self.likelihood
        each = np.exp(found.logit.log_shares(found.part(self.theta, 0)))[found.logit_cell]
        return found.weights @ each / found.total


@one_thread
def fit_classes(
    spec: ClassSpec, classes: int, starts: int, seed: int, first: Sequence[Floats] = (), run: Run | None = None
) -> ClassFitted:
    """The best of several starts. `first` are posteriors (rows, classes) to begin with, such as a simpler model's."""
    likelihood = spec.likelihood(classes)
    rows = _one_row_each(likelihood)
    points = [shares[rows] for shares in first]
    if classes == 1:
        points = [np.ones((len(rows), 1))]
    else:
        generators = np.random.default_rng([seed, classes]).spawn(max(0, starts - len(points)))
        points += [_drawn(spec, rows, likelihood.weights, classes, rng) for rng in generators]
    ends: list[Ended] = []
    for shares in points:
        if ends and run is not None and run.late:
            break
        ends.append(_climb(likelihood, shares))
    best = max(ends, key=lambda end: end.value)
    return settled(spec, best, tuple(end.value for end in ends))


def settled(spec: ClassSpec, best: Ended, ends: tuple[float, ...], in_order: bool = False) -> ClassFitted:
    """The end with its classes by falling size, likeliest states as references, and Newton's last steps."""
    likelihood = best.likelihood
    shares = likelihood.posterior(best.theta)
    size = likelihood.weights @ shares
    order = np.arange(len(size)) if in_order else np.argsort(-size, kind="stable")
    by_row = np.zeros((len(likelihood.pattern_of_row), len(size)))
    used = likelihood.pattern_of_row >= 0
    by_row[used] = shares[likelihood.pattern_of_row[used]][:, order]
    again = spec.likelihood(likelihood.classes, by_row)
    moved = _climb(again, by_row[_one_row_each(again)], steps=5)
    theta, value, status = newton(again, moved.theta)
    return ClassFitted(spec, again, theta, value, status, ends, edges(again, theta))


@one_thread
def climbed_from(spec: ClassSpec, classes: int, shares: Floats) -> ClassFitted:
    """One climb from posteriors (rows, classes), whose classes keep their order."""
    likelihood = spec.likelihood(classes, shares)
    end = _climb(likelihood, shares[_one_row_each(likelihood)], steps=10)
    theta, value, status = newton(likelihood, end.theta)
    return ClassFitted(spec, likelihood, theta, value, status, (value,), edges(likelihood, theta))


def _one_row_each(likelihood: ClassLikelihood) -> NDArray[np.int64]:
    """A row of every pattern."""
    patterns, rows = np.unique(likelihood.pattern_of_row, return_index=True)
    return rows[patterns >= 0].astype(np.int64)


def _drawn(spec: ClassSpec, rows: NDArray[np.int64], weights: Floats, classes: int, rng: np.random.Generator) -> Floats:
    """Posteriors that favour the nearest of a few patterns drawn at random."""
    chosen = rng.choice(len(rows), size=classes, replace=len(rows) < classes, p=weights / weights.sum())
    distance = np.zeros((len(rows), classes))
    for item in spec.items:
        values = item.values[rows]
        apart = values[:, None] - values[chosen][None, :]
        far = np.isnan(apart)
        if item.kind.categorical:
            each = np.where(far, 0.5, apart != 0)
        else:
            spread = max(float(np.nanstd(values)), 1e-12)
            each = np.where(far, 0.5, np.minimum(np.abs(apart) / spread, 2.0) / 2)
        distance += each * rng.uniform(0.5, 1.5)
    closeness = np.exp(-3.0 * (distance - distance.min(axis=1, keepdims=True)) / np.sqrt(len(spec.items)))
    mixed = 0.9 * closeness / closeness.sum(axis=1, keepdims=True) + 0.1 * rng.dirichlet(np.ones(classes), len(rows))
    return mixed / mixed.sum(axis=1, keepdims=True)


def _climb(likelihood: ClassLikelihood, shares: Floats, steps: int = EM_STEPS) -> Ended:
    """EM from posteriors of the patterns until it crawls, then Newton, or quasi-Newton where that is cheaper."""
    theta = by_em(likelihood, likelihood.begun(shares), steps)
    if likelihood.size**2 * len(likelihood.weights) * likelihood.classes < CHEAP:
        return Ended(likelihood, *newton(likelihood, theta))
    return _quasi_newton(likelihood, theta, bounds_of(likelihood))


def by_em(likelihood: ClassLikelihood, theta: Floats, steps: int) -> Floats:
    """So many steps of EM, fewer once one gains next to nothing."""
    limits = bounds_of(likelihood)
    theta = np.clip(theta, -limits, limits)
    value = likelihood.value(theta)
    for _ in range(steps):
        there = np.clip(likelihood.improve(theta), -limits, limits)
        reached = likelihood.value(there)
        if np.isfinite(value) and not reached >= value + CRAWL:
            return there if reached >= value else theta
        theta, value = there, reached
    return theta


def _quasi_newton(likelihood: ClassLikelihood, theta: Floats, limits: Floats) -> Ended:
    from scipy.optimize import minimize  # (late: it loads for a tenth of a second)

    if not likelihood.size:
        return Ended(likelihood, theta, likelihood.value(theta), Status.CONVERGED)

    def downhill(at: Floats) -> tuple[float, Floats]:
        value, gradient = likelihood.value_and_gradient(at)
        if not np.isfinite(value):
            return 1e300, np.zeros_like(at)
        return -value, -gradient

    found = minimize(
        downhill,
        theta,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(-limits, limits, strict=True)),
        options={"maxiter": 2000, "maxfun": 4000, "ftol": 1e-11, "gtol": 1e-5, "maxcor": 20},
    )
    value = likelihood.value(found.x)
    before = likelihood.value(theta)
    if not np.isfinite(value) or value < before:
        return Ended(likelihood, theta, before, Status.CONVERGED)
    return Ended(likelihood, found.x, value, Status.CONVERGED if found.success else Status.ITERATION_LIMIT)


def bounds_of(likelihood: ClassLikelihood) -> Floats:
    """How far each parameter may go: where it means 0 or 1, or a spread too small or great to be one."""
    limits = np.full(likelihood.size, np.inf)
    place = likelihood.logit.size
    limits[:place] = LIMITS[Role.SHARE]
    for indicator in likelihood.indicators:
        for parameter in indicator.parameters:
            if parameter.role is Role.SPREAD:
                limits[place] = 10.0 if indicator.kind is IndicatorKind.NEGATIVE_BINOMIAL else 6.0
            elif indicator.density.logit_scale or indicator.kind.count:
                limits[place] = LIMITS.get(parameter.role, 25.0)
            place += 1
    return limits


def edges(likelihood: ClassLikelihood, theta: Floats) -> NDArray[np.bool_]:
    """Which parameters are at an edge: out at their limit, or logits of which the rows say nothing more."""
    shares = likelihood.posterior(theta) * likelihood.weights[:, None]
    known = np.diag(likelihood.complete_information(theta, shares))
    at_edge = np.abs(theta) > bounds_of(likelihood) - 1e-6
    at_edge[: likelihood.logit.size] |= known[: likelihood.logit.size] < LITTLE
    place = likelihood.logit.size
    for indicator in likelihood.indicators:
        own = slice(place, place + indicator.size)
        if indicator.density.logit_scale:
            at_edge[own] |= known[own] < LITTLE
        place += indicator.size
    return at_edge


def newton(likelihood: ClassLikelihood, theta: Floats) -> tuple[Floats, float, Status]:
    """Newton's steps with the observed information until nothing is left to gain; then what is at an edge is taken all
    the way there, and the rest follows."""
    theta, value, status = _newton(likelihood, theta)
    out = _outward(likelihood, theta)
    if out is None or not likelihood.value(out) > value:
        return theta, value, status
    return _newton(likelihood, out)


def _outward(likelihood: ClassLikelihood, theta: Floats) -> Floats | None:
    """θ with the logits of profiles that are at an edge as far out as they may go; None where there are none."""
    profile = np.array([each.role is Role.PROFILE for each in likelihood.parameters], dtype=bool)
    limits = bounds_of(likelihood)
    there = edges(likelihood, theta) & profile & np.isfinite(limits)
    return np.where(there, np.sign(theta) * np.where(there, limits, 0.0), theta) if there.any() else None


def _newton(likelihood: ClassLikelihood, theta: Floats) -> tuple[Floats, float, Status]:
    """Newton's steps, parameters at an edge held."""
    value, gradient = likelihood.value_and_gradient(theta)
    damping, free = 0.0, ~edges(likelihood, theta)
    for _ in range(NEWTON_STEPS):
        free = ~edges(likelihood, theta)
        if not free.any():
            return theta, value, Status.CONVERGED
        step = np.zeros_like(theta)
        step[free] = _damped(likelihood.information(theta)[np.ix_(free, free)], gradient[free], damping)
        hoped = float(gradient @ step)
        if abs(hoped) < 1e-13 * max(1.0, abs(value)):
            return theta, value, Status.CONVERGED
        there = theta + step
        reached, slope = likelihood.value_and_gradient(there)
        if np.isfinite(reached) and reached >= value - 1e-12 * abs(value):
            small = reached - value < 1e-11 * max(1.0, abs(value)) and hoped < 1e-9 * max(1.0, abs(value))
            theta, value, gradient, damping = there, reached, slope, damping / 10
            if small:
                return theta, value, Status.CONVERGED
        else:
            damping = max(10 * damping, 1e-4)
            if damping > 1e8:
                break
    return theta, value, Status.ITERATION_LIMIT if float(np.abs(gradient[free]).max()) > 1e-2 else Status.CONVERGED


def _damped(information: Floats, gradient: Floats, damping: float) -> Floats:
    scale = np.sqrt(np.maximum(np.abs(np.diag(information)), 1e-12))
    unit = information / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(unit)
    lifted = np.where(values > 1e-9, values, np.maximum(np.abs(values), 1e-2)) + damping
    return vectors @ ((vectors.T @ (gradient / scale)) / lifted) / scale
