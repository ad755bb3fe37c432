"""What learners notice and a reader should know, as values: report/words makes sentences of them."""

from __future__ import annotations

from dataclasses import dataclass

from leverrier.learning.mixed.mixed_space import Unvarying
from leverrier.words_of import Note


@dataclass(frozen=True)
class AvailableCases(Note):
    """Each family was counted in the rows that show all of it, as asked."""

    cells: int


@dataclass(frozen=True)
class RefinedByEM(Note):
    """Holes: structural EM used every row."""

    cells: int


@dataclass(frozen=True)
class FittedWhereSeen(Note):
    """Each family of numbers was fitted to the rows that show all of it."""

    cells: int


@dataclass(frozen=True)
class LeftAside(Note):
    """A column that reading set aside, and why."""

    column: str
    why: str


@dataclass(frozen=True)
class ColumnAside(Note):
    column: str
    why: Unvarying
