"""Dataframes in and out. Narwhals speaks to pandas, polars and pyarrow alike; none of them is required."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.data.column import Came, Column, Source, from_array, from_objects, is_hole, listed
from leverrier.data.variable import ColumnKind, Label, Variable
from leverrier.errors import MissingExtraError, OptionError, TableError
from leverrier.hints import option

Backend = Literal["pandas", "polars", "pyarrow"]


def frame_source(frame: Any) -> Source:
    """The columns of a dataframe of any make that narwhals knows."""
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    what = f"the {type(frame).__module__.partition('.')[0]} frame"
    try:
        native = nw.from_native(frame)
        eager = native.collect() if isinstance(native, nw.LazyFrame) else native
        names = tuple(str(name) for name in eager.columns)
    except TypeError:
        raise TableError(
            f"cannot read a table from {type(frame).__module__}.{type(frame).__name__}: "
            "expected a dataframe (pandas, polars, pyarrow, …), a dict of columns, or a path to a CSV or Parquet file"
        ) from None
    except DuplicateError as problem:
        twice = str(problem).partition("- ")[2].partition(" ")[0]
        raise TableError(f"{what}: two columns are named {twice}: column names must differ; rename one") from None
    columns = dict(zip(names, eager.iter_columns(), strict=True))
    return Source(what, names, len(eager), lambda name: _from_series(name, columns[name]))


def dict_source(columns: Mapping[Any, Any]) -> Source:
    """A dict of columns: lists, arrays, or series of any library."""
    import narwhals.stable.v2 as nw

    cells = {str(name): nw.from_native(values, series_only=True, pass_through=True) for name, values in columns.items()}
    if len(cells) != len(columns):
        raise TableError("the dict: two column names are the same once written as text; rename one")
    for name, values in cells.items():
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise TableError(f"the dict: column {name!r} is {type(values).__name__}, expected a list or an array")
    lengths = {name: len(values) for name, values in cells.items()}
    longest = max(lengths, key=lengths.__getitem__, default="")
    shortest = min(lengths, key=lengths.__getitem__, default="")
    if lengths and lengths[longest] != lengths[shortest]:
        raise TableError(
            f"the dict: column {longest!r} has {lengths[longest]} cells and {shortest!r} has {lengths[shortest]}: "
            "every column needs one cell a row"
        )

    def column(name: str) -> Column:
        values = cells[name]
        if isinstance(values, nw.Series):
            return _from_series(name, values)
        return from_array(name, values) if isinstance(values, np.ndarray) else from_objects(name, list(values))

    return Source("the dict", tuple(cells), next(iter(lengths.values()), 0), column)


def _from_series(name: str, series: Any) -> Column:
    import narwhals.stable.v2 as nw

    kind = series.dtype
    if kind.is_nested():
        raise TableError(f"column {name!r} holds nested values ({kind}): {option('ignore', [name])} skips it")
    if isinstance(kind, nw.Categorical | nw.Enum):
        return _from_categories(name, series, nw)
    if kind == nw.String:
        return _from_text(name, series, nw)
    if kind == nw.Boolean or kind.is_integer():
        holes = series.is_null().to_numpy()
        filled = series.fill_null(False if kind == nw.Boolean else 0) if holes.any() else series
        cells = np.asarray(filled.to_numpy(), dtype=None if kind.is_integer() else bool)
        return from_array(name, np.ma.MaskedArray(cells, holes) if holes.any() else cells)
    if kind.is_numeric():
        return from_array(name, np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64))
    if kind in (nw.Date, nw.Datetime):
        moments = series.cast(nw.Datetime("us")) if kind == nw.Date else series
        holes = moments.is_null().to_numpy()
        micros = moments.dt.timestamp("us").fill_null(0).to_numpy().astype("M8[us]")
        return from_array(name, np.where(holes, np.datetime64("NaT", "us"), micros))
    if kind == nw.Duration:
        return from_array(name, series.to_numpy())
    return from_objects(name, series.to_list())


def _from_text(name: str, series: Any, nw: Any) -> Column:
    """Distinct texts, sorted. Pandas numbers them itself; elsewhere narwhals counts and then replaces them."""
    native = series.to_native()
    if hasattr(native, "factorize"):
        places, found = native.factorize()
        values, back = np.unique(np.asarray(found, dtype=object), return_inverse=True)
        return categories(name, Came.TEXT, values.tolist(), np.append(back, -1)[places])
    series = series.alias("text")
    counted = series.value_counts(name="count")
    count = dict(zip(counted["text"].to_list(), counted["count"].to_list(), strict=True))
    values = sorted(value for value in count if not is_hole(value))
    counts = np.array([count[value] for value in values], dtype=np.int64)
    others = [value for value in count if is_hole(value) and isinstance(value, str)]

    def codes() -> NDArray[np.int32]:
        wanted = [*values, *others]
        if not wanted:
            return np.full(len(series), -1, dtype=np.int32)
        numbers = [*range(len(values)), *(-1 for _ in others)]
        return series.replace_strict(wanted, numbers, return_dtype=nw.Int32).fill_null(-1).to_numpy().astype(np.int32)

    return listed(name, Came.TEXT, values, counts, len(series), codes)


def _from_categories(name: str, series: Any, nw: Any) -> Column:
    """Categories bring their order where somebody chose it; where it is the order of appearance they are sorted."""
    native = series.to_native()
    came = Came.ORDERED if isinstance(series.dtype, nw.Enum) else Came.CATEGORY
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):  # pandas: categories of any type, order chosen
        values, codes = native.cat.categories.tolist(), native.cat.codes.to_numpy()
    elif hasattr(native, "to_physical"):  # polars: an Enum has an order, a Categorical that of appearance
        if came is Came.CATEGORY:
            return _from_text(name, series.cast(nw.String), nw)
        values, codes = native.dtype.categories.to_list(), native.to_physical().to_list()
        codes = np.array([-1 if code is None else code for code in codes], dtype=np.int64)
    elif hasattr(native, "unify_dictionaries"):  # pyarrow
        return _from_dictionary(name, native)
    else:
        return _from_text(name, series.cast(nw.String), nw)
    return categories(name, came, values, codes.astype(np.int64))


def _from_dictionary(name: str, native: Any) -> Column:
    whole = native.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if hasattr(whole, "num_chunks") else whole
    values = whole.dictionary.to_pylist()
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    if whole.type.ordered:
        return categories(name, Came.ORDERED, values, codes)
    cells: list[Any] = [*values, None]
    return from_objects(name, [cells[code] for code in codes.tolist()])


def categories(name: str, came: Came, values: list[Any], codes: NDArray[np.int64]) -> Column:
    """Declared categories, blank ones being holes."""
    kept = [code for code, value in enumerate(values) if not is_hole(value)]
    lut = np.full(len(values) + 1, -1, dtype=np.int32)
    lut[kept] = np.arange(len(kept))
    small = lut[codes]
    labels = [value.item() if isinstance(value, np.generic) else value for value in (values[code] for code in kept)]
    if not all(isinstance(label, str | int | float) for label in labels):
        labels = [str(label) for label in labels]
    return listed(name, came, labels, np.bincount(small[small >= 0], minlength=len(labels)), len(codes), lambda: small)


def label_type(labels: tuple[Label, ...]) -> type:
    """The one type of these labels (bool, int, float or str), else str."""
    for kind in (bool, int, float, str):
        if all(type(label) is kind for label in labels):
            return kind
    return str


def to_frame(columns: Mapping[str, tuple[Variable | None, NDArray[Any]]], backend: Backend) -> Any:
    """A table's labelled columns as a frame of this library; labels keep their type and holes are missing values.

    Numbers are numbers again; ordered variables, and binned ones whose numbers are not kept, become ordered categories.
    """
    makers = {"pandas": _pandas_column, "polars": _polars_column, "pyarrow": _arrow_column}
    if backend not in makers:
        raise OptionError(f"backend={backend!r}: expected one of {', '.join(makers)}")
    try:
        library = importlib.import_module(backend)
    except ImportError:
        raise MissingExtraError(f"{backend} is not installed: pip install {backend}") from None
    made = {
        name: cells if variable is None else makers[backend](library, variable, cells)
        for name, (variable, cells) in columns.items()
    }
    return library.table(made) if backend == "pyarrow" else library.DataFrame(made)


def whole_numbers(values: NDArray[np.float64]) -> bool:
    """Whether they can go out as integers: all whole, and small enough to be exact."""
    seen = values[~np.isnan(values)]
    return bool(len(seen) and np.all(np.abs(seen) < 2**53) and np.all(seen == np.floor(seen)))


def _integers(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.where(np.isnan(values), 0, values).astype(np.int64)


def _ordered(variable: Variable) -> bool:
    return variable.binned or variable.kind is ColumnKind.ORDERED


def _pandas_column(pandas: Any, variable: Variable, codes: NDArray[Any]) -> Any:
    if codes.dtype.kind == "f":
        holes = np.isnan(codes)
        if not whole_numbers(codes):
            return codes
        return pandas.arrays.IntegerArray(_integers(codes), holes) if holes.any() else _integers(codes)
    kind = label_type(variable.states)
    if _ordered(variable):
        return pandas.Categorical.from_codes(codes, categories=list(variable.states), ordered=True)
    if kind is str:
        labels = pandas.array([str(label) for label in variable.states], dtype=pandas.Series([""]).dtype)
        return pandas.Series(labels.take(codes, allow_fill=True))
    cells, holes = np.array(variable.states, dtype=kind)[np.maximum(codes, 0)], codes < 0
    if kind is float:
        return np.where(holes, np.nan, cells)
    if not holes.any():
        return cells
    return (pandas.arrays.BooleanArray if kind is bool else pandas.arrays.IntegerArray)(cells, holes)


def _polars_column(polars: Any, variable: Variable, codes: NDArray[Any]) -> Any:
    if codes.dtype.kind == "f":
        series = polars.Series(codes).fill_nan(None)
        return series.cast(polars.Int64) if whole_numbers(codes) else series
    kind = label_type(variable.states)
    labels = polars.Series([str(v) for v in variable.states] if kind is str else list(variable.states))
    if _ordered(variable):
        labels = polars.Series([str(v) for v in variable.states], dtype=polars.Enum([str(v) for v in variable.states]))
    return labels.gather(polars.Series(codes).replace(-1, None))


def _arrow_column(pyarrow: Any, variable: Variable, codes: NDArray[Any]) -> Any:
    if codes.dtype.kind == "f":
        return pyarrow.array(_integers(codes) if whole_numbers(codes) else codes, mask=np.isnan(codes))
    kind = label_type(variable.states)
    labels = pyarrow.array([str(v) for v in variable.states] if kind is str else list(variable.states))
    dictionary = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array(codes, mask=codes < 0), labels, ordered=_ordered(variable)
    )
    return dictionary if _ordered(variable) else dictionary.dictionary_decode()
