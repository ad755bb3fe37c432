"""Numbers as people write them: decimal commas, thousands, units, brackets; and what all texts of a column are."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from leverrier.data.column import Came, Column, retyped
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.reading.texts.moment_forms import date_form, moment_forms
from leverrier.data.reading.texts.text_types import MARKS, MEANINGS, parse
from leverrier.data.reading.texts.written_form import Form, quoted

_SPACES = " \u00a0\u202f'’"
"""What parts thousands beside a comma or a full stop."""
_SIGN = "[+−–-]?"
_POWER = "([eE][+-]?[0-9]{1,2})?"
_COMMA_BARE = rf"(([1-9][0-9]{{0,2}}([.{_SPACES}][0-9]{{3}})+|0|[1-9][0-9]*)(,[0-9]+)?{_POWER}|,[0-9]+)"
_POINT_BARE = (
    rf"(([1-9][0-9]{{0,2}}([,{_SPACES}][0-9]{{3}})+|[1-9][0-9]?(,[0-9]{{2}})+,[0-9]{{3}}|0|[1-9][0-9]*)"
    rf"([.][0-9]+)?{_POWER}|[.][0-9]+)"
)
"""A number without its sign; thousands also as India parts them, 12,34,567."""
_PLAIN = r"[+-]?([0-9]+([.][0-9]+)?|[.][0-9]+)"
_GROUPED = re.compile(rf"[+-]?[0-9]{{1,3}}([.,{_SPACES}][0-9]{{3}})+")
_UNIT = re.compile(
    r"[(]?[+−–-]?(?P<before>[€$£¥]|[A-Z]{3} )?\s?(?P<number>[+−–-]?[0-9][0-9.,]*)\s?"
    r"(?P<after>[^\W\d_][^\d\s,;:)]{0,11}|[%‰°€$£¥][CFK]?)?[)]?"
)
MOST_LOOKED = 2000
"""Different texts of a column that are looked at."""
FEW_WORDS = 4
_ORDINALS = frozenset({"st", "nd", "rd", "th", "e", "er", "x"})


def form_of(texts: Collection[str], decimal: str | None = None, comma_file: bool = False) -> Form | None:
    """The form that all these texts have, if they have one; those that mean a hole are left out before.

    `decimal` is what the user says parts the fraction; `comma_file` is whether commas part no cells in this file, so
    that 1,234 is more probably one and a bit than a thousand.
    """
    real = [text for text in texts if text.lower() not in MARKS]
    if not real:
        return None
    for form in (*_number_forms(real, decimal, comma_file), *_unit_forms(real, decimal), *moment_forms(real)):
        if form.fits(real):
            return form
    return None


AS_WRITTEN = ("number", "day-first", "month-first")
"""Types by which a user says that texts are numbers or dates, however they are written."""
_TEXTS = ("category", "caseless", "ordered", "boolean")


@dataclass(frozen=True)
class Writing:
    """How numbers are written in a source: what the user says of fractions, and whether commas part no cells in it."""

    decimal: str | None = None
    comma_file: bool = False

    def form(self, texts: Collection[str], came: Came, asked: object) -> Form | None:
        """The form of a column whose texts plainly are `came`, if they are to be read by one."""
        if asked in _TEXTS or (asked is not None and not isinstance(asked, str)):
            return None
        if asked in ("day-first", "month-first"):
            return date_form(texts, asked == "month-first")
        if came is Came.TEXT:
            return form_of(texts, self.decimal, self.comma_file)
        if self.decimal == "," and came.is_number and any("." in text for text in texts):
            return form_of(texts, self.decimal)  # (1.234 is a thousand and some, where commas part fractions)
        return None


def _number_forms(texts: Collection[str], decimal: str | None, comma_file: bool) -> Iterable[Form]:
    if not any(sign in text for text in texts for sign in f",−–({_SPACES}") and decimal != ",":
        return
    commas = [text for text in texts if "," in text]
    clear = any(not _GROUPED.fullmatch(text.strip("()+−–-")) for text in commas)
    signs = any(sign in text for text in texts for sign in "−–(")
    if decimal == "," or (decimal is None and commas and (clear or comma_file)):
        grouped = any("." in text for text in texts) or any(sign in text for text in texts for sign in _SPACES)
        yield _numbers(Notice.DECIMAL_COMMA if commas or not grouped else Notice.THOUSANDS, texts, ",")
    yield _numbers(Notice.SIGNS if signs else Notice.THOUSANDS, texts, ".")


def _numbers(kind: Notice, texts: Collection[str], point: str, before: str = "", after: str = "") -> Form:
    """Numbers with this sign before fractions, all with the same unit; in brackets they are below 0, as in accounts,
    where not all of them stand in brackets."""
    bare = _COMMA_BARE if point == "," else _POINT_BARE
    head = rf"{re.escape(before)}\s?" if before else ""
    tail = rf"\s?{re.escape(after)}" if after else ""
    matches = f"{_SIGN}{head}{_SIGN}{bare}{tail}"
    if not all(text.startswith("(") for text in texts):
        matches += rf"|\({head}{bare}{tail}\)"
    drop = ("." if point == "," else ",") + _SPACES + ")"

    def read(text: str) -> float:
        for part in (before, after):
            text = text.replace(part, "", 1) if part else text
        return float(re.sub("^[(−–]", "-", _without(text.strip(), drop)).replace(",", "."))

    cell = "v"
    for part in (before, after):
        cell = f"replace({cell}, {quoted(part)}, '')" if part else cell
    plain = f"translate(trim({cell}), {quoted(drop)}, '')"
    sql = f"TRY_CAST(replace(regexp_replace({plain}, '^[(−–]', '-'), ',', '.') AS DOUBLE)"
    return Form(kind, matches, read, sql, name=after or before)


def _unit_forms(texts: Collection[str], decimal: str | None) -> Iterable[Form]:
    found = [_UNIT.fullmatch(text) for text in texts]
    first = next((each for each in found if each is not None and (each["before"] or each["after"])), None)
    if first is None or len(texts) < 2:
        return
    before, after = (first["before"] or "").strip(), first["after"] or ""
    if after.lower() in _ORDINALS:
        return
    point = decimal or ("," if any(re.search(r"[0-9],[0-9]{1,2}(?![0-9])", text) for text in texts) else ".")
    yield _numbers(Notice.UNIT, texts, point, before, after)


def mixed_units(texts: Collection[str]) -> list[str]:
    """The units, if all texts are numbers with some, and not with the same one."""
    found = [_UNIT.fullmatch(text) for text in texts if text.lower() not in MARKS]
    parts = [None if each is None else (each["after"] or each["before"] or "").strip() for each in found]
    units = {part for part in parts if part is not None}
    if len(found) < 4 or None in parts or not 2 <= len(units) <= 6 or units & _ORDINALS or 2 * len(units) > len(found):
        return []
    return sorted(units - {""}) if len(units - {""}) else []


def text_numbers(texts: Collection[str]) -> bool:
    """Whether texts of a frame, which are left as they are, would be numbers in a file."""
    real = [text.strip() for text in texts if text.lower() not in MARKS]
    if len(real) < 3 or any(re.fullmatch("[+-]?0[0-9]+", text) for text in real):
        return False
    form = form_of(real)
    return all(re.fullmatch(_PLAIN, text) for text in real) or (form is not None and form.came is Came.NUMBER)


def words_in_numbers(column: Column) -> Noticed | None:
    """The few words of a column that is numbers but for them: most probably ways to say that there is none."""
    texts = {str(value): str(value).strip() for value in column.values[:MOST_LOOKED]}
    words = sorted(text for text, bare in texts.items() if bare and not re.search("[0-9]", bare))
    numbers = [bare for bare in texts.values() if re.search("[0-9]", bare)]
    if not 1 <= len(words) <= FEW_WORDS or len(numbers) < max(10, 5 * len(words)) or not text_numbers(numbers):
        return None
    counts = dict(zip(map(str, column.values), column.counts.tolist(), strict=True))
    cells, where = sum(counts[word] for word in words), ""
    if cells == 1:
        place = list(map(str, column.values)).index(words[0])
        codes = column.codes()
        where = "first" if codes[0] == place else "last" if codes[-1] == place else ""
    return Noticed(Notice.WORDS_IN_NUMBERS, (column.name,), tuple(words), cells, name=where)


def as_moments(column: Column) -> Column | None:
    """A column of texts as the dates or times of day that all of them are; None where they are not. Sorted as texts,
    01/02/2024 would come before 02/01/2024."""
    texts = [str(value).strip() for value in column.values]
    real = [text for text in texts if text.lower() not in MARKS]
    if len(real) < 2:
        return None
    if all(re.fullmatch(MEANINGS["date"], text) for text in real):
        value = parse(texts, Came.DATE)
        return retyped(column, [value.get(text) for text in texts])
    form = next((form for form in moment_forms(real) if form.fits(real)), None)
    return None if form is None else as_form(column, form)


def as_form(column: Column, form: Form) -> Column:
    """A column of texts read as its form says."""
    texts = [str(value) for value in column.values]
    values: list[Any] = [None if text.lower() in MARKS else form.read(text.strip()) for text in texts]
    real = [text for text in texts if text.lower() not in MARKS]
    return retyped(column, values, (form.noticed(column.name, real),))


def _without(text: str, signs: str) -> str:
    return "".join(c for c in text if c not in signs)
