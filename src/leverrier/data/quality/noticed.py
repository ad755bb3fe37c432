"""A thing that was noticed in the data: what kind, in which columns, with which values and how often."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from leverrier.data.variable import Label


class Notice(StrEnum):
    """What can be noticed. The value is its short name."""

    ENCODING = "text encoding"
    SHEET = "sheet"
    REMARKS = "lines above the header"
    BLANKS = "cells parted by blanks"
    NO_HEADER = "numbers as names"
    DECIMAL_COMMA = "decimal comma"
    THOUSANDS = "thousands separator"
    SIGNS = "minus signs"
    UNIT = "unit"
    DATES = "dates"
    DATE_ORDER = "order of day and month"
    CLOCK = "times of day"
    DURATION = "durations"
    TEXT_NUMBERS = "numbers as text"
    MARKED_NUMBERS = "numbers with signs beside them"
    TWO_NUMBERS = "two numbers in a cell"
    SERIAL_DATES = "days as Excel counts them"
    MANGLED = "values turned into dates"
    MIXED_UNITS = "several units"
    WORDS_IN_NUMBERS = "numbers but for a few words"
    MIXED_DATES = "dates written in several ways"
    HOLE_WORDS = "words that may mean missing"
    USER_MISSING = "user-missing codes"
    SENTINEL = "codes that may mean missing"
    SPELLINGS = "several spellings"
    SEVERAL_ANSWERS = "several answers in a cell"
    STRAY = "a value that may be a typing error"
    CODES = "codes as numbers"
    FREE_TEXT = "free text"
    IDENTIFIER = "identifier"
    MANY_VALUES = "many values in few rows"
    ROUND = "goes round"
    CONSTANT = "constant"
    DUPLICATE = "duplicate columns"
    NEAR_DUPLICATE = "nearly duplicate columns"
    ONE_HOT = "one category in several columns"
    JOINED = "columns joined"
    TOTAL = "total of other columns"
    SKIP = "skip pattern"
    SUM_ROW = "a last row of sums"
    LAST_REMARK = "a remark in the last row"
    EMPTY_ROWS = "empty rows"
    DUPLICATE_ROWS = "duplicate rows"
    CLUSTERED_ROWS = "clustered rows"
    SORTED = "sorted rows"
    TIME_ORDERED = "rows in order of time"
    UNSEEN = "labels never seen"


IMPORTANT = frozenset(
    {
        Notice.ENCODING,
        Notice.NO_HEADER,
        Notice.DECIMAL_COMMA,
        Notice.DATE_ORDER,
        Notice.CLOCK,
        Notice.TEXT_NUMBERS,
        Notice.MARKED_NUMBERS,
        Notice.TWO_NUMBERS,
        Notice.SERIAL_DATES,
        Notice.MANGLED,
        Notice.HOLE_WORDS,
        Notice.SEVERAL_ANSWERS,
        Notice.STRAY,
        Notice.CODES,
        Notice.MIXED_UNITS,
        Notice.MIXED_DATES,
        Notice.WORDS_IN_NUMBERS,
        Notice.SENTINEL,
        Notice.SPELLINGS,
        Notice.MANY_VALUES,
        Notice.DUPLICATE,
        Notice.NEAR_DUPLICATE,
        Notice.ONE_HOT,
        Notice.TOTAL,
        Notice.SKIP,
        Notice.SUM_ROW,
        Notice.LAST_REMARK,
        Notice.EMPTY_ROWS,
        Notice.DUPLICATE_ROWS,
        Notice.CLUSTERED_ROWS,
        Notice.TIME_ORDERED,
        Notice.UNSEEN,
    }
)
"""What may change the answer: said before a verdict. The rest is said by `check` and in the report."""
RARE = 0.01
"""Of the rows: fewer copies than that change nothing."""


@dataclass(frozen=True)
class Noticed:
    """One thing; what the fields hold is said by the sentence made of it (`report/words/quality_words.py`)."""

    kind: Notice
    columns: tuple[str, ...] = ()
    values: tuple[Label, ...] = ()
    count: int = 0
    """Cells, or rows, that it is about."""
    share: float | None = None
    """Of them, where that says more."""
    name: str = ""
    """A name that goes with it: an encoding, a sheet, a unit, a column that explains it."""

    @property
    def important(self) -> bool:
        rare = self.kind is Notice.DUPLICATE_ROWS and self.share is not None and self.share < RARE
        return self.kind in IMPORTANT and not rare
