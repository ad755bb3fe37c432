"""EM steps with extrapolation between them, for any model whose parameters have coordinates without bounds.

Two EM steps are followed by an extrapolation [varadhan2008, SQUAREM S3]; one that is no improvement is taken back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.em.climb import Outcome

Model = TypeVar("Model")
Sums = TypeVar("Sums")

PLAIN_STEPS = 3
"""EM steps in a row, without extrapolation, before the distance to the end is estimated."""
FIRST_STEP = 4.0


class Phase(Enum):
    """What the parameters to be evaluated are: a first point, an EM step from the one before, or an extrapolation."""

    FIRST = 0
    SECOND = 1
    PROPOSAL = 2


class CollapsedError(Exception):
    """A component lost its spread in some direction: without a prior its likelihood has no bound; with one, a row is
    so far out that one matrix cannot hold both. Never leaves the learner."""

    def __init__(self, which: list[int]) -> None:
        super().__init__(f"components {which} collapsed")
        self.which = which


@dataclass(frozen=True)
class Evaluated(Generic[Sums]):
    """The objective and its log-likelihood at some parameters, what an E-step gave, and how exactly this is known."""

    value: float
    log_likelihood: float
    sums: Sums
    rounding: float


class Ascent(ABC, Generic[Model, Sums]):
    """Parameters on their way up: the climber that goes with `climb`."""

    def __init__(self, model: Model, tolerance: float, accelerate: bool) -> None:
        self.model = model
        self.tolerance = tolerance
        self.accelerate = accelerate
        self.likelihoods: list[float] = []
        """At the steps that were kept."""
        self._last = -np.inf
        self._rounding = 0.0
        self._phase = Phase.FIRST
        self._before: Model | None = None
        self._plain_step: Model | None = None
        """The EM step that a proposal goes beyond."""
        self._step, self._longest = 1.0, FIRST_STEP
        self._gain, self._check_below, self._plain = 0.0, 1.0, 0

    @abstractmethod
    def evaluate(self, model: Model) -> Evaluated[Sums]:
        """The E-step; raises CollapsedError where there is no objective."""

    @abstractmethod
    def maximise(self, model: Model, sums: Sums) -> Model:
        """The M-step."""

    @abstractmethod
    def coordinates(self, model: Model) -> Floats | None:
        """The parameters without bounds; None where they are at one."""

    @abstractmethod
    def from_coordinates(self, coordinates: Floats, like: Model) -> Model | None:
        """The parameters again; None where they are beyond what floats can hold."""

    def climb(self, evaluations: int) -> tuple[Floats, Outcome]:
        values: list[float] = []
        for _ in range(evaluations):
            found = self._evaluate_or_take_back()
            if found is None:
                continue
            values.append(found.value)
            self.likelihoods.append(found.log_likelihood)
            gain = found.value - self._last
            if not gain >= -self._rounding:
                return np.array(values), Outcome.FELL
            self._last = found.value
            if self._may_settle() and self._settled(gain):
                return np.array(values), Outcome.CONVERGED
            self._move(found.sums)
        return np.array(values), Outcome.RUNNING

    def settle(self) -> float:
        found = self._evaluate_or_take_back() or self.evaluate(self.model)
        self.likelihoods.append(found.log_likelihood)
        self._phase, self._plain = Phase.FIRST, 0
        return max(found.value, self._last) if found.value >= self._last - self._rounding else found.value

    def _evaluate_or_take_back(self) -> Evaluated[Sums] | None:
        """What is here; None if here was a proposal that is no improvement, and was left."""
        proposed = self._phase is Phase.PROPOSAL
        try:
            found = self.evaluate(self.model)
        except CollapsedError:
            if not proposed:
                raise
            found = None
        if found is not None and (not proposed or found.value >= self._last):
            self._rounding = found.rounding
            return found
        assert self._plain_step is not None
        self.model, self._phase = self._plain_step, Phase.FIRST
        self._longest = max(2.0, self._step / 4)
        return None

    def _may_settle(self) -> bool:
        """Whether the last gain tells what is still to come."""
        return self._phase is Phase.SECOND

    def _move(self, sums: Sums) -> None:
        """Replace the parameters by those to evaluate next: an EM step, or beyond two of them."""
        now = self.model
        after = self.maximise(now, sums)
        if self.accelerate and self._phase is Phase.SECOND and not self._plain and self._before is not None:
            proposal = self._beyond(self._before, now, after)
            if proposal is not None:
                if self._step >= self._longest:
                    self._longest *= 4
                self.model, self._plain_step, self._phase = proposal, after, Phase.PROPOSAL
                return
        self._before, self.model, self._phase = now, after, Phase.SECOND

    def _beyond(self, before: Model, now: Model, after: Model) -> Model | None:
        zero, one, two = (self.coordinates(each) for each in (before, now, after))
        if zero is None or one is None or two is None:
            return None
        change, bend = one - zero, two - 2 * one + zero
        size = float(bend @ bend)
        self._step = min(float(np.sqrt(change @ change / size)), self._longest) if size > 0 else 1.0
        if not self._step > 1:
            return None
        return self.from_coordinates(zero + 2 * self._step * change + self._step**2 * bend, now)

    def _settled(self, gain: float) -> bool:
        """Whether what is still to come is below the tolerance.

        Gains fall geometrically near the end: gain·ρ/(1−ρ) is still to come (Aitken). Extrapolation stirs up quickly
        falling errors that hide a slow one, so ρ is taken after several plain steps in a row.
        """
        if not self._plain and not gain < max(self._check_below * self.tolerance, self._rounding):
            self._gain = gain
            return False
        ratio = gain / self._gain if self._gain > 0 else 0.0
        self._gain = gain
        self._plain += 1
        if self._plain < PLAIN_STEPS:
            return False
        if gain <= self._rounding or (ratio < 1 and gain * ratio < self.tolerance * (1 - ratio)):
            return True
        self._plain = 0
        below = gain / self.tolerance if self.tolerance > 0 else 0.0
        self._check_below = min(self._check_below, below) / 4  # (a check costs steps: not again too soon)
        return False
