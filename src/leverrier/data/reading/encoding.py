"""What a column is taken for, and its cells as codes. Each decision has a reason and can be overruled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from leverrier.data.column import Came, Column, date_text, is_number
from leverrier.data.labels import Unseen, lookup, text_of, unseen_label, unseen_note
from leverrier.data.quality.column_looking import folded, free_text, is_id, look_at_column, names_rows
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.reading.binning import Rule, bin_labels, check_cuts, choose_cuts
from leverrier.data.variable import ColumnKind, Label, Variable
from leverrier.errors import OptionError, TableError
from leverrier.hints import option
from leverrier.kinds import Kinds

MOST_INTEGERS = 12
"""Whole numbers with more different values than this are cut into bins."""
MOST_STATES = 255
"""Text with more different values than this is set aside."""
MANY_IDS = 50
"""Whole numbers that never repeat look like identifiers above this many."""
NEARLY_ALL = 0.95
"""Of the cells: so many different ones name rows, some of which were entered twice, if the column is called so."""
MANY_VALUES = 30
"""Categories with more values than this, and fewer than five rows a value, are said."""

TYPES = ("category", "caseless", "ordered", "number", "boolean", "day-first", "month-first", "ignore")
_ASKED = {"number": ColumnKind.BINNED, "boolean": ColumnKind.BOOLEAN, "ordered": ColumnKind.ORDERED}
DATES = ("day-first", "month-first")
"""Types that say how dates are written."""
_TRUE, _FALSE = {"true", "t", "yes", "y", "1"}, {"false", "f", "no", "n", "0"}

_NEARLY_NUMBERS = {
    Notice.WORDS_IN_NUMBERS: "it holds numbers, but for a few words",
    Notice.MARKED_NUMBERS: "it holds numbers with signs beside them",
    Notice.TWO_NUMBERS: "it holds two numbers in each cell",
}
"""Why a column of texts is set aside that would else look like an identifier."""

Bins = int | Sequence[float]


@dataclass(frozen=True)
class Options:
    """What the user overrules."""

    types: Mapping[str, str | Sequence[Label]] = field(default_factory=dict)
    ignore: frozenset[str] = frozenset()
    bins: Bins | Mapping[str, Bins] = 5
    bin_rule: Rule = "quantile"

    def asked(self, name: str) -> str | Sequence[Label] | None:
        """The type asked for, if any: naming a column in `bins` asks for a number."""
        if name in self.ignore:
            return "ignore"
        if name in self.types:
            return self.types[name]
        return "number" if isinstance(self.bins, Mapping) and name in self.bins else None

    def bins_of(self, name: str) -> Bins:
        return self.bins.get(name, 5) if isinstance(self.bins, Mapping) else self.bins


class Fate(Kinds):
    """What becomes of a column that is no variable."""

    ASIDE = "aside"
    WEIGHTS = "weights"


@dataclass(frozen=True)
class Decision:
    """What came, what it is taken for, and why. `variable` is None for a column that is set aside."""

    name: str
    came: Came
    distinct: int
    holes: int
    decision: ColumnKind | Fate
    reason: str
    variable: Variable | None = None
    notes: tuple[str, ...] = ()
    noticed: tuple[Noticed, ...] = ()


def decide(column: Column, options: Options, weights: NDArray[np.float64] | None = None) -> Decision:
    """What this column is taken for; `weights` count the rows when bins are chosen."""
    asked = options.asked(column.name)
    asked = None if asked in DATES else asked
    if asked is None:
        noticed = tuple(look_at_column(column))
        reason, override, why = _why_aside(column, noticed)
        if reason:
            return replace(_aside(column, reason, override), noticed=(*noticed, *why))
        taken = _taken(column, _natural(column), options, weights)
        many = (
            taken.decision is ColumnKind.CATEGORY
            and column.distinct > MANY_VALUES
            and column.filled < 5 * column.distinct
        )
        known = {Notice.CLUSTERED_ROWS, Notice.SEVERAL_ANSWERS, *_NEARLY_NUMBERS}
        many = many and not known & {each.kind for each in noticed}
        return replace(taken, noticed=(*noticed, *([_of(column, Notice.MANY_VALUES)] if many else ())))
    if not isinstance(asked, str):
        return _listed(column, asked)
    if asked not in TYPES:
        raise OptionError(
            f"{option('types', {column.name: asked})}: expected one of {', '.join(TYPES)}, or the list of its states"
        )
    taken = _taken(
        column, _ASKED.get(asked, ColumnKind.CATEGORY), options, weights, "as asked", caseless=asked == "caseless"
    )
    skip = (Notice.SPELLINGS,) if asked in ("caseless", "boolean", "number") else ()
    kept = tuple(each for each in look_at_column(column) if each.kind not in (*skip, Notice.CLUSTERED_ROWS))
    return replace(taken, noticed=kept)


def _of(column: Column, kind: Notice, *values: Label) -> Noticed:
    return Noticed(kind, (column.name,), values, column.distinct)


def ignored(name: str) -> Decision:
    """The decision on a column the user left out."""
    note = f"{name!r} is set aside: ignored, as asked."
    return Decision(name, Came.UNREAD, 0, 0, Fate.ASIDE, "ignored, as asked", None, (note,))


def _natural(column: Column) -> ColumnKind:
    if column.came.is_number:
        few = column.whole and column.distinct <= MOST_INTEGERS
        return ColumnKind.INTEGER if few else ColumnKind.BINNED
    same = {Came.BOOLEAN: ColumnKind.BOOLEAN, Came.ORDERED: ColumnKind.ORDERED}
    return same.get(column.came, ColumnKind.CATEGORY)


def _why_aside(column: Column, noticed: tuple[Noticed, ...]) -> tuple[str, str, list[Noticed]]:
    """Why a column nobody spoke for is set aside, the type that would keep it, and what to notice of it; empty if it
    is kept."""
    distinct, filled = column.distinct, column.filled
    if not distinct:
        return "it is empty", "", []
    if distinct == 1:
        holes = f" and {column.holes} holes" if column.holes else ""
        only = _only(column)
        return f"it has only the value {only!r}{holes}", "category", [_of(column, Notice.CONSTANT, only)]
    if column.dated:
        return "it holds dates", "number", []
    if any(each.kind is Notice.MIXED_DATES for each in noticed):
        return "it holds dates written in several ways", "category", []
    if column.came is Came.INTEGER and any(each.kind is Notice.CLUSTERED_ROWS for each in noticed):
        return "it says which rows belong together", "number", []
    identifier = [_of(column, Notice.IDENTIFIER)]
    if column.came.in_words:
        many = f"{distinct} different values" if len(column.values) else f"about {distinct} different values"
        if distinct > MOST_INTEGERS and 2 * distinct > filled:
            for each in noticed:
                if each.kind in _NEARLY_NUMBERS:
                    return _NEARLY_NUMBERS[each.kind], "category", []
            if free_text(column):
                return f"it is free text: {many} in {filled} cells", "category", [_of(column, Notice.FREE_TEXT)]
            return f"it looks like an identifier: {many} in {filled} cells", "category", identifier
        if distinct > MOST_STATES:
            return f"it has {many}, more than {MOST_STATES} states", "category", [_of(column, Notice.MANY_VALUES)]
    if (
        column.came is Came.INTEGER
        and NEARLY_ALL * filled <= distinct < filled
        and distinct > MANY_IDS
        and is_id(column)
    ):
        many = f"{distinct} whole numbers, of which few repeat"
        return f"it looks like an identifier: {many}", "number", identifier
    if column.came is Came.INTEGER and distinct == filled and distinct > MOST_INTEGERS:
        low, high = int(column.values[0]), int(column.values[-1])
        if low in (0, 1) and high - low == distinct - 1:
            return f"it numbers the rows from {low} to {high}", "number", []
        if distinct > MANY_IDS and names_rows(column):
            return f"it looks like an identifier: {distinct} whole numbers that never repeat", "number", identifier
    return "", "", []


def _aside(column: Column, reason: str, override: str) -> Decision:
    how = f"; {option('types', {column.name: override})} keeps it" if override else ""
    note = f"{column.name!r} is set aside: {reason}{how}."
    return Decision(column.name, column.came, column.distinct, column.holes, Fate.ASIDE, reason, None, (note,))


def _listed(column: Column, states: Sequence[Label]) -> Decision:
    labels = tuple(states)
    if not labels or len({text_of(label) for label in labels}) != len(labels):
        raise OptionError(f"types for {column.name!r} lists the states {list(labels)}: they must differ, and be some")
    label = "" if column.about is None else column.about.label
    variable = Variable(column.name, labels, ColumnKind.ORDERED, label=label)
    return Decision(column.name, column.came, column.distinct, column.holes, variable.kind, "states as asked", variable)


def _taken(
    column: Column,
    kind: ColumnKind,
    options: Options,
    weights: NDArray[np.float64] | None,
    reason: str = "",
    caseless: bool = False,
) -> Decision:
    notes = list(column.notes)
    cuts: tuple[float, ...] = ()
    if kind is ColumnKind.BINNED:
        cuts = _cuts(column, options, weights)
        states: tuple[Label, ...] = bin_labels(cuts, date_text if column.dated else None)
        notes.append(f"{column.name!r} is cut into {len(states)} bins: {', '.join(map(str, states))}.")
        reason = reason or f"numbers with {column.distinct} different values"
    elif kind is ColumnKind.BOOLEAN:
        states = (False, True)
    else:
        states, unused = _used(column)
        if caseless:
            states = spelt_once(column, states)
        if unused:
            notes.append(f"{column.name!r}: categories that no row has are left out: {', '.join(map(repr, unused))}.")
        reason = reason or f"{column.distinct} different values"
    if not states:
        raise TableError(f"column {column.name!r} is empty, so it has no states: list them, or leave the column out")
    label = "" if column.about is None else column.about.label
    variable = Variable(column.name, states, kind, cuts, label, caseless)
    return Decision(
        column.name, column.came, column.distinct, column.holes, kind, reason or "true or false", variable, tuple(notes)
    )


def _used(column: Column) -> tuple[tuple[Label, ...], list[Label]]:
    """The labels that occur, in their order, and the declared ones that do not."""
    if column.distinct > len(column.values):
        column.codes()  # says that there are too many
    pairs = list(zip(column.labels, column.counts.tolist(), strict=True))
    return tuple(label for label, count in pairs if count), [label for label, count in pairs if not count]


def spelt_once(column: Column, states: tuple[Label, ...]) -> tuple[Label, ...]:
    """Of states that differ in capitals and blanks alone, the most frequent spelling."""
    counts = dict(zip(column.labels, column.counts.tolist(), strict=True))
    best: dict[str, Label] = {}
    for state in sorted(states, key=lambda label: -counts[label]):
        best.setdefault(folded(str(state)), state)
    return tuple(state for state in states if state in set(best.values()))


def _only(column: Column) -> Label:
    return next(label for label, count in zip(column.labels, column.counts, strict=True) if count)


def _cuts(column: Column, options: Options, weights: NDArray[np.float64] | None) -> tuple[float, ...]:
    bins = options.bins_of(column.name)
    if not isinstance(bins, int | np.integer):
        return check_cuts(bins, column.name)
    if bins < 2:
        raise OptionError(f"bins={bins} for {column.name!r}: at least 2 bins are needed")
    values = numbers(column)
    each = column.counts.astype(np.float64)
    if weights is not None:
        codes = column.codes()
        each = totals(codes[codes >= 0], weights[codes >= 0], len(values))
    distinct, back = np.unique(values, return_inverse=True)  # "1" and "1.0" are one number
    cuts = choose_cuts(distinct, totals(back, each, len(distinct)), int(bins), options.bin_rule)
    if not cuts:
        raise TableError(f"column {column.name!r} has too few different values for bins: ignore it, or give the cuts")
    return cuts


def totals(places: NDArray[np.integer], weights: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The sum of the weights at each place."""
    return np.bincount(places, weights=weights, minlength=size).astype(np.float64)


