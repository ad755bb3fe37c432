"""Numbers and dates as people write them: decimal commas, thousands, units, day before month.

A form is an expression that all texts of a column must match, a way to read one, and the same way in DuckDB's SQL.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from leverrier.data.column import Came, Column, retyped
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.reading.text_types import MARKS, MEANINGS, parse

_SPACES = " \u00a0\u202f'’"
"""What parts thousands beside a comma or a full stop."""
_COMMA = rf"[+-]?([1-9][0-9]{{0,2}}([.{_SPACES}][0-9]{{3}})+|0|[1-9][0-9]*)(,[0-9]+)?"
_POINT = rf"[+-]?([1-9][0-9]{{0,2}}([,{_SPACES}][0-9]{{3}})+|0|[1-9][0-9]*)([.][0-9]+)?"
_PLAIN = r"[+-]?([0-9]+([.][0-9]+)?|[.][0-9]+)"
_GROUPED = re.compile(rf"[+-]?[0-9]{{1,3}}([.,{_SPACES}][0-9]{{3}})+")
_UNIT = re.compile(
    r"(?P<before>[€$£¥]|[A-Z]{3} )?\s?(?P<number>[+-]?[0-9][0-9.,]*)\s?"
    r"(?P<after>[^\W\d_][^\d\s,;:]{0,11}|[%‰°€$£¥][CFK]?)?"
)
_DATE = re.compile(
    r"(?P<a>[0-9]{1,4})(?P<sign>[/.-])(?P<b>[0-9]{1,2})(?P=sign)(?P<c>[0-9]{4}|[0-9]{2})(?P<time>[ T].*)?"
)
_TIME = "([T ]([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?"
MOST_LOOKED = 2000
"""Different texts of a column that are looked at."""
FEW_WORDS = 4
_ORDINALS = frozenset({"st", "nd", "rd", "th", "e", "er", "x"})


@dataclass(frozen=True)
class Form:
    """How a column's texts are to be read, and what to say of it."""

    kind: Notice
    matches: str
    read: Callable[[str], float | datetime.datetime | None]
    sql: str
    came: Came = Came.NUMBER
    name: str = ""

    def fits(self, texts: Iterable[str]) -> bool:
        return all(re.fullmatch(self.matches, text) for text in texts)

    def noticed(self, column: str, texts: Collection[str]) -> Noticed:
        return Noticed(self.kind, (column,), tuple(_shown(texts, self.kind)), name=self.name)


def _shown(texts: Collection[str], kind: Notice) -> list[str]:
    marked = sorted(text for text in texts if kind is not Notice.DECIMAL_COMMA or "," in text)
    return marked[:2]


def form_of(texts: Collection[str], decimal: str | None = None, comma_file: bool = False) -> Form | None:
    """The form that all these texts have, if they have one; those that mean a hole are left out before.

    `decimal` is what the user says parts the fraction; `comma_file` is whether commas part no cells in this file, so
    that 1,234 is more probably one and a bit than a thousand.
    """
    real = [text for text in texts if text.lower() not in MARKS]
    if not real:
        return None
    for form in (*_number_forms(real, decimal, comma_file), *_unit_forms(real, decimal), *_date_forms(real)):
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
    if not any(sign in text for text in texts for sign in "," + _SPACES) and decimal != ",":
        return
    commas = [text for text in texts if "," in text]
    clear = any(not _GROUPED.fullmatch(text) for text in commas)
    if decimal == "," or (decimal is None and commas and (clear or comma_file)):
        grouped = any("." in text for text in texts) or any(sign in text for text in texts for sign in _SPACES)
        yield Form(
            Notice.DECIMAL_COMMA if commas or not grouped else Notice.THOUSANDS,
            _COMMA,
            lambda text: float(_without(text, "." + _SPACES).replace(",", ".")),
            f"TRY_CAST(replace({_sql_without('.' + _SPACES)}, ',', '.') AS DOUBLE)",
        )
    yield Form(
        Notice.THOUSANDS,
        _POINT,
        lambda text: float(_without(text, "," + _SPACES)),
        f"TRY_CAST({_sql_without(',' + _SPACES)} AS DOUBLE)",
    )


def _unit_forms(texts: Collection[str], decimal: str | None) -> Iterable[Form]:
    first = _UNIT.fullmatch(next(iter(sorted(texts))))
    if first is None or not (first["before"] or first["after"]):
        return
    before, after = (first["before"] or "").strip(), first["after"] or ""
    if after.lower() in _ORDINALS or len(texts) < 2:
        return
    head = rf"{re.escape(before)}\s?" if before else ""
    tail = rf"\s?{re.escape(after)}" if after else ""
    point = decimal or ("," if any(re.search(r"[0-9],[0-9]{1,2}(?![0-9])", text) for text in texts) else ".")
    number = _COMMA if point == "," else _POINT

    def read(text: str) -> float:
        bare = text.strip()[len(before) :].strip()
        bare = bare[: len(bare) - len(after)].strip() if after else bare
        return float(_without(bare, ("." if point == "," else ",") + _SPACES).replace(",", "."))

    drop = ("." if point == "," else ",") + _SPACES
    bare = "v"
    for part in (before, after):
        bare = f"replace({bare}, {_quoted(part)}, '')" if part else bare
    yield Form(
        Notice.UNIT,
        head + number + tail,
        read,
        f"TRY_CAST(replace({_sql_without(drop, f'trim({bare})')}, ',', '.') AS DOUBLE)",
        name=after or before,
    )


