"""EM for a dynamic network: steps with extrapolation between them, or plain ones where counts are approximate."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from leverrier.arrays import Floats
from leverrier.errors import OptionError
from leverrier.learning.chains.dynamic_steps import DynamicSteps, Parameters
from leverrier.learning.em.climb import Outcome
from leverrier.learning.mixtures.mixture_ascent import Ascent, Evaluated
from leverrier.models.dynamic.cpd import CPD, GaussianCPD, TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork

ROUNDING = 1e-9
"""A fall of less than this share of the objective is rounding."""
SHRINK, EDGE = 0.01, 1e-6
"""An extrapolated probability keeps this share of what it was, and stays above the edge: zero has no way back."""
PATIENCE = 10
"""Steps by approximate counts without a new best before it is taken as the end."""


class ExactClimb(Ascent[Parameters, Floats]):
    """Steps by exact counts never fall; extrapolated ones that would are taken back."""

    def __init__(self, steps: DynamicSteps, tolerance: float, accelerate: bool = True) -> None:
        super().__init__(steps.start, tolerance, accelerate)
        self.steps = steps
        self.last = -np.inf

    def evaluate(self, model: Parameters) -> Evaluated[Floats]:
        value, counts = self.steps.evaluated(model)
        if value == -np.inf and self.last == -np.inf:
            raise _impossible()
        self.last = max(value, self.last)
        return Evaluated(value, value - self.steps.log_prior(model), counts, ROUNDING * abs(value))

    def maximise(self, model: Parameters, sums: Floats) -> Parameters:
        return self.steps.maximised(model, sums)

    def coordinates(self, model: Parameters) -> Floats:
        """Probabilities as they are (logarithms would run after those that vanish), means, logarithms of spreads."""
        parts = [group[0].of(model.theta).ravel() for group in self.steps.tied]
        for name, scale in self.steps.scales.items():
            cpd = model.numbers[name]
            parts += [cpd.means.ravel() / scale, np.log(cpd.deviations).ravel()]
        return np.concatenate(parts)

    def from_coordinates(self, coordinates: Floats, like: Parameters) -> Parameters:
        at, tables, numbers = 0, [], dict(like.numbers)
        for group in self.steps.tied:
            old = group[0].of(like.theta)
            least = np.maximum(SHRINK * old, np.minimum(old, EDGE))
            table = np.maximum(coordinates[at : at + old.size].reshape(old.shape), least)
            tables.append(table / table.sum(axis=-1, keepdims=True))
            at += old.size
        for name, scale in self.steps.scales.items():
            cpd = like.numbers[name]
            size, shape = cpd.means.size, cpd.means.shape
            means = coordinates[at : at + size].reshape(shape) * scale
            logs = np.clip(coordinates[at + size : at + 2 * size], -600.0, 600.0).reshape(shape)
            numbers[name] = GaussianCPD(cpd.parents, means, np.maximum(np.exp(logs), self.steps.floors[name]))
            at += 2 * size
        return self.steps.with_tables(like, tables, numbers)

    def result(self) -> DynamicNetwork:
        return self.steps.network_of(self.model)

    def log_prior(self) -> float:
        return self.steps.log_prior(self.model)


class ApproximateClimb:
    """Steps by approximate counts, which may fall: the best of them is kept."""

    def __init__(self, steps: DynamicSteps, tolerance: float) -> None:
        self.steps, self.tolerance = steps, tolerance
        self.model, self.best = steps.start, (-np.inf, steps.start)
        self.last, self.gain, self.idle = -np.inf, np.inf, 0
        self.rates = [1.0, 1.0]

    def climb(self, evaluations: int) -> tuple[Floats, Outcome]:
        values: list[float] = []
        for _ in range(evaluations):
            value, counts = self._evaluate()
            values.append(value)
            if self._done(value):
                return np.array(values), Outcome.CONVERGED
            self.model = self.steps.maximised(self.model, counts)
        return np.array(values), Outcome.RUNNING

    def settle(self) -> float:
        value, _ = self._evaluate()
        if value < self.best[0]:
            return self._return_to_best()
        self.last = value
        return value

    def _evaluate(self) -> tuple[float, Floats]:
        value, counts = self.steps.evaluated(self.model)
        if value == -np.inf:
            raise _impossible()
        return value, counts

    def _done(self, value: float) -> bool:
        """What is still to come, if gains go on shrinking as they do, is below the tolerance."""
        gain, before = value - self.last, self.gain
        self.last, self.gain = value, gain
        self.idle = 0 if value > self.best[0] + self.tolerance else self.idle + 1
        if value > self.best[0]:
            self.best = (value, self.model)
        if gain < 0:  # (they may fall, and then rise above where they were)
            if self.idle < PATIENCE:
                return False
            self._return_to_best()
            return True
        self.rates = [*self.rates, gain / before if before > 0 and np.isfinite(before) else 1.0][-3:]
        rate = min(max(0.5, *self.rates), 0.999)  # (one step may gain little between two that gain much)
        return gain * rate / (1 - rate) < self.tolerance

    def _return_to_best(self) -> float:
        self.last, self.model = self.best
        return self.last

    def result(self) -> DynamicNetwork:
        return self.steps.network_of(self.model)

    def log_prior(self) -> float:
        return self.steps.log_prior(self.model)


def climber_of(steps: DynamicSteps, tolerance: float) -> ExactClimb | ApproximateClimb:
    return ExactClimb(steps, tolerance) if steps.exact else ApproximateClimb(steps, tolerance)


def state_order(network: DynamicNetwork, posteriors: Mapping[str, Floats]) -> dict[str, np.ndarray]:
    """Hidden states by falling frequency; equal ones (to nine digits) by what they mean for their children."""
    orders = {}
    for name, table in posteriors.items():
        share = np.round(table.mean(axis=0), 9)
        profile = [
            np.moveaxis(cpd.table(), [p for p, _ in cpd.parents].index(name), 0).reshape(len(share), -1)
            for child, cpd in network.transition.items()
            if child != name and (name, 0) in cpd.parents and isinstance(cpd, TableCPD)
        ]
        keys = [(-s, *(v for part in profile for v in np.round(-part[k], 9).tolist())) for k, s in enumerate(share)]
        orders[name] = np.array(sorted(range(len(share)), key=keys.__getitem__), dtype=np.int64)
    return orders


def reordered(network: DynamicNetwork, orders: Mapping[str, np.ndarray]) -> DynamicNetwork:
    """The same network with hidden states in another order."""

    def turned(name: str, cpd: CPD) -> CPD:
        if not isinstance(cpd, TableCPD) or not ({name, *(p for p, _ in cpd.parents)} & set(orders)):
            return cpd
        table = cpd.values
        for axis, member in enumerate((*(p for p, _ in cpd.parents), name)):
            if member in orders:
                table = np.take(table, orders[member], axis=axis)
        return TableCPD(cpd.parents, table)

    parts = [{name: turned(name, cpd) for name, cpd in part.items()} for part in (*network.stages, network.transition)]
    numbers = {}
    for name, cpd in network.numbers.items():
        means, spread = cpd.means, cpd.deviations
        for axis, member in enumerate(cpd.parents):
            if member in orders:
                means, spread = np.take(means, orders[member], axis), np.take(spread, orders[member], axis)
        numbers[name] = GaussianCPD(cpd.parents, means, spread)
    return network.with_parts(parts[:-1], parts[-1], numbers)


def _impossible() -> OptionError:
    return OptionError(
        "the start gives some sequence probability zero, and EM never leaves a zero: smooth the network "
        "(mix in a little of the uniform distribution), or let starts be drawn"
    )
