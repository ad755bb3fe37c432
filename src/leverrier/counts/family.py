"""The one question every learner asks: how often does each assignment of this family occur?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Family(NamedTuple):
    """A child and its parents, by name. In sequences a name stands for a variable at a lag."""

    child: str
    parents: tuple[str, ...] = ()


class Statistics(Protocol):
    """Whoever can answer it. The door takes a batch, because a batch can be counted in one pass."""

    @property
    def cardinalities(self) -> Mapping[str, int]:
        """Every variable that may be asked about, with its number of states."""
        ...

    @property
    def total(self) -> float:
        """The number of rows, or the sum of their weights: what every table sums to."""
        ...

    def tables(self, families: Sequence[Family]) -> list[NDArray[np.float64]]:
        """(Expected) counts, one array a family: axes are the parents in order, then the child."""
        ...
