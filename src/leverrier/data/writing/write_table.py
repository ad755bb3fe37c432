"""A table to a file: written beside its place and then moved there, so that nobody meets half a file."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.column import About
from leverrier.data.reading.database import connected, identifier, quote
from leverrier.data.reading.formulas import disarmed
from leverrier.data.reading.frames import label_type, whole_numbers
from leverrier.data.table import Table
from leverrier.data.variable import Variable
from leverrier.data.writing.survey_writing import WRITERS, write_survey
from leverrier.errors import TableError
from leverrier.run.atomic_file import put

_ROWS = 20_000  # written at a time


def write_table(table: Table, path: str | os.PathLike[str], *, weights: str = "weight") -> None:
    """The table with its labels, numbers as numbers, as .csv, .tsv, .csv.gz, .parquet, .jsonl, .sav, .zsav, .dta, .por
    or .xpt; holes are empty. Weights are the last column. What came from a file of SPSS or Stata goes back to one with
    its codes, labels and codes for missing."""
    target = Path(path).expanduser()
    write = _writer(target, table.about)
    columns = table.labelled(weights)
    if not target.parent.is_dir():
        raise TableError(f"{target}: there is no folder {target.parent}")
    try:
        put(target, lambda part: write(columns, part))
    except OSError as problem:
        raise TableError(f"{target}: cannot be written ({problem.strerror or problem})") from None


Columns = dict[str, tuple[Variable | None, NDArray[Any]]]


def _writer(target: Path, about: Mapping[str, About]) -> Callable[[Columns, Path], None]:
    suffixes = [suffix.lower() for suffix in target.suffixes[-2:]]
    packed = bool(suffixes) and suffixes[-1] == ".gz"
    last = suffixes[-1 - packed] if len(suffixes) > packed else ""
    if last in (".csv", ".tsv", ".txt"):
        return lambda columns, part: _write_text(columns, part, "," if last == ".csv" else "\t", packed)
    if last in (".parquet", ".pq") and not packed:
        return _write_parquet
    if last in WRITERS and not packed:
        return lambda columns, part: write_survey(columns, about, last, part)
    if last in (".jsonl", ".ndjson") and not packed:
        return _write_json_lines
    raise TableError(
        f"{target}: cannot tell what to write: expected .csv, .tsv, .csv.gz, .parquet, .jsonl, .sav, .dta, .por or .xpt"
    )


def _write_json_lines(columns: Columns, part: Path) -> None:
    """An object a row; a hole is null."""
    cells = []
    for variable, codes in columns.values():
        if variable is None or codes.dtype.kind == "f":
            cells.append([None if value != value else value for value in codes.tolist()])
        else:
            labels = [*variable.states, None]
            cells.append([labels[code] for code in codes.tolist()])
    with open(part, "w", encoding="utf-8") as out:
        for row in zip(*cells, strict=True):
            out.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False, default=str) + "\n")


def _write_text(columns: Columns, part: Path, delimiter: str, packed: bool) -> None:
    """Each label is made into a cell once; rows are put together from those."""
    lone = len(columns) == 1
    cells = {
        name: _cells(variable, delimiter, lone)
        for name, (variable, codes) in columns.items()
        if variable is not None and codes.dtype.kind != "f"
    }
    hole = '""' if lone else ""  # a blank line would be no row
    n_rows = len(next(iter(columns.values()))[1]) if columns else 0
    with open(part, "wb") as plain:
        raw: Any = gzip.GzipFile(filename="", fileobj=plain, mode="wb", compresslevel=6, mtime=0) if packed else plain
        with io.TextIOWrapper(raw, encoding="utf-8", newline="") as out:
            out.write(delimiter.join(_cell(disarmed(name), delimiter) for name in columns) + "\n")
            for start in range(0, n_rows, _ROWS):
                _write_rows(out, columns, cells, slice(start, start + _ROWS), delimiter, hole)


def _write_rows(
    out: IO[str], columns: Columns, cells: dict[str, NDArray[Any]], rows: slice, delimiter: str, hole: str
) -> None:
    shown = [
        cells[name][codes[rows]].tolist()
        if name in cells
        else [hole if number != number else repr(number).removesuffix(".0") for number in codes[rows].tolist()]
        for name, (_, codes) in columns.items()
    ]
    out.writelines(delimiter.join(row) + "\n" for row in zip(*shown, strict=True))


def _cells(variable: Variable, delimiter: str, lone: bool) -> NDArray[Any]:
    """The text of each state, and last that of a hole (which the code −1 finds)."""
    hole = '""' if lone else ""  # a blank line would be no row
    return np.array([*(_cell(_text(state), delimiter) for state in variable.states), hole], dtype=object)


def _text(state: Any) -> str:
    return disarmed(state) if isinstance(state, str) else str(state)


def _cell(text: str, delimiter: str) -> str:
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="").writerow([text])
    return line.getvalue()


_SQL = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}


def _write_parquet(columns: Columns, part: Path) -> None:
    """DuckDB writes it from the codes: each label is looked up there."""
    arrays = {f"c{place}": codes for place, (_, codes) in enumerate(columns.values())}
    with connected(str(part.parent), sum(codes.nbytes for codes in arrays.values())) as db:
        db.register("cells", arrays)
        fields = []
        for place, (name, (variable, codes)) in enumerate(columns.items()):
            value = f"c{place}"
            if variable is not None and codes.dtype.kind == "f":
                kind = "BIGINT" if whole_numbers(codes) else "DOUBLE"
                value = f"CASE WHEN NOT isnan({value}) THEN CAST({value} AS {kind}) END"
            elif variable is not None:
                kind = label_type(variable.states)
                labels = ", ".join(_literal(state, kind) for state in variable.states)
                value = f"CASE WHEN {value} >= 0 THEN (CAST([{labels}] AS {_SQL[kind]}[]))[{value} + 1] END"
            fields.append(f"{value} AS {identifier(name)}")
        rows = f"SELECT {', '.join(fields)} FROM cells"
        db.execute(f"COPY ({rows}) TO {quote(str(part))} (FORMAT parquet, USE_TMP_FILE false)")


def _literal(label: Any, kind: type) -> str:
    return quote(str(label)) if kind is str else f"CAST('{label}' AS {_SQL[kind]})"
