"""EM for a hidden class behind numbers and categories: the mixture's steps, with counts for the categories."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from leverrier.arrays import Floats
from leverrier.inference.gaussian.gaussian_rows import expect
from leverrier.inference.gaussian.mixed_rows import Categories, ClassMoments, ClassPass
from leverrier.learning.mixtures.mixture_ascent import Ascent, Evaluated
from leverrier.learning.mixtures.mixture_climb import MixtureProblem, coordinates, from_coordinates
from leverrier.learning.mixtures.mixture_prior import Components, log_prior, maximise


@dataclass(frozen=True, eq=False)
class ClassParameters:
    """The numbers' components, and θ (all states of all categories, classes)."""

    numbers: Components
    theta: Floats


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """What every start shares. `pseudo` is the prior's count for every state, the same in every class."""

    numbers: MixtureProblem
    categories: Categories
    pseudo: Floats

    def ready(self, now: ClassParameters) -> ClassPass:
        return ClassPass(self.numbers.ready(now.numbers), self.categories, now.theta)

    def theta(self, cells: Floats) -> Floats:
        """P(state | class) from counts (states, classes) and the prior's; uniform where there are none."""
        counts = cells + self.pseudo[:, None]
        theta = np.empty_like(counts)
        for lo, hi in pairwise(self.categories.offsets):
            own = counts[lo:hi]
            total = own.sum(axis=0)
            theta[lo:hi] = np.divide(own, total, out=np.full_like(own, 1 / (hi - lo)), where=total > 0)
        return theta


class ClassClimb(Ascent[ClassParameters, ClassMoments]):
    """The objective is the log-likelihood of the rows in their own units, plus the log prior."""

    def __init__(self, problem: ClassProblem, begin: ClassParameters) -> None:
        super().__init__(begin, problem.numbers.tolerance, problem.numbers.accelerate)
        self.problem = problem

    def evaluate(self, model: ClassParameters) -> Evaluated[ClassMoments]:
        numbers = self.problem.numbers
        ready = self.problem.ready(model)
        scaled, moments = expect(numbers.rows, ready, numbers.pool)
        assert isinstance(moments, ClassMoments)
        likelihood = scaled + numbers.rows.log_scale
        prior = 0.0
        if numbers.prior is not None:
            prior = log_prior(numbers.kind, model.numbers, ready.numbers, numbers.prior) + self._category_prior(model)
        rounding = numbers.rounding(scaled, model.numbers, ready.numbers)
        return Evaluated(likelihood + prior, likelihood, moments, rounding)

    def _category_prior(self, model: ClassParameters) -> float:
        """Σ pseudo · log(θ / θ at the prior's mode): at most 0."""
        pseudo = self.problem.pseudo
        used = pseudo > 0
        mode = self.problem.theta(np.zeros((len(pseudo), 1)))
        return float(pseudo[used] @ (np.log(model.theta[used]) - np.log(mode[used])).sum(axis=1))

    def maximise(self, model: ClassParameters, sums: ClassMoments) -> ClassParameters:
        numbers = maximise(self.problem.numbers.kind, model.numbers, sums, self.problem.numbers.prior)
        return ClassParameters(numbers, self.problem.theta(sums.cells))

    def coordinates(self, model: ClassParameters) -> Floats | None:
        numbers = coordinates(self.problem.numbers.kind, model.numbers)
        return None if numbers is None else np.concatenate([numbers, np.log(np.maximum(model.theta, 1e-300)).ravel()])

    def from_coordinates(self, coordinates: Floats, like: ClassParameters) -> ClassParameters | None:
        k, d = like.numbers.means.shape
        kind = self.problem.numbers.kind
        size = k + k * d + (k * d * d if kind.wide else k * d)
        numbers = from_coordinates(kind, coordinates[:size], (k, d))
        logs = coordinates[size:].reshape(like.theta.shape)
        if numbers is None or not np.all(np.isfinite(logs)):
            return None
        theta = np.empty_like(like.theta)
        for lo, hi in pairwise(self.problem.categories.offsets):
            own = np.exp(logs[lo:hi] - logs[lo:hi].max(axis=0))
            theta[lo:hi] = own / own.sum(axis=0)
        return ClassParameters(numbers, theta)
