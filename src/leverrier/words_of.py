"""Results name their words as they name their pictures: the layer of reports makes them when they are asked for.

See docs/decisions/0010-results-name-their-pictures.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any


class Note:
    """Something noticed on the way, as a value with its numbers: each is a frozen class of its own."""


def words_of(where: str, *given: Any, **options: Any) -> str:
    """What leverrier.report.words' function `where` ("module.function") says."""
    module, function = where.split(".")
    return getattr(import_module(f"leverrier.report.words.{module}"), function)(*given, **options)


def told(notes: Iterable[Note | str]) -> tuple[str, ...]:
    """Notes as sentences; those of a table are words already."""
    return tuple(each if isinstance(each, str) else words_of("note_words.note_words", each) for each in notes)
