"""CSV and Parquet files as sources of columns. DuckDB reads them; a CSV is parsed once, into a file by column."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from leverrier.data.column import Source
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.reading.csv_text import Header, clean_copy, read_header
from leverrier.data.reading.database import allow_more, connected, first_line, one_file, quote
from leverrier.data.reading.file_options import FileOptions
from leverrier.data.reading.scanning import Scan
from leverrier.data.reading.texts.text_encoding import encoding_of
from leverrier.data.reading.texts.text_forms import Writing
from leverrier.errors import TableError

if TYPE_CHECKING:
    import duckdb

TEXT, PARQUET = (".csv", ".tsv", ".txt"), (".parquet", ".pq")
TEXT_AND_PARQUET = (*TEXT, *PARQUET)
_CELLS = 750_000
"""The copy of a CSV holds about this many cells in memory at a time."""


@contextmanager
def file_source(
    path: Path, files: FileOptions, missing: Collection[str], asked: Mapping[str, object], most: float = math.inf
) -> Iterator[Source]:
    """The columns of a CSV or Parquet file, while it is open. `asked` are the types the user gave columns; beyond
    `most` rows columns of numbers are not sorted here."""
    import duckdb

    require_file(path)
    by_column = is_parquet(path)
    noticed: tuple[Noticed, ...] = ()
    if by_column:
        files.only("a Parquet file", "decimal")
    else:
        files.only("a text file", "encoding", "delimiter", "decimal")
    with (
        tempfile.TemporaryDirectory(prefix="leverrier-", ignore_cleanup_errors=True) as folder,
        connected(folder, path.stat().st_size) as db,
    ):
        try:
            if by_column:
                writing = Writing(files.decimal)
                scan = Scan(db, path, str(path), (), missing, asked, most=most, writing=writing)
            else:
                encoding = files.encoding or encoding_of(path)
                if files.encoding is None and not encoding.startswith("utf-8"):
                    noticed = (Noticed(Notice.ENCODING, name=encoding),)
                header = read_header(path, encoding, files.delimiter)
                noticed = (*noticed, *header.noticed)
                cells = _csv_to_parquet(db, path, encoding, header, Path(folder))
                writing = Writing(files.decimal, comma_file=header.delimiter in ";\t|")
                scan = Scan(db, cells, str(path), header.names, missing, asked, most=most, writing=writing)
        except duckdb.Error as problem:
            raise TableError(f"{path}: {first_line(problem)}") from None
        part = scan.part if scan.tall else None
        yield Source(str(path), scan.names, scan.n_rows, scan.column, noticed, part)


def kind_of(path: Path) -> str:
    """The suffix that says what a file holds, in small letters; that of a packed text is the one before .gz."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    packed = suffixes[-1:] == [".gz"]
    kind = suffixes[-1 - packed] if len(suffixes) > packed else ""
    return kind if not packed or kind in TEXT else ".gz"


def require_file(path: Path) -> None:
    """What cannot be read is said before anything is opened."""
    if path.is_dir():
        raise TableError(f"{path} is a folder: expected a file")
    if not path.exists():
        raise TableError(f"{path}: there is no such file")
    if not path.is_file():  # (a pipe or a device might never end)
        raise TableError(f"{path} is no plain file: copy it into one")


def is_parquet(path: Path) -> bool:
    """Whether a file that can be read is Parquet."""
    if path.is_dir():
        raise TableError(f"{path} is a folder: expected a file")
    if kind_of(path) not in PARQUET:
        return False
    require_file(path)
    return True


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