def mixed_units(texts: Collection[str]) -> list[str]:
    """The units, if all texts are numbers with some, and not with the same one."""
    found = [_UNIT.fullmatch(text) for text in texts if text.lower() not in MARKS]
    parts = [None if each is None else (each["after"] or each["before"] or "").strip() for each in found]
    units = {part for part in parts if part is not None}
    if len(found) < 4 or None in parts or not 2 <= len(units) <= 6 or units & _ORDINALS or 2 * len(units) > len(found):
        return []
    return sorted(units - {""}) if len(units - {""}) else []


def mixed_dates(texts: Collection[str]) -> list[str]:
    """One text of each way of writing, if all texts are dates and not all written alike."""
    found = {text: _DATE.fullmatch(text) for text in sorted(texts) if text.lower() not in MARKS}
    if len(found) < 4 or None in found.values():
        return []
    ways = {(each["sign"], len(each["a"]) == 4, len(each["c"])): text for text, each in found.items() if each}
    return sorted(ways.values()) if len(ways) > 1 else []


def _date_forms(texts: Collection[str]) -> Iterable[Form]:
    found = [_DATE.fullmatch(text) for text in texts]
    if any(each is None for each in found):
        return
    dates = [each for each in found if each is not None]
    if len({(each["sign"], len(each["a"]) == 4, len(each["c"])) for each in dates}) > 1:
        return
    sign, year_first, short = dates[0]["sign"], len(dates[0]["a"]) == 4, len(dates[0]["c"]) == 2
    if year_first:
        yield _dates(f"%Y{sign}%m{sign}%d", f"yyyy{sign}mm{sign}dd", Notice.DATES, texts)
        return
    first, second = max(int(each["a"]) for each in dates), max(int(each["b"]) for each in dates)
    year, shown = ("%y", "yy") if short else ("%Y", "yyyy")
    day_first, month_first = f"%d{sign}%m{sign}{year}", f"%m{sign}%d{sign}{year}"
    if first > 12 >= second or (second <= 12 and first <= 12):
        kind = Notice.DATES if first > 12 or sign == "." else Notice.DATE_ORDER
        yield _dates(day_first, f"dd{sign}mm{sign}{shown}", kind, texts)
    if second > 12 >= first:
        yield _dates(month_first, f"mm{sign}dd{sign}{shown}", Notice.DATES, texts)


def date_form(texts: Collection[str], month_first: bool) -> Form | None:
    """The form of dates with the order of day and month given."""
    real = [text for text in texts if text.lower() not in MARKS]
    found = [_DATE.fullmatch(text) for text in real]
    if not found or any(each is None for each in found) or found[0] is None:
        return None
    sign, year = found[0]["sign"], "%y" if len(found[0]["c"]) == 2 else "%Y"
    order = f"%m{sign}%d{sign}{year}" if month_first else f"%d{sign}%m{sign}{year}"
    return _dates(order, "mm/dd" if month_first else "dd/mm", Notice.DATES, real)


def _dates(order: str, name: str, kind: Notice, texts: Collection[str]) -> Form:
    sign = order[2]
    parts = {"%Y": "[0-9]{4}", "%y": "[0-9]{2}", "%m": "(0?[1-9]|1[0-2])", "%d": "(0?[1-9]|[12][0-9]|3[01])"}
    day = re.escape(sign).join(parts[part] for part in order.split(sign))
    clock = next((match["time"] for match in map(_DATE.fullmatch, texts) if match and match["time"]), "")
    layout = order + ({1: f"{clock[0]}%H:%M", 2: f"{clock[0]}%H:%M:%S"}.get(clock.count(":"), "") if clock else "")
    layout += ".%f" if "." in clock else ""

    def read(text: str) -> datetime.datetime | None:
        try:
            return datetime.datetime.strptime(text, layout)
        except ValueError:  # 31 February
            return None

    sql = f"epoch_us(CAST(try_strptime(v, {_quoted(layout)}) AS TIMESTAMP))"
    return Form(kind, day + (_TIME if clock else ""), read, sql, Came.DATE, name)


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
    return Noticed(Notice.WORDS_IN_NUMBERS, (column.name,), tuple(words), sum(counts[word] for word in words))


def as_dates(column: Column) -> Column | None:
    """A column of texts as the dates that all of them are; None where they are not. Sorted as texts, 01/02/2024 would
    come before 02/01/2024."""
    texts = [str(value).strip() for value in column.values]
    real = [text for text in texts if text.lower() not in MARKS]
    if len(real) < 2:
        return None
    if all(re.fullmatch(MEANINGS["date"], text) for text in real):
        value = parse(texts, Came.DATE)
        return retyped(column, [value.get(text) for text in texts])
    form = next((form for form in _date_forms(real) if form.fits(real)), None)
    return None if form is None else as_form(column, form)


def as_form(column: Column, form: Form) -> Column:
    """A column of texts read as its form says."""
    texts = [str(value) for value in column.values]
    values: list[Any] = [None if text.lower() in MARKS else form.read(text.strip()) for text in texts]
    real = [text for text in texts if text.lower() not in MARKS]
    return retyped(column, values, (form.noticed(column.name, real),))


def _without(text: str, signs: str) -> str:
    return "".join(c for c in text if c not in signs)


def _sql_without(signs: str, cell: str = "v") -> str:
    return f"translate({cell}, {_quoted(signs)}, '')"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
