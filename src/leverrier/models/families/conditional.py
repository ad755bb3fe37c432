"""P(child | parents), whatever its kind: the one face that search, EM, sampling, formats and words see.

A kind is a frozen value of fitted parameters. Learners make it from sufficient statistics; nothing after that asks
which kind it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[Any]
"""One column of complete rows: codes 0, 1, 2… of a variable with states, floats of a number."""


class Conditional(Protocol):
    """A distribution of one column given others, in the order of the family's parents."""

    @property
    def kind(self) -> str:
        """In a word or two: "table", "tree", "logit", "noisy-max", "linear"…"""
        ...

    @property
    def dimension(self) -> int:
        """The number of free parameters."""
        ...

    def log_density(self, child: Cells, parents: Sequence[Cells]) -> NDArray[np.float64]:
        """By row, of the child's cell given its parents' cells."""
        ...

    def draw(self, parents: Sequence[Cells], n_rows: int, rng: np.random.Generator) -> Cells:
        """A cell of the child for each row."""
        ...

    def content(self) -> Mapping[str, Any]:
        """Plain values to be saved: "kind" and the parameters; `models.families` reads them back."""
        ...


class StateConditional(Conditional, Protocol):
    """A distribution over states given parents that all have states: it can always be written out as a table."""

    def rows(self, codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """(rows, states): the child's distribution for each column of (parents, rows)."""
        ...

    def table(self, shape: Sequence[int]) -> NDArray[np.float64]:
        """P(child | parents) with axes: parents in order, then the child."""
        ...
