"""Rises of a score (see kernels/search/one_more_parent.py) by whole count, looked up instead of computed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.search.one_more_parent import fill_rises

TABLED_COUNTS = 1024
"""Rises are looked up to this count and computed beyond it."""


class Rises:
    """Rises by count, a row of the table for each prior count that was asked for."""

    def __init__(self, total: float) -> None:
        self.table = np.zeros((64, min(TABLED_COUNTS, int(total) + 1)))
        self._rows: dict[float, int] = {}

    def places(self, alphas: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.array([self._row(alpha) for alpha in alphas.tolist()], dtype=np.int64)

    def _row(self, alpha: float) -> int:
        row = self._rows.get(alpha)
        if row is None:
            row = self._rows[alpha] = len(self._rows)
            if row == len(self.table):
                self.table = np.concatenate([self.table, np.zeros_like(self.table)])
            fill_rises(alpha, self.table[row])
        return row
