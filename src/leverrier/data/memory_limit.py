"""How much memory a table may take: said by the user, computed before it is allocated, refused with the reason."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from leverrier.data.variable import Variable, code_type
from leverrier.errors import OptionError, TooLargeError
from leverrier.hints import option

UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
PROGRAM = 500 * 10**6
"""What the program takes beside tables: libraries, compiled code, the database that reads files, one batch of rows."""
PER_ROW = 40
"""Bytes beside the cells while rows are grouped: a number for each, their order, and whom they belong to."""

MOST_NUMBERS = 2 * 10**9
"""Bytes of numbers that are kept beside their bins where nobody said how much memory there is."""


def memory_limit(asked: int | str | None) -> int | None:
    """Bytes, from a number of them or a text such as "2GB" or "1.5 GiB"; None is no limit."""
    if asked is None:
        return None
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([kmgt]?i?b)?\s*", str(asked).lower())
    if isinstance(asked, bool) or found is None:
        raise OptionError(f'{option("max_memory", asked)}: expected bytes, or a text such as "2GB" or "500MB"')
    limit = int(float(found[1]) * UNITS[found[2] or ""])
    if limit <= PROGRAM:
        raise OptionError(
            f"{option('max_memory', asked)}: the program itself needs about {in_words(PROGRAM)} beside the data"
        )
    return limit


def rows_within(limit: int | None) -> float:
    """How many rows of one column of numbers may be sorted at once."""
    return math.inf if limit is None else max((limit - PROGRAM) / PER_ROW, 1)


def bytes_needed(variables: Sequence[Variable], rows: float) -> float:
    """For a table of so many rows and what learners make of it: cells, a bit for each state, and grouped rows."""
    sizes = [variable.cardinality for variable in variables]
    return rows * (len(sizes) * np.dtype(code_type(max(sizes))).itemsize + sum(sizes) / 8 + PER_ROW) + PROGRAM


def fits(variables: Sequence[Variable], rows: float, limit: int | None) -> bool:
    return limit is None or bytes_needed(variables, rows) <= limit


def numbers_fit(variables: Sequence[Variable], rows: float, limit: int | None) -> bool:
    """Whether the numbers of columns that were cut may be kept beside their bins: eight bytes a cell."""
    needed = 8 * rows * sum(variable.binned for variable in variables)
    return needed <= (MOST_NUMBERS if limit is None else limit - bytes_needed(variables, rows))


def refuse_beyond(variables: Sequence[Variable], rows: int, limit: int | None, what: str) -> None:
    """Says how much was needed and what could be done, before it is allocated."""
    if limit is not None and not fits(variables, rows, limit):
        raise TooLargeError(
            f"{what} need about {in_words(bytes_needed(variables, rows))} of memory, and max_memory allows "
            f"{in_words(limit)}: allow more, leave out columns ({option('ignore')}), "
            f"or use a cluster ({option('client')})"
        )


def in_words(size: float) -> str:
    """A size that people read."""
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} bytes"
