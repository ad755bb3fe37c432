"""A count given its parents by a log link: Poisson, and where the rows ask for it negative binomial or extra zeros."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Self

import numpy as np
from scipy.special import gammaln, ndtri

from leverrier.arrays import Floats
from leverrier.learning.mixed.fitted import Fitted
from leverrier.learning.mixed.grown_fit import Cases, GrownFit
from leverrier.learning.mixed.mixed_design import Design
from leverrier.learning.mixed.mixed_space import SpaceColumn
from leverrier.models.families.number_count import MOST, Counted, CountLaw, NumberCount

LARGEST = 1000.0
"""Counts that reach farther are numbers like any other."""
MOST_COUNTED = 512
RIDGE = 1e-3
STEPS, CLOSE = 25, 1e-3
ROUNDS = 12
SIZES = np.exp(np.linspace(np.log(0.1), np.log(200.0), 40))
"""Where the size of a negative binomial is looked for."""
SPREAD, ZEROS = 1.1, 2.0
"""Pearson's spread, and deviations by which zeros exceed those of a Poisson, from which on another law is tried."""
LAWS = 3


def counted_of(column: SpaceColumn) -> Counted | None:
    """The values of a column of counts and their shares; None of any other column."""
    margin = column.margin
    if margin is None or margin.decimals != 0 or not 2 < len(margin.values) <= MOST_COUNTED:
        return None
    if margin.values[0] < 0 or margin.values[-1] > LARGEST:
        return None
    below, upto = np.array(margin.below), np.array(margin.upto)
    atom = upto > below  # (what came once is kept as a point: its share ends halfway to the next)
    edges = np.where(atom[:-1], upto[:-1], np.where(atom[1:], below[1:], (upto[:-1] + below[1:]) / 2))
    return Counted(margin.values, tuple(edges.tolist()), margin.cuts)


def fit_counts(design: Design, child: int, parents: Sequence[int]) -> list[Fitted]:
    """The best law of a count whose mean hangs on these parents; nothing of columns that are no counts."""
    counted = counted_of(design.space.columns[child]) if parents else None
    if counted is None:
        return []
    rows = design.rows_of((child, *parents))
    shapes = (False, True) if any(design.space.columns[p].w is not None for p in parents) else (False,)
    lines = [list(dict.fromkeys(j for p in parents for j in design.mains(p, shape))) for shape in shapes]
    best = max((_Count(design, child, parents, counted, rows).fit(each) for each in lines), key=lambda each: each.score)
    best.climb()
    return [best.fitted()]


class _Count(GrownFit):
    """One law of counts."""

    each = 1

    def __init__(
        self, design: Design, child: int, parents: Sequence[int], counted: Counted, rows: np.ndarray | None
    ) -> None:
        scores = design.space.columns[child].scores
        assert scores is not None
        self.z = scores if rows is None else scores[rows]
        self.counted, self.y = counted, counted.numbers(self.z)
        self.wholes, self.cell = _Wholes(self.y), counted.cell(self.z)
        super().__init__(design, child, parents, Cases(rows, np.empty(0, np.int64), np.ones(len(self.y))))
        self.beta = np.zeros(0)
        self.law = CountLaw()

    def fit(self, places: list[int], on: bool = False) -> Self:
        self.places = places
        x, y = self.design.columns([0, *places], self.cases.rows), self.y
        if on:
            begun = [_climbed(self.law, x, self.wholes, np.append(self.beta, 0.0))]
        else:
            level = float(np.log(max(float(y.mean()), 1e-6)))
            begun = [_climbed(CountLaw(), x, self.wholes, np.array([level, *[0.0] * len(places)]))]
            begun += [_climbed(law, x, self.wholes, begun[0][1]) for law in _asked_for(y, *begun[0], x)]
        found = [(self._logs(law, beta, x), law, beta) for law, beta in begun]
        price = 0.5 * self.log_n
        self.logs, self.law, self.beta = max(found, key=lambda each: each[0] - price * each[1].dimension)
        self.paid = price * (len(self.beta) + self.law.dimension) + float(np.log(LAWS))
        self.score = self.logs - self.paid
        mean = _mean(self.beta, x)
        self.residuals = (_surely(self.law, y, mean) * (y - mean) / _stretch(self.law, mean))[None]
        return self

    def _logs(self, law: CountLaw, beta: Floats, x: Floats) -> float:
        return float(self.counted.log_density(law, self.z, _mean(beta, x), self.cell).sum())

    def fitted(self) -> Fitted:
        moved = {p: at for at, p in enumerate(self.parents)}
        terms = tuple(term.moved(moved) for j in self.places if (term := self.design.terms[j]) is not None)
        curves = tuple(self.design.curves[p] for p in self.parents)
        family = NumberCount(self.law, self.counted, terms, tuple(self.beta.tolist()), curves)
        mean = _mean(self.beta, self.design.columns([0, *self.places], self.cases.rows))
        share = np.exp(self.law.log_chance(self.y, mean))
        upto = self.law.up_to(self.y - 1, mean) + self.counted.within(self.z) * share
        return Fitted(family, self.logs, self.paid, ndtri(np.clip(upto, 1e-6, 1 - 1e-6)))


