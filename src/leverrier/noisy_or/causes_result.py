"""What `hidden_causes` gives back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.chart_of import chart_of, page_of
from leverrier.data.card import card
from leverrier.data.paper_table import Papers
from leverrier.errors import MissingExtraError
from leverrier.formats.network_files import write_whole
from leverrier.models.noisy_or.noisy_or_model import HOLE, HiddenCauses
from leverrier.noisy_or.chain_diagnostics import effective_samples, r_hat
from leverrier.noisy_or.draws import Draw
from leverrier.noisy_or.sampler_state import Method
from leverrier.noisy_or.signs import Signs
from leverrier.status import Status
from leverrier.words_of import words_of

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True)
class Chain:
    """How one chain ended."""

    number: int
    log_joint: float
    """Mean over its kept sweeps."""
    expected_count: float
    sweeps: int
    status: Status
    used: bool
    """Whether the summary takes it in: a chain stuck clearly below the best one would only blur it."""


@dataclass(frozen=True, eq=False)
class HiddenCausesResult(Papers):
    """The posterior of overlapping hidden causes, from the chains that are not stuck below the best one."""

    model: HiddenCauses
    """The best structure with mean λ, p and ε: it answers for new rows."""
    signs: Signs
    """What was read, and how."""
    method: Method
    count: Mapping[int, float]
    """P(K₊ = k): how many causes reach anything."""
    links: Floats
    """(observed, causes): how often each link is there, causes aligned to the best structure."""
    shared: Floats
    """(observed, observed): E[Z Zᵀ], how many causes two signs share. It does not depend on labels."""
    best: NDArray[np.uint8]
    """(observed, causes): the most probable structure."""
    posterior: Floats
    """(rows, causes): how probably each cause is active, rows in the order they came."""
    present: Floats
    """(causes,): in how much of the posterior each cause of the best structure has a counterpart."""
    trace: Mapping[str, Floats]
    """(chains, sweeps) by name: epsilon, lambda, p, alpha, count, log_joint. Where each cause has its own: means."""
    warmup: int
    """Sweeps at the front of the traces that the summary leaves out."""
    chains: tuple[Chain, ...]
    """Best log joint first."""
    status: Status
    notes: tuple[str, ...]
    draws: tuple[Draw, ...]
    """The kept samples that were summarised."""

    @property
    def names(self) -> tuple[str, ...]:
        """The signs' names."""
        return self.signs.names

    @property
    def expected_count(self) -> float:
        """E[K₊]."""
        return float(sum(k * chance for k, chance in self.count.items()))

    @property
    def in_degree(self) -> Floats:
        """(observed,): how many causes reach each sign, in expectation."""
        return np.diag(self.shared).copy()

    @property
    def kept(self) -> Mapping[str, Floats]:
        """The traces after the warm-up."""
        return {name: values[:, self.warmup :] for name, values in self.trace.items()}

    @cached_property
    def r_hat(self) -> dict[str, float]:
        """Rank-normalised split R-hat by traced number: near 1 when chains agree."""
        return {name: r_hat(values) for name, values in self.kept.items()}

    @cached_property
    def effective_samples(self) -> dict[str, float]:
        """How many independent draws the chains are worth, by traced number (needs the extra `mcmc`)."""
        return {name: effective_samples(values) for name, values in self.kept.items()}

    def children(self, cause: int) -> tuple[str, ...]:
        """The signs that a cause of the best structure reaches."""
        return tuple(name for name, linked in zip(self.names, self.best[:, cause], strict=True) if linked)

    def posterior_of(self, x: Any) -> Floats:
        """P(cause active | row) for new rows, (rows, causes), by the model of the best structure."""
        return self.model.posterior(_with_holes(self.signs.like(x)))

    def row_log_likelihoods(self, x: Any, most_draws: int = 20) -> Floats:
        """log P(row) of new rows, averaged over draws of the posterior: what held-out rows are judged by."""
        cells = _with_holes(self.signs.like(x))
        chosen = np.unique(np.linspace(0, len(self.draws) - 1, min(most_draws, len(self.draws))).round().astype(int))
        draws = [self.draws[j] for j in chosen]
        models = [HiddenCauses(draw.links.T, draw.epsilon, draw.lam, draw.p) for draw in draws]
        logs = [model.row_log_likelihoods(cells) for model in models]
        return np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))

    def to_arviz(self) -> Any:
        """The traces after the warm-up as an xarray DataTree, for arviz (needs the extra `mcmc`)."""
        try:
            arviz_base = import_module("arviz_base")  # an extra: type checkers need not have it
        except ImportError:
            raise MissingExtraError(
                "to_arviz needs arviz-base, which is not installed: pip install 'leverrier[mcmc]'"
            ) from None
        numbers = {name: values for name, values in self.kept.items() if name != "log_joint"}
        return arviz_base.from_dict({"posterior": numbers, "sample_stats": {"lp": self.kept["log_joint"]}})

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain values, for JSON."""
        causes = [
            {
                "children": list(self.children(k)),
                "links": {name: round(float(v), 6) for name, v in zip(self.names, self.links[:, k], strict=True)},
                "present": float(self.present[k]),
                "lambda": float(self.model.lam[k]),
                "p": float(self.model.p[k]),
                "rows": float(self.posterior[:, k].sum()),
            }
            for k in range(self.best.shape[1])
        ]
        return {
            "method": self.method,
            "signs": list(self.names),
            "causes": causes,
            "count": {str(k): v for k, v in self.count.items()},
            "expected_count": self.expected_count,
            "epsilon": self.model.epsilon,
            "r_hat": self.r_hat,
            "chains": [
                {"chain": c.number, "log_joint": c.log_joint, "count": c.expected_count, "used": c.used}
                for c in self.chains
            ],
            "status": str(self.status),
            "notes": list(self.notes),
        }

    def plot_traces(self) -> altair.TopLevelMixin:
        """What the chains went through, with histograms [wood2006 figure 5], as an Altair chart."""
        return chart_of("causes_charts.plot_traces", self)

    def plot_structure(self, least: float = 0.25) -> altair.TopLevelMixin:
        """Causes above, signs below, links of at least this probability between them [wood2006 figure 6]."""
        return chart_of("causes_charts.plot_structure", self, least)

    def plot_links(self) -> altair.TopLevelMixin:
        """The probability of every link."""
        return chart_of("causes_charts.plot_links", self)

    def report(self, path: str | os.PathLike[str], title: str = "Hidden causes", *, live: bool = True) -> str:
        """Write the page of these causes, and give its path back: one HTML file that needs no network. `live=False`
        leaves out the script of its figures, 0.9 MB."""
        write_whole(os.fspath(path), page_of("causes_page.causes_page", self, title, live=live))
        return os.fspath(path)

    def _repr_html_(self) -> str:
        facts = {
            "signs": len(self.names),
            "causes expected": f"{self.expected_count:.1f}",
            "chains": len(self.chains),
            "status": self.status,
        }
        rows = [(k + 1, f"{self.model.p[k]:.2f}", ", ".join(self.children(k))) for k in range(self.best.shape[1])]
        return card("Overlapping hidden causes", facts, ("cause", "active", "signs"), rows, self.notes[:4])

    def __str__(self) -> str:
        return words_of("causes_words.describe_causes", self)

    def __repr__(self) -> str:
        return (
            f"HiddenCausesResult({len(self.names)} signs, {self.expected_count:.1f} causes expected, "
            f"{len(self.chains)} chains, {self.status})"
        )


def _with_holes(cells: NDArray[np.uint8]) -> Floats:
    return np.where(cells == HOLE, np.nan, cells.astype(np.float64))
