"""One EM step of a dynamic network: expected counts through time, and parameters from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats
from leverrier.kernels.counts.product_tables import add_products
from leverrier.models.dynamic.cpd import CPD, GaussianCPD, TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_query import Inference, NamedClusters, engine
from leverrier.models.dynamic.dynamic_unrolled import Density, Laid, Section

NARROWEST = 1e-3
"""A Gaussian column's deviation in a state is at least this share of its deviation over all rows: a state cannot
collapse on one value."""


@dataclass(frozen=True, eq=False)
class Parameters:
    """Tables, with what they say of holes and densities by slice, as inference reads them."""

    theta: Floats
    numbers: Mapping[str, GaussianCPD]
    taken: Floats
    """By slice, the logarithm that densities were divided by."""


class DynamicSteps:
    """E-step and M-step. Tables that begin equal, of the same variable and parents, stay one table."""

    def __init__(
        self,
        laid: Laid,
        network: DynamicNetwork,
        *,
        prior: float = 0.0,
        inference: Inference = "exact",
        clusters: NamedClusters | None = None,
        factored: bool = False,
    ) -> None:
        """`factored` takes products of single posteriors for the joint posteriors of families [boyen1999 section 4]."""
        self.laid, self.network, self.prior = laid, network, prior
        self.exact = inference == "exact" and not factored
        self.factored = FamilyProducts(laid) if factored else None
        self.engine = engine(laid, inference, clusters, self.factored.names if self.factored else ())
        self.tied = _tied(laid.sections, network)
        self.floors = {name: _floor(laid.sequences.numbers[name]) for d in laid.densities for name in d.names}
        self.scales = {name: floor / NARROWEST for name, floor in self.floors.items()}
        self.start = self._laid_out(network)

    def begun_at(self, network: DynamicNetwork) -> DynamicSteps:
        """The same from other tables of the same structure: what inference prepared is shared."""
        other = copy(self)
        other.network, other.tied = network, _tied(self.laid.sections, network)
        other.start = other._laid_out(network)
        return other

    def _laid_out(self, network: DynamicNetwork) -> Parameters:
        theta, taken = self.laid.theta(network)
        return Parameters(theta, dict(network.numbers), taken)

    def evaluated(self, at: Parameters) -> tuple[float, Floats]:
        """What is climbed, −inf where the data are impossible, and the expected counts."""
        answer = self.engine.expectation(at.theta)
        counts = answer.counts if self.factored is None else self.factored.counts(answer.kept)
        total = answer.log_likelihood + float(at.taken.sum()) + float(self.laid.direct.sum())
        return (total + self.log_prior(at) if np.isfinite(total) else -np.inf), counts

    def log_prior(self, at: Parameters) -> float:
        if not self.prior:
            return 0.0
        firsts = [group[0].of(at.theta) for group in self.tied]
        return self.prior * float(sum(np.log(np.maximum(table, 1e-300)).sum() for table in firsts))

    def maximised(self, at: Parameters, counts: Floats) -> Parameters:
        tables = []
        for group, some in zip(self.tied, self.table_counts(counts), strict=True):
            total = some.sum(axis=-1, keepdims=True)
            tables.append(np.divide(some, total, out=group[0].of(at.theta).copy(), where=total > 0))
        numbers = dict(at.numbers)
        for density in self.laid.densities:
            numbers |= self._normal_columns(density, counts, at.numbers)
        return self.with_tables(at, tables, numbers)

    def table_counts(self, counts: Floats) -> list[Floats]:
        """By tied group, with the prior's."""
        return [np.sum([section.of(counts) for section in group], axis=0) + self.prior for group in self.tied]

    def number_totals(self, counts: Floats) -> dict[str, Floats]:
        """By column of numbers, how many of its cells are expected in each state."""
        found = {}
        for density in self.laid.densities:
            weights = density.of(counts, self.laid.n_slices)
            for name in density.names:
                seen = ~np.isnan(self.laid.sequences.numbers[name])
                found[name] = weights[seen].sum(axis=0)
        return found

    def with_tables(self, at: Parameters, tables: Sequence[Floats], numbers: Mapping[str, GaussianCPD]) -> Parameters:
        """These tables, one for each tied group, and all that follows from them."""
        theta = at.theta.copy()
        for group, table in zip(self.tied, tables, strict=True):
            for section in group:
                section.of(theta)[...] = table
        self.laid.put_holes(theta)
        return Parameters(theta, numbers, self.laid.put_densities(theta, numbers))

    def _normal_columns(
        self, density: Density, counts: Floats, numbers: Mapping[str, GaussianCPD]
    ) -> dict[str, GaussianCPD]:
        weights = density.of(counts, self.laid.n_slices).reshape(self.laid.n_slices, -1)
        found = {}
        for name in density.names:
            values = self.laid.sequences.numbers[name]
            seen = ~np.isnan(values)
            some, x = weights[seen], values[seen]
            total = some.sum(axis=0)
            old = numbers[name]
            safe = np.maximum(total, 1e-300)
            mean = np.where(total > 0, (some * x[:, None]).sum(axis=0) / safe, old.means.ravel())
            square = (some * (x[:, None] - mean) ** 2).sum(axis=0)
            spread = np.where(total > 0, np.sqrt(square / safe), old.deviations.ravel())
            spread = np.maximum(spread, self.floors[name])
            found[name] = GaussianCPD(old.parents, mean.reshape(old.means.shape), spread.reshape(old.means.shape))
        return found

    def network_of(self, at: Parameters) -> DynamicNetwork:
        parts: list[dict[str, CPD]] = [dict(part) for part in (*self.network.stages, self.network.transition)]
        for group in self.tied:
            shared = TableCPD(parts[group[0].stage][group[0].name].parents, group[0].of(at.theta))
            for section in group:
                parts[section.stage][section.name] = shared
        return self.network.with_parts(parts[:-1], parts[-1], at.numbers)


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
