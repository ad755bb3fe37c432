"""What one column shows: codes for missing, spellings, free text, many values, a grouping of rows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.column import Came, Column
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.quality.odd_values import hole_words, odd_numbers, total_row

SENTINELS = frozenset(
    {-1.0, *(sign * float(digit * length) for sign in (1, -1) for digit in "6789" for length in range(1, 6))}
    | {sign * float(f"{nines}{last}") for sign in (1, -1) for nines in ("9", "99", "999") for last in "5678"}
)
"""Numbers that forms use for “no answer”: 9, 99, 999, 8888, 97, 998, −1, −9 …"""
MOST_SENTINELS = 3
FEW = 12
CIRCLES: tuple[tuple[str, float, float], ...] = (
    (r"^(?!.*per)(.*[_\W])?hour$|hour_?of_?(the_?)?day", 0, 24),
    (r"(^|[_\W])angle|azimuth|bearing|heading|(^|[_\W]|wind|flow)direction$|wind_?dir", 0, 360),
    (r"^(?!.*per)(.*[_\W])?month$|month_?of_?(the_?)?year", 1, 13),
    (r"week_?day|day_?of_?(the_?)?week", 0, 8),
    (r"day_?of_?(the_?)?year|julian_?day", 0, 367),
)
"""How columns are called whose last value lies beside the first, and where their values begin and end."""
GROUPS = re.compile(
    r"(^|[_\W])(id|ids|nr|no|num|key|hh|psu)([_\W]|$)|(?-i:[a-z]I[dD]$)|house|family|patient|person|subject|school|classroom"
    r"|site|cluster|village|respondent|pupil|student|client|customer|sequence|participant|member|animal",
    re.IGNORECASE,
)
"""How columns are called that say whose a row is."""
OWNERS = re.compile(r"house|family|patient|person|subject|cluster|respondent|pupil|student|participant", re.IGNORECASE)
"""Those of them that are nobody's property even where the rows of one stand apart."""
NUMBERED = re.compile(r"seq|code|phone|account|ident|serial|number|index|uuid|isbn|postal|zip", re.IGNORECASE)
"""How columns are called, beside those, that only name their rows."""
ROWS_BELONG = (Came.INTEGER, Came.TEXT, Came.DATE, Came.NUMBER)
"""What a column may hold that says whose a row is."""
MOST_ROWS, MOST_ROWS_TOGETHER = 50, 5000
"""Of a group: where its rows stand anywhere, and where they all stand together."""


def look_at_column(column: Column) -> Iterator[Noticed]:
    """What is noticed in the values of a column and how often each occurs."""
    yield from column.noticed
    if not column.distinct or not len(column.values):
        return
    if column.came.is_number:
        yield from sentinels(column)
        yield from circle(column)
        yield from odd_numbers(column)
    if column.came in (Came.TEXT, Came.CATEGORY):
        yield from spellings(column)
        yield from hole_words(column)
        yield from total_row(column)
    yield from groups(column)


def sentinels(column: Column) -> Iterator[Noticed]:
    """Numbers at either end that forms use for “no answer” and that stand far off from all others."""
    values = np.asarray(column.values, dtype=np.float64)
    counts = column.counts[np.isfinite(values)]
    values = values[np.isfinite(values)]
    found = _both_ends(values)
    if found:
        cells = int(counts[np.isin(values, found)].sum())
        if cells >= 2:
            shown = tuple(int(value) if value.is_integer() else value for value in sorted(found))
            yield Noticed(Notice.SENTINEL, (column.name,), shown, cells, cells / max(column.filled, 1))


def _both_ends(values: Floats) -> list[float]:
    """Codes at either end; those of one end are left out when the other is judged, whichever stands farther off."""
    found: list[float] = []
    for high in (True, False, True):
        left = np.sort(values[~np.isin(values, found)])
        ends = left[::-1] if high else left
        for size in range(MOST_SENTINELS, 0, -1):
            far, rest = ends[:size], ends[size:]
            if len(rest) >= 2 and all(value in SENTINELS for value in far.tolist()) and _far_off(far, rest):
                found += far.tolist()
                break
    return found


