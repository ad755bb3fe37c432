"""Passes over rows of numbers and categories: the Gaussian passes with the categories' share put in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.inference.gaussian.gaussian_rows import GaussianPass, GaussianRows, Moments
from leverrier.kernels.gaussian.category_terms import add_category_counts, add_category_logs


@dataclass(frozen=True, eq=False)
class Categories:
    """The rows' states, by variable; `offsets[v] : offsets[v + 1]` are the places of variable v's states."""

    codes: NDArray[np.uint16]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table) -> Categories:
        codes = np.ascontiguousarray(table.codes.astype(np.uint16))
        codes[table.codes == table.missing] = np.iinfo(np.uint16).max
        return cls(codes, np.concatenate([[0], np.cumsum(table.cardinalities)]).astype(np.int64))

    @property
    def places(self) -> int:
        """All states of all variables."""
        return int(self.offsets[-1])


@dataclass(frozen=True, eq=False)
class ClassMoments(Moments):
    """Moments of the numbers, and (states, components) expected counts of the categories."""

    cells: Floats

    def plus(self, other: Moments) -> ClassMoments:
        assert isinstance(other, ClassMoments)
        base = super().plus(other)
        return ClassMoments(base.count, base.first, base.second, self.cells + other.cells)


class ClassPass:
    """A Gaussian pass over the numbers, and θ (states, components) for the categories of the same rows."""

    def __init__(self, numbers: GaussianPass, categories: Categories, theta: Floats) -> None:
        self.numbers = numbers
        self.shape = numbers.shape
        self.categories = categories
        with np.errstate(divide="ignore"):
            self.log_theta = np.maximum(np.log(theta), -1e300)

    def zeros(self) -> ClassMoments:
        base = self.numbers.zeros()
        return ClassMoments(base.count, base.first, base.second, np.zeros(self.log_theta.shape))

    def logs(self, rows: GaussianRows, lo: int, hi: int) -> tuple[Floats, list[Floats]]:
        logs, filled = self.numbers.logs(rows, lo, hi)
        c = self.categories
        add_category_logs(c.codes, self.order(rows), lo, hi, c.offsets, self.log_theta, logs)
        return logs, filled

    def add(
        self, rows: GaussianRows, lo: int, hi: int, posterior: Floats, filled: list[Floats], to: ClassMoments
    ) -> None:
        self.numbers.add(rows, lo, hi, posterior, filled, to)
        c = self.categories
        add_category_counts(c.codes, self.order(rows), lo, hi, c.offsets, posterior, to.cells)

    def order(self, rows: GaussianRows) -> NDArray[np.int64]:
        return self.numbers.order(rows)

    def weights(self, rows: GaussianRows) -> Floats:
        return self.numbers.weights(rows)
