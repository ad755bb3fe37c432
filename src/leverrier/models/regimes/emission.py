"""What a column shows in each hidden state: one protocol for numbers, counts and categories.

A column's predictor in state s is η = z'β_s over its terms z; a term may be `shared`: its coefficient is then the same
in every state. `fitted` is the weighted M-step of EM (for families without a closed form one or a few ascents of it).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Self

import numpy as np

from leverrier.arrays import Floats
from leverrier.models.regimes.terms import Term

RIDGE = 1e-9
NARROWEST = 1e-3
"""A state's spread is at least so much of its column's."""


class Family(StrEnum):
    """The law of a column given its predictor."""

    NORMAL = "normal"
    STUDENT = "student"
    POISSON = "poisson"
    NEGATIVE_BINOMIAL = "negative binomial"
    ZERO_INFLATED = "zero-inflated"
    CATEGORY = "category"


@dataclass(frozen=True, eq=False)
class Emission(ABC):
    """One column given the hidden state. `coefficients` are (states, 1 + terms[, categories − 1])."""

    name: str
    family: Family
    terms: tuple[Term, ...]
    shared: tuple[bool, ...]
    """By term: whether its coefficient is the same in every state."""
    coefficients: Floats
    spread: Floats
    """By state: σ of numbers, the size r of a negative binomial (variance μ + μ²/r), 1 else."""
    shape: Floats
    """By state: ν of Student's t, the share of extra zeros, 0 else."""
    floor: float = field(default=0.0)
    tied: bool = False
    """Whether σ is the same in every state."""

    @property
    def states(self) -> int:
        return len(self.coefficients)

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Free parameters."""

    @abstractmethod
    def logs(self, y: Floats, z: Floats) -> Floats:
        """(slices, states): ln P(y | state, terms); 0 where y is a hole."""

    def fitted(self, y: Floats, z: Floats, weights: Floats) -> Self:
        """The weighted M-step; weights (slices, states)."""
        seen = ~np.isnan(y)
        y, z, weights = (y, z, weights) if seen.all() else (y[seen], z[seen], weights[seen])
        return self._fitted(y, z, weights) if len(y) else self

    @abstractmethod
    def _fitted(self, y: Floats, z: Floats, weights: Floats) -> Self:
        """The same where there is no hole."""

    @abstractmethod
    def drawn(self, z: Floats, state: int, rng: np.random.Generator) -> Floats:
        """A cell for each row of z, all in this state."""

    @abstractmethod
    def means(self, z: Floats) -> Floats:
        """(slices, states): what is expected of the column (of a category: of its code)."""

    def spread_over(self, states: int) -> Self:
        """The same law in so many states, all alike."""
        return self.reordered(np.zeros(states, dtype=np.int64))

    def reordered(self, order: np.ndarray) -> Self:
        return replace(self, coefficients=self.coefficients[order], spread=self.spread[order], shape=self.shape[order])

    @property
    def slots(self) -> tuple[list[int], list[int]]:
        """Columns of the design whose coefficients differ by state, and those shared."""
        own = [0] + [i for i, one in enumerate(self.shared, 1) if not one]
        return own, [i for i, one in enumerate(self.shared, 1) if one]

    @property
    def _slopes(self) -> int:
        own, shared = self.slots
        return len(own) * self.states + len(shared)


def solve_states(z: Floats, own: list[int], shared: list[int], weights: Floats, target: Floats) -> Floats:
    """(states, 1 + terms): least squares of `target` (slices, states) on z with weights (slices, states)."""
    k, a, b = weights.shape[1], len(own), len(shared)
    zo, zs = z[:, own], z[:, shared]
    matrix = np.zeros((k * a + b, k * a + b))
    right = np.zeros(k * a + b)
    for s in range(k):
        w = weights[:, s, None]
        here = slice(s * a, (s + 1) * a)
        weighted = w * zo
        matrix[here, here] = weighted.T @ zo
        right[here] = weighted.T @ target[:, s]
        if b:
            cross = weighted.T @ zs
            matrix[here, k * a :] = cross
            matrix[k * a :, here] = cross.T
            shares = w * zs
            matrix[k * a :, k * a :] += shares.T @ zs
            right[k * a :] += shares.T @ target[:, s]
    size = np.trace(matrix) / max(len(matrix), 1)
    matrix.flat[:: len(matrix) + 1] += RIDGE * max(size, 1e-300)
    found = np.linalg.solve(matrix, right)
    made = np.zeros((k, z.shape[1]))
    made[:, own] = found[: k * a].reshape(k, a)
    made[:, shared] = found[k * a :]
    return made
