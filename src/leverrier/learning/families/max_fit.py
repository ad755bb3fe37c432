"""Noisy-or and noisy-max from counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.families.noisy_max import fit_noisy_max
from leverrier.learning.families.family_counts import FamilyCounts, Price, summed_by
from leverrier.learning.families.offered import Offered, log_rows
from leverrier.models.families.state_max import NoisyMaxKind, active_causes

PRIOR = 0.02
"""Expected counts beside those of the rows: no state of a cause becomes impossible."""
STEPS, TOLERANCE = 150, 0.02
MOST_STATES = 8
"""A child with more states is no matter of causes that switch it on."""


def offer_maxima(family: FamilyCounts, price: Price, floor: float) -> Iterator[Offered]:
    """The largest of what the causes bring, and the smallest."""
    if len(family.parents) < 2 or family.states > MOST_STATES:
        return
    causes = (sum(family.sizes) - len(family.sizes)) * (family.states - 1)
    spent = family.share_price(price) + price.parameter * causes
    if family.saturated - spent <= floor:
        return
    upwards = np.argsort(family.child.ranks)
    for order in (upwards, upwards[::-1]):
        brought, resting, reached = _fitted(family, order, floor + spent)
        if reached - spent > floor:
            made = NoisyMaxKind(tuple(order.tolist()), resting, family.sizes, brought)
            yield _offered(made, reached - spent, spent, family)


def _offered(made: NoisyMaxKind, score: float, spent: float, family: FamilyCounts) -> Offered:
    return Offered(score, made.kind, lambda: made, partial(log_rows, made, family), partial(_again, made, spent))


def _again(made: NoisyMaxKind, spent: float, family: FamilyCounts) -> Offered:
    """The same causes, climbed from what they bring so far."""
    counts = np.ascontiguousarray(family.counts[:, list(made.order)])
    causes = made.causes.copy()
    active = active_causes(family.codes, made.resting, made.sizes)
    reached = fit_noisy_max(counts, active, causes, PRIOR, STEPS, TOLERANCE, -np.inf)
    return _offered(replace(made, causes=causes), float(reached) - spent, spent, family)


def _fitted(
    family: FamilyCounts, order: NDArray[np.int64], needed: float
) -> tuple[NDArray[np.float64], tuple[int, ...], float]:
    counts = np.ascontiguousarray(family.counts[:, order])
    ranks = np.arange(family.states)
    resting = []
    for i, size in enumerate(family.sizes):
        by_state = summed_by(family.codes[i], counts, size)
        rows = by_state.sum(axis=1)
        mean = np.where(rows > 0, by_state @ ranks / np.maximum(rows, 1e-300), np.inf)
        resting.append(int(mean.argmin()))
    active = active_causes(family.codes, resting, family.sizes)
    # Every cause begins between doing nothing and what the child does over all rows.
    share = counts.sum(axis=0) / counts.sum()
    causes = np.tile(0.5 * share + 0.5 / family.states, (1 + sum(family.sizes) - len(family.sizes), 1))
    causes[:, 0] += 1.0
    causes /= causes.sum(axis=1, keepdims=True)
    reached = fit_noisy_max(counts, active, causes, PRIOR, STEPS, TOLERANCE, needed)
    return causes, tuple(resting), float(reached)
