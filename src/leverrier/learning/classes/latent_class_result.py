"""What `latent_classes` gives back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from leverrier.arrays import Floats
from leverrier.chart_of import chart_of, page_of
from leverrier.data.card import card
from leverrier.data.paper_table import Papers
from leverrier.data.table import Label
from leverrier.errors import OptionError
from leverrier.formats.network_files import write_whole
from leverrier.learning.classes.analysis.class_network import class_network
from leverrier.learning.classes.analysis.class_study import ClassStudy
from leverrier.learning.classes.analysis.plain_study import every_posterior, plain_study
from leverrier.learning.classes.class_choice import Choice
from leverrier.learning.classes.class_fit import FitTable
from leverrier.learning.classes.class_tables import (
    ClassQuality,
    Coefficient,
    InvarianceRow,
    OutcomeRow,
    ProfileRow,
    RegressionRow,
    ResidualRow,
    RowTable,
    TestRow,
)
from leverrier.learning.em.fit import FitResult
from leverrier.models.network import Network
from leverrier.status import Status
from leverrier.words_of import told, words_of

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True, eq=False)
class LatentClassResult(Papers):
    """The table of fits, the chosen number of classes with the reason, and its model."""

    table: FitTable
    choice: Choice
    variable: str
    """The class variable's name in the network."""
    fits: Mapping[int, FitResult] = field(repr=False)
    """The fitted model for every number of classes tried."""
    resampled: Mapping[str, Floats] | None = field(default=None, repr=False)
    """Standard errors by bootstrap, on request. Resamples are aligned to the classes here."""
    asked: ClassStudy | None = field(default=None, repr=False)
    """The model with predictors, outcomes, weights, groups or columns of other kinds, where any was asked for."""

    @property
    def states(self) -> int:
        """The chosen number of classes."""
        return self.choice.states

    @property
    def why(self) -> str:
        """What speaks for that number, in words."""
        return words_of("classes_words.choice_words", self.choice, self.table)

    @property
    def fit(self) -> FitResult:
        """The chosen model's fit."""
        return self.fits[self.states]

    @cached_property
    def study(self) -> ClassStudy:
        """The model with its scores and information: what errors, tests and residuals are made from."""
        if self.asked is not None:
            return self.asked
        return plain_study(self.fit.table, self.fit.posterior(self.variable), self.variable)

    @cached_property
    def network(self) -> Network:
        """The class and the columns as a network; predictors are averaged over."""
        if self.asked is None:
            return self.fit.network
        return class_network(self.asked.fitted, self.variable, [item.name for item in self.asked.outcomes])

    @property
    def log_likelihood(self) -> float:
        return self.table.row(self.states).log_likelihood

    @property
    def total(self) -> float:
        """The number of rows, or the sum of their weights."""
        return self.fit.total if self.asked is None else self.asked.fitted.likelihood.total

    @property
    def status(self) -> Status:
        return self.table.row(self.states).status

    @cached_property
    def posterior(self) -> Floats:
        """(rows, classes): each row's probability of each class, in the data's order."""
        return self.fit.posterior(self.variable) if self.asked is None else every_posterior(self.asked.fitted)

    @property
    def shares(self) -> Floats:
        """How large each class is; classes are numbered from the largest."""
        return self.network.cpt(self.variable) if self.asked is None else self.asked.fitted.shares

    @property
    def coefficients(self) -> RowTable[Coefficient]:
        """The log odds of each class against class 0, by predictor; without predictors the constants alone."""
        return self.study.coefficients

    @property
    def standard_errors(self) -> Mapping[str, Floats]:
        """Of the class shares (under the class variable's name), and of each column's (classes, states) probabilities
        or (classes, figures): by bootstrap where `errors=` asked for it, else from the information."""
        return self.resampled if self.resampled is not None else self.study.standard_errors

    def intervals(self, scale: Literal["logit", "probability"] = "logit") -> RowTable[ProfileRow]:
        """Sizes and profiles with standard errors and confidence intervals. On the logit scale an interval of a
        probability is made there and brought back; on the probability scale it is symmetric."""
        if scale not in ("logit", "probability"):
            raise OptionError(f'scale={scale!r}: expected "logit" or "probability"')
        return self.study.profile_table(scale)

    @property
    def sizes(self) -> RowTable[ProfileRow]:
        """How large each class is, with intervals; with by_group= in every group too."""
        return self.study.sizes

    @property
    def outcomes(self) -> RowTable[OutcomeRow]:
        """Each outcome in each class: probabilities of states, or means."""
        return self.study.outcome_table

    @property
    def regressions(self) -> RowTable[RegressionRow]:
        """With regress=: the coefficients within each class."""
        return self.study.regressions

    @property
    def tests(self) -> RowTable[TestRow]:
        """Tests of each predictor, of each outcome's differences between classes, of columns between groups."""
        return self.study.tests

    @property
    def residuals(self) -> RowTable[ResidualRow]:
        """Every pair of columns: how much more they agree than the classes explain, with tested p-values."""
        return self.study.residuals

    @property
    def invariance(self) -> RowTable[InvarianceRow]:
        """With by_group=: profiles free, partly equal and equal between the groups, compared."""
        if self.study.invariance is None:
            raise OptionError("invariance: nothing to compare; by_group= names the column of the groups")
        return self.study.invariance.table

    @property
    def quality(self) -> RowTable[ClassQuality]:
        """By class: average posterior of the rows assigned to it, and the odds of assigning them correctly."""
        return self.study.quality

    @property
    def notes(self) -> tuple[str, ...]:
        """What should make you careful: rows left out, parameters at an edge or not identified, separation."""
        return told(self.study.warnings)

    @cached_property
    def profiles(self) -> dict[Label, dict[str, dict[Label, float]]]:
        """class → column → state → probability (of numbers and counts: mean, deviation)."""
        if self.asked is not None:
            return {
                str(k): {
                    each.column: dict(zip(each.labels, each.values[k].tolist(), strict=True))
                    for each in self.asked.figures[1:]
                }
                for k in range(self.states)
            }
        network = self.network
        columns = [name for name in network.variables if name != self.variable]
        states = network.states
        return {
            label: {name: dict(zip(states[name], network.cpt(name)[k].tolist(), strict=True)) for name in columns}
            for k, label in enumerate(states[self.variable])
        }

    def plot_profiles(self) -> altair.TopLevelMixin:
        """What each class looks like, column by column, as an Altair chart."""
        return chart_of("class_profiles.class_profiles", self)

    def report(self, path: str | os.PathLike[str], title: str = "Latent classes", *, live: bool = True) -> str:
        """Write the page of this analysis, and give its path back: one HTML file that needs no network. `live=False`
        leaves out the script of its figures, 0.9 MB."""
        write_whole(os.fspath(path), page_of("classes_page.classes_page", self, title, live=live))
        return os.fspath(path)

    def __str__(self) -> str:
        return words_of("classes_words.result_text", self)

    def _repr_html_(self) -> str:
        facts = {"classes": self.states, "log-likelihood": f"{self.log_likelihood:,.3f}", "status": self.status}
        if self.asked is not None:
            shown = [
                (row.column, f"class {row.state_class}", row.of, f"{row.estimate:.3f}") for row in self.intervals()
            ]
            return card("Latent classes", facts, ("column", "class", "", "estimate"), shown, (self.why,))
        names = self.network.states[self.variable]
        rows = [("share", *(f"{share:.1%}" for share in self.shares))]
        for name in self.network.children(self.variable):
            value = self.network.states[name][-1]
            rows.append((f"{name} = {value}", *(f"{share:.3f}" for share in self.network.cpt(name)[:, -1])))
        return card("Latent classes", facts, ("", *(f"class {name}" for name in names)), rows, (self.why,))

    def __repr__(self) -> str:
        return f"LatentClassResult({self.states} classes, log-likelihood {self.log_likelihood:.4f}, {self.status})"
