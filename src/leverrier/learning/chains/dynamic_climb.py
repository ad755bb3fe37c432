"""EM for a dynamic network where counts are approximate, which climber suits, and the order of hidden states."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.chains.dynamic_steps import DynamicSteps
from leverrier.learning.chains.exact_climb import ExactClimb, impossible
from leverrier.learning.em.climb import Outcome
from leverrier.models.dynamic.cpd import CPD, GaussianCPD, TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork

PATIENCE = 10
"""Steps by approximate counts without a new best before it is taken as the end."""


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
            raise impossible()
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
