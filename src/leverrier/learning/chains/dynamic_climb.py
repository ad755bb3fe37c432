"""EM for a dynamic network: expected counts through time, then parameters from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from leverrier.arrays import Floats
from leverrier.errors import OptionError
from leverrier.kernels.counts.product_tables import add_products
from leverrier.learning.em.climb import Outcome
from leverrier.models.dynamic.cpd import CPD, GaussianCPD, TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_query import Inference, NamedClusters, engine
from leverrier.models.dynamic.dynamic_unrolled import Density, Laid, Section

ROUNDING = 1e-9
"""A fall of less than this share of the objective is rounding."""
NARROWEST = 1e-3
"""A Gaussian column's deviation in a state is at least this share of its deviation over all rows: a state cannot
collapse on one value."""

PATIENCE = 10
"""Steps by approximate counts without a new best before it is taken as the end."""

Numbers = dict[str, tuple[Floats, Floats]]


class DynamicClimb:
    """Parameters on their way up. Tables that begin equal, of the same variable and parents, stay one table."""

    def __init__(
        self,
        laid: Laid,
        network: DynamicNetwork,
        *,
        prior: float,
        tolerance: float,
        inference: Inference,
        clusters: NamedClusters | None,
        factored: bool = False,
    ) -> None:
        """`factored` takes products of single posteriors for the joint posteriors of families [boyen1999 section 4]."""
        self.laid, self.network, self.prior, self.tolerance = laid, network, prior, tolerance
        self.exact = inference == "exact" and not factored
        self.factored = FamilyProducts(laid) if factored else None
        self.engine = engine(laid, inference, clusters, self.factored.names if self.factored else ())
        self.tied = _tied(laid.sections, network)
        self.numbers: dict[str, GaussianCPD] = dict(network.numbers)
        self.floors = {name: _floor(laid.sequences.numbers[name]) for d in laid.densities for name in d.names}
        self.theta, self.taken = laid.theta(network)
        self.best = (-np.inf, self.theta.copy(), dict(self.numbers))
        self.last, self.gain, self.idle = -np.inf, np.inf, 0
        self.rates = [1.0, 1.0]
        self.counts = np.zeros(0)

    def climb(self, evaluations: int) -> tuple[Floats, Outcome]:
        values: list[float] = []
        for _ in range(evaluations):
            value = self._evaluate()
            values.append(value)
            outcome = self._judge(value)
            if outcome is not Outcome.RUNNING:
                return np.array(values), outcome
            self._maximise()
        return np.array(values), Outcome.RUNNING

    def settle(self) -> float:
        value = self._evaluate()
        if not self.exact and value < self.best[0]:
            return self._return_to_best()
        self.last = value
        return value

    def _evaluate(self) -> float:
        answer = self.engine.expectation(self.theta)
        self.counts = answer.counts if self.factored is None else self.factored.counts(answer.kept)
        total = answer.log_likelihood + float(self.taken.sum()) + float(self.laid.direct.sum())
        if not np.isfinite(total):
            raise OptionError(
                "the start gives some sequence probability zero, and EM never leaves a zero: smooth the network "
                "(mix in a little of the uniform distribution), or let starts be drawn"
            )
        return total + self.log_prior()

    @property
    def log_likelihood(self) -> float:
        """Of the last evaluation, without the prior."""
        return self.last - self.log_prior()

    def log_prior(self) -> float:
        if not self.prior:
            return 0.0
        firsts = [group[0].of(self.theta) for group in self.tied]
        return self.prior * float(sum(np.log(np.maximum(table, 1e-300)).sum() for table in firsts))

    def _judge(self, value: float) -> Outcome:
        """Done when what is still to come, if gains go on shrinking as they do, is below the tolerance."""
        gain, before = value - self.last, self.gain
        if self.exact and gain < -ROUNDING * abs(value):
            return Outcome.FELL
        self.last, self.gain = value, gain
        self.idle = 0 if value > self.best[0] + self.tolerance else self.idle + 1
        if value > self.best[0]:
            self.best = (value, self.theta.copy(), dict(self.numbers))
        if not self.exact and gain < 0:  # steps by approximate counts may fall, and then rise above where they were
            if self.idle < PATIENCE:
                return Outcome.RUNNING
            self._return_to_best()
            return Outcome.CONVERGED
        self.rates = [*self.rates, gain / before if before > 0 and np.isfinite(before) else 1.0][-3:]
        rate = min(max(0.5, *self.rates), 0.999)  # (one step may gain little between two that gain much)
        return Outcome.CONVERGED if gain * rate / (1 - rate) < self.tolerance else Outcome.RUNNING

    def _return_to_best(self) -> float:
        self.last, theta, numbers = self.best
        self.theta, self.numbers = theta.copy(), dict(numbers)
        self.taken = self.laid.put_densities(self.theta, self.numbers)
        return self.last

    def _maximise(self) -> None:
        for group in self.tied:
            counts = np.sum([section.of(self.counts) for section in group], axis=0) + self.prior
            total = counts.sum(axis=-1, keepdims=True)
            table = np.divide(counts, total, out=group[0].of(self.theta).copy(), where=total > 0)
            for section in group:
                section.of(self.theta)[...] = table
        self.laid.put_holes(self.theta)
        for density in self.laid.densities:
            self._maximise_density(density)
        self.taken = self.laid.put_densities(self.theta, self.numbers)

    def _maximise_density(self, density: Density) -> None:
        weights = density.of(self.counts, self.laid.n_slices).reshape(self.laid.n_slices, -1)
        for name in density.names:
            values = self.laid.sequences.numbers[name]
            seen = ~np.isnan(values)
            some, x = weights[seen], values[seen]
            total = some.sum(axis=0)
            old = self.numbers[name]
            safe = np.maximum(total, 1e-300)
            mean = np.where(total > 0, (some * x[:, None]).sum(axis=0) / safe, old.means.ravel())
            square = (some * (x[:, None] - mean) ** 2).sum(axis=0)
            spread = np.where(total > 0, np.sqrt(square / safe), old.deviations.ravel())
            spread = np.maximum(spread, self.floors[name])
            self.numbers[name] = GaussianCPD(
                old.parents, mean.reshape(old.means.shape), spread.reshape(old.means.shape)
            )

    def result(self) -> DynamicNetwork:
        """The network where the climb stands."""
        parts: list[dict[str, CPD]] = [dict(part) for part in (*self.network.stages, self.network.transition)]
        for group in self.tied:
            shared = TableCPD(parts[group[0].stage][group[0].name].parents, group[0].of(self.theta))
            for section in group:
                parts[section.stage][section.name] = shared
        return self.network.with_parts(parts[:-1], parts[-1], self.numbers)


class FamilyProducts:
    """Counts of a network's own families as products of single posteriors."""

    def __init__(self, laid: Laid) -> None:
        unrolled = laid.unrolled
        self.laid = laid
        self.names = [name for name, place in laid.place.items() if unrolled.uncertain[place]]
        widths = np.cumsum([0, *(unrolled.cardinalities[laid.place[name]] for name in self.names)])
        first = {laid.place[name]: int(at) for name, at in zip(self.names, widths[:-1], strict=True)}
        self.jobs = []
        for stage, families in enumerate(unrolled.stages):
            slices = np.flatnonzero(unrolled.stage_of == stage)
            for family in families:
                if not family.by_slice:
                    nodes = [
                        (variable, lag, unrolled.cardinalities[variable], stride, first.get(variable, 0))
                        for (variable, lag), stride in zip(family.nodes, family.strides, strict=True)
                    ]
                    size = family.strides[0] * unrolled.cardinalities[family.nodes[0][0]]
                    self.jobs.append((slices, np.array(nodes, dtype=np.int64), family.base, size))

    def counts(self, posteriors: Floats) -> Floats:
        found = np.zeros(self.laid.size)
        for slices, nodes, base, size in self.jobs:
            add_products(slices, nodes, self.laid.unrolled.codes, posteriors, found[base : base + size])
        return found


def _tied(sections: Sequence[Section], network: DynamicNetwork) -> list[list[Section]]:
    """Tables of a variable that are equal in several stages are one; distributions of other shapes stay as they are."""
    groups: list[list[Section]] = []
    for section in sections:
        own = network.slice(section.stage)[section.name]
        if not isinstance(own, TableCPD):
            continue
        for group in groups:
            if group[0].name == section.name and network.slice(group[0].stage)[section.name] == own:
                group.append(section)
                break
        else:
            groups.append([section])
    return groups


def _floor(values: Floats) -> float:
    spread = float(np.nanstd(values)) if np.any(~np.isnan(values)) else 1.0
    return max(NARROWEST * spread, 1e-12)


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
