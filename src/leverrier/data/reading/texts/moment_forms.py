"""Dates and times of day as people write them: day before month, names of months, 14:35, 2:35 PM."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Iterable

from leverrier.data.column import Came
from leverrier.data.quality.noticed import Notice
from leverrier.data.reading.texts.text_types import MARKS
from leverrier.data.reading.texts.written_form import Form, quoted

_DATE = re.compile(
    r"(?P<a>[0-9]{1,4})(?P<sign>[/.-])(?P<b>[0-9]{1,2})(?P=sign)(?P<c>[0-9]{4}|[0-9]{2})(?P<time>[ T].*)?"
)
_TIME = "([T ]([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?"
_CLOCK = re.compile(
    r"(?P<hour>[0-9]{1,3}):(?P<minute>[0-5][0-9])(:(?P<second>[0-5][0-9]([.][0-9]{1,6})?))?"
    r"( ?(?P<half>[AaPp])[.]?[Mm][.]?)?"
)
_NAMED = (
    *(f"%d{sign}%{month}{sign}%{year}" for sign in (" ", "-", "/", ".", "") for month in "bB" for year in "Yy"),
    *(f"%{month} %d, %{year}" for month in "bB" for year in "Yy"),
)
"""Layouts of dates with the name of a month: 3 Mar 2024, 03-Mar-24, 03MAR2024, March 3, 2024."""


_PARTS = {
    "%Y": "[0-9]{4}",
    "%y": "[0-9]{2}",
    "%m": "(0?[1-9]|1[0-2])",
    "%d": "(0?[1-9]|[12][0-9]|3[01])",
    "%b": "[A-Za-z]{3}",
    "%B": "[A-Za-z]{3,9}",
}
_HOUR = "TRY_CAST(regexp_extract(v, '^([0-9]+)', 1) AS DOUBLE)"
_REST = (
    "TRY_CAST(regexp_extract(v, ':([0-9]+)', 1) AS DOUBLE) / 60 "
    "+ coalesce(TRY_CAST(regexp_extract(v, ':[0-9]+:([0-9.]+)', 1) AS DOUBLE), 0) / 3600"
)


def moment_forms(texts: Collection[str]) -> Iterable[Form]:
    """The ways of writing dates and times that these texts may have."""
    yield from _date_forms(texts)
    yield from _named_dates(texts)
    yield from _clock_forms(texts)


def _named_dates(texts: Collection[str]) -> Iterable[Form]:
    """Dates with the name of a month, in English."""
    if not all(re.search("[A-Za-z]{3}", text) and re.search("[0-9]{2}", text) for text in texts):
        return
    for layout in _NAMED:
        read = _by_layout(layout)
        if all(read(text) is not None for text in texts):
            parts = re.findall("%.|[^%]", layout)
            matches = "".join(_PARTS[part] if part in _PARTS else re.escape(part) for part in parts)
            sql = f"epoch_us(CAST(try_strptime(v, {quoted(layout)}) AS TIMESTAMP))"
            yield Form(Notice.DATES, matches, read, sql, Came.DATE, "with the name of the month")
            return


def _clock_forms(texts: Collection[str]) -> Iterable[Form]:
    """Hours and minutes: a time of day where no hour is beyond 24, else how long something took. Both are numbers, in
    units of what stands before the first colon."""
    found = [_CLOCK.fullmatch(text) for text in texts]
    times = [each for each in found if each is not None]
    halves = sum(each["half"] is not None for each in times)
    if len(times) < max(len(found), 2) or halves not in (0, len(times)) or len({each["hour"] for each in times}) < 2:
        return
    if halves:
        if all(1 <= int(each["hour"]) <= 12 for each in times):
            hour = f"({_HOUR} % 12 + CASE WHEN regexp_matches(v, '[Pp]') THEN 12 ELSE 0 END)"
            yield Form(Notice.CLOCK, _CLOCK_HALF, _hours, f"{hour} + {_REST}")
        return
    day = all(int(each["hour"]) < 24 or each[0].startswith("24:00") for each in times)
    yield Form(Notice.CLOCK if day else Notice.DURATION, _CLOCK_WHOLE, _hours, f"{_HOUR} + {_REST}")


_CLOCK_WHOLE = "[0-9]{1,3}:[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"
_CLOCK_HALF = _CLOCK_WHOLE + " ?[AaPp][.]?[Mm][.]?"


def _hours(text: str) -> float | None:
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"] in "Pp" else 0)
    return hour + int(found["minute"]) / 60 + float(found["second"] or 0) / 3600


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
    day = re.escape(sign).join(_PARTS[part] for part in order.split(sign))
    clock = next((match["time"] for match in map(_DATE.fullmatch, texts) if match and match["time"]), "")
    layout = order + ({1: f"{clock[0]}%H:%M", 2: f"{clock[0]}%H:%M:%S"}.get(clock.count(":"), "") if clock else "")
    layout += ".%f" if "." in clock else ""

    sql = f"epoch_us(CAST(try_strptime(v, {quoted(layout)}) AS TIMESTAMP))"
    return Form(kind, day + (_TIME if clock else ""), _by_layout(layout), sql, Came.DATE, name)


def _by_layout(layout: str) -> Callable[[str], datetime.datetime | None]:
    def read(text: str) -> datetime.datetime | None:
        try:
            return datetime.datetime.strptime(text, layout)
        except ValueError:  # 31 February
            return None

    return read
