"""What happens to the components of a mixture on the way, as values: report/words makes sentences of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from leverrier.status import Status
from leverrier.words_of import Note


class Trouble(Enum):
    """Why a component cannot stay as it ended."""

    EMPTY = 0
    TWIN = 1
    THIN = 2


@dataclass(frozen=True)
class Collapsed(Note):
    """Components shrank onto so few rows, after so many iterations, and were restarted."""

    rows: tuple[float, ...]
    after: int


@dataclass(frozen=True)
class PutElsewhere(Note):
    """A component in trouble began again somewhere else; None where that gained nothing and it was left."""

    why: Trouble
    rows: float
    gain: float | None


@dataclass(frozen=True)
class EmptyComponent(Note):
    number: int


@dataclass(frozen=True)
class ThinComponent(Note):
    """It stands on few rows for its columns; with a prior that alone gives it spread."""

    number: int
    rows: float
    columns: int
    prior: bool


@dataclass(frozen=True)
class TwinComponents(Note):
    first: int
    second: int


@dataclass(frozen=True)
class BestStartEnded(Note):
    status: Status


@dataclass(frozen=True)
class TooFewRows(Note):
    """A component of a fit stands on too few rows for it to be chosen."""


@dataclass(frozen=True)
class StartsGivenUp(Note):
    """Their components kept collapsing."""

    given_up: int
    starts: int


@dataclass(frozen=True)
class ColumnDetermined(Note):
    """By the others, so that the prior alone keeps it apart."""

    column: str


@dataclass(frozen=True)
class ClassColumns(Note):
    """Which columns are Gaussian given the class, and which are categories."""

    numbers: tuple[str, ...]
    categories: tuple[str, ...]
