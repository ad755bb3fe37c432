"""Rows and sequences that a model gives no chance, as values."""

from __future__ import annotations

from dataclasses import dataclass

from leverrier.words_of import Note


@dataclass(frozen=True)
class ImpossibleRows(Note):
    """Their holes stay."""

    rows: int


@dataclass(frozen=True)
class ImpossibleSequence(Note):
    """What it leaves open stays open."""
