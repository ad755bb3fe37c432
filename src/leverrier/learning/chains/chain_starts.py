"""Where hidden chains may begin: groups of slices whose residuals, averaged over a window, look alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.sequences import Sequences

Expectation = Callable[[str], Floats]
"""By column, what a model without the new chain expects: (slices, states)."""
WINDOWS = (1, 9, 41, 201)
"""Slices averaged: 1 looks for causes within a slice, the others for regimes of about that length and longer."""
DIRECTIONS = 6
"""Residuals are looked at in this many directions, those in which they vary most."""
SOFTNESS = 0.1
COPY_SOFTNESS = 0.3


def residuals(sequences: Sequences, expectation: Expectation | None, live: Floats) -> Floats:
    """(dimensions, slices): each state's indicator less its probability, by its own spread; 0 where unknown."""
    parts = []
    for variable, cells in zip(sequences.table.columns, sequences.table.codes, strict=True):
        if variable.cardinality < 2:
            continue
        seen = (cells != sequences.table.missing) & (live > 0)
        if not seen.any():
            continue
        shown = np.zeros((variable.cardinality, sequences.n_slices))
        shown[np.minimum(cells, variable.cardinality - 1), np.arange(sequences.n_slices)] = 1.0
        expected = shown[:, seen].mean(axis=1)[:, None] if expectation is None else expectation(variable.name).T
        off = np.where(seen, shown - expected, 0.0)
        spread = np.sqrt((off**2).sum(axis=1) / seen.sum())
        kept = spread > 1e-6
        parts.append(off[kept] / spread[kept, None])
    return np.concatenate(parts) if parts else np.zeros((0, sequences.n_slices))


def averaged(values: Floats, sequences: Sequences, window: int, live: Floats) -> Floats:
    """Means over the window around each slice, within its sequence, of slices that may be used."""
    if window == 1:
        return values
    half = window // 2
    low = np.maximum(np.arange(sequences.n_slices) - half, np.repeat(sequences.starts[:-1], sequences.lengths))
    high = np.minimum(np.arange(sequences.n_slices) + half + 1, np.repeat(sequences.starts[1:], sequences.lengths))
    sums = np.concatenate([np.zeros((len(values), 1)), np.cumsum(values * live, axis=1)], axis=1)
    there = np.concatenate([[0.0], np.cumsum(live)])
    return (sums[:, high] - sums[:, low]) / np.maximum(there[high] - there[low], 1.0)


def clustered(values: Floats, states: int, live: Floats, seed: int) -> Floats | None:
    """Soft memberships (slices, states) of k-means clusters in the directions that vary most."""
    from scipy.cluster.vq import kmeans2  # (late: it loads for a tenth of a second)

    used = np.flatnonzero(live > 0)
    if len(values) == 0 or len(used) <= states:
        return None
    centred = values - values[:, used].mean(axis=1, keepdims=True)
    _, vectors = np.linalg.eigh(np.einsum("it,jt->ij", centred[:, used], centred[:, used]))
    points = np.einsum("ik,it->tk", vectors[:, ::-1][:, :DIRECTIONS], centred)
    if not _at_least(points[used], states):
        return None
    best, least = None, np.inf
    for attempt in range(3):
        centres, label = kmeans2(points[used], states, minit="++", rng=np.random.default_rng(seed + attempt))
        cost = float(((points[used] - centres[label]) ** 2).sum())
        if cost < least and len(np.unique(label)) == states:
            best, least = centres, cost
    if best is None:
        return None
    distance = ((points[:, None, :] - best[None]) ** 2).sum(axis=2)
    out = np.full((len(points), states), SOFTNESS / states)
    out[np.arange(len(points)), np.argmin(distance, axis=1)] += 1.0 - SOFTNESS
    out[live == 0] = 1.0 / states
    return out


def _at_least(points: Floats, many: int) -> bool:
    """Whether so many of the points differ: one direction tells it nearly always."""
    return len(np.unique(points[:, 0])) >= many or len(np.unique(points, axis=0)) >= many


def chain_start(
    sequences: Sequences, expectation: Expectation | None, window: int, states: int, live: Floats, seed: int
) -> Floats | None:
    """Posteriors (slices, states) from clusters of residuals over a window; None where that cannot be."""
    if window > 1 and window >= sequences.lengths.max():
        return None
    values = averaged(residuals(sequences, expectation, live), sequences, window, live)
    return clustered(values, states, live, seed)


def copy_start(sequences: Sequences, name: str, live: Floats) -> Floats:
    """Posteriors that lean to the state a column shows: the column as a noisy sign of something steadier behind it."""
    cells = sequences.table.column(name)
    states = len(sequences.states[name])
    seen = (cells != sequences.table.missing) & (live > 0)
    out = np.full((sequences.n_slices, states), 1.0 / states)
    out[seen] = COPY_SOFTNESS / states
    out[seen, cells[seen]] += 1.0 - COPY_SOFTNESS
    return out
