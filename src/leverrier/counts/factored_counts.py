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

from leverrier.arrays import Floats
from leverrier.counts.family import Family
from leverrier.data.sequences.read_sequences import lagged
from leverrier.errors import OptionError, TableError, TooLargeError
from leverrier.inference.chains.boyen_koller import by_cluster
from leverrier.inference.chains.slice_passes import SlicePasses, one_cluster
from leverrier.inference.chains.unrolled_rows import SliceFamily
from leverrier.kernels.counts.product_tables import add_products
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_query import Inference, NamedClusters, chosen_clusters, posterior
from leverrier.models.dynamic.dynamic_unrolled import lay

MOST_CELLS = 2**24


class _Windows:
    """What both ways of counting share: names, sizes, which slices count."""

    def __init__(
        self,
        network: DynamicNetwork,
        sequences: Any,
        lags: int = 1,
        inference: Inference = "exact",
        clusters: NamedClusters | None = None,
    ) -> None:
        if lags < 0:
            raise OptionError(f"lags={lags}: expected 0 or more")
        self.network, self.lags = network, lags
        self.inference: Inference = inference
        self.clusters = clusters
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

    def tables(self, families: Sequence[Family]) -> list[Floats]:
        """Expected counts, one array a family: axes are the parents in order, then the child. [boyen1999 eq. 3]"""
        return [self._table(family) for family in families]

    def _table(self, family: Family) -> Floats:
        shape = self.shape(family)
        open_, columns, posteriors = self._found
        rows, stride = [], math.prod(shape)
        for key, states in zip((*family.parents, family.child), shape, strict=True):
            name, lag = self.nodes[key]
            stride //= states
            rows.append((self.place[name], lag, states, stride, columns.get(name, 0)))
        table = np.zeros(math.prod(shape))
        add_products(self.slices, np.array(rows, dtype=np.int64), open_, posteriors, table)
        return table.reshape(shape)

    @cached_property
    def _found(self) -> tuple[NDArray[np.int32], dict[str, int], Floats]:
        """Codes, the first column of each variable that some slice leaves open, and their posteriors."""
        unrolled = lay(self.network, self.sequences, self.network.variables).unrolled
        open_ = [name for name in self.network.variables if unrolled.uncertain[self.place[name]]]
        found = posterior(self.network, self.sequences, open_, self.inference, self.clusters)
        widths = np.cumsum([0, *(found[name].shape[1] for name in open_)])
        columns = dict(zip(open_, widths[:-1].tolist(), strict=True))
        return unrolled.codes, columns, np.concatenate([found[n] for n in open_], axis=1) if open_ else np.empty((0, 0))

    @property
    def posteriors(self) -> dict[str, Floats]:
        """(slices, states) of every variable that some slice leaves open."""
        _, columns, table = self._found
        return {name: table[:, at : at + self.network.cardinality(name)] for name, at in columns.items()}


class ExactSliceCounts(_Windows):
    """The same without approximation: the families asked for are put into the junction trees, if those stay small.

    Under Boyen–Koller the joint posterior of two slices is the approximate one, read from its cliques.
    """

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
        if self.inference == "boyen-koller":
            clusters = by_cluster(chosen_clusters(laid, self.clusters))
        counts = SlicePasses(unrolled, clusters).expectation(theta).counts
        first, found = laid.size, []
        for shape in shapes:
            size = math.prod(shape)
            found.append(counts[first : first + size].reshape(shape))
            first += size
        return found
