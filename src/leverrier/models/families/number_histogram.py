"""A number given its parents: the shares of its quarters for each piece of the parents, normal scores within."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from leverrier.models.families.conditional import Cells
from leverrier.models.families.number_regression import LOG_2_PI
from leverrier.plain_values import Plain


def pieces_of(cells: Cells, bounds: Sequence[float]) -> NDArray[np.int64]:
    """The piece of each cell between these bounds."""
    return np.searchsorted(np.array(bounds), cells, side="right").astype(np.int64)


def joined(parents: Sequence[Cells], bounds: Sequence[Sequence[float]], n_rows: int) -> NDArray[np.int64]:
    """One number for the pieces of all parents, the last changing fastest."""
    place = np.zeros(n_rows, dtype=np.int64)
    for cells, each in zip(parents, bounds, strict=True):
        place = place * (len(each) + 1) + pieces_of(cells, each)
    return place


@dataclass(frozen=True)
class NumberHistogram(Plain):
    """p(z | parents) = φ(z) · share(piece of z | pieces of the parents) / Φ-share of the piece."""

    cuts: tuple[float, ...]
    """Of the child's scores."""
    bounds: tuple[tuple[float, ...], ...]
    """Of each parent's cells."""
    shares: tuple[tuple[float, ...], ...]
    """By the parents' pieces, the last parent changing fastest."""

    @property
    def kind(self) -> str:
        return "histogram"

    @property
    def dimension(self) -> int:
        return len(self.shares) * len(self.cuts)

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        return np.array(self.shares)

    @cached_property
    def _even(self) -> NDArray[np.float64]:
        return np.diff(ndtr(np.array([-np.inf, *self.cuts, np.inf])))

    def log_density(self, child: Cells, parents: Sequence[Cells]) -> NDArray[np.float64]:
        z = np.asarray(child, dtype=np.float64)
        piece = pieces_of(z, self.cuts)
        share = self._table[joined(parents, self.bounds, len(z)), piece] / self._even[piece]
        return np.log(share) - 0.5 * (LOG_2_PI + z * z)

    def draw(self, parents: Sequence[Cells], n_rows: int, rng: np.random.Generator) -> Cells:
        rows = np.cumsum(self._table, axis=1)[joined(parents, self.bounds, n_rows)]
        piece = np.minimum((rng.random(n_rows)[:, None] >= rows).sum(axis=1), len(self.cuts))
        edges = np.concatenate([[0.0], ndtr(np.array(self.cuts)), [1.0]])
        return ndtri(edges[piece] + rng.random(n_rows) * (edges[piece + 1] - edges[piece]))
