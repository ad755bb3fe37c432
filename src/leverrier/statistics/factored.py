"""Expected counts of any family across slices [boyen1999 section 4]: as products of single posteriors, or exactly.

Names are those of `Sequences.windows`: X now, X[-1] in the slice before. Every table counts the same slices: those that
have all the lags in their own sequence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.sequences import lagged
from leverrier.errors import OptionError, TableError, TooLargeError
from leverrier.inference.boyen_koller import by_cluster, choose_clusters
from leverrier.inference.slice_passes import SlicePasses, one_cluster
from leverrier.inference.unrolled import SliceFamily
from leverrier.kernels.factored_counts import add_products
from leverrier.model.dynamic import DynamicNetwork
from leverrier.model.dynamic_query import Inference, NamedClusters, posterior
from leverrier.model.dynamic_unrolled import lay
from leverrier.statistics.family import Family

MOST_CELLS = 2**24

Floats = NDArray[np.float64]


class _Windows:
    """What both ways of counting share: names, sizes, which slices count."""

    def __init__(self, network: DynamicNetwork, sequences: Any, lags: int) -> None:
        if lags < 0:
            raise OptionError(f"lags={lags}: expected 0 or more")
        self.network, self.lags = network, lags
        self.sequences = network.read(sequences)
        self.slices = self.sequences.window_slices(lags)
        if not len(self.slices):
            raise TableError(f"no sequence is longer than {lags} slices: ask for fewer lags")
        self.nodes = {lagged(n, lag): (n, lag) for lag in range(lags + 1) for n in network.variables}
        self.place = {name: number for number, name in enumerate(network.variables)}

    @property
    def cardinalities(self) -> dict[str, int]:
        return {key: self.network.cardinality(name) for key, (name, _) in self.nodes.items()}

    @property
    def total(self) -> float:
        return float(len(self.slices))

    def shape(self, family: Family) -> tuple[int, ...]:
        members = (*family.parents, family.child)
        for key in members:
            if key not in self.nodes:
                raise TableError(f"no node {key!r}: variables are named X now and X[-1] to X[-{self.lags}] before")
        if len(set(members)) < len(members):
            raise TableError(f"the family of {family.child!r} names a node twice")
        shape = tuple(self.network.cardinality(self.nodes[key][0]) for key in members)
        if math.prod(shape) > MOST_CELLS:
            cells = math.prod(shape)
            raise TooLargeError(f"{family.child!r} and its parents have {cells:,} cells: at most {MOST_CELLS:,}")
        return shape


class FactoredCounts(_Windows):
    """Σ over slices of the product of single posteriors: any family, any lags, from one pass of inference."""

    def __init__(
        self,
        network: DynamicNetwork,
        sequences: Any,
        lags: int = 1,
        inference: Inference = "exact",
        clusters: NamedClusters | None = None,
    ) -> None:
        super().__init__(network, sequences, lags)
        laid = lay(network, self.sequences, network.variables)
        self._codes = laid.unrolled.codes
        open_ = [name for name in network.variables if laid.unrolled.uncertain[self.place[name]]]
        found = posterior(network, self.sequences, open_, inference, clusters)
        widths = np.cumsum([0, *(found[name].shape[1] for name in open_)])
        self._columns = dict(zip(open_, widths[:-1].tolist(), strict=True))
        self._posteriors = np.concatenate([found[name] for name in open_], axis=1) if open_ else np.empty((0, 0))

    def tables(self, families: Sequence[Family]) -> list[Floats]:
        """Expected counts, one array a family: axes are the parents in order, then the child. [boyen1999 eq. 3]"""
        return [self._table(family) for family in families]

    def _table(self, family: Family) -> Floats:
        shape = self.shape(family)
        rows, stride = [], math.prod(shape)
        for key, states in zip((*family.parents, family.child), shape, strict=True):
            name, lag = self.nodes[key]
            stride //= states
            rows.append((self.place[name], lag, states, stride, self._columns.get(name, 0)))
        table = np.zeros(math.prod(shape))
        add_products(self.slices, np.array(rows, dtype=np.int64), self._codes, self._posteriors, table)
        return table.reshape(shape)

    @cached_property
    def posteriors(self) -> dict[str, Floats]:
        """(slices, states) of every variable that some slice leaves open."""
        return {
            name: self._posteriors[:, first : first + self.network.cardinality(name)]
            for name, first in self._columns.items()
        }


class ExactSliceCounts(_Windows):
    """The same without approximation: the families asked for are put into the junction trees, if those stay small."""

    def __init__(
        self,
        network: DynamicNetwork,
        sequences: Any,
        lags: int = 1,
        inference: Inference = "exact",
        clusters: NamedClusters | None = None,
    ) -> None:
        """Under Boyen–Koller the joint posterior of two slices is the approximate one, read from its cliques."""
        super().__init__(network, sequences, lags)
        self._inference, self._clusters = inference, clusters

    def tables(self, families: Sequence[Family]) -> list[Floats]:
        """One pass for the whole batch. Refused with the size where the trees become too large."""
        shapes = [self.shape(family) for family in families]
        laid = lay(self.network, self.sequences, self.network.variables)
        theta, _ = laid.theta(self.network)
        theta = np.concatenate([theta, np.ones(sum(math.prod(shape) for shape in shapes))])
        stages = list(laid.unrolled.stages)
        stages += [stages[-1]] * max(0, self.lags + 1 - len(stages))
        asked, base = [], laid.size
        for family, shape in zip(families, shapes, strict=True):
            named = [self.nodes[key] for key in (*family.parents, family.child)]
            nodes = tuple((self.place[name], lag) for name, lag in named)
            strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
            asked.append(SliceFamily(nodes, base, strides, factor=True))
            base += math.prod(shape)
        stages = [(*stage, *asked) if place >= self.lags else stage for place, stage in enumerate(stages)]
        unrolled = replace(laid.unrolled, stages=tuple(stages))
        clusters = one_cluster
        if self._inference == "boyen-koller":
            named_clusters = self._clusters
            chosen = (
                choose_clusters(laid.unrolled)
                if named_clusters is None
                else [[self.place[name] for name in cluster] for cluster in named_clusters]
            )
            clusters = by_cluster(chosen)
        counts = SlicePasses(unrolled, clusters).expectation(theta).counts
        first, found = laid.size, []
        for shape in shapes:
            size = math.prod(shape)
            found.append(counts[first : first + size].reshape(shape))
            first += size
        return found
