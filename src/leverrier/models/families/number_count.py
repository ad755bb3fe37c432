"""A count given its parents: Poisson, negative binomial, or Poisson with extra zeros; ln mean is a sum of terms.

A count's normal score says which value it is and where in that value's share of the rows it lies, ties broken at
random. So a law of values is a density of scores: p(z) = φ(z) · P(value | parents) / share(value). Numbers that were
never seen belong to the nearest value that was, so that the density is whole and nothing else is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln, ndtr, ndtri, pdtr

from leverrier.arrays import Floats
from leverrier.models.curve import Curve
from leverrier.models.families.conditional import Cells
from leverrier.models.families.number_regression import LOG_2_PI
from leverrier.models.families.number_terms import Term
from leverrier.plain_values import Plain

POISSON, NEGATIVE_BINOMIAL, ZERO_INFLATED = "Poisson", "negative binomial", "zero-inflated Poisson"
MOST = 12.0
"""Of the log of a mean, either side of 0."""
LEAST = 1e-300


def by_number(of: Callable[[Floats], Floats], y: Floats) -> Floats:
    """`of(y)`, worked out once for each number where there are fewer of these than rows."""
    most = y.max(initial=0)
    if not (y.min(initial=0) >= 0 and most < len(y)):
        return of(y)
    return of(np.arange(most + 1.0))[y.astype(np.intp)]


class WholeLaw(Protocol):
    """Chances of whole numbers from 0 on, given where the law stands in each row."""

    def log_chance(self, y: Floats, mean: Floats) -> Floats: ...

    def up_to(self, y: Floats, mean: Floats) -> Floats: ...


@dataclass(frozen=True)
class CountLaw:
    """Poisson; with a `size` negative binomial; with `zeros` that share of rows is 0 whatever the mean."""

    size: float | None = None
    zeros: float = 0.0

    @property
    def kind(self) -> str:
        if self.size is not None:
            return NEGATIVE_BINOMIAL
        return ZERO_INFLATED if self.zeros else POISSON

    @property
    def dimension(self) -> int:
        return int(self.size is not None) + int(self.zeros > 0)

    def log_chance(self, y: Floats, mean: Floats) -> Floats:
        """log P(y) of whole numbers."""
        if self.size is not None:
            r = self.size
            ways = by_number(lambda whole: gammaln(whole + r) - gammaln(r) - gammaln(whole + 1), y)
            return ways + r * np.log(r / (r + mean)) + y * np.log(mean / (r + mean))
        logs = y * np.log(mean) - mean - by_number(lambda whole: gammaln(whole + 1), y)
        if not self.zeros:
            return logs
        logs = np.log1p(-self.zeros) + logs
        return np.where(y == 0, np.logaddexp(np.log(self.zeros), logs), logs)

    def up_to(self, y: Floats, mean: Floats) -> Floats:
        """P(at most y); 0 below zero."""
        at = np.maximum(y, 0.0)
        if self.size is not None:
            found = betainc(self.size, at + 1, self.size / (self.size + mean))
        else:
            found = self.zeros + (1 - self.zeros) * pdtr(at, mean)
        return np.where(y < 0, 0.0, np.where(np.isinf(y), 1.0, found))

    def draw(self, mean: Floats, rng: np.random.Generator) -> Floats:
        if self.size is not None:
            mean = mean * rng.gamma(self.size, 1 / self.size, len(mean))
        y = rng.poisson(mean).astype(np.float64)
        return np.where(rng.random(len(mean)) < self.zeros, 0.0, y) if self.zeros else y


@dataclass(frozen=True)
class Counted:
    """Which values were seen, and where their shares of the rows end; what parts the codes of an atomic number."""

    values: tuple[float, ...]
    edges: tuple[float, ...]
    """Between a value and the next: the share of rows up to there."""
    cuts: tuple[float, ...] = ()
    """The scores between its codes; empty where every value has its density."""

    @cached_property
    def _ends(self) -> Floats:
        return np.concatenate([[0.0], self.edges, [1.0]])

    @cached_property
    def tops(self) -> Floats:
        """The largest whole number that belongs to each value."""
        values = np.array(self.values)
        return np.append(np.floor((values[1:] + values[:-1]) / 2), np.inf)

    @cached_property
    def _code_ends(self) -> NDArray[np.int64]:
        """The last value of each code."""
        middle = ndtri((self._ends[1:] + self._ends[:-1]) / 2)
        codes = np.searchsorted(np.array(self.cuts), middle, side="right")
        return np.searchsorted(codes, np.arange(len(self.cuts) + 1), side="right") - 1

    def place(self, z: Floats) -> NDArray[np.int64]:
        """Which of the values each score is."""
        return np.searchsorted(np.array(self.edges), ndtr(z), side="left").astype(np.int64)

    def numbers(self, z: Floats) -> Floats:
        return np.array(self.values)[self.place(z)]

    def within(self, z: Floats) -> Floats:
        """Where a score lies in its value's share of rows, from 0 to 1."""
        k = self.place(z)
        return np.clip((ndtr(z) - self._ends[k]) / (self._ends[k + 1] - self._ends[k]), 0.0, 1.0)

    def cell(self, z: Floats) -> NDArray[np.int64]:
        """Which of the values each score is; of an atomic number, which of the codes."""
        if self.cuts:
            return np.searchsorted(np.array(self.cuts), z, side="right").astype(np.int64)
        return self.place(z)

    def log_density(self, law: WholeLaw, z: Floats, mean: Floats, cell: NDArray[np.int64] | None = None) -> Floats:
        """Of scores; of an atomic number log P(code). `cell(z)` may be known."""
        at = self.cell(z) if cell is None else cell
        if self.cuts:
            last = self._code_ends
            tops, before = self.tops[last], np.append(-1.0, self.tops[last[:-1]])
            return np.log(np.maximum(_share(law, before[at], tops[at], mean), 1e-12))
        before, values = np.append(-1.0, self.tops[:-1])[at], np.array(self.values)[at]
        log_p = law.log_chance(values, mean)
        several = np.flatnonzero(~_single(before, self.tops[at]))
        around = _share(law, before[several], self.tops[at[several]], mean[several])
        # (far out the difference of two sums is lost: the value's own chance is not)
        log_p[several] = np.maximum(log_p[several], np.log(np.maximum(around, LEAST)))
        return log_p - np.log(self._ends[at + 1] - self._ends[at]) - 0.5 * (LOG_2_PI + z * z)

    def scores(self, y: Floats, rng: np.random.Generator) -> Floats:
        """Somewhere in the share of rows of the value that is nearest to each number."""
        k = np.searchsorted(self.tops, y, side="left")
        return ndtri(self._ends[k] + rng.random(len(y)) * (self._ends[k + 1] - self._ends[k]))


