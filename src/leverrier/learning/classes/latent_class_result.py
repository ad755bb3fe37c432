"""What `latent_classes` gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from leverrier.arrays import Floats
from leverrier.chart_of import chart_of
from leverrier.data.card import card
from leverrier.data.table import Label
from leverrier.learning.classes.class_fit import FitTable
from leverrier.learning.em.fit import FitResult
from leverrier.models.network import Network
from leverrier.status import Status

if TYPE_CHECKING:
    import altair


SHOWN_COLUMNS = 40


@dataclass(frozen=True, eq=False)
class LatentClassResult:
    """The table of fits, the chosen number of classes with the reason, and its model."""

    table: FitTable
    states: int
    why: str
    variable: str
    """The class variable's name in the network."""
    fits: Mapping[int, FitResult] = field(repr=False)
    """The fitted model for every number of classes tried."""
    standard_errors: Mapping[str, Floats] | None = field(default=None, repr=False)
    """By bootstrap, on request: of the class shares (under the class variable's name), and of each column's
    (classes, states) probabilities. Resamples are aligned to the classes here."""

    @property
    def fit(self) -> FitResult:
        """The chosen model's fit."""
        return self.fits[self.states]

    @property
    def network(self) -> Network:
        return self.fit.network

    @property
    def log_likelihood(self) -> float:
        return self.fit.log_likelihood

    @property
    def status(self) -> Status:
        return self.fit.status

    @cached_property
    def posterior(self) -> Floats:
        """(rows, classes): each row's probability of each class, in the data's order."""
        return self.fit.posterior(self.variable)

    @property
    def shares(self) -> Floats:
        """How large each class is; classes are numbered from the largest."""
        return self.network.cpt(self.variable)

    @cached_property
    def profiles(self) -> dict[Label, dict[str, dict[Label, float]]]:
        """class → column → state → probability."""
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

    def __str__(self) -> str:
        fitted = self.fit.table
        rows = fitted.n_cases or round(self.fit.total)
        head = f"Latent classes of {rows} rows and {len(fitted.variables)} columns"
        return "\n".join([head, "", str(self.table), "", self.why, "", _profile_text(self)])

    def _repr_html_(self) -> str:
        facts = {"classes": self.states, "log-likelihood": f"{self.log_likelihood:,.3f}", "status": self.status}
        names = self.network.states[self.variable]
        rows = [("share", *(f"{share:.1%}" for share in self.shares))]
        for name in self.network.children(self.variable):
            value = self.network.states[name][-1]
            rows.append((f"{name} = {value}", *(f"{share:.3f}" for share in self.network.cpt(name)[:, -1])))
        return card("Latent classes", facts, ("", *(f"class {name}" for name in names)), rows, (self.why,))

    def __repr__(self) -> str:
        return f"LatentClassResult({self.states} classes, log-likelihood {self.log_likelihood:.4f}, {self.status})"


def _profile_text(result: LatentClassResult) -> str:
    """Shares and, for each column's states, the probability in each class."""
    labels = [f"class {label}" for label in result.network.states[result.variable]]
    lines = [["", *labels], ["share", *(f"{share:.1%}" for share in result.shares)]]
    columns = [name for name in result.network.variables if name != result.variable]
    for name in columns[:SHOWN_COLUMNS]:
        table = result.network.cpt(name)
        states = result.network.states[name]
        skip = 1 if len(states) == 2 else 0  # of two states one says it all
        for k in range(skip, len(states)):
            lines.append([f"{name} = {states[k]}", *(f"{p:.3f}" for p in table[:, k])])
    if len(columns) > SHOWN_COLUMNS:
        lines.append([f"… and {len(columns) - SHOWN_COLUMNS} more columns (see profiles)", *("" for _ in labels)])
    first = max(len(line[0]) for line in lines)
    widths = [max(len(line[i]) for line in lines) for i in range(1, len(lines[0]))]
    return "\n".join(
        "  ".join([line[0].ljust(first), *(text.rjust(w) for text, w in zip(line[1:], widths, strict=True))]).rstrip()
        for line in lines
    )