class _Wholes:
    """Whole numbers by row and how often each occurs: what a law says of a number alone is said once for all rows."""

    def __init__(self, y: Floats) -> None:
        self.y = y
        self.each = np.bincount(y.astype(np.intp)).astype(np.float64)
        self.number = np.arange(len(self.each), dtype=np.float64)
        self.log_factorials = float(self.each @ gammaln(self.number + 1))
        self.zero = y == 0

    def log_chance(self, law: CountLaw, along: Floats, mean: Floats) -> float:
        """Σ log P(y), by the log of the mean and the mean."""
        products = float(self.y @ along)
        if law.size is not None:
            r = law.size
            ways = float(self.each @ gammaln(self.number + r)) - len(self.y) * float(gammaln(r)) - self.log_factorials
            return ways + len(self.y) * r * float(np.log(r)) - float((self.y + r) @ np.log(r + mean)) + products
        if not law.zeros:
            return products - float(mean.sum()) - self.log_factorials
        kept = float(np.log1p(-law.zeros))
        zeros = float(np.logaddexp(np.log(law.zeros), kept - mean[self.zero]).sum())
        others = (len(self.y) - float(self.each[0])) * kept - float(mean[~self.zero].sum())
        return zeros + others + products - self.log_factorials


def _along(beta: Floats, x: Floats) -> Floats:
    return np.clip(beta @ x, -MOST, MOST)


def _mean(beta: Floats, x: Floats) -> Floats:
    return np.exp(_along(beta, x))


def _surely(law: CountLaw, y: Floats, mean: Floats) -> Floats | float:
    """P(a row's count is no extra zero)."""
    if not law.zeros:
        return 1.0
    plain = (1 - law.zeros) * np.exp(-mean)
    return np.where(y == 0, plain / (law.zeros + plain), 1.0)


def _stretch(law: CountLaw, mean: Floats) -> Floats | float:
    """The variance over the mean."""
    return 1.0 if law.size is None else 1 + mean / law.size


def _asked_for(y: Floats, law: CountLaw, beta: Floats, x: Floats) -> list[CountLaw]:
    """Other laws that the residuals of a Poisson ask for."""
    mean = _mean(beta, x)
    found = []
    if float(((y - mean) ** 2 / mean).mean()) > SPREAD:
        found.append(replace(law, size=1.0))
    expected = np.exp(-mean)
    more = float((y == 0).sum() - expected.sum())
    if more > ZEROS * np.sqrt(float((expected * (1 - expected)).sum()) + 1.0):
        found.append(replace(law, zeros=min(max(more / len(y), 0.01), 0.9)))
    return found


def _climbed(law: CountLaw, x: Floats, wholes: _Wholes, beta: Floats) -> tuple[CountLaw, Floats]:
    """The law and the coefficients in turn, until neither gains: the likelihood never falls."""
    beta = _scored(law, x, wholes, beta)
    if law.size is None and not law.zeros:
        return law, beta
    last = -np.inf
    for _ in range(ROUNDS):
        along = _along(beta, x)
        if law.size is not None:
            law = replace(law, size=_size(wholes, along))
        else:
            extra = 1 - np.asarray(_surely(law, wholes.y, np.exp(along)))
            law = replace(law, zeros=float(np.clip(extra.mean(), 1e-4, 0.99)))
        beta = _scored(law, x, wholes, beta)
        along = _along(beta, x)
        value = wholes.log_chance(law, along, np.exp(along))
        if value - last < CLOSE:
            break
        last = value
    return law, beta


def _scored(law: CountLaw, x: Floats, wholes: _Wholes, beta: Floats) -> Floats:
    """Fisher's scoring with halved steps; rows that are extra zeros count as little as they are surely counts."""
    value, mean = _penalised(law, x, wholes, beta)
    for _ in range(STEPS):
        sure, stretch = _surely(law, wholes.y, mean), _stretch(law, mean)
        slope = x @ (sure * (wholes.y - mean) / stretch) - RIDGE * np.append(0.0, beta[1:])
        bend = (x * (sure * mean / stretch)) @ x.T + RIDGE * np.eye(len(beta))
        step, size = np.linalg.solve(bend, slope), 1.0
        better, there = _penalised(law, x, wholes, beta + step)
        while not better >= value and size > 1e-3:
            size /= 2
            better, there = _penalised(law, x, wholes, beta + size * step)
        if not better >= value:
            break
        beta, mean, gained, value = beta + size * step, there, better - value, better
        if gained < CLOSE:
            break
    return beta


def _penalised(law: CountLaw, x: Floats, wholes: _Wholes, beta: Floats) -> tuple[float, Floats]:
    """What is climbed, and the means there."""
    along = _along(beta, x)
    mean = np.exp(along)
    return wholes.log_chance(law, along, mean) - 0.5 * RIDGE * float(beta[1:] @ beta[1:]), mean


def _size(wholes: _Wholes, along: Floats) -> float:
    """The best of a negative binomial: by thirds of a grid, which has one hump."""
    low, high, mean = 0, len(SIZES) - 1, np.exp(along)

    @cache
    def value(at: int) -> float:
        return wholes.log_chance(CountLaw(float(SIZES[at])), along, mean)

    while high - low > 2:
        third = (high - low) // 3
        a, b = low + third, high - third
        if value(a) < value(b):
            low = a
        else:
            high = b
    return float(SIZES[max(range(low, high + 1), key=value)])
