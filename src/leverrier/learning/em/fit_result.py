"""What `fit` gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.chart_of import chart_of
from leverrier.counts.expected_counts import ExpectedCounts
from leverrier.counts.observation import Observation, Pairing
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.card import card
from leverrier.data.paper_table import Papers
from leverrier.data.table import Table
from leverrier.errors import OptionError
from leverrier.learning.em.cheeseman_stutz import cheeseman_stutz, observed_score
from leverrier.learning.structure.score import Score
from leverrier.models.network import Network
from leverrier.status import Status

if TYPE_CHECKING:
    import altair

Method = Literal["em", "vb"]


@dataclass(frozen=True)
class Start:
    """How one start ended. `value` is what was climbed: log-likelihood, log posterior (prior=) or bound (vb)."""

    value: float
    log_likelihood: float
    iterations: int
    status: Status


@dataclass(frozen=True)
class Starts(Sequence[Start]):
    """Every start, in the order they were drawn, and how often the best end was reached."""

    runs: tuple[Start, ...]
    best_count: int

    def __getitem__(self, index: Any) -> Any:
        return self.runs[index]

    def __len__(self) -> int:
        return len(self.runs)


@dataclass(frozen=True, eq=False)
class FitResult(Papers):
    """The best start's end."""

    network: Network
    log_likelihood: float
    """Of the observed cells, over all rows, in nats."""
    bic: float
    """−2 log-likelihood + ln N for each free parameter: smaller is better (see learning/criteria.py)."""
    trace: tuple[float, ...]
    """What was climbed, at the start and after each step that was kept. It never falls."""
    status: Status
    iterations: int
    starts: Starts
    method: Method
    hidden: tuple[str, ...]
    table: Table = field(repr=False)
    total: float
    """The number of rows, or the sum of their weights."""
    rule: Score
    """Whose prior the score takes."""
    bound: float | None = None
    """Variational EM's lower bound of the log evidence."""
    weights: Mapping[str, NDArray[np.float64]] | None = field(default=None, repr=False)
    """Variational EM's exp E[ln θ] of the families with hidden members, under which its posteriors are taken."""
    approximate: bool = False
    """Whether some rows leave too much unobserved to be summed over exactly. Posteriors are products of single ones
    there, and what is called log-likelihood is a lower bound of it (which never falls either)."""
    entropy: float | None = None
    """How uncertain what is unobserved remains, in nats over all rows: the entropy of its posteriors (not for "vb").
    Unobserved variables without observed descendants are left out: they say nothing of a row."""
    notes: tuple[str, ...] = ()
    seen: Pairing | None = field(default=None, repr=False)
    """What the fit was made from, so that the score and the expected counts need not begin anew."""

    @cached_property
    def score(self) -> float:
        """Cheeseman–Stutz, in nats: a lower bound of the log evidence under the prior of `rule`."""
        if self.bound is not None:
            return self.bound
        if self.seen is None:
            self._require_rows("score")
            return cheeseman_stutz(self.network, self.table, self.rule)
        return observed_score(self.network, self.seen, self.rule)

    def posterior(self, variable: str) -> NDArray[np.float64]:
        """(rows, states): P(variable | the rest of the row) for every row of the data, in order."""
        self._require_rows("posterior")
        seen = self.seen if isinstance(self.seen, Observation) else None
        return ExpectedCounts(self.network, self.table, seen=seen).posterior(variable)

    def expected_counts(self, counts: ObservedCounts | None = None) -> ExpectedCounts:
        """The expected counts of any family as this fit sees them: under the network, or in variational EM under the
        very posteriors whose bound is the score, so that a search on them never loses score."""
        self._require_rows("expected_counts")
        seen = self.seen if isinstance(self.seen, Observation) else None
        return ExpectedCounts(self.network, self.table, counts, self.weights, seen)

    def _require_rows(self, what: str) -> None:
        """A fit to parts of a file has columns and no rows here."""
        if not self.table.n_rows:
            raise OptionError(f"{what}: the rows stayed in parts of a file; network.posterior(file, variable) reads it")

    def plot_trace(self) -> altair.TopLevelMixin:
        """What was climbed, iteration by iteration, as an Altair chart."""
        return chart_of("mixture_charts.climb_figure", self.trace)

    def __getstate__(self) -> dict[str, Any]:
        """What was observed is laid out again where it is needed, not sent to other processes."""
        return {**self.__dict__, "seen": None}

    def _repr_html_(self) -> str:
        facts = {"log-likelihood": f"{self.log_likelihood:,.3f}", "BIC": f"{self.bic:,.3f}"}
        rows = [
            (name, ", ".join(map(str, self.network.states[name])), ", ".join(self.network.children(name)))
            for name in self.hidden
        ]
        reached = f"best of {len(self.starts)} starts, reached {self.starts.best_count} times"
        said = f"{self.status} after {self.iterations} iterations; {reached}"
        return card("Fit", facts, ("hidden", "states", "children"), rows, (said, *self.notes[:4]))

    def __repr__(self) -> str:
        return (
            f"FitResult({self.network!r}, log-likelihood {self.log_likelihood:.4f}, {self.status} after "
            f"{self.iterations} iterations, best of {len(self.starts)} starts, reached {self.starts.best_count} times"
            f"{', approximate' if self.approximate else ''})"
        )
