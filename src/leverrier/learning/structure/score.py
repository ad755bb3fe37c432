"""Scores of a family from its table of counts. Scores see tables, never rows.

Every score has the shape  Σ_jk F(N_jk) − Σ_j G(N_j) − penalty.  For the Bayesian scores F and G are
ln Γ(α + n) − ln Γ(α) with the cell's and the row's α; for the likelihood scores they are n·ln n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leverrier.errors import OptionError
from leverrier.kernels.search.one_more_parent import score_real


class Score(Protocol):
    """What a search needs to know of a score."""

    @property
    def name(self) -> str: ...

    def alphas(self, child_states: int, parent_rows: float) -> tuple[float, float]:
        """The prior count of a cell and of a row; (0, 0) for a likelihood score."""
        ...

    def penalty(self, child_states: int, parent_rows: float, total: float) -> float: ...


@dataclass(frozen=True)
class BDeu:
    """Bayesian Dirichlet, likelihood equivalent: the prior strength is spread evenly over a family's cells."""

    prior_strength: float = 1.0

    def __post_init__(self) -> None:
        _positive("prior_strength", self.prior_strength)

    @property
    def name(self) -> str:
        return f"BDeu (prior strength {self.prior_strength:g})"

    def alphas(self, child_states: int, parent_rows: float) -> tuple[float, float]:
        row = self.prior_strength / parent_rows
        return row / child_states, row

    def penalty(self, child_states: int, parent_rows: float, total: float) -> float:  # noqa: ARG002
        return 0.0


@dataclass(frozen=True)
class BDe:
    """Bayesian Dirichlet with the same pseudo-count in every cell (with 1, the score known as K2)."""

    pseudo_count: float = 1.0

    def __post_init__(self) -> None:
        _positive("pseudo_count", self.pseudo_count)

    @property
    def name(self) -> str:
        return f"BDe (pseudo-count {self.pseudo_count:g} a cell)"

    def alphas(self, child_states: int, parent_rows: float) -> tuple[float, float]:  # noqa: ARG002
        return self.pseudo_count, self.pseudo_count * child_states

    def penalty(self, child_states: int, parent_rows: float, total: float) -> float:  # noqa: ARG002
        return 0.0


@dataclass(frozen=True)
class LogLikelihood:
    """The maximised log-likelihood, without a penalty: it never prefers fewer edges."""

    name = "log-likelihood"

    def alphas(self, child_states: int, parent_rows: float) -> tuple[float, float]:  # noqa: ARG002
        return 0.0, 0.0

    def penalty(self, child_states: int, parent_rows: float, total: float) -> float:  # noqa: ARG002
        return 0.0


@dataclass(frozen=True)
class BIC(LogLikelihood):
    """Log-likelihood less ½ ln N for each free parameter: −½ of what results call `bic`, so larger is better."""

    name = "BIC"

    def penalty(self, child_states: int, parent_rows: float, total: float) -> float:
        return 0.5 * float(np.log(max(total, 1.0))) * (child_states - 1) * parent_rows


@dataclass(frozen=True)
class AIC(LogLikelihood):
    """Log-likelihood less one for each free parameter: −½ of what results call `aic`, so larger is better."""

    name = "AIC"

    def penalty(self, child_states: int, parent_rows: float, total: float) -> float:  # noqa: ARG002
        return float((child_states - 1) * parent_rows)


def family_score(score: Score, table: NDArray[np.float64], total: float) -> float:
    """One family's score from its table (axes: parents, then the child)."""
    child_states = table.shape[-1]
    rows = table.size // child_states if child_states else 0
    cell, row = score.alphas(child_states, rows)
    flat = np.ascontiguousarray(table, dtype=np.float64).ravel()
    return score_real(flat, child_states, cell, row) - score.penalty(child_states, rows, total)


def _positive(name: str, value: float) -> None:
    if not (np.isfinite(value) and value > 0):
        raise OptionError(f"{name}={value!r}: expected a positive number")
