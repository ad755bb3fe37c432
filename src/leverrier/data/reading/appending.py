"""A file's rows written out again, as they came, with columns added at the end."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from leverrier.data.column import Column
from leverrier.data.reading.column_files import PARQUET, TEXT, kind_of
from leverrier.data.reading.csv_text import read_header, sound_rows
from leverrier.data.reading.database import one_file
from leverrier.data.reading.encoding import Options
from leverrier.data.reading.file_options import FILE_OPTIONS, FileOptions, ReadingOptions
from leverrier.data.reading.formulas import STARTS, as_it_was, disarmed
from leverrier.data.reading.sources import opened
from leverrier.data.reading.texts.text_encoding import encoding_of
from leverrier.data.variable import free_name
from leverrier.errors import TableError
from leverrier.run.atomic_file import put

_ROWS = 20_000  # at a time


def cells_of(source: str | os.PathLike[str], reading: ReadingOptions | None = None) -> dict[str, list[Any]]:
    """All columns of a file as they came, holes as None; texts of a CSV as what they are texts of."""
    files = FileOptions(**{name: (reading or {}).get(name) for name in FILE_OPTIONS})
    with opened(source, Options(), (), files) as data:
        return {name: [*labels_of(data.column(name))] for name in data.names}


def labels_of(column: Column) -> list[Any]:
    """Each cell's label, None for a hole."""
    labels = [*column.labels, None]
    return [labels[code] for code in column.codes().tolist()]


def append_columns(
    source: str | os.PathLike[str],
    added: Mapping[str, Sequence[Any]],
    target: str | os.PathLike[str],
    reading: ReadingOptions | None = None,
) -> int:
    """Write the rows of a file to a CSV file with these columns added; returns how many rows."""
    goal = Path(target).expanduser()
    if goal.suffix.lower() != ".csv":
        raise TableError(f"{goal}: expected a name that ends in .csv")
    if not goal.parent.is_dir():
        raise TableError(f"{goal}: there is no folder {goal.parent}")
    rows = 0

    def write(part: Path) -> None:
        nonlocal rows
        with open(part, "w", encoding="utf-8", newline="") as out, _as_they_came(source, reading) as (names, blocks):
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow([*map(_shown, names), *(disarmed(free_name(each, names)) for each in added)])
            for block in blocks:
                extra = zip(*(values[rows : rows + len(block)] for values in added.values()), strict=True)
                whole = ((*row, *more) for row, more in zip(block, extra, strict=True))
                writer.writerows([_shown(cell) for cell in row] for row in whole)
                rows += len(block)

    put(goal, write)
    return rows


@contextmanager
def _as_they_came(
    source: str | os.PathLike[str], reading: ReadingOptions | None
) -> Iterator[tuple[Sequence[str], Iterator[Sequence[Sequence[Any]]]]]:
    """Names, and rows some at a time: texts of a CSV untouched, cells of other files by their values."""
    path = Path(source).expanduser()
    kind = kind_of(path)
    if kind in PARQUET:
        import duckdb  # (late: a table that is no Parquet does not wait for it)

        with duckdb.connect() as base:
            found = base.execute(f"SELECT * FROM read_parquet({one_file(str(path))})")
            yield [column[0] for column in found.description or ()], iter(lambda: found.fetchmany(_ROWS), [])
    elif kind in TEXT:
        given = reading or {}
        encoding = given.get("encoding") or encoding_of(path)
        header = read_header(path, encoding, given.get("delimiter"))
        yield header.names, sound_rows(path, encoding, header, _ROWS)
    else:
        columns = cells_of(path, reading)
        cells = list(zip(*columns.values(), strict=True))
        yield list(columns), (cells[start : start + _ROWS] for start in range(0, len(cells), _ROWS))


def _shown(cell: Any) -> Any:
    """A cell as it came, but no spreadsheet runs it."""
    return disarmed(as_it_was(cell)) if isinstance(cell, str) and cell.startswith((*STARTS, "'")) else cell
