"""A kind that was fitted: its score, the family itself when it is asked for, and what EM asks of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import digamma

from leverrier.arrays import Floats, Integers
from leverrier.learning.families.family_counts import FamilyCounts, dirichlet, summed_by
from leverrier.models.families.conditional import StateConditional

Slopes = Callable[[], Floats]
SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class Offered:
    """The score is without the price of having chosen among kinds."""

    score: float
    kind: str
    make: Callable[[], StateConditional]
    slopes: Slopes
    """(configurations, states): what one more row in a cell adds to the score. A kind's score is convex in the counts
    (an evidence) or linear (a likelihood less a price), so that score + slopes · change never says too much: EM that
    weighs the states of a hidden variable by these never loses score."""
    again: Callable[[FamilyCounts], Offered]
    """The same form with parameters from other counts of the same configurations."""

    def less(self, price: float) -> Offered:
        """The same for a price."""
        return replace(self, score=self.score - price, again=lambda counts: self.again(counts).less(price))


def dirichlet_slopes(counts: Floats, alpha: float) -> Floats:
    """The slopes of `dirichlet`: E[ln θ] under the posterior of each row's distribution."""
    whole = alpha * counts.shape[-1] + counts.sum(axis=-1, keepdims=True)
    return digamma(alpha + counts) - digamma(whole)


def by_parts(
    kind: str,
    make: Callable[[Floats], StateConditional],
    part: Integers,
    parts: int,
    alpha: float,
    spent: float,
    family: FamilyCounts,
) -> Offered:
    """Configurations in parts with a distribution each, `part[j]` that of configuration j; `make` takes (parts, states)
    of shares, `spent` is what naming the parts adds to the score."""
    counts = summed_by(part, family.counts, parts)
    padded = counts + alpha
    return Offered(
        dirichlet(counts, alpha) + spent,
        kind,
        lambda: make(padded / padded.sum(axis=1, keepdims=True)),
        lambda: dirichlet_slopes(counts, alpha)[part],
        partial(by_parts, kind, make, part, parts, alpha, spent),
    )


def log_rows(made: StateConditional, family: FamilyCounts) -> Floats:
    """The slopes of a likelihood: the log-probabilities themselves."""
    return np.log(np.maximum(made.rows(family.codes), SMALLEST))
