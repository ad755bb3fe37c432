"""Expected counts of any family across slices [boyen1999 section 4]: products of single posteriors.

Names are those of `Sequences.windows`: X now, X[-1] in the slice before. Every table counts the same slices: those that
have all the lags in their own sequence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.counts.family import Family
from leverrier.data.sequences.read_sequences import lagged
from leverrier.errors import OptionError, TableError, TooLargeError
from leverrier.kernels.counts.product_tables import add_products
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.dynamic.dynamic_query import Inference, NamedClusters, posterior
from leverrier.models.dynamic.dynamic_unrolled import lay

MOST_CELLS = 2**24


class FactoredCounts:
    """Σ over slices of the product of single posteriors: any family, any lags, from one pass of inference."""

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
