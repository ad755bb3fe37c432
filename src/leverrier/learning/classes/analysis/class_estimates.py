"""Figures of a fitted model with their errors: sizes, profiles, coefficients; and Wald tests of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc, expit, fdtrc, ndtr, ndtri
from scipy.special import logit as to_logit

from leverrier.arrays import Floats
from leverrier.data.variable import Label
from leverrier.learning.classes.class_tables import Coefficient, ProfileRow, RegressionRow, TestRow
from leverrier.learning.classes.fitting.class_climb import ClassFitted
from leverrier.learning.classes.parts.densities import Categorical, Cumulative, Normal
from leverrier.learning.classes.parts.indicator import Indicator, Role
from leverrier.learning.classes.parts.terms import Terms


@dataclass(frozen=True, eq=False)
class Figures:
    """Some figures of a model as functions of θ: their values, and derivatives (figures, size)."""

    column: str
    labels: tuple[Label, ...]
    values: Floats
    """(classes, labels)."""
    slopes: Floats
    """(classes, labels, size of θ)."""

    def errors(self, covariance: Floats) -> Floats:
        """(classes, labels)."""
        found = np.einsum("klp,pq,klq->kl", self.slopes, covariance, self.slopes)
        return np.sqrt(np.maximum(found, 0.0))

    def covariance(self, covariance: Floats) -> Floats:
        flat = self.slopes.reshape(-1, self.slopes.shape[2])
        return flat @ covariance @ flat.T


def share_figures(fitted: ClassFitted, name: str, weights: Floats | None = None) -> Figures:
    """The classes' sizes over the patterns with these weights (all rows by default)."""
    likelihood = fitted.likelihood
    used = likelihood.weights if weights is None else weights
    theta = likelihood.part(fitted.theta, 0)
    cells = np.bincount(likelihood.logit_cell, weights=used, minlength=len(likelihood.logit.x)) / used.sum()
    shares = np.exp(likelihood.logit.log_shares(theta))
    slopes = np.zeros((fitted.classes, 1, likelihood.size))
    moved = likelihood.logit.scores(theta) * shares.T[:, :, None]
    slopes[:, 0, : likelihood.logit.size] = np.einsum("kcp,c->kp", moved, cells)
    return Figures(name, ("share",), (cells @ shares)[:, None], slopes)


def profile_figures(fitted: ClassFitted, place: int) -> Figures:
    """Of one indicator: probabilities of its states, or mean and deviation, averaged over its design's cells."""
    likelihood = fitted.likelihood
    indicator = likelihood.indicators[place]
    theta = likelihood.part(fitted.theta, place + 1)
    cells = _cell_weights(fitted, place)
    values, own = _profile(indicator, theta, cells)
    slopes = np.zeros((*values.shape, likelihood.size))
    slopes[:, :, likelihood.offsets[place + 1] : likelihood.offsets[place + 2]] = own
    return Figures(indicator.name, _labels(fitted, place), values, slopes)


def _labels(fitted: ClassFitted, place: int) -> tuple[Label, ...]:
    indicator, item = fitted.likelihood.indicators[place], fitted.spec.items[place]
    if indicator.kind.categorical:
        return item.states
    return ("mean", "deviation") if isinstance(indicator.density, Normal) else ("mean",)


def _cell_weights(fitted: ClassFitted, place: int) -> Floats:
    """(classes, cells): how much of each class is in each cell of an indicator."""
    likelihood = fitted.likelihood
    shares = likelihood.posterior(fitted.theta) * likelihood.weights[:, None]
    width = likelihood.indicators[place].cells
    where = likelihood.cells[:, place]
    counts = np.stack([np.bincount(where, weights=own, minlength=width + 1)[:width] for own in shares.T])
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1 / max(width, 1))


def _profile(indicator: Indicator, theta: Floats, cells: Floats) -> tuple[Floats, Floats]:
    """Values (classes, labels) and slopes (classes, labels, size) of an indicator's figures."""
    q, design = indicator.predictors(theta), indicator.design
    density = indicator.density
    if isinstance(density, Categorical | Cumulative):
        states = q.shape[1] if isinstance(density, Categorical) else density.states
        values = np.empty((len(q), states))
        slopes = np.empty((len(q), states, indicator.size))
        for s in range(states):
            at = replace(density, codes=np.full(q.shape[2], s, dtype=np.int64)).derivatives(q)
            p = np.exp(at.log) * cells
            values[:, s] = p.sum(axis=1)
            slopes[:, s] = np.einsum("kc,krc,krcp->kp", p, at.first, design)
        return values, slopes
    if isinstance(density, Normal):
        means = density.shift + density.scale * (q[:, 0] * cells).sum(axis=1)
        spread = density.scale * np.exp(q[:, 1])
        deviation = (spread * cells).sum(axis=1)
        move = density.scale * np.einsum("kc,kcp->kp", cells, design[:, 0])
        widen = np.einsum("kc,kcp->kp", spread * cells, design[:, 1])
        return np.stack([means, deviation], axis=1), np.stack([move, widen], axis=1)
    rate = np.exp(q[:, 0]) * cells
    return rate.sum(axis=1)[:, None], np.einsum("kc,kcp->kp", rate, design[:, 0])[:, None]


