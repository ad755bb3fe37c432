"""A fit on columns of the design that grows by the column its residuals ask for most."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.learning.mixed.mixed_design import Design

Codes = NDArray[np.int64]

MOST_EXTRA = 4
"""Columns beyond the plain line."""
MOST_COLUMNS = 80
"""Fits with more coefficients than this are not tried: their Newton steps cost too much."""


class Cases(NamedTuple):
    """What is fitted to: rows, or one of each kind of rows that are alike in the child and all parents."""

    rows: NDArray[np.int64] | None
    codes: Codes
    weights: Floats
    """How many rows each stands for."""

    @property
    def size(self) -> float:
        return float(self.weights.sum())


class GrownFit(ABC):
    """`fit` sets places, logs, residuals (kinds, cases), paid and score."""

    places: list[int]
    logs: float
    residuals: Floats
    paid: float
    score: float
    each: int
    """Parameters that one more column takes."""

    def __init__(self, design: Design, child: int, parents: Sequence[int], cases: Cases) -> None:
        self.design, self.parents, self.cases = design, parents, cases
        self.family = (child, *parents)
        self.log_n = float(np.log(cases.size))

    @abstractmethod
    def fit(self, places: list[int], on: bool = False) -> Self:
        """To these columns; `on` from where the fit to all but the last of them stands."""

    def climb(self) -> None:
        """Add the column with the largest score test while it pays."""
        others = [j for p in self.parents for j in self.design.extras(p)] + self.design.pairs(self.parents)
        others = [j for j in dict.fromkeys(others) if j not in self.places]
        search = 0.5 * float(np.log(max(len(others), 1)))
        extra = 0.0
        for _ in range(MOST_EXTRA):
            if not others or (len(self.places) + 2) * self.each > MOST_COLUMNS:
                break
            gains = self._asked(others)
            best = int(np.argmax(gains))
            if gains[best] < 0.4 * self.each * self.log_n:
                break
            before, score = dict(vars(self)), self.score - extra
            self.fit([*self.places, others[best]], on=True)
            if self.score - extra - search <= score:
                vars(self).update(before)
                break
            extra += search
            del others[best]
        self.paid += extra
        self.score = self.logs - self.paid

    def _asked(self, others: list[int]) -> Floats:
        """About what each column would gain: the score test, columns inside swept out."""
        inside, n = [0, *self.places], 1 + len(self.places)
        gram = self.design.gram([*inside, *others], self.family)
        whole = np.diag(gram)[n:]
        fitted = np.linalg.lstsq(gram[:n, :n], gram[:n, n:], rcond=1e-9)[0]
        size = whole - (fitted * gram[:n, n:]).sum(axis=0)
        clear = size > 1e-6 * whole + 1e-12
        rows, e = self.cases.rows, (self.cases.weights * self.residuals).T
        along = self.design.columns(others, rows) @ e - fitted.T @ (self.design.columns(inside, rows) @ e)
        against = along**2 / np.maximum((e.T * self.residuals).sum(axis=1) / self.cases.size, 1e-12)
        return np.where(clear, 0.5 * (against / np.where(clear, size, 1.0)[:, None]).sum(axis=1), 0.0)
