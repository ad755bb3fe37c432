"""DuckDB, held to few threads and little memory: it reads and writes files for us, and we share the machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from leverrier.run.cores import usable_cores

if TYPE_CHECKING:
    import duckdb

_THREADS = 4
_MEMORY, _MUCH_MEMORY = "250MB", "4GB"
_SMALL = 4_000_000
"""Below this many bytes threads cost more than they bring."""


@contextmanager
def connected(folder: str, size: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory for about this many bytes of data; it spills into the folder."""
    import duckdb

    threads = min(_THREADS, usable_cores()) if size > _SMALL else 1
    settings = {"threads": threads, "memory_limit": _MEMORY, "temp_directory": folder}
    with duckdb.connect(config=settings) as database:
        database.execute("SET enable_progress_bar = false")
        yield database


def allow_more(database: duckdb.DuckDBPyConnection) -> None:
    """Much more memory, for what turned out not to fit."""
    database.execute(f"SET memory_limit = '{_MUCH_MEMORY}'")


def quote(text: str) -> str:
    """Text as it is written in SQL."""
    return "'" + text.replace("'", "''") + "'"


def one_file(path: str) -> str:
    """A file's name as it is written in SQL: DuckDB would take *, ? and [ for patterns and read other files."""
    return quote("".join(f"[{c}]" if c in "*?[" else c for c in path))


def identifier(name: str) -> str:
    """A column's name as it is written in SQL."""
    return '"' + name.replace('"', '""') + '"'


def first_line(problem: Exception) -> str:
    """DuckDB's complaints are long; their first line says what it is."""
    return str(problem).strip().partition("\n")[0]
