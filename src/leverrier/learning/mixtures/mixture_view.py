"""The rows before any fit: brought near 0 and 1, checked for what no Gaussian can have, and a sample for the starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.matrix import LARGEST, Matrix
from leverrier.errors import TableError
from leverrier.inference.gaussian.gaussian_rows import GaussianRows

SAMPLE_ROWS = 20_000
"""Starts are looked for among so many rows; EM itself sees all of them."""
FAR = 30.0
"""Rows further out than this many units would decide every variance alone: variances and ranks do without them."""
COLLINEAR = 1e-10
"""A column whose part that no other explains has less than this share of its variance is explained by the others."""


@dataclass(frozen=True, eq=False)
class View:
    """Rows with their units, and a sample of them: `cells` scaled with 0 for holes, `seen` where there is a number."""

    rows: GaussianRows
    names: tuple[str, ...]
    cells: Floats
    seen: NDArray[np.bool_]
    places: NDArray[np.int64]
    """Which rows the sample has."""
    sample_weights: Floats
    variances: Floats
    """Of the sample's columns, scaled, without rows far out."""
    pivots: Floats
    """What of each column's variance the columns before it leave unexplained, in the sample."""

    @property
    def d(self) -> int:
        return self.cells.shape[1]

    @property
    def collinear(self) -> str | None:
        """A column that the others determine, if there is one."""
        poor = np.flatnonzero(~(self.pivots > COLLINEAR * self.variances))
        return self.names[poor[0]] if len(poor) else None


def look(matrix: Matrix, weights: Floats, one_scale: bool, rng: np.random.Generator) -> View:
    """Units by median and quartiles (a power of two, so exact), which no outlier moves; one unit for spheres."""
    x = matrix.values
    n, d = x.shape
    if n < 2:
        raise TableError("there is 1 row: a Gaussian needs spread, so at least 2 different rows are needed")
    shift, scale = np.empty(d), np.empty(d)
    for j, name in enumerate(matrix.names):
        shift[j], scale[j] = _units(x[:, j], name)
    if one_scale:
        scale[:] = scale.min()
    rows = GaussianRows(x, shift, scale, weights)
    some = np.arange(n) if n <= SAMPLE_ROWS else np.sort(rng.choice(n, SAMPLE_ROWS, replace=False))
    cells = (x[some] - shift) * scale
    seen = ~np.isnan(cells)
    cells[~seen] = 0.0
    each = np.ones(len(some)) if not len(weights) else weights[some]
    if not each.any():
        each = np.ones(len(some))
    usual = each * np.all(np.abs(cells) < FAR, axis=1)
    covariance = sample_covariance(cells, seen, usual if usual.sum() > 0.5 * each.sum() else each)
    return View(rows, matrix.names, cells, seen, some, each, np.diagonal(covariance).copy(), _pivots(covariance))


def sample_covariance(cells: Floats, seen: NDArray[np.bool_], weights: Floats) -> Floats:
    """Covariance of the cells that are there; holes count as the mean, and the diagonal is put right after."""
    per_column = np.maximum(weights @ seen, 1e-300)
    away = np.where(seen, cells - (weights @ cells) / per_column, 0.0)
    share = np.sqrt(per_column / weights.sum())
    return ((away * weights[:, None]).T @ away) / weights.sum() / np.outer(share, share)


def _units(column: Floats, name: str) -> tuple[float, float]:
    """Median, and a power of two near the inverse of the spread."""
    step = max(1, len(column) // 65536)
    some = column[::step]
    some = some[~np.isnan(some)]
    if len(some) < 4:
        some = column[~np.isnan(column)]
    if not len(some):
        raise TableError(f"column {name!r} has no numbers, only holes: leave it out")
    low, middle, high = np.quantile(some, [0.25, 0.5, 0.75])
    spread = (high - low) / 1.349
    if not spread > 0:
        present = column[~np.isnan(column)]
        if np.all(present == present[0]):
            raise TableError(
                f"column {name!r} holds only the value {present[0]:g}: a Gaussian needs spread; leave it out"
            )
        spread = float(np.std((present - middle) / np.abs(present - middle).max())) * np.abs(present - middle).max()
    if not 1 / LARGEST < spread < LARGEST:
        raise TableError(
            f"column {name!r} has a spread of {spread:g}, which cannot be squared: multiply it by a power of ten"
        )
    return float(middle), float(np.exp2(-np.round(np.log2(spread))))


def _pivots(covariance: Floats) -> Floats:
    """Squared pivots of the Cholesky factor; from the first that vanishes on, zero."""
    d = len(covariance)
    low, pivots = np.zeros((d, d)), np.zeros(d)
    for j in range(d):
        rest = covariance[j, : j + 1].copy()
        for l in range(j):
            low[j, l] = (rest[l] - low[j, :l] @ low[l, :l]) / low[l, l]
        pivots[j] = rest[j] - low[j, :j] @ low[j, :j]
        if not pivots[j] > COLLINEAR * covariance[j, j]:
            return np.where(np.arange(d) < j, pivots, 0.0)
        low[j, j] = np.sqrt(pivots[j])
    return pivots
