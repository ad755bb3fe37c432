"""A column as it came: its distinct values with counts, and which cell holds which. Typing looks at nothing else."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.labels import text_of
from leverrier.data.quality.noticed import Noticed
from leverrier.errors import TableError
from leverrier.hints import option
from leverrier.kinds import Kinds


class Came(Kinds):
    """What a column held."""

    TEXT = "text"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    """Kept as days since 1970."""
    CATEGORY = "category"
    """Like ordered ones, categories bring the order of their values."""
    ORDERED = "ordered"
    MIXED = "mixed"
    UNREAD = ""
    """Left out before it was looked at."""

    @property
    def is_number(self) -> bool:
        return self in (Came.INTEGER, Came.NUMBER)

    @property
    def in_words(self) -> bool:
        """Whether its values are labels, and no numbers of any kind."""
        return self in (Came.TEXT, Came.CATEGORY, Came.ORDERED, Came.MIXED)


@dataclass(frozen=True)
class About:
    """What a statistics file says of a column: its label, the code of each value's label, its codes for missing."""

    label: str = ""
    codes: Mapping[str, float | str] = field(default_factory=dict)
    """By the label of a value, the number that stands for it in the file."""
    missing: tuple[tuple[float | str, float | str], ...] = ()
    """Ranges (first, last) of codes that mean missing, whose labels are `missing_labels`."""
    missing_labels: Mapping[str, float | str] = field(default_factory=dict)
    measure: str = ""
    reasons: NDArray[np.object_] | None = field(default=None, compare=False, repr=False)
    """By row the code for missing that the cell held, None for all others."""

    def of_rows(self, rows: Any) -> About:
        """The same of these rows; of None, of none."""
        return replace(self, reasons=None if rows is None or self.reasons is None else self.reasons[rows])


@dataclass(frozen=True, eq=False)
class Column:
    """`values[c]` occurs `counts[c]` times; `codes()` gives c for each cell, −1 for a hole. Numbers are an array.

    A column with too many values to be states has none listed: `distinct` says about how many there are.
    """

    name: str
    came: Came
    values: Sequence[Any] | NDArray[Any]
    counts: NDArray[np.int64]
    n_rows: int
    filled: int
    codes: Callable[[], NDArray[np.signedinteger]]
    distinct: int
    notes: tuple[str, ...] = ()
    noticed: tuple[Noticed, ...] = ()
    about: About | None = None
    """What the file says of it beside its cells."""

    @property
    def holes(self) -> int:
        return self.n_rows - self.filled

    @property
    def numeric(self) -> bool:
        """Whether the values can be cut into bins."""
        return not self.came.in_words

    @property
    def dated(self) -> bool:
        return self.came is Came.DATE

    @property
    def whole(self) -> bool:
        """Whether every value is a whole number (pandas makes floats of integers with holes)."""
        if self.came is not Came.NUMBER:
            return self.came is Came.INTEGER
        values = np.asarray(self.values, dtype=np.float64)
        return bool(len(values) and np.all(np.abs(values) < 2**53) and np.all(values == np.floor(values)))

    @property
    def labels(self) -> list[Any]:
        """The values as plain Python labels: dates as text, whole numbers as integers."""
        plain = self.values.tolist() if isinstance(self.values, np.ndarray) else list(self.values)
        if self.dated:
            return [date_text(days) for days in plain]
        return [int(value) for value in plain] if self.whole else plain

    def to_be_cut(self) -> Column:
        """The column when its values are to be numbers: the text NaN is then a hole, as the number is."""
        return self if self.numeric else self.without({text_of(v) for v in self.values if text_of(v).lower() == "nan"})

    def without(self, texts: Collection[str]) -> Column:
        """The column with these values (by their text) turned into holes."""
        if isinstance(self.values, np.ndarray):
            lost = np.isin(self.values, [float(text) for text in texts if is_number(text)])
        else:
            lost = np.array([text_of(value) in texts for value in self.values], dtype=bool)
        if not lost.any():
            return self
        kept = np.flatnonzero(~lost)
        lut = np.full(len(lost) + 1, -1, dtype=np.int32)
        lut[kept] = np.arange(len(kept))
        before = self.codes
        array = isinstance(self.values, np.ndarray)
        return replace(
            self,
            values=np.asarray(self.values)[kept] if array else [self.values[code] for code in kept.tolist()],
            counts=self.counts[kept],
            filled=int(self.counts[kept].sum()),
            codes=lambda: lut[before()],
            distinct=int(np.count_nonzero(self.counts[kept])),
        )


