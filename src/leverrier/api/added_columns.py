"""Columns for hidden states put beside a user's own, in the kind of dataframe they came in."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from leverrier.data.reading.appending import cells_of
from leverrier.data.reading.file_options import ReadingOptions
from leverrier.data.table import Table
from leverrier.data.variable import free_name
from leverrier.errors import OptionError


def frame_like(data: Any, columns: Mapping[str, Any], otherwise: Any) -> Any:
    """These columns as the kind of dataframe that the data are, with its index; anything else gets `otherwise`."""
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        lazy = nw.from_native(data, pass_through=True)
        if not isinstance(lazy, nw.LazyFrame):
            return otherwise
        frame = lazy.collect()
    made = nw.from_dict(dict(columns), backend=nw.get_native_namespace(frame)).to_native()
    if frame.implementation.is_pandas():
        made.index = nw.maybe_get_index(frame)
    return made


def add_states(data: Any, columns: Mapping[str, Sequence[Any]], reading: ReadingOptions | None = None) -> Any:
    """The data with these columns added; one whose name is taken gets an underscore."""
    frame = nw.from_native(_frame(data, reading), eager_only=True)
    named = {free_name(name, frame.columns): values for name, values in columns.items()}
    if not named:
        return frame.to_native()
    backend = nw.get_native_namespace(frame)
    series = [nw.new_series(name, values, backend=backend) for name, values in named.items()]
    if frame.implementation.is_pandas():  # pandas aligns by index: a user's index must not shuffle rows
        series = [nw.maybe_set_index(each, index=nw.maybe_get_index(frame)) for each in series]
    return frame.with_columns(*series).to_native()


def _frame(data: Any, reading: ReadingOptions | None) -> Any:
    """The dataframe itself; a Table or a path as polars or pandas, whichever is installed."""
    if isinstance(data, Table):
        return _first(data.to_polars, data.to_pandas)
    if isinstance(data, str | os.PathLike):
        columns = cells_of(data, reading)
        return _first(lambda: _polars(columns), lambda: _pandas(columns))
    if isinstance(data, Mapping):
        return _first(lambda: _polars(data), lambda: _pandas(data))
    return data


def _polars(data: Mapping[str, Any]) -> Any:
    import polars

    return polars.DataFrame(dict(data), strict=False)


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
