"""What every kind of family over states shares: densities, draws and tables all come from its rows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.errors import TooLargeError
from leverrier.plain_values import Plain

Codes = NDArray[np.int64]

MOST_CELLS = 2**24


class StateKind(Plain, ABC):
    """P(child | parents) over states, all of it said by `rows`."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """In a word or two."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of free parameters."""

    @property
    @abstractmethod
    def states(self) -> int:
        """Of the child."""

    @abstractmethod
    def rows(self, codes: Codes) -> Floats:
        """(rows, states): the child's distribution for each column of (parents, rows)."""

    def log_density(self, child: NDArray[Any], parents: Sequence[NDArray[Any]]) -> Floats:
        """By row, of the child's code given its parents' codes; −∞ where it cannot be."""
        rows = self.rows(_stacked(parents, len(child)))
        with np.errstate(divide="ignore"):
            return np.log(rows[np.arange(len(child)), np.asarray(child, dtype=np.int64)])

    def draw(self, parents: Sequence[NDArray[Any]], n_rows: int, rng: np.random.Generator) -> Codes:
        """A code of the child for each row."""
        cumulative = np.cumsum(self.rows(_stacked(parents, n_rows)), axis=1)
        drawn = (rng.random(n_rows)[:, None] * cumulative[:, -1:] >= cumulative).sum(axis=1)
        return np.minimum(drawn, self.states - 1)

    def table(self, shape: Sequence[int]) -> Floats:
        """P(child | parents) with axes: parents in order, then the child."""
        cells = math.prod(shape)
        if cells > MOST_CELLS:
            raise TooLargeError(f"the table of this family would need {cells:,} cells (at most {MOST_CELLS:,})")
        grid = np.indices(shape[:-1], dtype=np.int64).reshape(len(shape) - 1, cells // max(shape[-1], 1))
        return self.rows(grid).reshape(tuple(shape))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StateKind) and self.content() == other.content()

    def __hash__(self) -> int:
        return hash((self.kind, self.dimension, self.states))


def _stacked(parents: Sequence[NDArray[Any]], n_rows: int) -> Codes:
    return np.stack([np.asarray(p, dtype=np.int64) for p in parents]) if parents else np.zeros((0, n_rows), np.int64)


def normalised_rows(rows: Floats) -> Floats:
    return rows / rows.sum(axis=1, keepdims=True)
