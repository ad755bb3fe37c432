"""Cells of CSV files that a spreadsheet would take for formulas: written with an apostrophe, read without it.

What begins with = + - @, a tab or a carriage return (after apostrophes, if any) and is no plain number gets one
apostrophe more; reading takes one away from what looks so. Every text comes back as it was.
"""

from __future__ import annotations

import re

STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = r"[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][+-]?[0-9]+)?%?"
_PLAIN = re.compile(_NUMBER)


def disarmed(text: str) -> str:
    """As it is written to a file."""
    return f"'{text}" if _would_run(text) else text


def as_it_was(text: str) -> str:
    """As it was before it was written."""
    return text[1:] if text.startswith("'") and _would_run(text[1:]) else text


def _would_run(text: str) -> bool:
    bare = text.lstrip("'")
    return bare.startswith(STARTS) and _PLAIN.fullmatch(bare) is None


def sql_as_it_was(text: str) -> str:
    """The same of an SQL expression."""
    looks = f"regexp_matches({text}, '^''+[=+@\t\r-]') AND NOT regexp_full_match(ltrim({text}, ''''), '{_NUMBER}')"
    return f"CASE WHEN starts_with({text}, '''') AND {looks} THEN substr({text}, 2) ELSE {text} END"
