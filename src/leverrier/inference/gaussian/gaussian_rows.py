"""Passes over rows of numbers under a mixture of Gaussians: moments for EM, posteriors for users.

Rows are cut into parts whose number depends on the data alone; each part sums into its own moments and the parts are
added in order. So any number of threads gives the same answer, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.matrix import Patterns, hole_patterns
from leverrier.kernels.gaussian.diagonal_passes import add_moments_diagonal, log_densities_diagonal
from leverrier.kernels.gaussian.filled_rows import add_spreads, fill
from leverrier.kernels.gaussian.full_passes import add_moments, factor, log_densities, posteriors

MOST_PARTS = 16
PART_ROWS = 8192
PART_CELLS = 2**23
"""All parts' moments together hold at most about this many numbers."""
STRETCH_CELLS = 2**15
"""Log densities (and filled rows) are held for a stretch of rows: about this many numbers a component."""

_NO_ORDER = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class GaussianRows:
    """The rows, seen as (x − shift) · scale, with their weights (empty: one each)."""

    x: Floats
    shift: Floats
    scale: Floats
    weights: Floats

    @cached_property
    def patterns(self) -> Patterns:
        return hole_patterns(self.x)

    @cached_property
    def total(self) -> float:
        return float(self.weights.sum()) if len(self.weights) else float(len(self.x))

    @cached_property
    def sorted_weights(self) -> Floats:
        """The weights in the order of the patterns."""
        return self.weights[self.patterns.order] if self.patterns.holes and len(self.weights) else self.weights

    @cached_property
    def log_scale(self) -> float:
        """What to add to a total log-likelihood of the scaled rows to have that of the rows themselves."""
        return float(self.cell_weights @ np.log(self.scale))

    @cached_property
    def cell_weights(self) -> Floats:
        """By column: the weight of the rows that have it."""
        if not self.patterns.holes:
            return np.full(self.x.shape[1], self.total)
        totals = np.zeros(self.x.shape[1])
        for lo in range(0, len(self.x), 65536):
            present = ~np.isnan(self.x[lo : lo + 65536])
            totals += present.sum(axis=0) if not len(self.weights) else self.weights[lo : lo + 65536] @ present
        return totals


@dataclass(frozen=True, eq=False)
class Moments:
    """Expected moments about the means that the pass was made with: Σp, Σp·u, Σp·u·uᵀ (or Σp·u² by column)."""

    count: Floats
    first: Floats
    second: Floats

    def plus(self, other: Moments) -> Moments:
        return Moments(self.count + other.count, self.first + other.first, self.second + other.second)

    def whole(self) -> Moments:
        """With the upper triangles too, which the passes leave out."""
        if self.second.ndim == 2:
            return self
        upper = np.transpose(np.tril(self.second, -1), (0, 2, 1))
        return replace(self, second=np.tril(self.second) + upper)


class FullPass:
    """Components with covariance matrices, ready to be compared with rows."""

    def __init__(self, weights: Floats, means: Floats, covariances: Floats) -> None:
        k, d = means.shape
        self.shape: tuple[int, int] = (k, d)
        self.inverse = np.zeros((k, d, d))
        self.pivots = np.zeros((k, d))
        self.log_determinants = np.zeros(k)
        self.positive = bool(
            factor(np.ascontiguousarray(covariances), self.inverse, self.log_determinants, self.pivots)
        )
        with np.errstate(divide="ignore"):
            log_weights = np.log(weights)
        self.parameters = np.column_stack([np.maximum(log_weights, -1e300), self.log_determinants, means])
        self.block = 256 if d <= 4 else 128 if d <= 20 else 64

    @cached_property
    def precision(self) -> Floats:
        return np.ascontiguousarray(np.transpose(self.inverse, (0, 2, 1)) @ self.inverse)

    def zeros(self) -> Moments:
        k, d = self.shape
        return Moments(np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d)))

    def logs(self, rows: GaussianRows, lo: int, hi: int) -> tuple[Floats, list[Floats]]:
        """log w + log density (components, rows) of the positions lo to hi; and the filled rows of each component."""
        k, d = self.shape
        logs = np.empty((k, hi - lo))
        if not rows.patterns.holes:
            log_densities(
                rows.x, _NO_ORDER, lo, hi, self.block, rows.shift, rows.scale, self.parameters, self.inverse, logs
            )
            return logs, []
        patterns, filled = rows.patterns, [np.empty((hi - lo, d)) for _ in range(k)]
        none, one, excess = np.zeros(d), np.ones(d), np.empty(hi - lo)
        for c in range(k):
            fill(
                rows.x,
                patterns.order,
                lo,
                hi,
                rows.shift,
                rows.scale,
                self.parameters[c, 2:],
                self.precision[c],
                patterns.columns,
                patterns.observed,
                patterns.starts,
                filled[c],
                excess,
            )
            log_densities(
                filled[c],
                _NO_ORDER,
                0,
                hi - lo,
                self.block,
                none,
                one,
                self.parameters[c : c + 1],
                self.inverse[c : c + 1],
                logs[c : c + 1],
            )
            logs[c] += excess
        return logs, filled

    def add(self, rows: GaussianRows, lo: int, hi: int, posterior: Floats, filled: list[Floats], to: Moments) -> None:
        """Add the moments of these positions."""
        if not filled:
            add_moments(
                rows.x,
                _NO_ORDER,
                lo,
                hi,
                self.block,
                rows.shift,
                rows.scale,
                self.parameters,
                posterior,
                to.count,
                to.first,
                to.second,
            )
            return
        patterns, d = rows.patterns, self.shape[1]
        none, one = np.zeros(d), np.ones(d)
        for c, whole in enumerate(filled):
            here = slice(c, c + 1)
            add_moments(
                whole,
                _NO_ORDER,
                0,
                hi - lo,
                self.block,
                none,
                one,
                self.parameters[here],
                posterior[here],
                to.count[here],
                to.first[here],
                to.second[here],
            )
            add_spreads(
                lo,
                hi,
                self.precision[c],
                posterior[c],
                patterns.columns,
                patterns.observed,
                patterns.starts,
                to.second[c],
            )

    def order(self, rows: GaussianRows) -> NDArray[np.int64]:
        """Which row stands at each position; empty if none was moved."""
        return rows.patterns.order

    def weights(self, rows: GaussianRows) -> Floats:
        return rows.sorted_weights