def profile_rows(
    figures: Figures, covariance: Floats, probability: bool, level: float, scale: str, group: Label | None = None
) -> list[ProfileRow]:
    """One row a figure. On the logit scale intervals of probabilities stay between 0 and 1."""
    errors, reach = figures.errors(covariance), float(ndtri(0.5 + level / 2))
    rows = []
    for k in range(len(figures.values)):
        for i, label in enumerate(figures.labels):
            value, error = float(figures.values[k, i]), float(errors[k, i])
            low, high = value - reach * error, value + reach * error
            at = wide = None
            if probability and 1e-9 < value < 1 - 1e-9:
                at, wide = float(to_logit(value)), error / (value * (1 - value))
                if scale == "logit":
                    low, high = (float(expit(at + sign * reach * wide)) for sign in (-1, 1))
            if probability:
                low, high = max(low, 0.0), min(high, 1.0)
            rows.append(ProfileRow(figures.column, k, label, value, error, float(low), float(high), at, wide, group))
    return rows


def raw_coefficients(theta: Floats, terms: Terms, classes: int) -> Floats:
    """(classes − 1, terms), in the data's units."""
    return theta.reshape(classes - 1, terms.size) @ terms.back.T


def raw_covariance(covariance: Floats, terms: Terms, classes: int) -> Floats:
    turn = np.kron(np.eye(classes - 1), terms.back)
    return turn @ covariance @ turn.T


def coefficient_rows(
    estimates: Floats, covariance: Floats, terms: Terms, level: float, edge: Sequence[bool]
) -> tuple[Coefficient, ...]:
    """The table of the classes' logit; errors of what is at an edge are infinite."""
    reach = float(ndtri(0.5 + level / 2))
    rows = []
    for k, own in enumerate(estimates, 1):
        for t, name in enumerate(terms.names):
            place = (k - 1) * terms.size + t
            error = float("inf") if edge[place] else float(np.sqrt(max(covariance[place, place], 0.0)))
            value = float(own[t])
            z = value / error if error > 0 else float("nan")
            said = "(constant)" if name == "1" else name
            p = float(2 * ndtr(-abs(z)))
            with np.errstate(over="ignore"):
                odds = float(np.exp(value))
            low, high = value - reach * error, value + reach * error
            rows.append(Coefficient(k, 0, said, value, error, z, p, low, high, odds))
    return tuple(rows)


def regression_rows(fitted: ClassFitted, covariance: Floats, level: float) -> tuple[RegressionRow, ...]:
    """The coefficients of columns that are regressed on others within classes, in the data's units."""
    reach, rows = float(ndtri(0.5 + level / 2)), []
    likelihood = fitted.likelihood
    for place, item in enumerate(fitted.spec.items):
        if item.back is None:
            continue
        offset, named = likelihood.offsets[place + 1], likelihood.indicators[place].parameters
        unit = item.scale if isinstance(likelihood.indicators[place].density, Normal) else 1.0
        shift = item.shift if isinstance(likelihood.indicators[place].density, Normal) else 0.0
        terms = len(item.own_names)
        own = [i for i, each in enumerate(named) if each.role is Role.PROFILE]
        for first in range(0, len(own), terms):  # a class (and state) has its terms in a row
            where = [offset + i for i in own[first : first + terms]]
            values = unit * item.back @ fitted.theta[where]
            values[0] += shift
            spread = unit**2 * item.back @ covariance[np.ix_(where, where)] @ item.back.T
            for t, term in enumerate(item.own_names):
                value, error = float(values[t]), float(np.sqrt(max(spread[t, t], 0.0)))
                z = value / error if error > 0 else float("nan")
                each = named[own[first]]
                said = "(constant)" if term == "1" else term
                low, high = value - reach * error, value + reach * error
                p = float(2 * ndtr(-abs(z)))
                rows.append(
                    RegressionRow(item.name, each.state_class or 0, said, each.state, value, error, z, p, low, high)
                )
    return tuple(rows)


def wald(values: Floats, covariance: Floats, draws: int | None = None) -> tuple[float, int, float]:
    """W = b'V⁻¹b with its degrees of freedom (the rank of V) and p-value. With V from so many independent `draws`
    (groups less strata), W is brought to F, which allows for V being estimated [korn1990]."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    eigen, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    kept = eigen > 1e-10
    turned = vectors[:, kept].T @ (values / scale)
    statistic, freedom = float((turned**2 / eigen[kept]).sum()), int(kept.sum())
    if not freedom:
        return statistic, 0, 1.0
    if draws is None or draws <= freedom:
        return statistic, freedom, float(chdtrc(freedom, statistic))
    left = draws - freedom + 1
    return statistic, freedom, float(fdtrc(freedom, left, statistic * left / (draws * freedom)))


def wald_row(about: str, what: str, values: Floats, covariance: Floats, draws: int | None = None) -> TestRow:
    return TestRow(about, what, "Wald", *wald(values, covariance, draws))


def ratio_row(about: str, what: str, larger: float, smaller: float, freedom: int) -> TestRow:
    """The likelihood-ratio test."""
    statistic = max(0.0, 2 * (larger - smaller))
    return TestRow(about, what, "likelihood ratio", statistic, freedom, float(chdtrc(freedom, statistic)))
