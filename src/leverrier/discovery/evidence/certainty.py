"""How surely rows belong to the states of a hidden variable, and where the table has holes: counts, never rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.table import Table

BINS = 20
"""Of the probability of a row's most probable state, from 0 to 1."""
AMBIGUOUS = 0.8
"""Below this a row's state is in doubt."""


@dataclass(frozen=True)
class Certainty:
    """The rows' posteriors of one hidden variable, summed up."""

    counts: tuple[float, ...]
    """Rows by the probability of their most probable state, in BINS equal bins from 0 to 1."""
    ambiguous: float
    """Rows whose most probable state has a probability below AMBIGUOUS."""
    mean: float
    """The mean probability of the most probable state: the share of rows that are expected to be classified rightly."""
    sharpness: float
    """1 − mean entropy over the entropy of the states: 1 if every row is certain, 0 if rows say nothing."""
    worth: tuple[float, ...]
    """By state Σ p²: rows surely in the state count fully, doubtful ones less. Intervals are taken from it."""


@dataclass(frozen=True)
class Rows:
    """What the report says of rows without showing any."""

    total: float
    """Rows, or the sum of their weights."""
    holes: Mapping[str, int] = field(default_factory=dict)
    """Empty cells by column, where there are any."""
    certainty: Mapping[str, Certainty] = field(default_factory=dict)
    """By hidden variable."""


def rows_of(table: Table, posteriors: Mapping[str, Floats]) -> Rows:
    """Holes by column, and certainty by hidden variable."""
    holes = np.count_nonzero(table.codes == table.missing, axis=1)
    named = {name: int(count) for name, count in zip(table.variables, holes, strict=True) if count}
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    return Rows(table.total, named, {name: certainty(each, weights) for name, each in posteriors.items()})


def certainty(posterior: Floats, weights: Floats) -> Certainty:
    """Of one hidden variable, from (rows, states)."""
    total = max(float(weights.sum()), 1e-300)
    best = posterior.max(axis=1, initial=0.0)
    bins = np.minimum((best * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(bins, weights, minlength=BINS)
    shares = weights @ posterior / total
    inner = float(weights @ _entropy(posterior)) / total
    outer = float(_entropy(shares[None, :])[0])
    sharpness = 1.0 if outer <= 0 else min(max(1 - inner / outer, 0.0), 1.0)
    return Certainty(
        counts=tuple(counts.tolist()),
        ambiguous=float(weights[best < AMBIGUOUS].sum()),
        mean=float(weights @ best) / total,
        sharpness=sharpness,
        worth=tuple((weights @ posterior**2).tolist()),
    )


def _entropy(shares: Floats) -> Floats:
    """Of each row, in nats."""
    return -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1)
