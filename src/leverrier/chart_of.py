"""Results name their pictures and pages; the layer of reports makes them, and is loaded when one is asked for.

The one place where something calls a layer below it: see docs/decisions/0010-results-name-their-pictures.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair


def chart_of(where: str, *given: Any, **options: Any) -> altair.TopLevelMixin:
    """The chart of leverrier.report.charts' function `where` ("module.function")."""
    module, function = where.split(".")
    return getattr(import_module(f"leverrier.report.charts.{module}"), function)(*given, **options)


def page_of(where: str, *given: Any, **options: Any) -> bytes:
    """The page that leverrier.report.pages' function `where` makes, as it is written to a file."""
    module, function = where.split(".")
    return getattr(import_module(f"leverrier.report.pages.{module}"), function)(*given, **options).encode()
