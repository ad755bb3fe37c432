"""Rows of numbers, as the mixtures see them: an array, a dataframe or a file, with NaN where a cell is missing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leverrier.arrays import Floats
from leverrier.data.column import Column
from leverrier.data.labels import few
from leverrier.data.reading.encoding import Options
from leverrier.data.reading.sources import opened
from leverrier.data.table import Table
from leverrier.errors import OptionError, TableError
from leverrier.hints import option

LARGEST = 1e140
"""Squares of larger numbers leave no room for sums; smaller ones than its inverse vanish."""
_STRETCH = 65536


@dataclass(frozen=True, eq=False)
class Matrix:
    """`values[i, j]` is row i's number in column j, NaN where it is missing."""

    values: Floats
    names: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        return len(self.values)


def as_matrix(x: Any, columns: Sequence[str] | None = None) -> Matrix:
    """Numbers from an array, a masked array, a dataframe of any make, a Table, a dict of columns, or a path to a file.

    `columns` are those wanted of a frame, in this order. An array that is already float64 by rows is not copied.
    """
    if isinstance(x, Matrix):
        found = x
    elif isinstance(x, Table):
        found = _stacked(_of_table(x, x.variables if columns is None else _found(columns, x.variables)))
    elif isinstance(x, str | os.PathLike):
        with opened(x, Options()) as data:
            wanted = data.names if columns is None else _found(columns, data.names)
            found = _stacked({name: _of_column(data.column(name)) for name in wanted})
    elif isinstance(x, Mapping):
        cells = {str(name): values for name, values in x.items()}
        wanted = list(cells) if columns is None else _found(columns, list(cells))
        found = _stacked({name: _numbers(name, cells[name]) for name in wanted})
    elif hasattr(x, "__array__") and not (hasattr(x, "columns") or hasattr(x, "column_names")):
        found = _from_array(x, columns)
    elif isinstance(x, list | tuple):
        found = _from_array(_rectangle(x), columns)
    else:
        found = _from_frame(x, columns)
    _check(found)
    return found


def matching(x: Any, names: Sequence[str]) -> Floats:
    """New rows for a model over these columns: by name from a frame (absent ones are holes), by place from an array."""
    if isinstance(x, str | os.PathLike):
        with opened(x, Options()) as data:
            there = {name: _of_column(data.column(name)) for name in names if name in data.names}
        return matching(there, names) if there else _none_agrees(names, data.names)
    if isinstance(x, Mapping | Table) or hasattr(x, "columns") or hasattr(x, "column_names"):
        own = x.variables if isinstance(x, Table) else _names_of(x)
        if not set(own) & set(names):
            _none_agrees(names, own)
        given = as_matrix(x, [name for name in names if name in own])
        wanted = np.full((given.n_rows, len(names)), np.nan)
        for place, name in enumerate(names):
            if name in given.names:
                wanted[:, place] = given.values[:, given.names.index(name)]
        return wanted
    found = as_matrix(x).values
    if found.shape[1] != len(names):
        raise TableError(f"the data has {found.shape[1]} columns and the model {len(names)}: {few(names)} are needed")
    return found


def _none_agrees(names: Sequence[str], given: Sequence[str]) -> NoReturn:
    raise TableError(f"the model has the columns {few(names)}; the data has {few(given)}: none agrees")


def weights_beside(x: Any, weights: ArrayLike | None) -> ArrayLike | None:
    """The weights of the rows: those a Table has, or those that are given; one of them."""
    if not isinstance(x, Table) or x.weights is None:
        return weights
    if weights is not None:
        raise OptionError("the table has weights of its own: leave weights= out, or read it without them")
    return x.weights


def row_weights(weights: ArrayLike | None, n_rows: int) -> Floats:
    """One finite weight of at least 0 for each row; empty where every row counts once."""
    if weights is None:
        return np.empty(0)
    each = np.ascontiguousarray(weights, dtype=np.float64)
    if each.shape != (n_rows,):
        raise TableError(f"{each.size} weights for {n_rows} rows: one each is needed")
    bad = np.flatnonzero(~(np.isfinite(each) & (each >= 0)))
    if len(bad):
        raise TableError(f"the weight of row {bad[0] + 1} is {each[bad[0]]}: weights must be finite and at least 0")
    if not each.any():
        raise TableError("all weights are 0: at least one row must count")
    return each


