"""The child is a function of its parents, and something drawn beside it is added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats
from leverrier.models.families.column_function import ColumnFunction, FunctionName
from leverrier.models.families.state_kind import Codes, StateKind, normalised_rows


@dataclass(frozen=True, eq=False)
class OffsetKind(StateKind):
    """P(child = k | parents) ∝ P(offset = value_k − f(parents)), over the states there are."""

    function: ColumnFunction
    child_values: Floats
    offsets: Floats
    """Ascending."""
    shares: Floats
    otherwise: Floats
    """The child's distribution where no offset leads to a state."""

    @property
    def kind(self) -> str:
        return "copy" if self.function.name is FunctionName.VALUE else self.function.name

    @property
    def states(self) -> int:
        return len(self.child_values)

    @property
    def dimension(self) -> int:
        return len(self.offsets) - 1

    def rows(self, codes: Codes) -> Floats:
        levels, index = np.unique(self.function.of(codes), return_inverse=True)
        off = np.round(self.child_values[None, :] - levels[:, None], 9)
        at = np.minimum(np.searchsorted(self.offsets, off), len(self.offsets) - 1)
        chances = np.where(np.abs(self.offsets[at] - off) < 1e-8, self.shares[at], 0.0)
        nowhere = chances.sum(axis=1) <= 0
        chances[nowhere] = self.otherwise
        return normalised_rows(chances)[index]

    def require_whole(self) -> None:
        if len(self.offsets) != len(self.shares) or not len(self.offsets) or self.states != len(self.otherwise):
            raise ValueError("an offset needs its share")
