"""What the texts of a CSV column are: numbers, dates, true and false, or just text."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from leverrier.data.column import Came

MARKS = ("na", "n/a", "#n/a", "nan", "null", "none", "?", ".", "-")
"""Texts that often mean a hole: they do where all else is numbers, dates or true and false; elsewhere they are said."""

MEANINGS = {
    "boolean": "(?i)(true|false)",
    "integer": "-?(0|[1-9][0-9]{0,17})",
    "code": "[+-]?(0[0-9]+|[0-9]{19,})",  # leading zeros, or too long: nobody's number
    "number": "(?i)[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+-]?[0-9]{1,3})?|[+-]?inf(inity)?",
    "date": "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    "([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?",
}
"""What a text can be, as expressions that Python and DuckDB read alike."""

SQL: dict[Came, str] = {
    Came.BOOLEAN: "TRY_CAST(lower(v) AS BOOLEAN)",
    Came.INTEGER: "TRY_CAST(v AS BIGINT)",
    Came.NUMBER: "TRY_CAST(v AS DOUBLE)",
    Came.DATE: "epoch_us(TRY_CAST(v AS TIMESTAMP))",
}
"""The same text as a value, in DuckDB; a mark is no value."""

_PLURAL: dict[Came, str] = {
    Came.BOOLEAN: "true or false",
    Came.INTEGER: "numbers",
    Came.NUMBER: "numbers",
    Came.DATE: "dates",
}


@dataclass(frozen=True)
class Texts:
    """How many texts were looked at, which marks of a hole are among them, and how many could mean each thing."""

    size: int
    marks: list[str]
    passed: dict[str, int]
    marked: int

    @classmethod
    def of(cls, texts: Collection[str]) -> Texts:
        passed = {meaning: sum(1 for text in texts if re.fullmatch(form, text)) for meaning, form in MEANINGS.items()}
        marks = sorted(text for text in texts if text.lower() in MARKS)
        return cls(len(texts), marks, passed, len(marks))

    @property
    def real(self) -> int:
        """Those that are no mark."""
        return self.size - self.marked


def candidates(sample: Texts) -> list[str]:
    """What all texts might still mean after a sample of them; codes are looked for where numbers are possible."""
    left = [meaning for meaning in MEANINGS if sample.passed[meaning] == sample.real]
    return left + (["code"] if "number" in left and "code" not in left else [])


def what_texts_are(name: str, texts: Texts) -> tuple[Came, tuple[str, ...]]:
    """What all texts of a column are, leaving out marks of a hole such as NA, and what to say of those."""
    real = texts.real
    came = Came.TEXT
    if real:
        passed = {meaning: texts.passed.get(meaning, 0) for meaning in MEANINGS}
        if passed["boolean"] == real:
            came = Came.BOOLEAN
        elif passed["date"] == real:
            came = Came.DATE
        elif not passed["code"] and passed["number"] == real:
            came = Came.INTEGER if passed["integer"] == real else Came.NUMBER
    if not texts.marks or came is Came.TEXT:  # (words for a hole among texts are noticed with the column)
        return came, ()
    shown = ", ".join(repr(mark) for mark in texts.marks)
    return came, (f"{name!r}: {shown} is taken as missing, all other cells being {_PLURAL[came]}.",)


def parse(texts: Collection[str], came: Came) -> dict[str | None, Any]:
    """Each text as a value; marks of a hole have none where the others are more than text."""
    read = _PARSED.get(came)
    if read is None:
        return dict(zip(texts, texts, strict=True))
    return {text: read(text) for text in texts if text.lower() not in MARKS}


def _date(text: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:  # 31 February: DuckDB takes that for a hole too
        return None


_PARSED: dict[Came, Callable[[str], Any]] = {
    Came.BOOLEAN: lambda text: text.lower() == "true",
    Came.INTEGER: int,
    Came.NUMBER: float,
    Came.DATE: _date,
}
