"""What one slice of a chain does: families that its own unobserved nodes tie together, for each distinct showing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.inference.exact.junction import distinct


@dataclass(frozen=True, eq=False)
class Group:
    """Families of a slice that unobserved nodes of that slice alone tie together.

    Those are summed out for each distinct showing of the rest. Cells are over hidden nodes of the slice before, then of
    this one, then what is summed out.
    """

    families: tuple[int, ...]
    before: tuple[bool, ...]
    """Which of the chain's variables it sees in the slice before, and which in this one."""
    now: tuple[bool, ...]
    shape: tuple[int, ...]
    inner: int
    """Cells that are summed out."""
    maps: tuple[Integers, ...]
    offsets: Integers
    """(families, distinct showings)."""
    index: Integers
    """Which showing each of the pattern's slices has."""

    def product(self, theta: Floats) -> Floats:
        """(showings, hidden cells, cells to be summed out)."""
        total: Floats | float = 1.0
        for offsets, cells in zip(self.offsets, self.maps, strict=True):
            total = total * theta[offsets[:, None] + cells]
        return np.asarray(total).reshape(len(self.offsets[0]), -1, self.inner)


def combined(groups: Sequence[Group], n_slices: int) -> tuple[Integers, Integers]:
    """Distinct showings of all groups together (groups, distinct), and which of them each slice has."""
    if not groups:
        return np.zeros((0, 1), dtype=np.int64), np.zeros(n_slices, dtype=np.int64)
    return distinct_columns(np.stack([group.index for group in groups]))


def distinct_columns(columns: Integers) -> tuple[Integers, Integers]:
    found, index = distinct(np.ascontiguousarray(columns))
    return found.astype(np.int64, copy=False), index
