"""Where a mixture begins: k-means++, random rows, or what the user has; and how wide a typical component is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.learning.mixtures.mixture_prior import Components
from leverrier.learning.mixtures.mixture_view import View, sample_covariance
from leverrier.models.mixture import CovarianceKind

Labels = NDArray[np.int64]

LLOYD = 10
"""Rounds of k-means after the seeds: EM does the rest."""
SMALLEST = 1e-12
"""A group whose variance in a column is smaller than this (the quartiles' being 1) tells no typical width."""
NARROW = 1e-4
"""…and this variance is taken where no group says anything: a hundredth of the quartiles' spread."""
APART = 1e-7
"""The share of a column's variance that the weak prior alone leaves it when the other columns explain the rest."""


def k_means(view: View, k: int, rng: np.random.Generator) -> Labels:
    """k-means++ seeds and a few rounds of k-means on the sample, each column over its spread; holes say nothing."""
    scale = 1 / np.sqrt(np.maximum(view.variances, 1e-300))
    return group(view.cells * scale, view.seen.astype(np.float64), view.sample_weights, k, rng)


def group(cells: Floats, seen: Floats, weights: Floats, k: int, rng: np.random.Generator) -> Labels:
    """k-means++ seeds and a few rounds of k-means; `seen` is 0 where a cell (0 too) is a hole."""
    centres = np.empty((k, cells.shape[1]))
    centres[0] = cells[rng.choice(len(cells), p=weights / weights.sum())]
    nearest = np.full(len(cells), np.inf)
    for c in range(1, k):
        nearest = np.minimum(nearest, (((cells - centres[c - 1]) * seen) ** 2).sum(axis=1))
        chance = nearest * weights
        total = chance.sum()
        centres[c] = cells[rng.choice(len(cells), p=chance / total if total > 0 else weights / weights.sum())]
    labels = np.zeros(len(cells), dtype=np.int64)
    for _ in range(LLOYD):
        distance = seen @ (centres**2).T - 2 * (cells @ centres.T)
        labels, before = distance.argmin(axis=1), labels
        if np.array_equal(labels, before):
            break
        for c in range(k):
            own = labels == c
            there = weights[own] @ seen[own]
            sums = weights[own] @ cells[own]
            centres[c] = np.divide(sums, there, out=centres[c].copy(), where=there > 0)
    return labels


def typical_spread(view: View, labels: Labels, k: int) -> Floats:
    """The covariance of a typical component: geometric means of the groups' variances, their pooled correlations.

    Geometric, so that neither one wide group nor one tight group decides. Correlations are drawn to 0 by the
    square of columns over rows: hardly at all where there are rows enough, wholly where there are not; and so far that
    one row's worth of it keeps collinear columns apart.
    """
    n, d = view.cells.shape
    weights = view.sample_weights
    logs, counts = np.zeros(d), np.zeros(d)
    away = np.zeros_like(view.cells)
    for c in range(k):
        own = labels == c
        there = weights[own] @ view.seen[own]
        mean = np.divide(weights[own] @ view.cells[own], there, out=np.zeros(d), where=there > 0)
        away[own] = np.where(view.seen[own], view.cells[own] - mean, 0.0)
        square = np.divide(weights[own] @ away[own] ** 2, there, out=np.zeros(d), where=there > 0)
        used = square > SMALLEST
        logs[used] += there[used] * np.log(square[used])
        counts[used] += there[used]
    variances = np.where(counts > 0, np.exp(logs / np.maximum(counts, 1e-300)), NARROW)
    pooled = sample_covariance(away, view.seen, weights)
    deviations = np.sqrt(np.maximum(np.diagonal(pooled), 1e-300))
    shrink = min(1.0, max((d / n) ** 2, APART * view.rows.total))
    correlation = (1 - shrink) * pooled / np.outer(deviations, deviations)
    np.fill_diagonal(correlation, 1.0)
    return correlation * np.sqrt(np.outer(variances, variances))


def from_labels(view: View, labels: Labels, k: int, kind: CovarianceKind, spread: Floats) -> Components:
    """Each group's moments, drawn to the typical covariance as if that had d + 2 rows."""
    d, weights = view.d, view.sample_weights
    strength = d + 2.0
    counts, means = np.zeros(k), np.zeros((k, d))
    covariances = np.empty((k, d, d)) if kind.wide else np.empty((k, d))
    for c in range(k):
        own = labels == c
        counts[c] = weights[own].sum()
        there = weights[own] @ view.seen[own]
        means[c] = np.divide(weights[own] @ view.cells[own], there, out=np.zeros(d), where=there > 0)
        away = np.where(view.seen[own], view.cells[own] - means[c], 0.0)
        if kind.wide:
            covariances[c] = ((away * weights[own, None]).T @ away + strength * spread) / (counts[c] + strength)
        else:
            covariances[c] = (weights[own] @ away**2 + strength * np.diagonal(spread)) / (counts[c] + strength)
    return shaped(kind, Components((counts + 1) / (counts + 1).sum(), means, covariances))


def from_means(means: Floats, covariance: Floats, kind: CovarianceKind) -> Components:
    """Equal weights and one covariance for all, about these means."""
    k = len(means)
    own = covariance if kind.wide else np.diagonal(covariance)
    return shaped(kind, Components(np.full(k, 1 / k), means.copy(), np.broadcast_to(own, (k, *own.shape)).copy()))


def random_rows(view: View, k: int, rng: np.random.Generator) -> Floats:
    """Means at rows drawn at random, different ones while there are enough; holes are filled with the medians."""
    chance = view.sample_weights / view.sample_weights.sum()
    enough = np.count_nonzero(chance) >= k
    return view.cells[rng.choice(len(view.cells), k, replace=not enough, p=chance)].copy()


def shaped(kind: CovarianceKind, given: Components) -> Components:
    """Covariances as the kind wants them: pooled for tied, one variance for spherical."""
    if kind is CovarianceKind.TIED:
        pooled = np.einsum("c,cij->ij", given.weights, given.covariances)
        return Components(given.weights, given.means, np.broadcast_to(pooled, given.covariances.shape).copy())
    if kind is CovarianceKind.SPHERICAL:
        mean = given.covariances.mean(axis=1, keepdims=True)
        return Components(given.weights, given.means, np.repeat(mean, given.means.shape[1], axis=1))
    return given
