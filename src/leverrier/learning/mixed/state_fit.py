"""A child with states (or codes) given numbers and states: a table on codes, a multinomial or an ordered logit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from leverrier.arrays import Floats
from leverrier.learning.mixed.fitted import Fitted
from leverrier.learning.mixed.grown_fit import MOST_COLUMNS, Cases, Codes, GrownFit
from leverrier.learning.mixed.mixed_design import Design
from leverrier.learning.mixed.score_logits import multinomial, ordered
from leverrier.models.families.number_histogram import NumberHistogram, joined
from leverrier.models.families.number_states import NumberLogit, NumberOrderedLogit, NumberTable

QUARTERS = 4
EVEN = 0.3
"""Nats a parameter and log row that a score test must promise before slopes by state are tried; they cost 0.5."""


def _cases(design: Design, parents: Sequence[int], rows: NDArray[np.int64] | None, codes: Codes) -> Cases:
    columns = [design.space.columns[p] for p in parents]
    if not all(column.told_by_codes for column in columns):
        return Cases(rows, codes, np.ones(len(codes)))
    place = codes
    for column in columns:
        place = place * column.n_codes + (column.codes if rows is None else column.codes[rows])
    _, first, counts = np.unique(place, return_index=True, return_counts=True)
    return Cases(first if rows is None else rows[first], codes[first], counts.astype(np.float64))


def fit_states(design: Design, child: int, parents: Sequence[int]) -> list[Fitted]:
    """Every kind that can be tried for this child."""
    rows = design.rows_of((child, *parents))
    column = design.space.columns[child]
    codes = column.codes if rows is None else column.codes[rows]
    bounds = column.bounds if column.number else ()
    found = []
    shares = _shares(design, parents, rows, codes, column.n_codes)
    if shares is not None:
        table, seen, pieces, logs = shares
        family = NumberTable(bounds, pieces, tuple(map(tuple, table.tolist())), seen)
        found.append(Fitted(family, logs, 0.5 * family.dimension * float(np.log(len(codes)))))
    if parents:
        found += _logits(design, child, parents, rows, codes, bounds)
    return found


def fit_histogram(design: Design, child: int, parents: Sequence[int]) -> Fitted | None:
    """The quarters of a number's scores for each piece of its parents."""
    rows = design.rows_of((child, *parents))
    column = design.space.columns[child]
    assert column.scores is not None
    codes, z = column.codes // 2, column.scores
    if rows is not None:
        codes, z = codes[rows], z[rows]
    shares = _shares(design, parents, rows, codes, QUARTERS)
    if shares is None:
        return None
    table, seen, pieces, _ = shares
    family = NumberHistogram(column.bounds[1::2], pieces, tuple(map(tuple, table.tolist())))
    cells = [design.cells[p] if rows is None else design.cells[p][rows] for p in parents]
    logs = float(family.log_density(z, cells).sum())
    return Fitted(family, logs, 0.5 * seen * (QUARTERS - 1) * float(np.log(len(codes))), z)


