"""What is to be fitted, before the number of classes is known: columns, predictors, weights of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.learning.classes.parts.class_likelihood import ClassLikelihood, make_likelihood
from leverrier.learning.classes.parts.indicator_making import Item, make_indicators
from leverrier.learning.classes.parts.terms import Terms


@dataclass(frozen=True, eq=False)
class Sampling:
    """How the rows came: weights, and which belong together."""

    weights: Floats
    """By row. Sampling weights are scaled to a mean of 1, so that the log-likelihood counts rows."""
    survey: bool = False
    """Whether weights say how many of the population a row stands for; if not, a row of weight 2 is two equal rows."""
    clusters: Integers | None = None
    strata: Integers | None = None

    @property
    def plain(self) -> bool:
        """Whether rows are independent and count as they are: the likelihood is one, and ratios of it can be tested."""
        return not self.survey and self.clusters is None and self.strata is None

    def spread(self, influence: Floats) -> Floats:
        """The variance of the sum of each row's influence (already weighted): between clusters, within strata."""
        used = self.weights > 0
        if self.plain:  # a row of weight 2 is two rows with half the influence each
            return (influence[used] / self.weights[used, None]).T @ influence[used]
        units = np.arange(len(influence)) if self.clusters is None else self.clusters
        strata = np.zeros(len(influence), np.int64) if self.strata is None else self.strata
        both, where = np.unique(np.column_stack([strata, units])[used], axis=0, return_inverse=True)
        sums = np.zeros((len(both), influence.shape[1]))
        np.add.at(sums, where.reshape(-1), influence[used])
        found = np.zeros((influence.shape[1], influence.shape[1]))
        for stratum in np.unique(both[:, 0]):
            own = sums[both[:, 0] == stratum]
            rest = own - (own.mean(axis=0) if len(own) > 1 else sums.mean(axis=0))
            found += len(own) / max(len(own) - 1, 1) * rest.T @ rest
        return found

    @property
    def units(self) -> int:
        """How many independent draws there are."""
        used = self.weights > 0
        return int(used.sum()) if self.clusters is None else len(np.unique(self.clusters[used]))

    @property
    def draws(self) -> int | None:
        """Of groups, less one for each stratum: the degrees of freedom of their variance; None where rows are drawn."""
        if self.clusters is None:
            return None
        strata = 1 if self.strata is None else len(np.unique(self.strata[self.weights > 0]))
        return max(self.units - strata, 1)

    def take(self, rows: NDArray[np.bool_]) -> Sampling:
        """The same with other rows left out: their weight is 0."""
        return replace(self, weights=np.where(rows, self.weights, 0.0))


@dataclass(frozen=True, eq=False)
class ClassSpec:
    items: tuple[Item, ...]
    terms: Terms
    sampling: Sampling

    @property
    def row_weights(self) -> Floats:
        """0 where a predictor has a hole."""
        return np.where(self.terms.held, self.sampling.weights, 0.0)

    def likelihood(self, classes: int, shares: Floats | None = None) -> ClassLikelihood:
        """For so many classes; `shares` (rows, classes) choose the reference states."""
        weighed = None if shares is None else shares * self.row_weights[:, None]
        indicators = make_indicators(self.items, classes, weighed)
        return make_likelihood(classes, self.terms.values, self.terms.names, indicators, self.row_weights)

    def with_items(self, items: Sequence[Item]) -> ClassSpec:
        return replace(self, items=tuple(items))

    def with_terms(self, terms: Terms) -> ClassSpec:
        return replace(self, terms=terms)
