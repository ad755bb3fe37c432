"""Bivariate residuals: which pairs of columns agree more (or less) than the classes explain.

The p-value is the score test of an association of the pair that is the same in every class [oberski2013: a bivariate
residual alone has no chi-squared distribution, because the classes were fitted to the same rows].
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import chdtrc

from leverrier.arrays import Floats, Integers
from leverrier.learning.classes.analysis.class_estimates import profile_figures
from leverrier.learning.classes.analysis.drawn_rows import reference_states
from leverrier.learning.classes.class_tables import ResidualRow, RowTable
from leverrier.learning.classes.fitting.class_climb import ClassFitted
from leverrier.learning.classes.fitting.class_covariance import ClassCovariance
from leverrier.learning.classes.parts.class_likelihood import ClassLikelihood
from leverrier.learning.classes.parts.indicator import Indicator, IndicatorKind
from leverrier.learning.classes.parts.indicator_making import Item, make_indicator
from leverrier.run.one_thread import one_thread


class _Base:
    """What every pair shares: scores by class, their mean, the inverse information, all of what is free."""

    def __init__(self, fitted: ClassFitted) -> None:
        likelihood = fitted.likelihood
        self.fitted, self.likelihood = fitted, likelihood
        self.free = ~fitted.edge
        self.shares = likelihood.posterior(fitted.theta)
        self.each = likelihood.class_scores(fitted.theta)[:, :, self.free]
        self.mean = np.einsum("kip,ik->ip", self.each, self.shares)
        self.bread = ClassCovariance(fitted).bread[np.ix_(self.free, self.free)]
        patterns, rows = np.unique(likelihood.pattern_of_row, return_index=True)
        self.row = rows[patterns >= 0]


@one_thread
def residual_table(fitted: ClassFitted) -> RowTable[ResidualRow]:
    """Every pair of indicators, the worst first."""
    base = _Base(fitted)
    rows = []
    places = range(len(fitted.spec.items))
    for a, b in combinations(places, 2):
        first, second = fitted.spec.items[a], fitted.spec.items[b]
        if first.name in second.on:
            continue
        statistic, freedom = _score_test(base, a, b)
        if not freedom:
            continue
        bvr = _pearson(fitted, a, b)
        each = statistic / freedom if bvr is None else bvr
        p = float(chdtrc(freedom, statistic))
        rows.append(ResidualRow(first.name, second.name, statistic, freedom, each, p))
    return RowTable(ResidualRow, tuple(sorted(rows, key=lambda row: (row.p_value, -row.statistic))))


def _score_test(base: _Base, a: int, b: int) -> tuple[float, int]:
    """The score statistic of the pair's association and its degrees of freedom."""
    fitted, likelihood = base.fitted, base.likelihood
    item, indicator = fitted.spec.items[b], likelihood.indicators[b]
    more, theta = _extended(item.depending_on(fitted.spec.items[a]), indicator, likelihood.part(fitted.theta, b + 1))
    fresh = more.size - indicator.size
    new = _new_places(more, indicator)
    old = np.setdiff1d(np.arange(more.size), new)
    where = more.cell_of_row[base.row]
    scores = more.scores(theta)[:, where][:, :, new]  # (classes, patterns, new)
    weights = likelihood.weights
    mean = np.einsum("kip,ik->ip", scores, base.shares)
    cells = np.stack(
        [np.bincount(where, weights=weights * own, minlength=more.cells + 1)[: more.cells] for own in base.shares.T],
        axis=1,
    )
    block = more.information(theta, cells.astype(np.float64))
    own = block[np.ix_(new, new)] + (mean * weights[:, None]).T @ mean
    cross = np.zeros((fresh, likelihood.size))
    cross[:, likelihood.offsets[b + 1] : likelihood.offsets[b + 2]] = block[np.ix_(new, old)]
    cross = cross[:, base.free] + (mean * weights[:, None]).T @ base.mean
    for k in range(likelihood.classes):
        weighed = scores[k] * (weights * base.shares[:, k])[:, None]
        own -= weighed.T @ scores[k]
        cross -= weighed.T @ base.each[k]
    gradient = weights @ mean
    if fitted.spec.sampling.plain:
        spread = own - cross @ base.bread @ cross.T
        if np.linalg.eigvalsh(spread).min() > 1e-8 * max(float(np.diag(spread).max()), 1e-12):
            return float(gradient @ np.linalg.solve(spread, gradient)), fresh
    rows = fitted.by_row(mean - base.mean @ base.bread @ cross.T) * fitted.spec.row_weights[:, None]
    spread = fitted.spec.sampling.spread(np.nan_to_num(rows))
    values, vectors = np.linalg.eigh(spread)
    kept = values > 1e-10 * max(float(values.max(initial=0.0)), 1e-12)
    turned = vectors[:, kept].T @ gradient
    return float((turned**2 / values[kept]).sum()), int(kept.sum())


def _extended(item: Item, indicator: Indicator, theta: Floats) -> tuple[Indicator, Floats]:
    """The indicator with the new shared terms, all of them 0."""
    references = reference_states(indicator) if indicator.kind is IndicatorKind.NOMINAL else None
    more = make_indicator(item, indicator.classes, references)
    whole = np.zeros(more.size)
    whole[np.setdiff1d(np.arange(more.size), _new_places(more, indicator))] = theta
    return more, whole


def _new_places(more: Indicator, indicator: Indicator) -> Integers:
    known = set(indicator.parameters)
    return np.array([i for i, parameter in enumerate(more.parameters) if parameter not in known], dtype=np.int64)


def _pearson(fitted: ClassFitted, a: int, b: int) -> float | None:
    """X² of the pair's table over its degrees of freedom: the bivariate residual; None for numbers."""
    first, second = fitted.spec.items[a], fitted.spec.items[b]
    if not (first.kind.categorical and second.kind.categorical):
        return None
    likelihood: ClassLikelihood = fitted.likelihood
    shares = np.exp(likelihood.logit.log_shares(likelihood.part(fitted.theta, 0)))
    seen = np.zeros((len(first.states), len(second.states)))
    expected = np.zeros_like(seen)
    rows = np.unique(likelihood.pattern_of_row, return_index=True)
    row = rows[1][rows[0] >= 0]
    x, y = first.values[row], second.values[row]
    there = ~np.isnan(x) & ~np.isnan(y)
    np.add.at(seen, (x[there].astype(int), y[there].astype(int)), likelihood.weights[there])
    tables = [profile_figures(fitted, place).values for place in (a, b)]
    prior = likelihood.weights[there] @ shares[likelihood.logit_cell[there]]
    for k in range(likelihood.classes):
        expected += prior[k] * np.outer(tables[0][k], tables[1][k])
    freedom = (len(first.states) - 1) * (len(second.states) - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(expected > 1e-9, (seen - expected) ** 2 / expected, 0.0)
    return float(each.sum()) / max(freedom, 1)
