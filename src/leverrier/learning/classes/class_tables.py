"""Tables of a latent class analysis: rows with names, as text, dicts or a frame."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Generic

from leverrier.data.variable import Label
from leverrier.errors import MissingExtraError
from leverrier.learning.value_rows import R, ValueRows


@dataclass(frozen=True)
class Coefficient:
    """The log odds of a class against the reference class: one term of one predictor."""

    state_class: int
    against: int
    predictor: str
    estimate: float
    standard_error: float
    z: float
    p_value: float
    lower: float
    upper: float
    odds_ratio: float


@dataclass(frozen=True)
class ProfileRow:
    """One figure of a class: its size, the probability of a state, a mean, a deviation; with its interval."""

    column: str
    state_class: int
    of: Label
    """The state, or "share", "mean", "deviation"."""
    estimate: float
    standard_error: float
    lower: float
    upper: float
    logit: float | None = None
    logit_error: float | None = None
    group: Label | None = None


@dataclass(frozen=True)
class OutcomeRow:
    """An outcome in one class: the probability of a state, or a mean."""

    outcome: str
    state_class: int
    of: Label
    estimate: float
    standard_error: float
    lower: float
    upper: float


@dataclass(frozen=True)
class RegressionRow:
    """A column regressed within a class: one term, on the scale of its kind (a mean, a log rate, a logit)."""

    column: str
    state_class: int
    term: str
    of: Label | None
    estimate: float
    standard_error: float
    z: float
    p_value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class TestRow:
    """A test: of what, how, and what came out."""

    about: str
    what: str
    method: str
    statistic: float
    degrees_of_freedom: int
    p_value: float

    __test__ = False  # (pytest: this is no test case)


@dataclass(frozen=True)
class ResidualRow:
    """A pair of columns: how much more they agree than the classes explain."""

    first: str
    second: str
    statistic: float
    degrees_of_freedom: int
    bvr: float
    """The statistic over its degrees of freedom, as tables of bivariate residuals show it."""
    p_value: float


@dataclass(frozen=True)
class InvarianceRow:
    """A model of several groups: what may differ between them, and how well it fits."""

    model: str
    log_likelihood: float
    parameters: int
    aic: float
    bic: float
    against: str
    statistic: float | None
    degrees_of_freedom: int | None
    p_value: float | None


@dataclass(frozen=True)
class ClassQuality:
    """How well rows of a class can be told from the others."""

    state_class: int
    share: float
    assigned: float
    """The share of rows most probably in it."""
    average_posterior: float
    """Of those rows."""
    odds_of_correct: float
    """(average posterior odds) / (odds of the share): above 5 is called good."""


@dataclass(frozen=True)
class RowTable(ValueRows[R], Generic[R]):
    """Rows of one kind. `to_frame()` is a pandas frame, `str` a text, `where(predictor="age")` some of the rows."""

    kind: type[R]
    rows: tuple[R, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(each.name for each in fields(self.kind))  # type: ignore[arg-type]

    def where(self, **equal: Any) -> RowTable[R]:
        kept = tuple(row for row in self.rows if all(getattr(row, name) == value for name, value in equal.items()))
        return RowTable(self.kind, kept)

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("pandas is not installed: pip install pandas, or use to_dicts()") from None
        names = ["class" if name == "state_class" else name for name in self.columns]
        return pandas.DataFrame(self.to_dicts(), columns=names)

    @property
    def headings(self) -> dict[str, str]:
        shown = [name for name in self.columns if any(each not in (None, "") for each in self.column(name))]
        return {name: name.replace("state_class", "class").replace("_", " ") for name in shown}

    def cell(self, name: str, row: R) -> str:
        return cell_text(name, getattr(row, name))


def cell_text(name: str, value: Any, large: str = ".2f") -> str:
    """A cell as it is printed; `large` is how a number of five figures is."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return ""
    if name == "p_value":
        return "< 0.0001" if value < 1e-4 else f"{value:.4f}"
    return format(value, ".4g" if abs(value) < 1e4 else large)
