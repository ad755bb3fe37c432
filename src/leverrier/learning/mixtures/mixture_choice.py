"""How many components: BIC, ICL and AIC for each number, and when to stop trying more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from leverrier.errors import OptionError
from leverrier.inference.gaussian.gaussian_rows import stretches_of_posteriors
from leverrier.learning.criteria import aic, bic
from leverrier.learning.em.fit_result import Starts
from leverrier.learning.mixtures.mixture_climb import MixtureProblem
from leverrier.learning.mixtures.mixture_notes import TooFewRows
from leverrier.learning.mixtures.mixture_repair import Ended
from leverrier.learning.value_rows import ValueRows
from leverrier.models.mixture import CovarianceKind, Mixture
from leverrier.status import Status
from leverrier.words_of import told

Criterion = Literal["bic", "icl", "aic"]
CRITERIA: tuple[Criterion, ...] = ("bic", "icl", "aic")
MOST = 30
"""`components="auto"` tries at most so many."""
PATIENCE = 3
"""…and stops when the criterion has not improved for so many numbers in a row."""
HEADINGS = {
    "components": "components",
    "covariance": "covariance",
    "log_likelihood": "log-likelihood",
    "parameters": "parameters",
    "bic": "BIC",
    "icl": "ICL",
    "aic": "AIC",
    "best_count": "best reached",
    "note": "",
}


@dataclass(frozen=True)
class FitRow:
    """One number of components. BIC, ICL and AIC are on the scale of −2 log-likelihood: smaller is better."""

    components: int
    covariance: CovarianceKind
    log_likelihood: float
    parameters: int
    bic: float
    """−2 log-likelihood + parameters · log rows."""
    icl: float
    """BIC − 2 Σ log P(the row's most probable component): how well the components are told apart counts too."""
    aic: float
    status: Status | None
    best_count: int
    """How many starts reached the best end."""
    sound: bool = True
    """Whether every component stands on rows enough: one that does not is never chosen before one that does."""
    note: str = ""

    @classmethod
    def failed(cls, k: int, covariance: CovarianceKind, why: str) -> FitRow:
        return cls(k, covariance, -np.inf, 0, np.inf, np.inf, np.inf, None, 0, False, why)


@dataclass(frozen=True)
class MixtureTable(ValueRows[FitRow]):
    """The rows by number of components. `str` prints them."""

    rows: tuple[FitRow, ...]

    def row(self, components: int) -> FitRow:
        """The fit with so many components."""
        return self._tried("components", components, "components")

    @property
    def headings(self) -> dict[str, str]:
        return HEADINGS

    def cell(self, name: str, row: FitRow) -> str:
        value = getattr(row, name)
        return f"{value:.3f}" if isinstance(value, float) else str(value)


def candidates(components: Any, n_rows: int, given: int | None) -> list[int]:
    """The numbers to try."""
    if isinstance(components, str):
        if components != "auto":
            raise OptionError(f'components={components!r}: expected a number, several numbers, or "auto"')
        numbers = [given] if given is not None else list(range(1, min(MOST, n_rows) + 1))
    elif isinstance(components, int | np.integer):
        numbers = [int(components)]
    elif isinstance(components, Iterable):
        numbers = sorted({int(number) for number in components})
    else:
        raise OptionError(f'components={components!r}: expected a number, several numbers, or "auto"')
    if not numbers or numbers[0] < 1:
        raise OptionError(f"components={components!r}: at least 1 component is needed")
    if numbers[-1] > n_rows:
        raise OptionError(f"{numbers[-1]} components for {n_rows} rows: there must be at least one row for each")
    if given is not None and numbers != [given]:
        raise OptionError(f"init has {given} components and components={components!r}: they must agree")
    return numbers


def fit_row(mixture: Mixture, log_likelihood: float, problem: MixtureProblem, ended: Ended, starts: Starts) -> FitRow:
    """The criteria of one fit. With a prior the log-likelihood is that at the posterior's mode."""
    rows, size = problem.rows, mixture.dimension
    weighed = bic(log_likelihood, size, rows.total)
    certainty = 0.0
    for places, posterior, _ in stretches_of_posteriors(rows, problem.ready(ended.components)):
        logs = np.log(posterior.max(axis=0))
        certainty += float(logs @ rows.weights[places]) if len(rows.weights) else float(logs.sum())
    return FitRow(
        components=mixture.n_components,
        covariance=mixture.kind,
        log_likelihood=log_likelihood,
        parameters=size,
        bic=weighed,
        icl=weighed - 2 * certainty,
        aic=aic(log_likelihood, size),
        status=ended.climb.status,
        best_count=starts.best_count,
        sound=ended.sound,
        note="" if ended.sound else told([TooFewRows()])[0],
    )


def rank(row: FitRow, criterion: Criterion) -> tuple[bool, float]:
    """Smaller is better: a sound fit before one that is not, then the criterion."""
    return not row.sound, float(getattr(row, criterion))


def finished(table: Sequence[FitRow], criterion: Criterion) -> bool:
    """Whether the last few numbers brought nothing."""
    values = [rank(row, criterion) for row in table]
    return len(values) > PATIENCE and min(values[:-PATIENCE]) <= min(values[-PATIENCE:])