def retyped(column: Column, values: Sequence[Any], noticed: tuple[Noticed, ...] = ()) -> Column:
    """The column with each of its values read as another one (None for a hole)."""
    other = from_objects(column.name, values)
    lut = np.append(other.codes(), -1).astype(np.int32)
    counts = np.zeros(len(other.values), dtype=np.int64)
    kept = lut[:-1] >= 0
    np.add.at(counts, lut[:-1][kept], column.counts[kept])
    before = column.codes
    made = listed(column.name, other.came, other.values, counts, column.n_rows, lambda: lut[before()], column.notes)
    return replace(made, noticed=(*column.noticed, *noticed), about=column.about)


def date_text(days: float) -> str:
    """Days since 1970 as a date, with the time of day if there is one."""
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=days)
    return moment.isoformat(sep=" ", timespec="seconds").removesuffix(" 00:00:00")


def is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def listed(
    name: str,
    came: Came,
    values: Sequence[Any] | NDArray[Any],
    counts: NDArray[np.int64],
    n_rows: int,
    codes: Callable[[], NDArray[np.signedinteger]],
    notes: tuple[str, ...] = (),
) -> Column:
    """A column whose values are all known."""
    return Column(name, came, values, counts, n_rows, int(counts.sum()), codes, int(np.count_nonzero(counts)), notes)


def unlisted(name: str, came: Came, distinct: int, filled: int, n_rows: int, notes: tuple[str, ...] = ()) -> Column:
    """A column of more different values than anyone could use as states; `distinct` says about how many."""

    def refuse() -> NDArray[np.signedinteger]:
        raise TableError(
            f"column {name!r} has about {distinct} different values; at most 65535 can be states: "
            f"{option('ignore', [name])}"
        )

    return Column(name, came, (), np.zeros(0, np.int64), n_rows, filled, refuse, distinct, notes)


def from_array(name: str, cells: NDArray[Any]) -> Column:
    """A column from a NumPy array of any kind; NaN, NaT and masked cells are holes."""
    if cells.ndim != 1:
        raise TableError(
            f"column {name!r} has shape {cells.shape}, expected one dimension: {option('ignore', [name])} skips it"
        )
    holes = np.ma.getmaskarray(cells) if isinstance(cells, np.ma.MaskedArray) else None
    plain = np.asarray(np.ma.getdata(cells))
    match plain.dtype.kind:
        case "b":
            return _counted(name, Came.BOOLEAN, plain.astype(np.int8), holes)
        case "i" | "u":
            return _counted(name, Came.INTEGER, plain, holes)
        case "f":
            holes = np.isnan(plain) if holes is None else np.isnan(plain) | holes
            return _counted(name, Came.NUMBER, plain.astype(np.float64, copy=False), holes)
        case "M" | "m":
            holes = np.isnat(plain) if holes is None else np.isnat(plain) | holes
            micros = plain.astype(f"{plain.dtype.kind}8[us]").astype(np.int64)
            return _counted(name, Came.DATE if plain.dtype.kind == "M" else Came.NUMBER, micros / 864e8, holes)
        case "O" | "U" | "S" | "T":
            objects = plain.tolist()
            if holes is not None:
                objects = [None if hole else value for value, hole in zip(objects, holes, strict=True)]
            return from_objects(name, objects)
    raise TableError(
        f"column {name!r} holds {plain.dtype}, which cannot be states: {option('ignore', [name])} skips it"
    )


def _counted(name: str, came: Came, cells: NDArray[Any], holes: NDArray[np.bool_] | None) -> Column:
    """Distinct numbers ascending; whole numbers of small range by a histogram, the rest by sorting."""
    seen = cells if holes is None else cells[~holes]
    if seen.dtype.kind in "iu" and len(seen) and int(seen.max()) - int(seen.min()) < max(1024, min(len(seen), 2**20)):
        low = seen.min()
        offset = (seen - low).astype(np.int64)
        histogram = np.bincount(offset)
        present = np.flatnonzero(histogram)
        rank = np.zeros(len(histogram), dtype=np.int32)
        rank[present] = np.arange(len(present))
        values, inverse, counts = present + int(low), rank[offset], histogram[present]
    else:
        values, inverse, counts = np.unique(seen, return_inverse=True, return_counts=True)
    codes = inverse.astype(np.int32, copy=False)
    if holes is not None:
        codes = np.full(len(cells), -1, dtype=np.int32)
        codes[~holes] = inverse
    return listed(
        name, came, values.astype(bool) if came is Came.BOOLEAN else values, counts, len(cells), lambda: codes
    )


