"""What the sampler of causes noticed, as values: report/words makes sentences of them."""

from __future__ import annotations

from dataclasses import dataclass

from leverrier.data.table import Label
from leverrier.words_of import Note


@dataclass(frozen=True)
class ChainLeftOut(Note):
    """It stayed below the best one."""

    number: int


@dataclass(frozen=True)
class CausesRepeated(Note):
    """Several reach the same signs: one frequent cause may be cut up, because all share one p."""


@dataclass(frozen=True)
class NotYesNo(Note):
    """Columns that are no signs."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class RarerIsYes(Note):
    """Neither state of a column reads like a yes: the rarer one is taken for it."""

    column: str
    state: Label
