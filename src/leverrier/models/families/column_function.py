"""Functions of ordered columns: a value by row from the values of their states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.kinds import Kinds
from leverrier.models.families.state_kind import Codes
from leverrier.plain_values import Plain

MOST_LEVELS = 4096


class FunctionName(Kinds):
    VALUE = "value"
    SUM = "sum"
    LARGEST = "largest"
    SMALLEST = "smallest"
    DIFFERENCE = "difference"
    PRODUCT = "product"


@dataclass(frozen=True, eq=False)
class ColumnFunction(Plain):
    """`name` of the values that some parents (by position) have; `values[i][code]` is a state's value."""

    name: FunctionName
    parents: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", FunctionName(self.name))

    def of(self, codes: Codes) -> Floats:
        """By column of (all parents, rows)."""
        taken = [np.asarray(own)[codes[p]] for p, own in zip(self.parents, self.values, strict=True)]
        match self.name:
            case FunctionName.LARGEST:
                return np.max(taken, axis=0)
            case FunctionName.SMALLEST:
                return np.min(taken, axis=0)
            case FunctionName.PRODUCT:
                return np.round(np.prod(taken, axis=0), 9)
            case FunctionName.DIFFERENCE:
                return np.round(taken[0] - np.sum(taken[1:], axis=0), 9)
        return np.round(np.sum(taken, axis=0), 9)

    @cached_property
    def levels(self) -> Floats:
        """Every value that can come, ascending."""
        found = np.asarray(self.values[0], dtype=np.float64)
        for own in self.values[1:]:
            other = np.asarray(own, dtype=np.float64)
            pairs: dict[FunctionName, Floats] = {
                FunctionName.LARGEST: np.maximum.outer(found, other),
                FunctionName.SMALLEST: np.minimum.outer(found, other),
                FunctionName.PRODUCT: np.multiply.outer(found, other),
                FunctionName.DIFFERENCE: np.subtract.outer(found, other),
            }
            found = np.unique(np.round(pairs.get(self.name, np.add.outer(found, other)), 9))
            if len(found) > MOST_LEVELS:
                raise ValueError(f"a {self.name} with more than {MOST_LEVELS} levels")
        return np.unique(np.round(found, 9))

    def ranks(self, codes: Codes) -> NDArray[np.int64]:
        """By row, the value's place among the levels."""
        if self.name is FunctionName.VALUE:
            return self._rank_of_code[codes[self.parents[0]]]
        return np.searchsorted(self.levels, self.of(codes)).astype(np.int64)

    @cached_property
    def _rank_of_code(self) -> NDArray[np.int64]:
        """Of a single column's."""
        own = np.round(np.asarray(self.values[0], dtype=np.float64), 9)
        return np.searchsorted(self.levels, own).astype(np.int64)

    def require_whole(self) -> None:
        if len(self.values) != len(self.parents) or not self.parents:
            raise ValueError("a function of columns needs the values of each")
