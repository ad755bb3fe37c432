"""A fitted latent class model, and all that is asked of it: computed when it is asked for, and kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.classes.analysis.class_estimates import (
    Figures,
    coefficient_rows,
    profile_figures,
    profile_rows,
    ratio_row,
    raw_coefficients,
    raw_covariance,
    regression_rows,
    share_figures,
    wald_row,
)
from leverrier.learning.classes.analysis.invariance import GroupColumn, Invariance, compare_groups
from leverrier.learning.classes.analysis.residual_tests import residual_table
from leverrier.learning.classes.analysis.three_steps import Classification, Steps, ThirdStep, third_step
from leverrier.learning.classes.class_notes import (
    AtEdge,
    FewPatterns,
    MoreNotIdentified,
    NotIdentified,
    PoorlyTold,
    ScaledByDrawing,
    Separated,
    SpreadAtLimit,
)
from leverrier.learning.classes.class_tables import (
    ClassQuality,
    Coefficient,
    OutcomeRow,
    ProfileRow,
    RegressionRow,
    ResidualRow,
    RowTable,
    TestRow,
)
from leverrier.learning.classes.fitting.class_climb import ClassFitted, climbed_from
from leverrier.learning.classes.fitting.class_covariance import ClassCovariance, ErrorsFrom, default_errors
from leverrier.learning.classes.parts.indicator import Role
from leverrier.learning.classes.parts.indicator_making import Item
from leverrier.learning.classes.parts.terms import Terms, constant
from leverrier.words_of import Note

OFTEN_WRONG, MANY_ROWS = 0.1, 2000
"""With more rows assigned to a wrong class, and fewer rows in all, three steps are not to be relied on."""

SHOWN_LEVEL = 3
"""Directions along which the likelihood is level that are written out."""


@dataclass(frozen=True, eq=False)
class ClassStudy:
    """`fitted` is the one-step model, or the first of three steps; then the predictors and outcomes wait here."""

    fitted: ClassFitted
    variable: str
    steps: Steps = Steps.ONE
    predictors: tuple[str, ...] = ()
    terms: Terms | None = None
    outcomes: tuple[Item, ...] = ()
    groups: GroupColumn | None = None
    errors_from: ErrorsFrom | None = None
    level: float = 0.95
    number_tests: tuple[TestRow, ...] = ()
    notes: tuple[Note | str, ...] = ()
    draws: int = 0
    """Tables drawn where a test is made by drawing."""
    seed: int = 0
    resampled: Mapping[str, Floats] = field(default_factory=dict)
    """Standard errors by bootstrap, where they were asked for: sizes and profiles by column."""

    @property
    def kind(self) -> ErrorsFrom:
        return self.errors_from or default_errors(self.fitted)

    @cached_property
    def covariance(self) -> ClassCovariance:
        return ClassCovariance(self.fitted)

    @cached_property
    def matrix(self) -> Floats:
        return self.covariance.matrix(self.kind)

    @cached_property
    def classification(self) -> Classification:
        return Classification(self.fitted)

    @cached_property
    def predicted(self) -> ThirdStep | None:
        """The third step of the predictors; None in one step."""
        if self.steps is Steps.ONE or self.terms is None:
            return None
        return third_step(self.classification, self.fitted.spec, self.terms, None, self.steps)

    @cached_property
    def _logit(self) -> tuple[Floats, Floats, Terms, tuple[bool, ...]]:
        """The classes' coefficients in the data's units, their covariance, terms, and which are at an edge."""
        k = self.fitted.classes
        third = self.predicted
        fitted, matrix = (self.fitted, self.matrix) if third is None else (third.fitted, third.covariance)
        size = fitted.likelihood.logit.size
        terms = fitted.spec.terms
        estimates = raw_coefficients(fitted.theta[:size], terms, k)
        covariance = raw_covariance(matrix[:size, :size], terms, k)
        return estimates, covariance, terms, tuple(bool(each) for each in fitted.edge[:size])

    @cached_property
    def coefficients(self) -> RowTable[Coefficient]:
        estimates, covariance, terms, edge = self._logit
        return RowTable(Coefficient, coefficient_rows(estimates, covariance, terms, self.level, edge))

    @cached_property
    def figures(self) -> tuple[Figures, ...]:
        """Sizes, then every column's profile."""
        own = [profile_figures(self.fitted, place) for place in range(len(self.fitted.spec.items))]
        return (share_figures(self.fitted, self.variable), *own)

    def profile_table(self, scale: str = "logit") -> RowTable[ProfileRow]:
        rows: list[ProfileRow] = []
        for figures in self.figures:
            chance = figures.labels[0] not in ("mean",)
            rows += profile_rows(figures, self.matrix, chance, self.level, scale)
        return RowTable(ProfileRow, tuple(rows))

    @cached_property
    def sizes(self) -> RowTable[ProfileRow]:
        """The classes' sizes, over all rows and in every group."""
        rows = profile_rows(self.figures[0], self.matrix, True, self.level, "logit")
        if self.groups is not None:
            likelihood = self.fitted.likelihood
            for code, label in enumerate(self.groups.labels):
                there = (self.groups.codes == code) & (likelihood.pattern_of_row >= 0)
                weights = np.bincount(
                    likelihood.pattern_of_row[there],
                    weights=self.fitted.spec.row_weights[there],
                    minlength=len(likelihood.weights),
                ).astype(np.float64)
                if weights.sum() > 0:
                    own = share_figures(self.fitted, self.variable, weights)
                    rows += profile_rows(own, self.matrix, True, self.level, "logit", label)
        return RowTable(ProfileRow, tuple(rows))

    @cached_property
    def standard_errors(self) -> dict[str, Floats]:
        """By column: (classes, states) or (classes, figures); of the sizes under the class variable's name."""
        found = {figures.column: figures.errors(self.matrix) for figures in self.figures}
        found[self.variable] = found[self.variable][:, 0]
        return {**found, **self.resampled}

    @cached_property
    def regressions(self) -> RowTable[RegressionRow]:
        return RowTable(RegressionRow, regression_rows(self.fitted, self.matrix, self.level))

    @cached_property
    def invariance(self) -> Invariance | None:
        return None if self.groups is None else compare_groups(self.fitted, self.groups, self.draws, self.seed)

    @cached_property
    def residuals(self) -> RowTable[ResidualRow]:
        return residual_table(self.fitted)

    @cached_property
    def outcome_steps(self) -> tuple[tuple[Figures, Floats], ...]:
        """Each outcome's figures by class, and the covariance of the θ they are functions of."""
        if self.steps is Steps.ONE:
            places = {item.name: i for i, item in enumerate(self.fitted.spec.items)}
            return tuple((profile_figures(self.fitted, places[item.name]), self.matrix) for item in self.outcomes)
        found = []
        one = constant(len(self.fitted.spec.row_weights))
        for item in self.outcomes:
            third = third_step(self.classification, self.fitted.spec, one, item, self.steps)
            found.append((profile_figures(third.fitted, 0), third.covariance))
        return tuple(found)

    @cached_property
    def outcome_table(self) -> RowTable[OutcomeRow]:
        rows = []
        for figures, matrix in self.outcome_steps:
            chance = figures.labels[0] != "mean"
            for row in profile_rows(figures, matrix, chance, self.level, "logit"):
                if row.of != "deviation":
                    rows.append(
                        OutcomeRow(
                            row.column, row.state_class, row.of, row.estimate, row.standard_error, row.lower, row.upper
                        )
                    )
        return RowTable(OutcomeRow, tuple(rows))

    @cached_property
    def tests(self) -> RowTable[TestRow]:
        """Of the number of classes, each predictor, each outcome, and single columns between groups."""
        rows = [*self.number_tests, *self._predictor_tests(), *self._outcome_tests()]
        if self.invariance is not None:
            rows += self.invariance.tests
        return RowTable(TestRow, tuple(rows))

    def _predictor_tests(self) -> list[TestRow]:
        estimates, covariance, terms, _ = self._logit
        rows, draws = [], self.fitted.spec.sampling.draws
        k = self.fitted.classes
        for name in self.predictors if k > 1 else ():
            places = [c * terms.size + t for c in range(k - 1) for t in terms.places(name)]
            values = estimates.ravel()[places]
            rows.append(wald_row(name, "no effect on the classes", values, covariance[np.ix_(places, places)], draws))
            ratio = self._ratio_test(name, len(places))
            rows += [] if ratio is None else [ratio]
        return rows

    def _ratio_test(self, name: str, freedom: int) -> TestRow | None:
        """The model without the predictor, begun where this one ended; only where likelihoods can be compared."""
        third = self.predicted
        fitted = self.fitted if third is None else third.fitted
        if not fitted.spec.sampling.plain or (third is not None and not third.proper):
            return None
        terms = fitted.spec.terms.without(name)
        if third is None:
            shares = np.nan_to_num(self.fitted.posterior)
            smaller = climbed_from(fitted.spec.with_terms(terms), fitted.classes, shares).log_likelihood
        else:
            less = third_step(self.classification, self.fitted.spec, terms, None, self.steps, errors=False)
            smaller = less.fitted.log_likelihood
        return ratio_row(name, "no effect on the classes", fitted.log_likelihood, smaller, freedom)

    def _outcome_tests(self) -> list[TestRow]:
        rows, draws = [], self.fitted.spec.sampling.draws
        k = self.fitted.classes
        for figures, matrix in self.outcome_steps if k > 1 else ():
            used = 1 if figures.labels[0] == "mean" else len(figures.labels) - 1
            width = len(figures.labels)
            whole = figures.covariance(matrix)
            differ = np.zeros(((k - 1) * used, k * width))
            for c in range(1, k):
                for i in range(used):
                    differ[(c - 1) * used + i, i] = -1
                    differ[(c - 1) * used + i, c * width + i] = 1
            flat = figures.values.ravel()
            rows.append(
                wald_row(figures.column, "same in every class", differ @ flat, differ @ whole @ differ.T, draws)
            )
            for a in range(k):
                for b in range(a + 1, k):
                    pair = np.zeros((used, k * width))
                    for i in range(used):
                        pair[i, a * width + i], pair[i, b * width + i] = -1, 1
                    what = f"same in classes {a} and {b}"
                    rows.append(wald_row(figures.column, what, pair @ flat, pair @ whole @ pair.T, draws))
        return rows

    @cached_property
    def quality(self) -> RowTable[ClassQuality]:
        """How well each class is told from the others."""
        likelihood = self.fitted.likelihood
        shares = likelihood.posterior(self.fitted.theta)
        sizes, best = self.fitted.shares, shares.argmax(axis=1)
        rows = []
        for k in range(self.fitted.classes):
            own = likelihood.weights * (best == k)
            average = float(own @ shares[:, k] / own.sum()) if own.sum() else float("nan")
            share = float(sizes[k])
            with np.errstate(divide="ignore", invalid="ignore"):
                odds = float(np.divide(average, 1 - average) / np.divide(share, 1 - share))
            rows.append(ClassQuality(k, share, float(own.sum() / likelihood.total), average, odds))
        return RowTable(ClassQuality, tuple(rows))

    @cached_property
    def warnings(self) -> tuple[Note | str, ...]:
        """What should make a reader careful: edges, level directions, separation."""
        edge, patterns = self.covariance.at_edge, len(np.unique(self.fitted.likelihood.cells, axis=0))
        few = [FewPatterns(self.fitted.classes, patterns)] if self.fitted.classes > patterns else []
        found = [*self.notes, *few, *(SpreadAtLimit(str(each)) for each in edge if each.role is Role.SPREAD)]
        names = tuple(str(each) for each in edge if each.role not in (Role.SHARE, Role.SPREAD))
        if names:
            found.append(AtEdge(names))
        _, _, terms, separated = self._logit
        apart = sorted({terms.names[i % terms.size] for i, flag in enumerate(separated) if flag and i % terms.size})
        if apart and self.fitted.classes > 1:
            found.append(Separated(tuple(apart)))
        level = self.covariance.level
        found += [NotIdentified(tuple(str(each) for each in together)) for together in level[:SHOWN_LEVEL]]
        if len(level) > SHOWN_LEVEL:
            found.append(MoreNotIdentified(len(level) - SHOWN_LEVEL))
        third = self.steps is not Steps.ONE and bool(self.predictors or self.outcomes)
        if third and self.fitted.likelihood.total < MANY_ROWS and self.classification.wrong > OFTEN_WRONG:
            found.append(PoorlyTold(self.classification.wrong))
        if self.invariance is not None and self.invariance.scaled is not None:
            found.append(ScaledByDrawing(*self.invariance.scaled))
        return tuple(found)
