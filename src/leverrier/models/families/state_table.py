"""A distribution of its own for each configuration of the parents, and a value of its own for each."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats
from leverrier.models.families.state_kind import Codes, StateKind


@dataclass(frozen=True, eq=False)
class TableKind(StateKind):
    """The full table: axes are the parents in order, then the child."""

    probabilities: Floats

    @property
    def kind(self) -> str:
        return "table"

    @property
    def states(self) -> int:
        return int(self.probabilities.shape[-1])

    @property
    def dimension(self) -> int:
        return self.probabilities.size - self.probabilities.size // self.states

    def rows(self, codes: Codes) -> Floats:
        if not len(codes):
            return np.broadcast_to(self.probabilities, (codes.shape[1], self.states))
        return self.probabilities[tuple(codes)]


@dataclass(frozen=True, eq=False)
class LookupKind(StateKind):
    """The child has one value for each configuration that was seen, but for errors; elsewhere it is like an error."""

    sizes: tuple[int, ...]
    keys: Codes
    """The configurations that were seen as mixed-radix numbers, ascending."""
    values: Codes
    error: float
    otherwise: Floats
    """What errors are spread like."""

    @property
    def kind(self) -> str:
        return "lookup"

    @property
    def states(self) -> int:
        return len(self.otherwise)

    @property
    def dimension(self) -> int:
        return len(self.keys) + self.states

    def rows(self, codes: Codes) -> Floats:
        keys = np.zeros(codes.shape[1], dtype=np.int64)
        for size, column in zip(self.sizes, codes, strict=True):
            keys = keys * size + column
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        seen = self.keys[at] == keys
        out = np.where(seen, self.error, 1.0)[:, None] * self.otherwise
        out[np.flatnonzero(seen), self.values[at[seen]]] += 1.0 - self.error
        return out

    def require_whole(self) -> None:
        keys, values = self.keys, self.values
        if len(keys) != len(values) or not len(keys) or np.any(np.diff(keys) <= 0):
            raise ValueError("a lookup needs a value for each configuration, in ascending order")
        if keys[0] < 0 or keys[-1] >= math.prod(self.sizes) or values.min() < 0 or values.max() >= self.states:
            raise ValueError("a lookup names a configuration or a state that is not there")
