"""A file's rows written out again, as they came, with columns added at the end."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from leverrier.data.reading.database import one_file
from leverrier.data.reading.formulas import STARTS, as_it_was, disarmed
from leverrier.data.variable import free_name
from leverrier.errors import TableError
from leverrier.run.atomic_file import put

_ROWS = 20_000  # at a time


def append_columns(
    source: str | os.PathLike[str], added: Mapping[str, Sequence[Any]], target: str | os.PathLike[str]
) -> int:
    """Write the rows of a CSV or Parquet file to a CSV file with these columns added; returns how many rows."""
    goal = Path(target).expanduser()
    if goal.suffix.lower() != ".csv":
        raise TableError(f"{goal}: expected a name that ends in .csv")
    if not goal.parent.is_dir():
        raise TableError(f"{goal}: there is no folder {goal.parent}")
    name = os.fspath(source)
    parquet = name.lower().endswith((".parquet", ".pq"))
    read = f"read_parquet({one_file(name)})" if parquet else f"read_csv({one_file(name)}, all_varchar = true)"
    rows = 0

    def write(part: Path) -> None:
        nonlocal rows
        with duckdb.connect() as base, open(part, "w", encoding="utf-8", newline="") as out:
            found = base.execute(f"SELECT * FROM {read}")
            names = [column[0] for column in found.description or ()]
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow([*map(_shown, names), *(disarmed(free_name(each, names)) for each in added)])
            while block := found.fetchmany(_ROWS):
                extra = zip(*(values[rows : rows + len(block)] for values in added.values()), strict=True)
                whole = ((*row, *more) for row, more in zip(block, extra, strict=True))
                writer.writerows([_shown(cell) for cell in row] for row in whole)
                rows += len(block)

    put(goal, write)
    return rows


def _shown(cell: Any) -> Any:
    """A cell as it came, but no spreadsheet runs it."""
    return disarmed(as_it_was(cell)) if isinstance(cell, str) and cell.startswith((*STARTS, "'")) else cell