@dataclass(frozen=True, eq=False)
class Patterns:
    """Rows sorted by which of their cells are missing.

    `order[starts[p] : starts[p + 1]]` are the rows of pattern p; `columns[p]` lists its observed columns, then the
    missing ones; `observed[p]` says how many are observed. Without holes there is one pattern and `order` is empty.
    """

    order: NDArray[np.int64]
    columns: NDArray[np.int16]
    observed: NDArray[np.int64]
    starts: NDArray[np.int64]

    @property
    def holes(self) -> bool:
        return bool(len(self.order))


def hole_patterns(values: Floats) -> Patterns:
    """Which rows have which holes. Rows of one pattern keep their order."""
    n, d = values.shape
    if not any(np.isnan(values[lo : lo + _STRETCH]).any() for lo in range(0, n, _STRETCH)):
        all_columns = np.arange(d, dtype=np.int16)[None]
        return Patterns(np.empty(0, np.int64), all_columns, np.array([d]), np.array([0, n]))
    packed = np.concatenate([np.packbits(np.isnan(values[lo : lo + _STRETCH]), axis=1) for lo in range(0, n, _STRETCH)])
    distinct, inverse, counts = np.unique(packed, axis=0, return_inverse=True, return_counts=True)
    missing = np.unpackbits(distinct, axis=1, count=d).astype(np.bool_)
    return Patterns(
        order=np.argsort(inverse.ravel(), kind="stable").astype(np.int64),
        columns=np.argsort(missing, axis=1, kind="stable").astype(np.int16),
        observed=d - missing.sum(axis=1),
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
    )


def _check(matrix: Matrix) -> None:
    values, names = matrix.values, matrix.names
    if values.shape[1] > np.iinfo(np.int16).max:
        raise TableError(f"{values.shape[1]} columns: at most {np.iinfo(np.int16).max} can be used")
    if not len(values):
        raise TableError("there are no rows: at least one is needed")
    for lo in range(0, len(values), _STRETCH):
        part = values[lo : lo + _STRETCH]
        if np.isinf(part).any():
            row, column = np.argwhere(np.isinf(part))[0]
            raise TableError(
                f"column {names[column]!r} is infinite in row {lo + row + 1}: numbers must be finite; NaN is a hole"
            )
        if np.nanmax(np.abs(part), initial=0.0) > LARGEST:
            row, column = np.argwhere(np.abs(part) > LARGEST)[0]
            raise TableError(
                f"column {names[column]!r} holds {part[row, column]:g} in row {lo + row + 1}: "
                f"numbers beyond {LARGEST:g} cannot be squared; divide the column by a power of ten"
            )


def _of_table(table: Table, names: Sequence[str]) -> dict[str, Floats]:
    """The numbers that a table keeps; a column without them is said."""
    numbers = table.numbers
    for name in names:
        if name not in numbers and table.columns[table.index(name)].binned:
            raise TableError(
                f"of column {name!r} only the bins are kept (equal rows were counted, or the numbers took too much "
                f"memory): read the table with every row, and more memory ({option('max_memory')})"
            )
        if name not in numbers:
            raise TableError(f"column {name!r} holds categories, which are no numbers: leave it out (columns=)")
    return {name: numbers[name] for name in names}


def _of_column(column: Column) -> Floats:
    """A file's column as numbers, NaN for a hole."""
    if column.dated:
        raise TableError(f"column {column.name!r} holds dates: turn it into a number first, or leave it out (columns=)")
    cut = column.to_be_cut()
    for code, value in enumerate(() if cut.numeric else cut.values):
        if not _is_number(value):
            row = int(np.argmax(cut.codes() == code)) + 1
            raise TableError(
                f"column {cut.name!r} holds {value!r} in row {row}, which is no number: leave it out (columns=)"
            )
    return np.append(np.asarray(cut.values, dtype=np.float64), np.nan)[cut.codes()]


