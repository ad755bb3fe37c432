"""Values that mean something else than they seem to: words for a hole, several answers in a cell, codes, slips."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Collection, Iterator

import numpy as np

from leverrier.data.column import Column
from leverrier.data.quality.noticed import Notice, Noticed

HOLE_WORDS = frozenset(
    {"na", "n/a", "n.a.", "#n/a", "nan", "null", "nil", "?", "??", ".", "-", "--", "—", "missing", "fehlt", "k.a."}
    | {"no answer", "not answered", "no response", "not available", "keine angabe", "prefer not to say", "refused"}
    | {"#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"}
)
"""Words of a category that mostly mean that there is none. “None” and “unknown” are left out: people mean them."""
TOTALS = frozenset(
    {"total", "totals", "grand total", "sum", "subtotal", "mean", "average", "avg", "gesamt", "insgesamt", "summe"}
    | {"mittelwert", "durchschnitt", "moyenne", "somme", "all rows", "overall"}
)
"""How the last row of a table is called where it is no case."""
CODES = re.compile(
    r"(^|[_\W])(zip|plz|fips|naics|isco|post(al|leitzahl)?|icd)([_\W]?\d+)?([_\W]|code|$)|(^|[_\W])code$|[a-z]Code$",
    re.IGNORECASE,
)
"""How columns are called whose numbers count nothing."""
DAYS = re.compile(r"(^|[_\W])(date|datum|dob|day|visit|visited|admitted|birth|born)([_\W]|$)|[dD]ate$", re.IGNORECASE)
"""How columns of dates are called."""
FIRST_DAY, LAST_DAY = 20_000, 60_000
"""As Excel counts days: 1954 and 2064."""
EXCEL = datetime.date(1899, 12, 30)
_MONTHS = "jan|feb|mar|mär|mrz|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez"
_DAY_AND_MONTH = re.compile(rf"(?i)[0-9]{{1,2}}[-. ]?({_MONTHS})[.]?|({_MONTHS})[.]?[- ][0-9]{{1,2}}")
_NUMBER = "[+-]?[0-9]+([.,][0-9]+)?"
_MARKED = re.compile(rf"([<>≤≥~≈=±]+ ?)?{_NUMBER} ?([*†‡+]+|\([a-z]\)|[a-c])?")
_TWO = re.compile(rf"{_NUMBER} ?[/×x:|] ?{_NUMBER}")
MOST_ANSWERS = 30


def hole_words(column: Column) -> Iterator[Noticed]:
    """States that mostly mean a hole; + beside − is a finding."""
    pairs = [(str(value), count) for value, count in zip(column.values, column.counts.tolist(), strict=True) if count]
    texts = {text.strip() for text, _ in pairs}
    found = [(text, count) for text, count in pairs if " ".join(text.split()).casefold() in HOLE_WORDS]
    found = [(text, count) for text, count in found if not (set(text.strip()) <= set("-—") and "+" in texts)]
    if found and len(found) < len(pairs):
        words = tuple(text for text, _ in found)
        cells = sum(count for _, count in found)
        yield Noticed(Notice.HOLE_WORDS, (column.name,), words, cells, cells / max(column.filled, 1))


def total_row(column: Column) -> Iterator[Noticed]:
    """The last row, if it is called a total and no other is."""
    for place, value in enumerate(column.values):
        if column.counts[place] == 1 and " ".join(str(value).split()).casefold().rstrip(":") in TOTALS:
            if column.codes()[-1] == place:
                yield Noticed(Notice.SUM_ROW, (column.name,), (str(value),), name=str(value))
            return


def odd_texts(column: Column, texts: Collection[str]) -> Noticed | None:
    """What texts hold that are neither plain words nor plain numbers."""
    real = [text.strip() for text in texts if text.strip()]
    days = [text for text in real if _DAY_AND_MONTH.fullmatch(text)]
    if days and 2 * len(days) <= len(real) and len(days) <= 20:
        return Noticed(Notice.MANGLED, (column.name,), tuple(sorted(days)), len(days))
    if len(real) < 10:
        return _several(column, real)
    if all(_TWO.fullmatch(text) for text in real):
        return Noticed(Notice.TWO_NUMBERS, (column.name,), tuple(sorted(real)[:2]))
    if all(_MARKED.fullmatch(text) for text in real):
        odd = [text for text in real if not re.fullmatch(_NUMBER, text)]
        if odd and 2 * len(odd) < len(real) and not any(re.fullmatch("[+-]?0[0-9]+", text) for text in real):
            return Noticed(Notice.MARKED_NUMBERS, (column.name,), tuple(sorted(odd)[:3]), len(odd))
    return _several(column, real)


def _several(column: Column, texts: list[str]) -> Noticed | None:
    """Whether cells hold several answers out of few: parts that come back in many mixtures."""
    for sign in (";", "|", ",", "/"):
        cells = [[part.strip() for part in text.split(sign) if part.strip()] for text in texts]
        mixed = sum(len(parts) > 1 for parts in cells)
        parts = Counter(part for each in cells for part in each)
        once = sum(count == 1 for count in parts.values())
        if not 2 <= len(parts) <= MOST_ANSWERS or 3 * mixed < len(texts) or len(texts) < max(4, 1.5 * len(parts)):
            continue
        if all(len(set(each)) == len(each) for each in cells) and once <= len(parts) / 4:
            named = tuple(part for part, _ in parts.most_common(4))
            return Noticed(Notice.SEVERAL_ANSWERS, (column.name,), named, len(parts), name=sign)
    return None


def odd_numbers(column: Column) -> Iterator[Noticed]:
    """Whole numbers that are days as Excel counts them, codes by their name, or typing errors."""
    if not column.whole or column.distinct < 3:
        return
    values = np.asarray(column.values, dtype=np.float64)
    low, high = float(values.min()), float(values.max())
    if low >= FIRST_DAY and high <= LAST_DAY and column.distinct > 12 and DAYS.search(column.name):
        ends = tuple(str(EXCEL + datetime.timedelta(days=int(end))) for end in (low, high))
        yield Noticed(Notice.SERIAL_DATES, (column.name,), ends)
    elif column.distinct > 12 and low >= 0 and CODES.search(column.name):
        yield Noticed(Notice.CODES, (column.name,), (int(low), int(high)), column.distinct)
    elif column.distinct == 3 and values[0] == 0 and values[1] == 1:
        # A count that is so often 1 would be 2 as well: Poisson's law says how often.
        none, one, other = column.counts.tolist()
        if other <= 2 and one * one / (2 * max(none, 1)) >= 10:
            yield Noticed(Notice.STRAY, (column.name,), (int(values[2]),), other)
