"""Columns for hidden states put beside a user's own, in the kind of dataframe they came in."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from leverrier.data.reading.database import one_file
from leverrier.data.table import Table
from leverrier.data.variable import free_name
from leverrier.errors import OptionError


def add_states(data: Any, columns: Mapping[str, Sequence[Any]]) -> Any:
    """The data with these columns added; one whose name is taken gets an underscore."""
    frame = nw.from_native(_frame(data), eager_only=True)
    named = {free_name(name, frame.columns): values for name, values in columns.items()}
    if not named:
        return frame.to_native()
    backend = nw.get_native_namespace(frame)
    series = [nw.new_series(name, values, backend=backend) for name, values in named.items()]
    if frame.implementation.is_pandas():  # pandas aligns by index: a user's index must not shuffle rows
        series = [nw.maybe_set_index(each, index=nw.maybe_get_index(frame)) for each in series]
    return frame.with_columns(*series).to_native()


def _frame(data: Any) -> Any:
    """The dataframe itself; a Table or a path as polars or pandas, whichever is installed."""
    if isinstance(data, Table):
        return _first(data.to_polars, data.to_pandas)
    if isinstance(data, str | os.PathLike):
        import duckdb

        found: Any = duckdb.connect().execute(f"SELECT * FROM {_reader(os.fspath(data))}")
        return _first(found.pl, found.df)
    if isinstance(data, Mapping):
        return _first(lambda: _polars(data), lambda: _pandas(data))
    return data


def _reader(path: str) -> str:
    quoted = one_file(path)
    return f"read_parquet({quoted})" if path.lower().endswith((".parquet", ".pq")) else f"read_csv({quoted})"


def _polars(data: Mapping[str, Any]) -> Any:
    import polars

    return polars.DataFrame(dict(data))


def _pandas(data: Mapping[str, Any]) -> Any:
    import pandas

    return pandas.DataFrame(dict(data))


def _first(*ways: Any) -> Any:
    for way in ways:
        try:
            return way()
        except ImportError:
            continue
    raise OptionError("add_to needs a dataframe here: install polars or pandas, or give it one of theirs")