def _single(before: Floats, top: Floats) -> NDArray[np.bool_]:
    """Where one number stands for itself alone; all below the first may be that one's too."""
    return (top - before == 1) & (before >= 0)


def _share(law: WholeLaw, before: Floats, top: Floats, mean: Floats) -> Floats:
    """P(above `before`, at most `top`); of a single number its own chance, which no difference of sums can blur."""
    found = np.empty(len(mean))
    single = _single(before, top)
    found[single] = np.exp(law.log_chance(top[single], mean[single]))
    several = ~single
    found[several] = law.up_to(top[several], mean[several]) - law.up_to(before[several], mean[several])
    return found


@dataclass(frozen=True)
class NumberCount(Plain):
    """ln mean = constant + Σ coefficient·term."""

    law: CountLaw
    counted: Counted
    terms: tuple[Term, ...]
    coefficients: tuple[float, ...]
    """The constant first, then one for each term."""
    parent_curves: tuple[Curve | None, ...] = ()

    @property
    def kind(self) -> str:
        return self.law.kind

    @property
    def dimension(self) -> int:
        return len(self.coefficients) + self.law.dimension

    def mean(self, parents: Sequence[Cells], n_rows: int) -> Floats:
        """Of the count, in its own units."""
        total = np.full(n_rows, self.coefficients[0])
        for term, coefficient in zip(self.terms, self.coefficients[1:], strict=True):
            total += coefficient * term.column(parents, self.parent_curves)
        return np.exp(np.clip(total, -MOST, MOST))

    def log_density(self, child: Cells, parents: Sequence[Cells]) -> NDArray[np.float64]:
        z = np.asarray(child, dtype=np.float64)
        return self.counted.log_density(self.law, z, self.mean(parents, len(z)))

    def draw(self, parents: Sequence[Cells], n_rows: int, rng: np.random.Generator) -> Cells:
        return self.counted.scores(self.law.draw(self.mean(parents, n_rows), rng), rng)

    def content(self) -> dict[str, Any]:
        own = super().content()
        return {"kind": self.kind, **own.pop("law"), **own.pop("counted"), **own}

    @classmethod
    def of_content(cls, content: Mapping[str, Any]) -> Self:
        return super().of_content({**content, "law": content, "counted": content})

    def require_whole(self) -> None:
        values, edges = len(self.counted.values), len(self.counted.edges)
        if values != edges + 1:
            raise ValueError(f"{values} values need {values - 1} edges, not {edges}")
