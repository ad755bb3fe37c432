"""A number given its parents: a regression in its scores or in its raw shape, with its own spread and noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.models.curve import Curve
from leverrier.models.families.conditional import Cells
from leverrier.models.families.number_terms import Term
from leverrier.plain_values import Plain

LOG_2_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Noise(Plain):
    """A mixture of Gaussians for the residuals, in units of the spread. Written as a list for each part."""

    weights: tuple[float, ...] = (1.0,)
    means: tuple[float, ...] = (0.0,)
    deviations: tuple[float, ...] = (1.0,)

    @property
    def dimension(self) -> int:
        """Beyond one Gaussian of mean 0 and deviation 1."""
        return 3 * (len(self.weights) - 1)

    def log_density(self, e: Floats) -> Floats:
        if len(self.weights) == 1:
            return -0.5 * (LOG_2_PI + e * e)
        parts = [
            np.log(w) - 0.5 * (LOG_2_PI + ((e - m) / s) ** 2) - np.log(s)
            for w, m, s in zip(self.weights, self.means, self.deviations, strict=True)
        ]
        return np.logaddexp.reduce(np.stack(parts), axis=0)

    def draw(self, n_rows: int, rng: np.random.Generator) -> Floats:
        which = rng.choice(len(self.weights), size=n_rows, p=np.array(self.weights) / sum(self.weights))
        return np.array(self.means)[which] + np.array(self.deviations)[which] * rng.standard_normal(n_rows)

    def content(self) -> list[Any]:
        return [list(self.weights), list(self.means), list(self.deviations)]

    @classmethod
    def of_content(cls, content: Sequence[Any]) -> Noise:
        return cls(*(tuple(map(float, part)) for part in content))


@dataclass(frozen=True)
class Spread(Plain):
    """One deviation, or one for each piece of what it follows: a parent's cells, or the fitted mean itself."""

    deviations: tuple[float, ...] = (1.0,)
    follows: int | None = None
    """The parent's place; −1 for the fitted mean; None where there is one deviation."""
    cuts: tuple[float, ...] = ()
    beside: int | None = None
    """The place of a second parent: then there is one deviation for each pair of pieces."""
    beside_cuts: tuple[float, ...] = ()

    def each(self, parents: Sequence[Cells], mean: Floats) -> Floats:
        if self.follows is None:
            return np.full(mean.shape, self.deviations[0])
        by = mean if self.follows < 0 else parents[self.follows]
        piece = np.searchsorted(np.array(self.cuts), by, side="right")
        if self.beside is not None:
            second = np.searchsorted(np.array(self.beside_cuts), parents[self.beside], side="right")
            piece = piece * (len(self.beside_cuts) + 1) + second
        return np.array(self.deviations)[piece]

    def content(self) -> list[Any]:
        own = [list(self.deviations), self.follows, list(self.cuts)]
        return own if self.beside is None else [*own, self.beside, list(self.beside_cuts)]

    @classmethod
    def of_content(cls, content: Sequence[Any]) -> Spread:
        deviations, follows, cuts, *second = content
        beside = (int(second[0]), tuple(map(float, second[1]))) if second else (None, ())
        return cls(tuple(map(float, deviations)), follows, tuple(map(float, cuts)), *beside)


GAUSSIAN = Noise()
EVEN = Spread()


@dataclass(frozen=True)
class NumberRegression(Plain):
    """z or w = g(z) is Σ coefficient·term + spread·noise. Densities are of z."""

    kind: str
    """"linear", "squares", "hinges"…: which columns it uses."""
    terms: tuple[Term, ...]
    coefficients: tuple[float, ...]
    """The constant first, then one for each term."""
    spread: Spread = EVEN
    noise: Noise = GAUSSIAN
    curve: Curve | None = None
    """g of the child; None where it is fitted in its scores."""
    parent_curves: tuple[Curve | None, ...] = ()
    explained: float = 0.0
    """The share of the child's variance that the mean takes, where it was fitted."""

    @property
    def dimension(self) -> int:
        return len(self.coefficients) + len(self.spread.deviations) + self.noise.dimension

    def mean(self, parents: Sequence[Cells], n_rows: int) -> Floats:
        """In the representation in which it was fitted."""
        total = np.full(n_rows, self.coefficients[0])
        for term, coefficient in zip(self.terms, self.coefficients[1:], strict=True):
            total += coefficient * term.column(parents, self.parent_curves)
        return total

    def log_density(self, child: Cells, parents: Sequence[Cells]) -> NDArray[np.float64]:
        z = np.asarray(child, dtype=np.float64)
        mean = self.mean(parents, len(z))
        scale = self.spread.each(parents, mean)
        y = z if self.curve is None else self.curve(z)
        logs = self.noise.log_density((y - mean) / scale) - np.log(scale)
        return logs if self.curve is None else logs + self.curve.log_slope(z)

    def draw(self, parents: Sequence[Cells], n_rows: int, rng: np.random.Generator) -> Cells:
        mean = self.mean(parents, n_rows)
        y = mean + self.spread.each(parents, mean) * self.noise.draw(n_rows, rng)
        return y if self.curve is None else self.curve.inverse(y)
