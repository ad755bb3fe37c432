"""Results name their words as they name their pictures: the layer of reports makes them when they are asked for.

See docs/decisions/0010-results-name-their-pictures.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def words_of(where: str, *given: Any, **options: Any) -> str:
    """What leverrier.report.words' function `where` ("module.function") says."""
    module, function = where.split(".")
    return getattr(import_module(f"leverrier.report.words.{module}"), function)(*given, **options)