def numbers(column: Column) -> NDArray[np.float64]:
    """The column's values as numbers; text that is none is an error naming the first."""
    try:
        return np.asarray(column.values, dtype=np.float64)
    except (TypeError, ValueError):
        for code, value in enumerate(column.values):
            if not is_number(value):
                row = int(np.argmax(column.codes() == code)) + 1
                raise TableError(
                    f"column {column.name!r} is to be numbers and holds {value!r} in row {row}; "
                    f"{option('missing', [value])} takes such cells as holes"
                ) from None
        raise


def raw_numbers(column: Column, variable: Variable) -> NDArray[np.float64] | None:
    """The cells of a column that is cut as the numbers they are, NaN for a hole; None where it held none (dates, or the
    names of bins)."""
    if not variable.binned or column.dated:
        return None
    if not column.numeric and not all(is_number(value) for value in column.values):
        return None
    return np.append(numbers(column), np.nan)[column.codes()]


def encode(column: Column, variable: Variable, unseen: Unseen = "error") -> tuple[NDArray[np.signedinteger], list[str]]:
    """The cells as codes of the variable's states, −1 for a hole; and what there is to say."""
    found, notes = places(column, variable, unseen)
    return np.append(found, np.int32(-1))[column.codes()], notes


def places(column: Column, variable: Variable, unseen: Unseen = "error") -> tuple[NDArray[np.int32], list[str]]:
    """The state of each of the column's values, −1 where none is meant; and what there is to say."""
    found = _state_of_value(column, variable)
    lost = [code for code in np.flatnonzero(found < 0).tolist() if column.counts[code]]
    if not lost:
        return found, []
    labels = column.labels
    if unseen == "error":
        row = int(np.argmax(column.codes() == lost[0]))
        raise unseen_label(column.name, labels[lost[0]], row, variable.states, cut=bool(variable.cuts))
    return found, [unseen_note(column.name, [labels[code] for code in lost], int(column.counts[lost].sum()))]