def circle(column: Column) -> Iterator[Noticed]:
    """Numbers that go round, by the column's name and the values: they fill most of a circle and never leave it."""
    values = np.asarray(column.values, dtype=np.float64)
    values = values[np.isfinite(values)]
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    for words, begin, end in CIRCLES:
        if re.search(words, column.name, re.IGNORECASE) is None:
            continue
        turns = end - begin
        begin -= 180.0 if turns == 360 and low < 0 else 0.0  # (angles from −180 to 180)
        if begin <= low and high <= begin + turns and high - low > 0.7 * (turns - 1):
            shown = tuple(int(each) if each.is_integer() else each for each in (low, high))
            yield Noticed(Notice.ROUND, (column.name,), shown, int(column.filled))
        return


def _far_off(far: np.ndarray, rest: np.ndarray) -> bool:
    """Whether the gap is wider than all that is left; among few whole numbers, thrice the steps between them."""
    gap = float(np.abs(far[:, None] - rest[None, :]).min())
    if gap > np.ptp(rest):
        return True
    steps = np.abs(np.diff(rest))
    return bool(len(rest) <= FEW and gap >= 3 * np.median(steps) and gap > steps.max())


def spellings(column: Column) -> Iterator[Noticed]:
    """Texts that are the same but for capitals and blanks."""
    if len(column.values) > 10_000:
        return
    alike: dict[str, list[str]] = defaultdict(list)
    for value, count in zip(column.values, column.counts.tolist(), strict=True):
        if isinstance(value, str) and count:
            alike[folded(value)].append(value)
    several = [value for group in alike.values() if len(group) > 1 for value in group]
    if several:
        yield Noticed(Notice.SPELLINGS, (column.name,), tuple(several[:12]), len(several))


def folded(text: str) -> str:
    """The text without what people write differently each time: capitals, blanks, and signs that nobody sees."""
    return " ".join(_UNSEEN.sub("", text).split()).casefold()


_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b-\u200f\u2060\ufeff]")


def free_text(column: Column) -> bool:
    """Whether texts read like sentences rather than like codes."""
    texts = [value for value in list(column.values)[:500] if isinstance(value, str)]
    return bool(texts) and float(np.mean([len(text.split()) for text in texts])) >= 2.5


def groups(column: Column) -> Iterator[Noticed]:
    """A column whose equal values stand together, a few rows each: somebody's, or some place's, rows."""
    if column.came not in ROWS_BELONG or column.holes or not len(column.values):
        return
    distinct, size = column.distinct, column.filled / max(column.distinct, 1)
    if column.dated:
        codes = column.codes()
        if distinct > FEW and np.all(np.diff(codes) >= 0):
            yield Noticed(Notice.SORTED, (column.name,), name="date")
        return
    if GROUPS.search(column.name) is None or distinct < 10 or size < 1.2:
        return
    codes = column.codes()
    runs = 1 + int(np.count_nonzero(np.diff(codes)))
    most = MOST_ROWS_TOGETHER if runs == distinct else MOST_ROWS
    if size > most or column.counts.max() > max(100, 10 * size):
        return
    if runs <= 1.5 * distinct or (column.came is Came.TEXT and OWNERS.search(column.name)):
        rows = int(column.counts[column.counts > 1].sum())
        yield Noticed(Notice.CLUSTERED_ROWS, (column.name,), count=rows, name=column.name)


IDENTIFIER = re.compile(r"(^|[_\W])(id|ids|uuid|key)([_\W]|$)|(?-i:[a-z]I[dD]$)", re.IGNORECASE)


def is_id(column: Column) -> bool:
    """Whether a column says by its name that it names rows, and nothing else."""
    return IDENTIFIER.search(column.name) is not None


def names_rows(column: Column) -> bool:
    """Whether whole numbers that never repeat name rows rather than measure something: by what the column is called, or
    because they are a series with few gaps, or have as many digits as no measurement has."""
    low, high = int(column.values[0]), int(column.values[-1])
    if GROUPS.search(column.name) or NUMBERED.search(column.name):
        return True
    return high - low < 3 * column.distinct or (len(str(low)) == len(str(high)) >= 9)