def _shares(
    design: Design, parents: Sequence[int], rows: NDArray[np.int64] | None, codes: Codes, n_codes: int
) -> tuple[Floats, int, tuple[tuple[float, ...], ...], float] | None:
    """Shares of the child's codes by the parents' pieces, how many of these occur, the bounds, the log-likelihood.

    None where the table would have more cells than a quarter of the rows.
    """
    columns = [design.space.columns[p] for p in parents]
    pieces = tuple(c.bounds if c.discrete else c.bounds[1::2] for c in columns)
    size = int(np.prod([len(each) + 1 for each in pieces], dtype=np.int64)) if pieces else 1
    if size * n_codes > max(len(codes) // 2, 64):
        return None
    cells = [design.cells[p] if rows is None else design.cells[p][rows] for p in parents]
    place = joined(cells, pieces, len(codes))
    counts = np.bincount(place * n_codes + codes, minlength=size * n_codes).reshape(size, n_codes).astype(np.float64)
    smooth = counts + 0.5 / n_codes
    shares = smooth / smooth.sum(axis=1, keepdims=True)
    logs = float((counts * np.log(shares)).sum())
    return shares, int(np.count_nonzero(counts.sum(axis=1))), pieces, logs


def _logits(
    design: Design,
    child: int,
    parents: Sequence[int],
    rows: NDArray[np.int64] | None,
    codes: Codes,
    bounds: tuple[float, ...],
) -> list[Fitted]:
    """Plain lines in scores or raw shapes, then squares, hinges and products where the residuals ask for them."""
    column, cases = design.space.columns[child], _cases(design, parents, rows, codes)
    found: list[Fitted] = []
    even: _Logit | None = None
    shapes = (False, True) if any(design.space.columns[p].w is not None for p in parents) else (False,)
    for in_order in (True, False) if column.ordered and column.n_codes > 2 else (False,):
        if not in_order and even is not None and not _uneven(even, design, parents):
            continue
        climbs = []
        for shape in shapes:
            places = list(dict.fromkeys(j for p in parents for j in design.mains(p, shape)))
            if not in_order and (len(places) + 1) * (column.n_codes - 1) > MOST_COLUMNS:
                continue
            climbs.append(_Logit(design, child, parents, cases, in_order).fit(places))
        if climbs:
            best = max(climbs, key=lambda each: each.score)
            best.climb()
            even = best if in_order else None
            found.append(best.fitted(bounds))
    return found


def _uneven(fit: _Logit, design: Design, parents: Sequence[int]) -> bool:
    """Whether slopes of its own for every state may pay, by the score test of equal ones: multinomial logits cost most
    of the search over grades, and where the ordered one fits they cannot win."""
    cases = fit.cases
    places = list(dict.fromkeys((0, *(j for p in parents for j in design.mains(p, False)))))
    x = design.columns(places, cases.rows)
    upto = expit(fit.thresholds - (fit.beta @ design.columns(fit.places, cases.rows))[:, None])
    shares = np.maximum(np.diff(upto, axis=1, prepend=0.0, append=1.0), 1e-12)
    stat = 0.0
    for k in range(shares.shape[1]):
        p = shares[:, k]
        pull = x @ (cases.weights * ((cases.codes == k) - p))
        spread = (x * (cases.weights * p * (1 - p))) @ x.T
        stat += pull @ np.linalg.lstsq(spread, pull, rcond=1e-9)[0]
    more = (shares.shape[1] - 2) * (len(places) - 1)
    return 0.5 * stat > EVEN * more * float(np.log(cases.size))


class _Logit(GrownFit):
    """One logit."""

    def __init__(self, design: Design, child: int, parents: Sequence[int], cases: Cases, in_order: bool) -> None:
        super().__init__(design, child, parents, cases)
        self.in_order = in_order
        self.n_codes = design.space.columns[child].n_codes
        self.each = 1 if in_order else self.n_codes - 1

    def fit(self, places: list[int], on: bool = False) -> Self:
        self.places = places
        x, codes, weights = self.design.columns([0, *places], self.cases.rows), self.cases.codes, self.cases.weights
        if self.in_order:
            start = (self.thresholds, np.append(self.beta, 0.0)) if on else None
            self.thresholds, self.beta, self.logs, residuals = ordered(x[1:], codes, self.n_codes, start, weights)
            self.residuals = residuals[None]
            parameters = len(self.thresholds) + len(self.beta)
        else:
            first = np.column_stack([self.beta, np.zeros(len(self.beta))]) if on else None
            self.beta, self.logs, self.residuals = multinomial(x, codes, self.n_codes, first, weights)
            parameters = self.beta.size
        self.paid = 0.5 * parameters * self.log_n
        self.score = self.logs - self.paid
        return self

    def fitted(self, bounds: tuple[float, ...]) -> Fitted:
        moved = {p: at for at, p in enumerate(self.parents)}
        terms = tuple(term.moved(moved) for j in self.places if (term := self.design.terms[j]) is not None)
        curves = tuple(self.design.curves[p] for p in self.parents)
        if self.in_order:
            thresholds, beta = tuple(self.thresholds.tolist()), tuple(self.beta.tolist())
            return Fitted(NumberOrderedLogit(bounds, terms, thresholds, beta, curves), self.logs, self.paid)
        family = NumberLogit(bounds, terms, tuple(map(tuple, self.beta.tolist())), curves)
        return Fitted(family, self.logs, self.paid)