def _from_array(x: Any, columns: Sequence[str] | None) -> Matrix:
    plain = np.ma.filled(x.astype(np.float64), np.nan) if isinstance(x, np.ma.MaskedArray) else np.asarray(x)
    if plain.ndim == 1:
        plain = plain[:, None]
    if plain.ndim != 2 or not plain.shape[1]:
        raise TableError(f"an array of shape {plain.shape}: expected (rows, columns)")
    if plain.dtype.kind not in "bifu":
        plain = _numbers("x", plain)
    if columns is not None:
        raise OptionError("columns= chooses columns by name, and an array has none: index the array instead")
    return Matrix(
        np.ascontiguousarray(plain, dtype=np.float64), tuple(f"x{place}" for place in range(1, plain.shape[1] + 1))
    )


def _rectangle(rows: Sequence[Any]) -> NDArray[Any]:
    try:
        return np.array(rows, dtype=np.float64)
    except (ValueError, TypeError):
        raise TableError("the list is no table of numbers: expected rows of equal length, NaN for holes") from None


def _numbers(name: str, cells: Any) -> Floats:
    """Cells as floats; what is no number is said, with its row."""
    if isinstance(cells, np.ma.MaskedArray):
        number = cells.data.dtype.kind in "bifu"
        cells = np.ma.filled(cells.astype(np.float64 if number else object), np.nan if number else None)
    plain = np.asarray(cells)
    if plain.dtype.kind in "bifu":
        return plain.astype(np.float64, copy=False)
    if plain.dtype.kind in "Mm":
        raise TableError(f"column {name!r} holds dates: turn it into a number first, or leave it out (columns=)")
    try:
        return plain.astype(np.float64)
    except (ValueError, TypeError):
        for row, cell in enumerate(plain.ravel().tolist()):
            if not _is_number(cell):
                raise TableError(
                    f"column {name!r} holds {cell!r} in row {row + 1}, which is no number: leave it out (columns=)"
                ) from None
        cells = plain.ravel().tolist()
        return np.array([np.nan if _is_none(cell) else float(cell) for cell in cells]).reshape(plain.shape)


def _is_none(cell: Any) -> bool:
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def _is_number(cell: Any) -> bool:
    if _is_none(cell):
        return True
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _from_frame(frame: Any, columns: Sequence[str] | None) -> Matrix:
    import narwhals.stable.v2 as nw

    given = _names_of(frame)
    for name in given:
        if given.count(name) > 1:
            raise TableError(f"two columns are named {name!r}: column names must differ; rename one")
    try:
        native = nw.from_native(frame)
    except TypeError:
        raise TableError(
            f"cannot read numbers from {type(frame).__module__}.{type(frame).__name__}: "
            "expected an array, a dataframe (pandas, polars, pyarrow, …), or a path to a CSV or Parquet file"
        ) from None
    eager: Any = native.collect() if isinstance(native, nw.LazyFrame) else native
    series = {str(column.name): column for column in eager.iter_columns()}
    cells = {}
    for name in series if columns is None else _found(columns, list(series)):
        column = series[name]
        if column.dtype.is_numeric() or column.dtype == nw.Boolean:
            cells[name] = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
        else:
            cells[name] = _numbers(name, column.to_numpy())
    return _stacked(cells)


def _stacked(cells: Mapping[str, Floats]) -> Matrix:
    if not cells:
        raise TableError("there are no columns: at least one of numbers is needed")
    lengths = {len(column) for column in cells.values()}
    if len(lengths) > 1:
        raise TableError(f"the columns have {sorted(lengths)} cells: every column needs one cell a row")
    values = np.empty((lengths.pop(), len(cells)))
    for place, column in enumerate(cells.values()):
        values[:, place] = column
    return Matrix(values, tuple(cells))


def _found(columns: Sequence[str], given: Sequence[str]) -> list[str]:
    wanted = [columns] if isinstance(columns, str) else list(columns)
    for name in wanted:
        if name not in given:
            raise TableError(f"columns= names {name!r}, which is not there; the columns are {few(given)}")
    return wanted


def _names_of(x: Any) -> list[str]:
    if isinstance(x, Mapping):
        return [str(name) for name in x]
    if hasattr(x, "collect_schema"):
        return [str(name) for name in x.collect_schema()]
    return [str(name) for name in getattr(x, "column_names", getattr(x, "columns", ()))]
