"""A Parquet file as ranges of rows that can be read anywhere the file is seen, and read again."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leverrier.data.column import Source
from leverrier.data.encoded_cells import DistinctRows, encoded_part
from leverrier.data.label_alignment import absent_and_extra
from leverrier.data.reading.column_files import is_parquet
from leverrier.data.reading.database import connected, first_line
from leverrier.data.reading.encoding import Fate, Options, places
from leverrier.data.reading.read_table import check_names, decisions, options_of, variable_of
from leverrier.data.reading.scanning import Recipe, Scan
from leverrier.data.table import Label, Table, Variable, code_type
from leverrier.errors import OptionError, TableError
from leverrier.hints import option

PART = 500_000
"""Rows of a part, whatever the number of workers: sums are the same on any of them."""


@dataclass(frozen=True)
class FileParts:
    """What every part needs to be read: the columns' states, and how their cells are fetched."""

    path: str
    columns: tuple[Variable, ...]
    n_rows: int
    notes: tuple[str, ...]
    aside: Mapping[str, str]
    recipes: Mapping[str, Recipe]

    def only(self, names: Collection[str]) -> FileParts:
        """The same rows of these columns."""
        return replace(self, columns=tuple(column for column in self.columns if column.name in names))

    def ranges(self) -> list[tuple[int, int]]:
        return [(start, min(start + PART, self.n_rows)) for start in range(0, self.n_rows, PART)]

    def read(self, start: int, stop: int) -> Table:
        """The distinct rows of a range, with how often each came."""
        names = [column.name for column in self.columns]
        with _scanned(Path(self.path)) as scan:
            if scan.n_rows != self.n_rows:
                raise TableError(f"{self.path} has {scan.n_rows} rows and had {self.n_rows}: it changed meanwhile")
            scan.recipes.update(self.recipes)
            part = scan.part(start, stop, names)
        rows = DistinctRows(self.columns, self.path)
        rows.add(encoded_part(part, self.columns, code_type(max(column.cardinality for column in self.columns))))
        return rows.table()


def look_at(
    source: Any,
    types: Mapping[str, str | Sequence[Label]] | None = None,
    ignore: str | Collection[str] = (),
    states: Mapping[str, Sequence[Label]] | None = None,
) -> FileParts:
    """Decide on the columns of a Parquet file as `read_table` does, and read no rows yet. With `states` the columns
    are those of them that the file has."""
    require_parquet(source)
    options = options_of(types, ignore, 5, "quantile")
    path = Path(source).expanduser()
    with _scanned(path, options.types) as scan:
        data = Source(str(path), scan.names, scan.n_rows, scan.column)
        check_names(data, options, None)
        columns, notes, aside = _decided(data, options) if states is None else (*_known(data, states), {})
        if not columns:
            raise TableError(f"{path} has no usable column; {option('types')} overrules this")
        if not data.n_rows:
            raise TableError(f"{path} has no rows: there is nothing to learn from")
        recipes = {column.name: scan.recipes[column.name] for column in columns}
    return FileParts(str(path.resolve()), tuple(columns), data.n_rows, tuple(notes), aside, recipes)


def _decided(data: Source, options: Options) -> tuple[list[Variable], list[str], dict[str, str]]:
    """The columns, what there is to say, and what was set aside."""
    decided = [decision for _, decision in decisions(data, options, None, None)]
    columns = [each.variable for each in decided if each.variable is not None]
    notes = [note for each in decided for note in each.notes]
    return columns, notes, {each.name: each.reason for each in decided if each.decision is Fate.ASIDE}


def _known(data: Source, states: Mapping[str, Sequence[Label]]) -> tuple[list[Variable], list[str]]:
    """The columns with the states they are known to have; a label that is none of them is an error."""
    notes = absent_and_extra(list(states), data.names)
    columns = [variable_of(name, tuple(labels)) for name, labels in states.items() if name in data.names]
    for variable in columns:
        column = data.column(variable.name)
        notes += places(column.to_be_cut() if variable.cuts else column, variable)[1]
    return columns, notes


def require_parquet(source: Any) -> None:
    """Only such files are read in parts."""
    if not is_parquet_path(source):
        raise OptionError("a cluster reads Parquet: give the path of a .parquet file that every worker sees")


def is_parquet_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike) and is_parquet(Path(source).expanduser())


@contextmanager
def _scanned(path: Path, asked: Mapping[str, object] | None = None) -> Iterator[Scan]:
    import duckdb

    if not path.is_file():  # (seen elsewhere, but not here)
        raise TableError(f"{path} is not on {platform.node()}: give a path that every worker sees")
    with (
        tempfile.TemporaryDirectory(prefix="leverrier-", ignore_cleanup_errors=True) as folder,
        connected(folder, path.stat().st_size) as db,
    ):
        try:
            scan = Scan(db, path, str(path), (), (), asked, tall=True)
        except duckdb.Error as problem:
            raise TableError(f"{path}: {first_line(problem)}") from None
        yield scan