class DiagonalPass:
    """Components with independent columns: variances are (components, columns). Holes need no sorting."""

    def __init__(self, weights: Floats, means: Floats, variances: Floats) -> None:
        self.shape: tuple[int, int] = (means.shape[0], means.shape[1])
        self.variances = np.ascontiguousarray(variances)
        self.pivots = self.variances
        self.positive = bool(np.all(self.variances > 0) and np.all(np.isfinite(self.variances)))
        with np.errstate(divide="ignore"):
            log_weights = np.log(weights)
        self.parameters = np.column_stack([np.maximum(log_weights, -1e300), means])
        self.block = 256 if self.shape[1] <= 20 else 64

    @cached_property
    def log_determinants(self) -> Floats:
        return np.log(self.variances).sum(axis=1)

    def zeros(self) -> Moments:
        return Moments(np.zeros(self.shape[0]), np.zeros(self.shape), np.zeros(self.shape))

    def logs(self, rows: GaussianRows, lo: int, hi: int) -> tuple[Floats, list[Floats]]:
        logs = np.empty((self.shape[0], hi - lo))
        log_densities_diagonal(
            rows.x, lo, hi, self.block, rows.shift, rows.scale, self.parameters, self.variances, logs
        )
        return logs, []

    def add(self, rows: GaussianRows, lo: int, hi: int, posterior: Floats, filled: list[Floats], to: Moments) -> None:  # noqa: ARG002
        add_moments_diagonal(
            rows.x,
            lo,
            hi,
            self.block,
            rows.shift,
            rows.scale,
            self.parameters,
            self.variances,
            posterior,
            to.count,
            to.first,
            to.second,
        )

    def order(self, rows: GaussianRows) -> NDArray[np.int64]:  # noqa: ARG002
        return _NO_ORDER

    def weights(self, rows: GaussianRows) -> Floats:
        return rows.weights


class Pass(Protocol):
    """Components ready to be compared with rows, whatever their columns are."""

    shape: tuple[int, int]
    """Components, and columns of numbers."""

    def zeros(self) -> Moments: ...

    def logs(self, rows: GaussianRows, lo: int, hi: int) -> tuple[Floats, list[Floats]]: ...

    def add(self, rows: GaussianRows, lo: int, hi: int, posterior: Floats, filled: list[Floats], to: Any) -> None: ...

    def order(self, rows: GaussianRows) -> NDArray[np.int64]: ...

    def weights(self, rows: GaussianRows) -> Floats: ...


GaussianPass = FullPass | DiagonalPass


def expect(rows: GaussianRows, components: Pass, pool: Executor | None = None) -> tuple[float, Moments]:
    """One E-step: the log-likelihood of the scaled rows, and the expected moments."""
    weights = components.weights(rows)

    def part(bounds: tuple[int, int]) -> tuple[float, Moments]:
        value, sums = 0.0, components.zeros()
        for lo, hi in _stretches(*bounds, components.shape, rows):
            logs, filled = components.logs(rows, lo, hi)
            value += posteriors(logs, weights, lo, np.empty(hi - lo))
            components.add(rows, lo, hi, logs, filled, sums)
        return value, sums

    done = list(_spread(pool)(part, _parts(len(rows.x), components)))
    value, sums = done[0]
    for more, others in done[1:]:
        value += more
        sums = sums.plus(others)
    return value, sums.whole()


def stretches_of_posteriors(rows: GaussianRows, components: Pass) -> Iterator[tuple[NDArray[np.int64], Floats, Floats]]:
    """(row numbers, P(component | row) by component, log density by row), a stretch at a time; weights do not count."""
    order = components.order(rows)
    for lo, hi in _stretches(0, len(rows.x), components.shape, rows):
        logs, _ = components.logs(rows, lo, hi)
        row_logs = np.empty(hi - lo)
        posteriors(logs, np.empty(0), lo, row_logs)
        yield order[lo:hi] if len(order) else np.arange(lo, hi), logs, row_logs


def _parts(n: int, components: Pass) -> list[tuple[int, int]]:
    size = sum(each.size for each in (components.zeros().first, components.zeros().second))
    count = max(1, min(MOST_PARTS, n // PART_ROWS, PART_CELLS // size))
    cuts = [n * part // count for part in range(count + 1)]
    return list(pairwise(cuts))


def _stretches(lo: int, hi: int, shape: tuple[int, int], rows: GaussianRows) -> Iterator[tuple[int, int]]:
    k, d = shape
    holes = rows.patterns.holes
    step = max(256, min(8192, STRETCH_CELLS // (k * d if holes else 1), 2**20 // k))
    for first in range(lo, hi, step):
        yield first, min(hi, first + step)


def _spread(pool: Executor | None) -> Callable[..., Iterator]:
    return map if pool is None else pool.map
