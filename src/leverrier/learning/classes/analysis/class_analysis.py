"""A latent class analysis with predictors, outcomes, weights, groups or other kinds of columns: fits, choice, study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.data.variable import free_name
from leverrier.errors import OptionError
from leverrier.learning.classes.analysis.class_number import bootstrap_ratio, vlmr
from leverrier.learning.classes.analysis.class_roles import Asked, Roles, read_roles, with_dependences
from leverrier.learning.classes.analysis.class_study import ClassStudy
from leverrier.learning.classes.analysis.invariance import GroupColumn
from leverrier.learning.classes.analysis.resampled import resamples
from leverrier.learning.classes.analysis.residual_tests import residual_table
from leverrier.learning.classes.analysis.three_steps import Steps
from leverrier.learning.classes.class_fit import ClassFit
from leverrier.learning.classes.class_tables import TestRow
from leverrier.learning.classes.fitting.class_climb import ClassFitted, climbed_from, fit_classes
from leverrier.learning.classes.fitting.class_covariance import ErrorsFrom
from leverrier.learning.classes.fitting.class_spec import ClassSpec
from leverrier.learning.classes.parts.indicator import IndicatorKind
from leverrier.learning.classes.parts.terms import Terms, constant, terms_of
from leverrier.learning.criteria import aic, bic
from leverrier.run.event import Event
from leverrier.run.run import Run

MORE_STARTS = 4
"""Of the asked starts, one in so many is drawn anew for the whole model when simpler classes can be begun from."""
MOST_PAIRS = 10
Simple = Callable[[Table, int, int, int], tuple[Floats, tuple[float, ...]]]
"""The posteriors (rows, classes) of plain classes of a table, and where each start ended: with so many classes, from
this seed, in so many starts."""
Refit = Callable[[ClassSpec, int, int], float]
"""The log-likelihood of a drawn specification: with so many classes, from this seed."""


@dataclass(frozen=True, eq=False)
class Settings:
    starts: int
    seed: int
    bootstrap: int
    errors: int
    errors_from: ErrorsFrom | None
    level: float
    steps: Steps | None
    search: bool
    """Whether pairs that depend on one another are looked for."""
    run: Run
    simple: Simple

    @property
    def fewer(self) -> int:
        """Starts where much is known already, or many tables are fitted."""
        return 1 + self.starts // MORE_STARTS


@dataclass(frozen=True, eq=False)
class Analysed:
    """Every number of classes fitted, and what the study of a chosen one needs."""

    roles: Roles
    asked: Asked
    fits: dict[int, ClassFitted]
    rows: list[ClassFit]
    settings: Settings
    steps: Steps
    terms: Terms
    """Of the predictors; in three steps they wait for the third."""

    def study(self, states: int, name: str) -> ClassStudy:
        fitted, asked = self.fits[states], self.asked
        variable = free_name(name, [item.name for item in fitted.spec.items])
        smaller = self.fits.get(states - 1)
        tests = () if smaller is None else vlmr(smaller, fitted)
        group = None
        if asked.by_group is not None:
            labels = self.roles.table.states[asked.by_group]
            group = GroupColumn(asked.by_group, self.roles.codes(asked.by_group), labels)
        study = ClassStudy(
            fitted,
            variable,
            self.steps,
            asked.predictors,
            self.terms if asked.predictors else None,
            self.roles.outcomes,
            group,
            self.settings.errors_from,
            self.settings.level,
            (*self._bootstrapped(states), *tests),
            self.roles.notes,
            self.settings.bootstrap,
            self.settings.seed,
        )
        return replace(study, resampled=_resampled(study, self.settings)) if self.settings.errors else study

    def _bootstrapped(self, states: int) -> tuple[TestRow, ...]:
        row = next(row for row in self.rows if row.states == states)
        if row.bootstrap_p is None:
            return ()
        gain = 2 * (self.fits[states].log_likelihood - self.fits[states - 1].log_likelihood)
        more = self.fits[states].likelihood.size - self.fits[states - 1].likelihood.size
        return (TestRow(f"{states} classes", f"against {states - 1}", "bootstrap", gain, more, row.bootstrap_p),)


def analyse(data: Any, asked: Asked, wanted: Sequence[int], settings: Settings) -> Analysed:
    """Fit every number of classes that is asked for."""
    roles = read_roles(data, asked)
    steps = settings.steps or (Steps.BCH if asked.outcomes else Steps.ONE)
    rows = roles.table.n_rows
    categories = [name for name in (asked.by_group,) if name is not None]
    one_step = [*(asked.predictors if steps is Steps.ONE else ()), *categories]
    terms = terms_of(roles.table, one_step, categories=categories) if one_step else constant(rows)
    waiting = terms if steps is Steps.ONE else terms_of(roles.table, asked.predictors)
    items = (*roles.items, *(roles.outcomes if steps is Steps.ONE else ()))
    spec = ClassSpec(items, terms, roles.sampling)
    if not np.any(spec.row_weights > 0):
        raise OptionError("no row is complete in all predictors: nothing is left to fit")
    fits: dict[int, ClassFitted] = {}
    found: list[ClassFit] = []
    for number, k in enumerate(wanted, 1):
        if fits and settings.run.late:
            break
        fits[k] = _fitted(spec, roles, k, settings)
        found.append(_class_fit(fits[k]))
        said = f"{fits[k].status}, {fits[k].log_likelihood:.4f}"
        settings.run.tell(Event.CLASSES, number / len(wanted), k, said=said)
    if settings.bootstrap:
        refit = _counting(roles, settings) if _plain(spec, roles) else None
        found = [_tested(row, fits, settings, refit) for row in found]
    return Analysed(roles, asked, fits, found, settings, steps, waiting)


def _fitted(spec: ClassSpec, roles: Roles, classes: int, settings: Settings) -> ClassFitted:
    first: list[Floats] = []
    ends: tuple[float, ...] = ()
    starts = settings.starts
    if classes > 1 and all(item.kind is IndicatorKind.NOMINAL for item in roles.items):
        table = replace(roles.measured, weights=_whole(roles), raw={})
        shares, ends = settings.simple(table, classes, settings.seed, settings.starts)
        first = [shares]
        if _plain(spec, roles):  # the same model: every start was made there
            starts = 1
        else:
            starts, ends = settings.fewer, ()
    fitted = fit_classes(spec, classes, starts, settings.seed, first, settings.run)
    fitted = replace(fitted, ends=ends) if ends else fitted
    return _with_found_pairs(fitted, settings) if settings.search else fitted


def _plain(spec: ClassSpec, roles: Roles) -> bool:
    """Whether classes of these columns are found by counting alone."""
    if spec.terms.size > 1 or len(spec.items) > len(roles.items):
        return False
    return all(item.plain and item.kind is IndicatorKind.NOMINAL for item in spec.items)


def _counting(roles: Roles, settings: Settings) -> Refit:
    """Fits of drawn rows by counting, many times faster than climbs with scores."""
    table = replace(roles.measured, weights=_whole(roles), raw={})

    def refit(spec: ClassSpec, classes: int, seed: int) -> float:
        cells = np.array([item.values for item in spec.items])
        codes = np.where(np.isnan(cells), table.missing, np.nan_to_num(cells)).astype(table.codes.dtype)
        return max(settings.simple(replace(table, codes=codes), classes, seed, settings.fewer)[1])

    return refit


def _whole(roles: Roles) -> Floats | None:
    weights = roles.sampling.weights
    return None if np.all(weights == 1) else weights


def _with_found_pairs(fitted: ClassFitted, settings: Settings) -> ClassFitted:
    """Pairs freed one by one, the worst first, while its test says so (corrected for the pairs) and BIC gains."""
    for _ in range(MOST_PAIRS):
        table = residual_table(fitted)
        if not len(table) or table[0].p_value * len(table) > 0.05 or settings.run.late:
            return fitted
        items = with_dependences(fitted.spec.items, [(table[0].first, table[0].second)])
        more = climbed_from(fitted.spec.with_items(items), fitted.classes, np.nan_to_num(fitted.posterior))
        if _bic(more) >= _bic(fitted):
            return fitted
        fitted = more
    return fitted


def _bic(fitted: ClassFitted) -> float:
    return bic(fitted.log_likelihood, fitted.likelihood.size, fitted.likelihood.total)


def _tested(row: ClassFit, fits: dict[int, ClassFitted], settings: Settings, by_counts: Refit | None) -> ClassFit:
    """The row with the bootstrapped p-value against one class fewer, where that was fitted too."""
    if row.states - 1 not in fits:
        return row

    def climbed(spec: ClassSpec, classes: int, seed: int) -> float:
        return fit_classes(spec, classes, settings.fewer, seed).log_likelihood

    smaller, larger = fits[row.states - 1], fits[row.states]
    p = bootstrap_ratio(smaller, larger, settings.bootstrap, settings.seed + row.states, by_counts or climbed)
    settings.run.tell(Event.BOOTSTRAP, 1.0, row.states, row.states - 1, said=f"bootstrap p {p:.4f}")
    return replace(row, bootstrap_p=p)


def _class_fit(fitted: ClassFitted) -> ClassFit:
    likelihood = fitted.likelihood
    value, size, total = fitted.log_likelihood, likelihood.size, likelihood.total
    shares = likelihood.posterior(fitted.theta)
    with np.errstate(divide="ignore", invalid="ignore"):
        unsure = -likelihood.weights @ np.where(shares > 0, shares * np.log(shares), 0.0).sum(axis=1)
    k = fitted.classes
    return ClassFit(
        states=k,
        log_likelihood=value,
        parameters=size,
        aic=aic(value, size),
        bic=bic(value, size, total),
        sabic=bic(value, size, (total + 2) / 24),
        caic=bic(value, size, total) + size,
        entropy=1.0 if k == 1 else 1 - float(unsure) / (total * log(k)),
        smallest_class=float(fitted.shares.min()),
        best_count=fitted.best_count,
        starts=len(fitted.ends),
        status=fitted.status,
    )


def _resampled(study: ClassStudy, settings: Settings) -> dict[str, Floats]:
    """Standard deviations of sizes and profiles over resamples of rows or groups."""
    shapes = [(figures.column, figures.values.shape) for figures in study.figures]

    def values(fitted: ClassFitted) -> Floats:
        own = replace(study, fitted=fitted)
        return np.concatenate([figures.values.ravel() for figures in own.figures])

    each = resamples(study.fitted, settings.errors, settings.seed, values)
    spread = each.std(axis=0, ddof=min(1, settings.errors - 1))
    found, at = {}, 0
    for name, shape in shapes:
        size = int(np.prod(shape))
        found[name] = spread[at : at + size].reshape(shape)
        at += size
    found[study.variable] = found[study.variable][:, 0]
    return found