def unseen_in(column: Column, variable: Variable) -> tuple[Noticed, ...]:
    """The labels of a column that none of these states is, and how many cells hold them."""
    found = _state_of_value(column, variable)
    lost = [code for code in np.flatnonzero(found < 0).tolist() if column.counts[code]]
    labels, cells = column.labels, int(column.counts[lost].sum())
    shown = tuple(labels[code] for code in lost[:12])
    return (Noticed(Notice.UNSEEN, (column.name,), shown, cells, cells / max(column.filled, 1)),) if lost else ()


def _state_of_value(column: Column, variable: Variable) -> NDArray[np.int32]:
    if variable.cuts and (column.numeric or all(is_number(value) for value in column.values)):
        return np.searchsorted(np.array(variable.cuts), numbers(column), side="right").astype(np.int32)
    found = lookup(labels := column.labels, variable.states)
    if variable.kind is ColumnKind.BOOLEAN and np.any(found < 0):
        for code in np.flatnonzero(found < 0):
            text = text_of(labels[code]).lower()
            found[code] = 1 if text in _TRUE else 0 if text in _FALSE else -1
    if variable.caseless and np.any(found < 0):
        place = {folded(str(state)): code for code, state in enumerate(variable.states)}
        for code in np.flatnonzero(found < 0):
            found[code] = place.get(folded(str(labels[code])), -1)
    return found
