"""A file's columns one at a time. Short files are fetched in batches; in tall ones DuckDB makes the dictionaries."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.column import Came, Column, Source, from_array, from_objects, listed, unlisted
from leverrier.data.reading.database import first_line, identifier, one_file, quote
from leverrier.data.reading.formulas import sql_as_it_was
from leverrier.data.reading.texts.text_forms import AS_WRITTEN, Writing, as_form
from leverrier.data.reading.texts.text_types import MARKS, MEANINGS, SQL, Texts, candidates, parse, what_texts_are
from leverrier.data.reading.texts.written_form import Form
from leverrier.errors import TableError
from leverrier.hints import option
from leverrier.kinds import Kinds

if TYPE_CHECKING:
    import duckdb

_TALL = 50_000
"""From this many rows on texts are counted and numbered by DuckDB and never become Python objects."""
_BATCH = 2_000_000
"""Cells of a short file fetched at once."""
_MANY = 60_000
"""More different texts than about this cannot be states: they are tested for other meanings, and not listed."""
_SAMPLE = 4096
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "BOOLEAN")
_REAL = ("FLOAT", "DOUBLE", "HUGEINT", "UHUGEINT", "DECIMAL")
_NESTED = ("STRUCT", "MAP", "UNION", "VARIANT")
_MOMENTS = ("DATE", "TIMESTAMP")


class Holds(Kinds):
    """What comes when the cells of a column are fetched."""

    ARRAY = "array"
    DATE = "date"
    """Microseconds."""
    TEXT = "text"
    NESTED = "nested"
    """Nothing that could be used."""


@dataclass(frozen=True)
class _Field:
    """How to fetch a column, and what comes."""

    own: str
    expression: str
    holds: Holds
    kind: str


@dataclass(frozen=True)
class Recipe:
    """How the cells of a column that was looked at are fetched again, a few rows at a time: `v` stands for the cell."""

    expression: str
    holds: Holds
    values: list[str] | None = None
    """Of texts: the number that is fetched is a place among these."""


class Scan:
    """A Parquet file's columns. Those of a CSV (given names) are all text, and are asked what they are texts of."""

    def __init__(
        self,
        db: duckdb.DuckDBPyConnection,
        path: Path,
        what: str,
        names: tuple[str, ...],
        missing: Collection[str] = (),
        asked: Mapping[str, object] | None = None,
        tall: bool = False,
        most: float = math.inf,
        writing: Writing | None = None,
    ) -> None:
        """`asked` are the types of columns that the user gave. Beyond `most` rows a column of numbers is counted by
        DuckDB, or looked at in some of its rows."""
        self.db, self.what, self.asked, self.missing = db, what, dict(asked or {}), set(missing)
        self.writing = writing or Writing()
        self.from_csv = bool(names)
        self.cells = f"read_parquet({one_file(str(path))}, hive_partitioning=false, binary_as_string=true)"
        described = db.execute(f"DESCRIBE SELECT * FROM {self.cells}").fetchall()
        self.names = names or self._own_names(path, [row[0] for row in described])
        fields = [_field(row[0], str(row[1]), self.from_csv) for row in described]
        self.fields = dict(zip(self.names, fields, strict=True))
        self.n_rows = int(self._one(f"SELECT count(*) FROM {self.cells}")[0])
        self.batch: dict[str, NDArray[Any]] = {}
        self.sizes: dict[str, int] = {}
        self.recipes: dict[str, Recipe] = {}
        self.most = most
        self.tall = tall or self.n_rows > _TALL
        """Whether rows can be fetched a few at a time."""

    def _own_names(self, path: Path, shown: list[str]) -> tuple[str, ...]:
        """DuckDB renames the second of two equal names; the file's own schema has them as they are."""
        own = [row[0] for row in self.db.execute(f"SELECT name FROM parquet_schema({one_file(str(path))})").fetchall()]
        if not set(shown) <= set(own):
            twice = next((name for name in own[1:] if own[1:].count(name) > 1), shown[0])
            raise TableError(f"{self.what}: two columns are named {twice!r}: column names must differ; rename one")
        return tuple(shown)

    def column(self, name: str) -> Column:
        """This column, by the type the file gives it."""
        import duckdb

        field = self.fields[name]
        if field.holds is Holds.NESTED:
            raise TableError(
                f"{self.what}: column {name!r} holds nested values ({field.kind}): {option('ignore', [name])} skips it"
            )
        try:
            if field.holds is Holds.TEXT and self.tall:
                return self._tall_text(name, self._column_cells(name))
            if field.holds is not Holds.TEXT:
                self.recipes[name] = Recipe("v", field.holds)
                if self.n_rows > self.most:
                    return self._counted(name, "v", field.holds)
            cells = self._fetched(name)
        except duckdb.Error as problem:
            raise TableError(f"{self.what}, column {name!r}: {first_line(problem)}") from None
        if field.holds is Holds.TEXT:
            return self._short_text(name, cells.tolist())
        return from_array(name, _moments(cells) if field.holds is Holds.DATE else cells)

    def _one(self, query: str) -> tuple[Any, ...]:
        return self.db.execute(query).fetchall()[0]

    def _fetch(self, expression: str, source: str) -> NDArray[Any]:
        return np.ma.asanyarray(self.db.execute(f"SELECT {expression} AS c FROM {source}").fetchnumpy()["c"])

    def _fetched(self, name: str) -> NDArray[Any]:
        """The cells of a column, with the next ones of a short file while we are there."""
        if name not in self.batch:
            start = self.names.index(name)
            ahead = self.names[start : start + max(1, _BATCH // max(self.n_rows, 1))]
            usable = [other for other in ahead if self.fields[other].holds is not Holds.NESTED]
            wanted = ", ".join(f"{self.fields[other].expression} AS c{place}" for place, other in enumerate(usable))
            fetched = self.db.execute(f"SELECT {wanted} FROM {self.cells}").fetchnumpy()
            self.batch = {other: np.ma.asanyarray(fetched[f"c{place}"]) for place, other in enumerate(usable)}
        return self.batch.pop(name)

    def _typed(self, name: str) -> bool:
        """Whether texts are asked what they are texts of: in a CSV always, in other files where the user says so."""
        return self.from_csv or self.writing.decimal is not None or self.asked.get(name) in AS_WRITTEN

    def _form(self, name: str, texts: Collection[str], came: Came) -> Form | None:
        return self.writing.form(texts, came, self.asked.get(name)) if self._typed(name) else None

    def _short_text(self, name: str, cells: list[str | None]) -> Column:
        distinct = {text for text in cells if text is not None and text.strip() and text not in self.missing}
        if not self._typed(name):
            return from_objects(name, [text if text in distinct else None for text in cells])
        came, notes = what_texts_are(name, Texts.of(distinct))
        form = self._form(name, distinct, came)
        value = parse(distinct, Came.TEXT if form else came)
        column = from_objects(name, [value.get(text) for text in cells])
        return as_form(column, form) if form else replace(column, notes=(*column.notes, *notes))

    def _tall_text(self, name: str, cells: str) -> Column:
        skipped = ", ".join(quote(text) for text in ("", *self.missing))
        filled = f"{cells} WHERE v NOT IN ({skipped})"
        pairs: list[tuple[str, int]] = []
        if self._about(name) <= _MANY:
            counted = self.db.execute(f"SELECT v, count(*) FROM {filled} GROUP BY v").fetchall()
            pairs = sorted((text, count) for text, count in counted if not text.isspace())
            texts = Texts.of({text for text, _ in pairs})
        else:
            texts = self._tested(name, filled)
        came, notes = what_texts_are(name, texts) if self._typed(name) else (Came.TEXT, ())
        form = self._form(name, [text for text, _ in pairs] or self._some(filled), came)
        if form is not None and not pairs and not self._all_match(filled, form):
            form = None
        noticed = () if form is None else (form.noticed(name, [text for text, _ in pairs[:99]] or self._some(filled)),)
        if form is not None:
            came, notes = form.came, ()
        if came is not Came.TEXT:
            value = f"CASE WHEN v NOT IN ({skipped}) THEN {SQL[came] if form is None else form.sql} END"
            self.recipes[name] = Recipe(value, Holds.DATE if came is Came.DATE else Holds.ARRAY)
            if self.n_rows > self.most:
                found = self._counted(name, value, self.recipes[name].holds)
                return replace(found, notes=(*notes, *found.notes), noticed=noticed)
            parsed = self._fetch(value, cells)
            column = from_array(name, _moments(parsed) if came is Came.DATE else parsed)
            return replace(column, notes=notes, noticed=noticed)
        if self._about(name) > _MANY:
            return unlisted(name, Came.TEXT, self._about(name), texts.size, self.n_rows, notes)
        values, counts = [text for text, _ in pairs], np.array([count for _, count in pairs], dtype=np.int64)
        self.recipes[name] = Recipe(_place_among(values), Holds.TEXT, values)
        return listed(name, Came.TEXT, values, counts, self.n_rows, lambda: self._codes(cells, values), notes)

    def _column_cells(self, name: str, rows: str = "") -> str:
        """A column's cells as v, of all rows or of some (by file_row_number)."""
        if not rows:
            return f"(SELECT {self.fields[name].expression} AS v FROM {self.cells})"
        return f"(SELECT {self.fields[name].expression} AS v FROM {self._numbered} WHERE {rows})"

    @property
    def _numbered(self) -> str:
        return self.cells.removesuffix(")") + ", file_row_number=true)"

    def _counted(self, name: str, value: str, holds: Holds) -> Column:
        """A column of numbers that is too tall to be sorted here: its values with their counts, if they are not many;
        else those of rows at equal distances, which are enough to cut it."""
        cells = self._column_cells(name)

        def column(fetched: NDArray[Any]) -> Column:
            return from_array(name, _moments(fetched) if holds is Holds.DATE else fetched)

        if self._one(f"SELECT approx_count_distinct({value}) FROM {cells}")[0] <= _MANY:
            found = self.db.execute(f"SELECT {value} AS c, count(*) AS n FROM {cells} GROUP BY c").fetchnumpy()
            distinct = column(np.ma.asanyarray(found["c"]))
            codes = distinct.codes()
            counts = np.bincount(codes[codes >= 0], weights=found["n"][codes >= 0], minlength=len(distinct.values))
            return listed(
                name,
                distinct.came,
                distinct.values,
                counts.astype(np.int64),
                self.n_rows,
                lambda: column(self._fetch(value, cells)).codes(),
            )
        step = math.ceil(self.n_rows / self.most)
        some = column(self._fetch(value, self._column_cells(name, f"file_row_number % {step} = 0")))
        note = f"{name!r} was looked at in every {step}th row: all of them would take more memory than max_memory."
        return replace(some, notes=(*some.notes, note))

    def part(self, start: int, stop: int, names: Sequence[str]) -> Source:
        """Rows start to stop of columns that were looked at before, fetched together."""
        inner = ", ".join(f"{self.fields[name].expression} AS v{place}" for place, name in enumerate(names))
        outer = ", ".join(f"{_of(self.recipes[name], place)} AS c{place}" for place, name in enumerate(names))
        rows = f"file_row_number >= {start} AND file_row_number < {stop}"
        cells = f"(SELECT {inner} FROM {self._numbered} WHERE {rows})"
        fetched = self.db.execute(f"SELECT {outer} FROM {cells}").fetchnumpy()
        columns = {
            name: _part_column(name, self.recipes[name], np.ma.asanyarray(fetched[f"c{place}"]))
            for place, name in enumerate(names)
        }
        return Source(self.what, tuple(names), stop - start, columns.__getitem__)

    def _about(self, name: str) -> int:
        """About how many different texts a column of a tall file has (all of them are estimated in one pass)."""
        if not self.sizes:
            texts = [other for other in self.names if self.fields[other].holds is Holds.TEXT]
            wanted = ", ".join(f"approx_count_distinct({self.fields[other].own})" for other in texts)
            self.sizes = dict(zip(texts, self._one(f"SELECT {wanted} FROM {self.cells}"), strict=True))
        return self.sizes[name]

    def _tested(self, name: str, filled: str) -> Texts:
        """What the cells could mean, counted by DuckDB: only what a sample of them leaves possible is tested."""
        sample = Texts.of({row[0] for row in self.db.execute(f"SELECT v FROM {filled} LIMIT {_SAMPLE}").fetchall()})
        meanings = candidates(sample) if self._typed(name) else []
        if not meanings:
            return Texts(self._one(f"SELECT count(*) FROM {filled}")[0], [], {}, 0)
        tests = ", ".join(f"count_if(regexp_full_match(v, {quote(MEANINGS[meaning])}))" for meaning in meanings)
        mark = f"length(v) <= 4 AND lower(v) IN ({', '.join(quote(mark) for mark in MARKS)})"
        size, marked, found, *passed = self._one(
            f"SELECT count(*), count_if({mark}), list(DISTINCT v) FILTER ({mark}), {tests} FROM {filled}"
        )
        return Texts(size, sorted(found or []), dict(zip(meanings, passed, strict=True)), marked)

    def _some(self, filled: str) -> list[str]:
        return [row[0] for row in self.db.execute(f"SELECT v FROM {filled} LIMIT {_SAMPLE}").fetchall()]

    def _all_match(self, filled: str, form: Form) -> bool:
        mark = ", ".join(quote(mark) for mark in MARKS)
        test = f"regexp_full_match(v, {quote(form.matches)}) OR lower(v) IN ({mark})"
        return bool(self._one(f"SELECT coalesce(bool_and({test}), true) FROM {filled}")[0])

    def _codes(self, cells: str, values: list[str]) -> NDArray[np.int32]:
        """Each cell's place among these texts, −1 for a hole: an enumeration looks them up."""
        return _places(self._fetch(_place_among(values), cells))


def _place_among(values: list[str]) -> str:
    kind = f"ENUM ({', '.join(quote(value) for value in values)})"
    return f"enum_code(TRY_CAST(v AS {kind}))" if values else "CAST(NULL AS INTEGER)"


def _places(codes: NDArray[Any]) -> NDArray[np.int32]:
    return np.ma.filled(codes.astype(np.int32), -1)


def _of(recipe: Recipe, place: int) -> str:
    """The recipe for the cell v<place>. Only what stands outside quotation marks is the cell."""
    parts = re.split(r"('(?:[^']|'')*')", recipe.expression)
    return "".join(text if text.startswith("'") else re.sub(r"\bv\b", f"v{place}", text) for text in parts)


def _part_column(name: str, recipe: Recipe, cells: NDArray[Any]) -> Column:
    if recipe.values is None:
        return from_array(name, _moments(cells) if recipe.holds is Holds.DATE else cells)
    codes = _places(cells)
    counts = np.bincount(codes[codes >= 0], minlength=len(recipe.values))
    return listed(name, Came.TEXT, recipe.values, counts, len(codes), lambda: codes)


def _field(own: str, kind: str, from_csv: bool) -> _Field:
    name = identifier(own)
    if kind.endswith("]") or kind.startswith(_NESTED):
        return _Field(name, name, Holds.NESTED, kind)
    if kind in _WHOLE:
        return _Field(name, name, Holds.ARRAY, kind)
    if kind.startswith(_REAL):
        return _Field(name, f"CAST({name} AS DOUBLE)", Holds.ARRAY, kind)
    if kind.startswith(_MOMENTS):
        micros = f"epoch_ns({name}) // 1000" if kind.endswith("NS") else f"epoch_us({name})"
        return _Field(name, micros, Holds.DATE, kind)
    text = sql_as_it_was(f"trim({name})") if from_csv else f"CAST({name} AS VARCHAR)"
    return _Field(name, text, Holds.TEXT, kind)


def _moments(micros: NDArray[Any]) -> NDArray[np.datetime64]:
    return np.where(np.ma.getmaskarray(micros), np.datetime64("NaT", "us"), np.ma.getdata(micros).astype("M8[us]"))
