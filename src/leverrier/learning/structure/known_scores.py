"""Families' scores as others ask for them: sets of nodes as bits, and other problems' scores under new numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


def members(bits: int) -> list[int]:
    """The positions of the ones, ascending."""
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


class KnownScores(Protocol):
    """Scores of families of complete columns, to be asked instead of scoring them again."""

    @property
    def n_nodes(self) -> int: ...

    def family(self, child: int, parents: int) -> float: ...

    def expand(self, child: int, parents: int) -> NDArray[np.float64]: ...

    def surplus(self, child: int, parents: int) -> float:
        """How much better than by its table the family is said."""
        ...


class Renumbered:
    """Another problem's scores, for some of its nodes under new numbers."""

    def __init__(self, scores: KnownScores, places: Sequence[int]) -> None:
        self._scores = scores
        self._places = list(places)
        self._order = np.array([*places, -1])
        self._bits = [1 << place for place in places]
        self.n_nodes = len(self._places)

    def _translated(self, bits: int) -> int:
        return sum(self._bits[v] for v in members(bits))

    def family(self, child: int, parents: int) -> float:
        return self._scores.family(self._places[child], self._translated(parents))

    def expand(self, child: int, parents: int) -> NDArray[np.float64]:
        return self._scores.expand(self._places[child], self._translated(parents))[self._order]

    def surplus(self, child: int, parents: int) -> float:
        return self._scores.surplus(self._places[child], self._translated(parents))
