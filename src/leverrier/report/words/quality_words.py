"""What was noticed in the data, a line each: what it is, what was done, and the option that overrules it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.hints import option

MOST = 6


def quality_line(each: Noticed) -> str:
    """One sentence."""
    return _WORDS[each.kind](each)


def quality_lines(noticed: Iterable[Noticed], important: bool = False) -> list[str]:
    """A sentence each; only of what may change the answer, if so asked."""
    return [quality_line(each) for each in noticed if each.important or not important]


def _few(names: Sequence[object], most: int = MOST) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def _one(each: Noticed) -> str:
    return repr(each.columns[0])


def _types(each: Noticed, kind: str) -> str:
    return option("types", {each.columns[0]: kind})


def _hold(each: Noticed) -> str:
    return "hold" if len(each.columns) > 1 else "holds"


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def _cells(count: int) -> str:
    return f"{count:,} cell{'' if count == 1 else 's'}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.3g} %"


def _sentinel(each: Noticed) -> str:
    holds = f"{_few(each.values)} in {_cells(each.count)} of {_one(each)} stand far from all other numbers"
    return f"{holds}: if they mean “missing”, {option('missing', list(each.values))} takes them as holes."


def _words_in_numbers(each: Noticed) -> str:
    what = f"{_one(each)} holds numbers but for {_few(each.values)}"
    holes = option("missing", list(each.values))
    if each.name:  # (where)
        return (
            f"{what} in the {each.name} row, so that it was taken for text: that is a line of units or names, or a "
            f"total, it seems; leave it out of the file, or {holes} makes numbers of the rest."
        )
    return (
        f"{what} in {_cells(each.count)}, so that it was taken for text: if that means “missing”, {holes} makes "
        "numbers of it."
    )


def _one_hot(each: Noticed) -> str:
    join = option("join", {each.name: list(each.columns)})
    if each.count:  # rows in which none is yes
        return (
            f"{_few(each.columns)} are never yes together ({_rows(each.count)} have none of them): they may be one "
            f"category with a level left out, which looks like something hidden: {join} makes one column of them."
        )
    return (
        f"{_few(each.columns)} are one category in {len(each.columns)} columns (exactly one is yes in "
        f"{_percent(each.share)} of rows), which looks like something hidden: {join} makes one column of them."
    )


def _total(each: Noticed) -> str:
    but = ", but for rounding" if each.share else ""
    return (
        f"{_one(each)} is the sum of {_few(each.columns[1:])}{but}: it adds nothing, and ties them together; "
        f"{option('ignore', [each.columns[0]])} leaves it out."
    )


def _clustered(each: Noticed) -> str:
    if not each.name:
        return (
            "rows that stand near each other are alike: they come in groups, or in order of time, and count as fewer "
            f"rows than they are; {option('groups')} names the column that says which belong together, "
            f"{option('time')} that of the time."
        )
    return (
        f"{_rows(each.count)} share their {each.name!r} with another row: rows that belong together count as fewer "
        f"than they are, and tests are too sure; {option('groups', each.name)} respects that, or "
        f"{option('by', each.name)} if they are in order of time."
    )


def _near(each: Noticed) -> str:
    same = f"{_few(each.columns)} say the same in {_percent(each.share)} of rows{' or more' * (len(each.columns) > 2)}"
    return f"{same}: they may be copies; {option('ignore', list(each.columns[1:MOST]))} keeps one."


def _order(each: Noticed) -> str:
    by = f"by {_one(each)}" if each.columns else "in order of time"
    return (
        f"rows are {by} in order of time and rows near each other are alike: if they are one sequence, "
        f"{option('time', each.columns[0] if each.columns else None)} looks for what changes with time."
    )


def _unseen(each: Noticed) -> str:
    return f"{_one(each)}: {_cells(each.count)} hold labels never seen before, taken as holes: {_few(each.values)}."


_WORDS: dict[Notice, Callable[[Noticed], str]] = {
    Notice.ENCODING: lambda e: (
        f"the file is not UTF-8; it was read as {e.name}: {option('encoding', 'utf-8')} or another says otherwise."
    ),
    Notice.SHEET: lambda e: (
        f"the sheet {e.name!r} was read"
        + (
            f"; there are also {_few(e.values)}: {option('sheet', str(e.values[0]))} reads that one."
            if e.values
            else "."
        )
    ),
    Notice.REMARKS: lambda e: (
        f"{e.count:,} line{'s' * (e.count > 1)} above the header {'were' if e.count > 1 else 'was'} passed over "
        f"({_few(e.values)})."
    ),
    Notice.NO_HEADER: lambda e: (
        f"the first line holds numbers alone ({_few(e.values)}) and was taken for the names of the columns: if it is a "
        "row, put a line with names above it."
    ),
    Notice.DECIMAL_COMMA: lambda e: (
        f"{_few(e.columns)} {_hold(e)} numbers with decimal commas ({_few(e.values, 2)}), read as numbers; "
        f"{option('decimal', '.')} leaves commas alone."
    ),
    Notice.THOUSANDS: lambda e: (
        f"{_few(e.columns)} {_hold(e)} numbers with thousands separators ({_few(e.values, 2)}), read as numbers; "
        f"{option('decimal', ',')} takes commas for decimals, {_types(e, 'category')} keeps the text."
    ),
    Notice.SIGNS: lambda e: (
        f"{_few(e.columns)} {_hold(e)} numbers below 0 with a long minus or in brackets ({_few(e.values, 2)}), read as "
        f"numbers; {_types(e, 'category')} keeps the text."
    ),
    Notice.BLANKS: lambda e: (
        f"no separator was found and every line has {e.count} words: cells were parted by blanks; "
        f"{option('delimiter', ',')} overrules that."
    ),
    Notice.CLOCK: lambda e: (
        f"{_one(e)} holds times of day ({_few(e.values, 2)}), read as hours since midnight (14:30 is 14.5). The day "
        "goes round, which a number does not: what happens about midnight is seen in two parts; "
        f"{_types(e, 'category')} keeps the text."
    ),
    Notice.DURATION: lambda e: (
        f"{_one(e)} holds lengths of time ({_few(e.values, 2)}), read as numbers in units of what stands before the "
        f"first colon; {_types(e, 'category')} keeps the text."
    ),
    Notice.MARKED_NUMBERS: lambda e: (
        f"{_one(e)} holds numbers, some with signs beside them ({_few(e.values, 3)}), so that it was taken for text: "
        f"write plain numbers there, or {option('missing', list(e.values[:2]))} takes such cells as holes."
    ),
    Notice.TWO_NUMBERS: lambda e: (
        f"{_one(e)} holds two numbers in each cell ({_few(e.values, 2)}), which cannot be used so: part them into two "
        "columns."
    ),
    Notice.SERIAL_DATES: lambda e: (
        f"{_one(e)} seems to hold dates as Excel counts days ({e.values[0]} to {e.values[1]}), and was taken as a "
        f"number; {option('ignore', list(e.columns))} leaves it out, {option('time', e.columns[0])} puts rows in order."
    ),
    Notice.MANGLED: lambda e: (
        f"{_one(e)} has values that look like a day of a month ({_few(e.values, 3)}) among others that do not: a "
        "spreadsheet may have made dates of them (10-19 or a gene's name): mend them where the file came from."
    ),
    Notice.HOLE_WORDS: lambda e: (
        f"{_one(e)} has {_few(e.values)} in {_cells(e.count)} as a state of its own: if that means “missing”, "
        f"{option('missing', list(e.values))} takes such cells as holes."
    ),
    Notice.SEVERAL_ANSWERS: lambda e: (
        f"{_one(e)} holds several answers in a cell, parted by {e.name!r} ({_few(e.values, 4)}; {e.count} in all), so "
        "that each mixture counts as a state of its own: make a yes/no column of each answer."
    ),
    Notice.STRAY: lambda e: (
        f"{_one(e)} is 0 or 1 but for {_few(e.values)} in {_cells(e.count)}: if that is a typing error, "
        f"{option('missing', list(e.values))} takes it as a hole."
    ),
    Notice.CODES: lambda e: (
        f"{_one(e)} is a code by its name, and was cut into bins as a number ({e.count:,} different values): "
        f"{_types(e, 'category')} or {option('ignore', list(e.columns))} suits it better."
    ),
    Notice.LAST_REMARK: lambda e: (
        f"the last row holds {_few(e.values)} in {_one(e)} and nothing else: it is no case, it seems; leave it out of "
        "the file."
    ),
    Notice.EMPTY_ROWS: lambda e: (
        f"{_rows(e.count)} ({_percent(e.share)}) hold nothing at all: they tell nothing and count as rows; leave them "
        "out of the file."
    ),
    Notice.UNIT: lambda e: (
        f"{_one(e)} holds numbers with the unit {e.name!r} ({_few(e.values, 2)}), read as numbers; "
        f"{_types(e, 'category')} keeps the text."
    ),
    Notice.MIXED_UNITS: lambda e: (
        f"{_one(e)} holds numbers with several units ({_few(e.values)}), kept as text: bring them to one unit first."
    ),
    Notice.WORDS_IN_NUMBERS: _words_in_numbers,
    Notice.MIXED_DATES: lambda e: (
        f"{_one(e)} holds dates written in several ways ({_few(e.values)}), set aside: write them in one way first."
    ),
    Notice.DATES: lambda e: (
        f"{_one(e)} holds dates written {e.name} ({_few(e.values, 2)}); {_types(e, 'category')} keeps the text."
    ),
    Notice.DATE_ORDER: lambda e: (
        f"{_one(e)} holds dates such as {_few(e.values, 2)}, which do not tell day from month: read as {e.name}; "
        f"{_types(e, 'month-first')} reads them the other way."
    ),
    Notice.TEXT_NUMBERS: lambda e: (
        f"{_one(e)} is text and looks like numbers ({_few(e.values, 2)}): {_types(e, 'number')} reads it as such."
    ),
    Notice.USER_MISSING: lambda e: (
        f"{_one(e)}: {_cells(e.count)} with the file's codes for missing ({_few(e.values)}) are holes."
    ),
    Notice.SENTINEL: _sentinel,
    Notice.SPELLINGS: lambda e: (
        f"{_one(e)} has states that differ in case or blanks alone ({_few(e.values)}): "
        f"{_types(e, 'caseless')} takes them as one."
    ),
    Notice.FREE_TEXT: lambda e: (
        f"{_one(e)} is free text ({e.count:,} different answers), set aside; {_types(e, 'category')} keeps it."
    ),
    Notice.IDENTIFIER: lambda e: (
        f"{_one(e)} looks like an identifier ({e.count:,} different values), set aside; "
        f"{_types(e, 'category')} keeps it."
    ),
    Notice.MANY_VALUES: lambda e: (
        f"{_one(e)} has {e.count:,} different values, most of them in a few rows only: little can be learnt about "
        f"each; group them, or {option('ignore', list(e.columns))}."
    ),
    Notice.ROUND: lambda e: (
        f"{_one(e)} seems to go round (from {e.values[0]} to {e.values[1]}, and on to {e.values[0]}): it is taken as a "
        "number with two ends, so that what happens where they meet is seen in two parts; its sine and cosine as two "
        "columns in its place say it whole."
    ),
    Notice.CONSTANT: lambda e: f"{_one(e)} has only one value ({_few(e.values)}), so it tells nothing.",
    Notice.DUPLICATE: lambda e: (
        f"{_few(e.columns)} are the same column under several names, which looks like something hidden: "
        f"{option('ignore', list(e.columns[1:MOST]))} keeps one."
    ),
    Notice.NEAR_DUPLICATE: _near,
    Notice.ONE_HOT: _one_hot,
    Notice.JOINED: lambda e: f"{_few(e.columns)} were joined into {e.name!r}, as asked.",
    Notice.TOTAL: _total,
    Notice.SKIP: lambda e: (
        f"{_few(e.columns)} {'are' if len(e.columns) > 1 else 'is'} empty wherever {e.name!r} is {_few(e.values)} "
        f"({_rows(e.count)}): that follows from that answer, as where a question is skipped; no answer went missing."
    ),
    Notice.SUM_ROW: lambda e: (
        f"the last row is called {e.name!r} in {_one(e)}: it is no case, it seems; leave it out of the file."
        if e.name
        else f"the last row holds the sum of all others in {_few(e.columns)}: it is no case; leave it out of the file."
    ),
    Notice.DUPLICATE_ROWS: lambda e: (
        f"{_rows(e.count)} ({_percent(e.share)}) are exact copies of another row: if somebody was entered twice, "
        "leave the copies out; they make tests too sure."
    ),
    Notice.CLUSTERED_ROWS: _clustered,
    Notice.SORTED: lambda e: f"rows are sorted by {_few(e.columns)}.",
    Notice.TIME_ORDERED: _order,
    Notice.UNSEEN: _unseen,
}