def from_objects(name: str, cells: Sequence[Any]) -> Column:
    """A column from Python values: by the types met, None, NaN and blank text being holes."""
    position: dict[tuple[type, Any], int] = {}
    try:
        codes = np.fromiter(
            (position.setdefault((type(cell), cell), len(position)) for cell in cells), np.int32, len(cells)
        )
    except TypeError:
        odd = next(type(cell).__name__ for cell in cells if getattr(type(cell), "__hash__", None) is None)
        raise TableError(f"column {name!r} holds nested values ({odd}): {option('ignore', [name])} skips it") from None
    values = [value for _, value in position]
    kept = [index for index, value in enumerate(values) if not is_hole(value)]
    came, labels = _labels([values[index] for index in kept])
    notes = ()
    if came is Came.MIXED:
        types = ", ".join(sorted({type(values[index]).__name__ for index in kept}))
        notes = (f"{name!r} holds values of type {types}, taken as text.",)
    order = sorted(set(labels))
    rank = {label: index for index, label in enumerate(order)}
    lut = np.full(len(values) + 1, -1, dtype=np.int32)
    lut[kept] = [rank[label] for label in labels]
    small = lut[codes]
    counts = np.bincount(small[small >= 0], minlength=len(order))
    values = np.array(order) if came.is_number or came is Came.DATE else order
    return listed(name, came, values, counts, len(cells), lambda: small, notes)


def is_hole(value: Any) -> bool:
    """None, NaN, NaT, pandas' NA, and text that is empty or blank."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, bytes):
        return not value.strip()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(isinstance(value, float | decimal.Decimal | np.floating) and value != value)


def _labels(values: list[Any]) -> tuple[Came, list[Any]]:
    """What Python values are together, and each as a plain label that can be sorted with the others."""
    kinds = {_kind(value) for value in values}
    if kinds == {datetime.time}:
        return Came.TEXT, [value.isoformat(timespec="seconds") for value in values]
    if kinds <= {bytes, str}:
        return Came.TEXT, [v.decode("utf-8", "backslashreplace") if isinstance(v, bytes) else str(v) for v in values]
    for came, of, read in _READ:
        if kinds <= of:
            return came, [read(value) for value in values]
    return Came.MIXED, [str(value) for value in values]


def _kind(value: Any) -> type:
    match value:
        case bool() | np.bool_():
            return bool
        case int() | np.integer():
            return int
        case float() | np.floating() | decimal.Decimal():
            return float
        case datetime.date() | np.datetime64():
            return datetime.date
        case datetime.time():
            return datetime.time
        case str() | bytes():
            return str if isinstance(value, str) else bytes
    return object


def _days(value: Any) -> float:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return float(np.datetime64(value, "us").astype(np.int64)) / 864e8


_READ: tuple[tuple[Came, set[type], Callable[[Any], Any]], ...] = (
    (Came.BOOLEAN, {bool}, bool),
    (Came.INTEGER, {int}, int),
    (Came.NUMBER, {int, float}, float),
    (Came.DATE, {datetime.date}, _days),
)
"""What values of these types are together, and how each is read."""


@dataclass(frozen=True, eq=False)
class Source:
    """Named columns to be asked for one at a time, so that only one is held unencoded."""

    what: str
    """How to call it in an error."""
    names: tuple[str, ...]
    n_rows: int
    column: Callable[[str], Column]
    noticed: tuple[Noticed, ...] = ()
    """What was noticed of it as a whole: its encoding, its sheet."""
    part: Callable[[int, int, Sequence[str]], Source] | None = None
    """Of a tall file: some rows of columns that were asked for before, as a source of their own."""

    def __post_init__(self) -> None:
        if len(set(self.names)) != len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise TableError(f"{self.what}: two columns are named {twice!r}: column names must differ; rename one")
        if not self.names:
            raise TableError(f"{self.what} has no columns")
        if not self.n_rows:
            raise TableError(f"{self.what} has no rows, only the columns {', '.join(map(repr, self.names[:6]))}")
