"""EM for a dynamic network by exact counts, with quasi-Newton steps once EM itself has become slow.

Expected counts are the slope of the log-likelihood too, so each evaluation serves either kind of step. Probabilities
are taken by their square roots: there EM reckons with one curvature for a whole row, and a zero is no wall.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from leverrier.arrays import Floats
from leverrier.errors import OptionError
from leverrier.learning.chains.curvature import Curvature
from leverrier.learning.chains.dynamic_steps import DynamicSteps, Parameters
from leverrier.learning.mixtures.mixture_ascent import Ascent, Evaluated, Phase
from leverrier.models.dynamic.cpd import GaussianCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork

ROUNDING = 1e-9
"""A fall of less than this share of the objective is rounding."""
SHRINK, EDGE = 0.01, 1e-6
"""A probability keeps this share of what it was, and stays above the edge: zero has no way back."""
WIDEST = 0.7
"""The logarithm of a spread changes by no more than this in one step."""
SLOW, EARLY = 1e-3, 8
"""EM goes on alone for so many steps, and until it gains less than this many nats a slice: which hill is climbed is
settled by then."""
STEADY = 10
"""So many steps together have gained less than the tolerance before the climb may end."""
RISE = 1e-4
"""A step must gain this share of what the slope promised."""


class ExactClimb(Ascent[Parameters, Floats]):
    """No step falls: a quasi-Newton step that would is shortened once, then EM's own step is taken."""

    def __init__(self, steps: DynamicSteps, tolerance: float, accelerate: bool = True) -> None:
        super().__init__(steps.start, tolerance, accelerate)
        self.steps = steps
        self._curvature = Curvature()
        self._lately: deque[float] = deque(maxlen=STEADY)
        self._taken, self._reached, self._slow = 0, -np.inf, False
        self._way: tuple[Parameters, Floats, Floats, float] | None = None
        """Where a proposal set out, its coordinates, the direction and how much was promised."""
        self._shortened = False

    @property
    def last(self) -> float:
        """What was climbed so far."""
        return self._last

    def evaluate(self, model: Parameters) -> Evaluated[Floats]:
        value, counts = self.steps.evaluated(model)
        if value == -np.inf and self._last == -np.inf:
            raise impossible()
        return Evaluated(value, value - self.steps.log_prior(model), counts, ROUNDING * abs(value))

    def maximise(self, model: Parameters, sums: Floats) -> Parameters:
        return self.steps.maximised(model, sums)

    def coordinates(self, model: Parameters) -> Floats:
        """Square roots of probabilities, means by their column's spread, logarithms of spreads."""
        parts = [np.sqrt(group[0].of(model.theta)).ravel() for group in self.steps.tied]
        for name, scale in self.steps.scales.items():
            cpd = model.numbers[name]
            parts += [cpd.means.ravel() / scale, np.log(cpd.deviations).ravel()]
        return np.concatenate(parts)

    def from_coordinates(self, coordinates: Floats, like: Parameters) -> Parameters:
        at, tables, numbers = 0, [], dict(like.numbers)
        for group in self.steps.tied:
            old = group[0].of(like.theta)
            least = np.maximum(SHRINK * old, np.minimum(old, EDGE))
            root = np.maximum(coordinates[at : at + old.size].reshape(old.shape), np.sqrt(least))
            table = root * root
            tables.append(table / table.sum(axis=-1, keepdims=True))
            at += old.size
        for name, scale in self.steps.scales.items():
            cpd = like.numbers[name]
            size, shape = cpd.means.size, cpd.means.shape
            means = coordinates[at : at + size].reshape(shape) * scale
            before = np.log(cpd.deviations)
            logs = np.clip(coordinates[at + size : at + 2 * size].reshape(shape), before - WIDEST, before + WIDEST)
            numbers[name] = GaussianCPD(cpd.parents, means, np.maximum(np.exp(logs), self.steps.floors[name]))
            at += 2 * size
        return self.steps.with_tables(like, tables, numbers)

    def slopes(self, model: Parameters, after: Parameters, sums: Floats) -> tuple[Floats, Floats]:
        """By coordinate, the slope of what is climbed, and the inverse curvature that EM reckons with; `after` is the
        M-step."""
        slope, known = [], []
        for group, counts in zip(self.steps.tied, self.steps.table_counts(sums), strict=True):
            root = np.sqrt(group[0].of(model.theta))
            total = counts.sum(axis=-1, keepdims=True)
            pull = np.divide(counts, root, out=np.zeros_like(root), where=root > 0)
            slope.append(2 * (pull - total * root).ravel())
            inverse = np.divide(0.25, total, out=np.zeros_like(total), where=total > 0)
            known.append(np.broadcast_to(inverse, root.shape).ravel())
        totals = self.steps.number_totals(sums)
        for name, scale in self.steps.scales.items():
            old, new, total = model.numbers[name], after.numbers[name], totals[name]
            far = (new.means - old.means) / old.deviations
            wide = (new.deviations / old.deviations) ** 2 + far**2 - 1
            at_floor = np.maximum(old.deviations, new.deviations) <= self.steps.floors[name]
            safe = np.maximum(total, 1e-300)
            slope += [(total * far * scale / old.deviations).ravel(), np.where(at_floor, 0.0, total * wide).ravel()]
            known += [((old.deviations / scale) ** 2 / safe).ravel(), (0.5 / safe).ravel()]
        return np.concatenate(slope), np.concatenate(known)

    def _may_settle(self) -> bool:
        """Quasi-Newton steps gain by fits and starts, so several of them together must have gained little."""
        self._lately.append(self._last)
        little = not self._slow or self._last - self._lately[0] < self.tolerance + self._rounding
        return self._phase is not Phase.FIRST and (little or self._plain > 0)

    def _move(self, sums: Floats) -> None:
        now = self.model
        after = self.maximise(now, sums)
        self._taken += 1
        self._before, self.model, self._phase = now, after, Phase.SECOND
        if not self.accelerate:
            return
        point = self.coordinates(now)
        slope, known = self.slopes(now, after, sums)
        self._curvature.reached(point, slope)
        gain, self._reached = self._last - self._reached, self._last
        self._slow = self._slow or (self._taken >= EARLY and gain < SLOW * self.steps.laid.n_slices)
        if self._plain or not self._slow:
            return
        direction = self._curvature.direction(slope, known)
        if direction is not None:
            self._way, self._shortened = (now, point, direction, float(direction @ slope)), False
            self._plain_step = after
            self.model, self._phase = self.from_coordinates(point + direction, now), Phase.PROPOSAL

    def _evaluate_or_take_back(self) -> Evaluated[Floats] | None:
        found = self.evaluate(self.model)
        if self._phase is not Phase.PROPOSAL or self._way is None:
            self._rounding = found.rounding
            return found
        now, point, direction, promised = self._way
        if found.value >= self._last + (0.0 if self._shortened else RISE * promised):
            self._rounding = found.rounding
            return found
        if not self._shortened:
            missed = promised - (found.value - self._last)
            share = 0.5 * promised / missed if np.isfinite(missed) and missed > 0 else 0.1
            self._shortened = True
            self.model = self.from_coordinates(point + min(max(share, 0.05), 0.5) * direction, now)
            return None
        assert self._plain_step is not None
        self._curvature.forget()
        self.model, self._phase = self._plain_step, Phase.FIRST
        return None

    def result(self) -> DynamicNetwork:
        return self.steps.network_of(self.model)

    def log_prior(self) -> float:
        return self.steps.log_prior(self.model)


def impossible() -> OptionError:
    return OptionError(
        "the start gives some sequence probability zero, and EM never leaves a zero: smooth the network "
        "(mix in a little of the uniform distribution), or let starts be drawn"
    )
