"""What should make a reader of a latent class analysis careful, as values: report/words makes sentences of them."""

from __future__ import annotations

from dataclasses import dataclass

from leverrier.data.variable import Label
from leverrier.words_of import Note


@dataclass(frozen=True)
class SamplingWeights(Note):
    """Weights were scaled to a mean of 1, and rows of weight 0 only get posteriors."""

    zeros: int


@dataclass(frozen=True)
class GroupsOfRows(Note):
    """Errors allow for alikeness within so many groups."""

    groups: int
    few: bool


@dataclass(frozen=True)
class WithoutPredictor(Note):
    """Rows with a hole in a predictor are left out of the fit."""

    rows: int
    predictor: str


@dataclass(frozen=True)
class NotUsedWithout(Note):
    """A column that depends on others is not used where those are missing."""

    column: str
    rows: int
    others: tuple[str, ...]


@dataclass(frozen=True)
class SmallGroup(Note):
    """Few rows in one of the groups that are compared."""

    rows: int
    column: str
    label: Label


@dataclass(frozen=True)
class FewPatterns(Note):
    """More classes than different rows."""

    classes: int
    patterns: int


@dataclass(frozen=True)
class SpreadAtLimit(Note):
    """A count's spread is that of its kind: none beyond it."""

    parameter: str


@dataclass(frozen=True)
class AtEdge(Note):
    """Probabilities of 0 or 1, which have no standard error."""

    parameters: tuple[str, ...]


@dataclass(frozen=True)
class Separated(Note):
    """Predictors that tell classes apart without error."""

    predictors: tuple[str, ...]


@dataclass(frozen=True)
class NotIdentified(Note):
    """Parameters along which the likelihood is level."""

    parameters: tuple[str, ...]


@dataclass(frozen=True)
class MoreNotIdentified(Note):
    """Further directions in which the likelihood is level."""

    directions: int


@dataclass(frozen=True)
class PoorlyTold(Note):
    """Three steps with few rows, which are often assigned to a wrong class."""

    wrong: float
    """The share of rows assigned to a class that is not theirs, by the model."""


@dataclass(frozen=True)
class ScaledByDrawing(Note):
    """The test of all columns between groups was divided by its mean over drawn tables."""

    draws: int
    factor: float
