"""CSV and Parquet files as sources of columns. DuckDB reads them; a CSV is parsed once, into a file by column."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from leverrier.data.column import Source
from leverrier.data.reading.csv_text import Header, clean_copy, read_header
from leverrier.data.reading.database import allow_more, connected, first_line, one_file, quote
from leverrier.data.reading.scanning import Scan
from leverrier.errors import TableError

if TYPE_CHECKING:
    import duckdb

_TEXT, _PARQUET = (".csv", ".tsv", ".txt"), (".parquet", ".pq")
_CELLS = 750_000
"""The copy of a CSV holds about this many cells in memory at a time."""


@contextmanager
def file_source(
    path: Path,
    encoding: str,
    delimiter: str | None,
    missing: Collection[str],
    numeric: Collection[str],
    most: float = math.inf,
) -> Iterator[Source]:
    """The columns of a file, while it is open. `numeric` names text columns of a Parquet file to be read as numbers;
    beyond `most` rows columns of numbers are not sorted here."""
    import duckdb

    by_column = is_parquet(path)
    with (
        tempfile.TemporaryDirectory(prefix="leverrier-", ignore_cleanup_errors=True) as folder,
        connected(folder, path.stat().st_size) as db,
    ):
        try:
            if by_column:
                scan = Scan(db, path, str(path), (), missing, numeric, most=most)
            else:
                header = read_header(path, encoding, delimiter)
                cells = _csv_to_parquet(db, path, encoding, header, Path(folder))
                scan = Scan(db, cells, str(path), header.names, missing, numeric, most=most)
        except duckdb.Error as problem:
            raise TableError(f"{path}: {first_line(problem)}") from None
        yield Source(str(path), scan.names, scan.n_rows, scan.column, scan.part if scan.tall else None)


def is_parquet(path: Path) -> bool:
    """By the suffix; what cannot be read is said before anything is opened."""
    if path.is_dir():
        raise TableError(f"{path} is a folder: expected a CSV or Parquet file")
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    packed = suffixes[-1:] == [".gz"]
    kind = suffixes[-1 - packed] if len(suffixes) > packed else ""
    if kind not in (_TEXT if packed else _TEXT + _PARQUET):
        raise TableError(f"{path}: cannot tell what it holds: expected .csv, .tsv, .csv.gz or .parquet")
    if not path.exists():
        raise TableError(f"{path}: there is no such file")
    if not path.is_file():  # (a pipe or a device might never end)
        raise TableError(f"{path} is no plain file: copy it into one")
    return kind in _PARQUET


def _csv_to_parquet(db: duckdb.DuckDBPyConnection, path: Path, encoding: str, header: Header, folder: Path) -> Path:
    """All cells as text in a compressed file that can be read column by column."""
    import duckdb

    target, clean = folder / "cells.parquet", folder / "clean.csv"
    rows = max(2048, _CELLS // len(header.names))

    def copy(scan: str) -> None:
        query = f"COPY ({scan}) TO {quote(str(target))} (FORMAT parquet, COMPRESSION lz4, ROW_GROUP_SIZE {rows})"
        try:
            db.execute(query)
        except duckdb.OutOfMemoryException:  # thousands of columns
            allow_more(db)
            db.execute(query)

    if not header.skip and encoding.lower().replace("-", "") in ("utf8", "utf8sig"):
        try:
            copy(_read_csv(path, header))
            return target
        except duckdb.InvalidInputException:
            target.unlink(missing_ok=True)  # the clean copy finds what is wrong, or mends it
    clean_copy(path, encoding, header, clean)
    copy(_read_csv(clean, Header(header.names, ",", 0)))
    clean.unlink()
    return target


def _read_csv(path: Path, header: Header) -> str:
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(header.names)))
    packed = "gzip" if path.suffix.lower() == ".gz" else "none"
    return (
        f"SELECT * FROM read_csv({one_file(str(path))}, auto_detect=false, header=true, "
        f"delim={quote(header.delimiter)}, quote='\"', escape='\"', compression='{packed}', "
        f"hive_partitioning=false, buffer_size=4000000, columns={{{columns}}})"
    )
