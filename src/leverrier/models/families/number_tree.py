"""A number given its parents: a small tree of splits, a line with its own scatter at each leaf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.models.curve import Curve
from leverrier.models.families.conditional import Cells
from leverrier.models.families.number_regression import GAUSSIAN, Noise
from leverrier.models.families.number_terms import Term
from leverrier.plain_values import Plain


@dataclass(frozen=True)
class Split(Plain):
    """Cells of one parent in [low, high) go left. Children are numbers of splits, or −1 − leaf.

    Written as a list, bounds as text: JSON has no infinity.
    """

    parent: int
    low: float
    high: float
    left: int
    right: int

    def content(self) -> list[Any]:
        return [self.parent, str(self.low), str(self.high), self.left, self.right]

    @classmethod
    def of_content(cls, content: Sequence[Any]) -> Split:
        parent, low, high, left, right = content
        return cls(int(parent), float(low), float(high), int(left), int(right))


@dataclass(frozen=True)
class NumberTree(Plain):
    """z or w = g(z) has at each leaf its own line and deviation; the noise is one. Densities are of z."""

    splits: tuple[Split, ...]
    terms: tuple[Term, ...]
    lines: tuple[tuple[float, ...], ...]
    """By leaf: the constant, then one for each term."""
    deviations: tuple[float, ...]
    noise: Noise = GAUSSIAN
    curve: Curve | None = None
    parent_curves: tuple[Curve | None, ...] = ()

    @property
    def kind(self) -> str:
        return "tree"

    @property
    def dimension(self) -> int:
        return len(self.lines) * (len(self.terms) + 2) + len(self.splits) + self.noise.dimension

    def leaves(self, parents: Sequence[Cells], n_rows: int) -> NDArray[np.int64]:
        """Each row's leaf."""
        at = np.zeros(n_rows, dtype=np.int64)
        if not self.splits:
            return at
        for number, split in enumerate(self.splits):  # parents come before their children
            here = at == number
            cells = parents[split.parent]
            left = (cells >= split.low) & (cells < split.high)
            at = np.where(here, np.where(left, split.left, split.right), at)
        return -1 - at

    def mean_and_scale(self, parents: Sequence[Cells], n_rows: int) -> tuple[Floats, Floats]:
        leaf = self.leaves(parents, n_rows)
        lines = np.array(self.lines)
        mean = lines[leaf, 0]
        for at, term in enumerate(self.terms, start=1):
            mean = mean + lines[leaf, at] * term.column(parents, self.parent_curves)
        return mean, np.array(self.deviations)[leaf]

    def log_density(self, child: Cells, parents: Sequence[Cells]) -> NDArray[np.float64]:
        z = np.asarray(child, dtype=np.float64)
        mean, scale = self.mean_and_scale(parents, len(z))
        y = z if self.curve is None else self.curve(z)
        logs = self.noise.log_density((y - mean) / scale) - np.log(scale)
        return logs if self.curve is None else logs + self.curve.log_slope(z)

    def draw(self, parents: Sequence[Cells], n_rows: int, rng: np.random.Generator) -> Cells:
        mean, scale = self.mean_and_scale(parents, n_rows)
        y = mean + scale * self.noise.draw(n_rows, rng)
        return y if self.curve is None else self.curve.inverse(y)
