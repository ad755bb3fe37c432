"""How well so many classes fit: the figures that tables of latent class models show."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leverrier.learning.criteria import aic, bic
from leverrier.learning.em.fit import FitResult
from leverrier.learning.value_rows import ValueRows
from leverrier.status import Status

CELLS_TESTED = 2**20
"""With more cells than this G² and X² compare almost empty cells and say nothing."""
HEADINGS = {
    "states": "classes",
    "log_likelihood": "log-likelihood",
    "parameters": "parameters",
    "aic": "AIC",
    "bic": "BIC",
    "sabic": "SABIC",
    "caic": "CAIC",
    "entropy": "entropy R²",
    "smallest_class": "smallest",
    "best_count": "best reached",
    "g2": "G²",
    "x2": "X²",
    "bootstrap_p": "bootstrap p",
}


@dataclass(frozen=True)
class ClassFit:
    """One number of classes. The criteria are −2 log-likelihood plus a penalty: smaller is better."""

    states: int
    log_likelihood: float
    parameters: int
    aic: float
    bic: float
    sabic: float
    """BIC with (N + 2) / 24 for N."""
    caic: float
    entropy: float
    """1 − mean posterior entropy / ln classes: 1 when every row is surely in one class."""
    smallest_class: float
    """The share of the smallest class."""
    best_count: int
    """How many of the starts reached the best end: once is a warning."""
    starts: int
    status: Status
    g2: float | None = None
    """Likelihood-ratio statistic against the table of all cells, where rows are complete and cells not too many."""
    x2: float | None = None
    """Pearson's statistic."""
    degrees_of_freedom: int | None = None
    bootstrap_p: float | None = None
    """How often data drawn from the model with one class fewer gain as much by one class more."""


@dataclass(frozen=True)
class FitTable(ValueRows[ClassFit]):
    """The rows by number of classes. `str` prints them."""

    rows: tuple[ClassFit, ...]

    def row(self, states: int) -> ClassFit:
        """The fit with so many classes."""
        return self._tried("states", states, "classes")

    @property
    def headings(self) -> dict[str, str]:
        return {name: said for name, said in HEADINGS.items() if any(each is not None for each in self.column(name))}

    def cell(self, name: str, row: ClassFit) -> str:
        return _cell(name, row)


def class_fit(fitted: FitResult, name: str) -> ClassFit:
    """The figures of one fitted model whose class variable has this name."""
    network = fitted.network
    n, value, p = fitted.total, fitted.log_likelihood, network.dimension
    g2, x2, freedom = cell_statistics(fitted, name)
    return ClassFit(
        states=network.cardinality(name),
        log_likelihood=value,
        parameters=p,
        aic=aic(value, p),
        bic=bic(value, p, n),
        sabic=bic(value, p, (n + 2) / 24),
        caic=bic(value, p, n) + p,
        entropy=entropy_r2(fitted, name),
        smallest_class=float(network.cpt(name).min()),
        best_count=fitted.starts.best_count,
        starts=len(fitted.starts),
        status=fitted.status,
        g2=g2,
        x2=x2,
        degrees_of_freedom=freedom,
    )


def entropy_r2(fitted: FitResult, name: str) -> float:
    """1 − Σ entropy of the rows' posteriors / (N ln classes); 1 for a single class."""
    classes = fitted.network.cardinality(name)
    if classes == 1 or fitted.entropy is None:
        return 1.0
    return 1 - max(fitted.entropy, 0.0) / (fitted.total * math.log(classes))


def cell_statistics(fitted: FitResult, name: str) -> tuple[float | None, float | None, int | None]:
    """G², X² and degrees of freedom of the cross-table of all columns, or nothing where they mean nothing."""
    network, seen, columns = fitted.network, fitted.seen, fitted.table.variables
    cells = float(np.prod(fitted.table.cardinalities, dtype=np.float64))
    freedom = cells - 1 - network.dimension
    if seen is None or cells > CELLS_TESTED or freedom <= 0 or seen.incomplete != {name}:
        return None, None, None
    found = seen.project(columns)
    joint = np.tile(network.cpt(name), (len(found), 1))
    for variable, codes in zip(columns, found.configurations, strict=True):
        joint *= network.cpt(variable)[:, codes].T
    expected = fitted.total * joint.sum(axis=1)
    counts = found.weights
    g2 = 2 * float(counts @ np.log(counts / expected))
    x2 = float(((counts - expected) ** 2 / expected).sum() + fitted.total - expected.sum())
    return g2, x2, int(freedom)


def _cell(name: str, row: ClassFit) -> str:
    value = getattr(row, name)
    if value is None:
        return ""
    if name == "best_count":
        return f"{value} of {row.starts}"
    if name == "smallest_class":
        return f"{value:.1%}"
    if isinstance(value, int):
        return str(value)
    return f"{value:.3f}" if name in ("entropy", "bootstrap_p") else f"{value:.2f}"
