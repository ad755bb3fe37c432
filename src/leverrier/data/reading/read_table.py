"""Whatever a user has, read as a Table: dataframes, dicts, files. Every decision is said and can be overruled."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leverrier.data.column import Column, Source
from leverrier.data.encoded_cells import Encoded, put_together, small
from leverrier.data.label_alignment import absent_and_extra, realign
from leverrier.data.labels import Unseen, check_unseen, text_of
from leverrier.data.memory_limit import memory_limit, rows_within
from leverrier.data.reading.binning import Rule, cuts_of
from leverrier.data.reading.column_files import file_source
from leverrier.data.reading.encoding import (
    Bins,
    Decision,
    Options,
    decide,
    encode,
    ignored,
    numbers,
    places,
    raw_numbers,
)
from leverrier.data.reading.frames import dict_source, frame_source
from leverrier.data.table import Table
from leverrier.data.variable import Label, Variable
from leverrier.errors import OptionError, TableError


def read_table(
    source: Any,
    *,
    types: Mapping[str, str | Sequence[Label]] | None = None,
    ignore: str | Collection[str] = (),
    bins: Bins | Mapping[str, Bins] = 5,
    bin_rule: Rule = "quantile",
    weights: str | ArrayLike | None = None,
    like: Table | None = None,
    states: Mapping[str, Sequence[Label]] | None = None,
    unseen: Unseen = "error",
    missing: Collection[Any] = (),
    encoding: str = "utf-8",
    delimiter: str | None = None,
    max_memory: int | str | None = None,
) -> Table:
    """A Table from a dataframe, a dict of columns, or a path to CSV or Parquet; `table.notes` says what was decided.

    types      what a column is: "category", "ordered", "number", "boolean", "ignore", or the list of its states
    ignore     columns to leave out
    bins       for numbers: how many bins, or the cuts; also by column, {"age": 3, "pay": [1000, 2000]}
    bin_rule   "quantile" (as many rows in each bin) or "width"
    weights    the column that says how often each row counts, or the weights themselves
    like       a fitted table: its variables, states and cuts are used, whatever order the data has
    states     the same from states by variable, such as a network's
    unseen     what a label outside `like` or `states` is: an "error" or a "hole"
    missing    further values that mean a hole, such as "NA" or -9
    encoding, delimiter   of a CSV file, where it is not UTF-8, or the separator cannot be told from the header
    max_memory bytes, or a text such as "2GB", for the whole program. A table that needs more is read as its distinct
               rows with how often each came (`table.counted`), which learners take alike; if those need more too,
               it is refused
    """
    check_unseen(unseen)
    limit = memory_limit(max_memory)
    known = known_variables(like, states)
    if known is not None and types:
        raise OptionError("like= and states= say what the columns are: leave types= out")
    if isinstance(source, Table):
        if types or ignore or missing or weights is not None:
            raise OptionError("the source is a Table already: only like=, states= and unseen= apply to it")
        return source if known is None else realign(source, known, unseen)
    options = options_of(types, ignore, bins, bin_rule)
    with opened(source, options, missing, encoding, delimiter, rows_within(limit)) as data:
        return table_of(data, options, known, weights, unseen, limit)


def table_of(
    data: Source,
    options: Options,
    known: tuple[Variable, ...] | None = None,
    weights: str | ArrayLike | None = None,
    unseen: Unseen = "error",
    limit: int | None = None,
) -> Table:
    """The table of a source that is open: with its own states, or with those that are known."""
    check_names(data, options, weights)
    each = _weights(data, weights)
    weighing = weights if isinstance(weights, str) else None
    if known is not None:
        return _read_known(data, known, {*options.ignore, weighing}, each, unseen, limit)
    return _read(data, options, weighing, each, unseen, limit)


def as_table(
    data: Any,
    states: Mapping[str, Sequence[Label]] | None = None,
    unseen: Unseen = "error",
    max_memory: int | str | None = None,
) -> Table:
    """A Table as it is, or anything `read_table` takes; with `states`, exactly those variables and codes."""
    return read_table(data, states=states, unseen=unseen, max_memory=max_memory)


def describe_columns(
    source: Any,
    *,
    types: Mapping[str, str | Sequence[Label]] | None = None,
    ignore: str | Collection[str] = (),
    bins: Bins | Mapping[str, Bins] = 5,
    bin_rule: Rule = "quantile",
    weights: str | None = None,
    missing: Collection[Any] = (),
    encoding: str = "utf-8",
    delimiter: str | None = None,
) -> list[Decision]:
    """What `read_table` would decide, column by column, with the reasons; nothing is encoded."""
    options = options_of(types, ignore, bins, bin_rule)
    with opened(source, options, missing, encoding, delimiter) as data:
        check_names(data, options, weights)
        each = _weights(data, weights)
        return [decision for _, decision in decisions(data, options, weights, each)]


def raw_columns(data: Source, names: Collection[str]) -> dict[str, tuple[Column, NDArray[np.signedinteger]]]:
    """These columns as they came, each with the place of every cell among its values (−1 for a hole)."""
    for name in names:
        if name not in data.names:
            raise TableError(f"{data.what} has no column {name!r}; the columns are {_shown(data.names)}")
    columns = {name: data.column(name) for name in names}
    return {name: (column, column.codes()) for name, column in columns.items()}


def decisions(
    data: Source, options: Options, weighing: str | None, weights: NDArray[np.float64] | None
) -> Iterator[tuple[Column | None, Decision]]:
    """Each column with what it is taken for. One that is ignored is not looked at: it may be unreadable."""
    for name in data.names:
        if options.asked(name) == "ignore":
            yield None, ignored(name)
            continue
        column = data.column(name)
        if name == weighing or options.asked(name) == "number":
            column = column.to_be_cut()
        if name == weighing:
            reason = "how often each row counts"
            yield column, Decision(name, column.came, column.distinct, column.holes, "weights", reason)
        else:
            yield column, decide(column, options, weights)


def known_variables(like: Table | None, states: Mapping[str, Sequence[Label]] | None) -> tuple[Variable, ...] | None:
    """The variables that the data are to have, if anybody says."""
    if like is not None and states is not None:
        raise OptionError("like= and states= both say the states: give one")
    if like is not None:
        return like.columns
    return None if states is None else tuple(variable_of(name, tuple(labels)) for name, labels in states.items())


def variable_of(name: str, labels: tuple[Label, ...]) -> Variable:
    """States by name alone: those of a network learned from bins still say where the cuts are."""
    cuts = cuts_of(labels)
    return Variable(name, labels, "binned" if cuts else "category", cuts)


def options_of(
    types: Mapping[str, str | Sequence[Label]] | None,
    ignore: str | Collection[str],
    bins: Bins | Mapping[str, Bins],
    bin_rule: Rule,
) -> Options:
    """Columns are named by text; a frame's column 5 may be named 5."""
    named = {str(name): choice for name, choice in (types or {}).items()}
    each = {str(name): choice for name, choice in bins.items()} if isinstance(bins, Mapping) else bins
    return Options(named, _names(ignore), each, bin_rule)


def _names(names: str | Collection[str]) -> frozenset[str]:
    return frozenset([names] if isinstance(names, str) else map(str, names))


@contextmanager
def opened(
    source: Any,
    options: Options,
    missing: Collection[Any],
    encoding: str,
    delimiter: str | None,
    most: float = math.inf,
) -> Iterator[Source]:
    """The source's columns, with the extra marks of a hole taken out."""
    marks = {text_of(mark) for mark in ([missing] if isinstance(missing, str) else missing)}
    if isinstance(source, str | os.PathLike):
        named = (*options.types, *(options.bins if isinstance(options.bins, Mapping) else ()))
        numeric = {name for name in named if options.asked(name) == "number"}
        with file_source(Path(source).expanduser(), encoding, delimiter, marks, numeric, most) as data:
            yield _marked(data, marks)
    elif isinstance(source, Table):
        raise OptionError("the source is a Table already: its columns are table.columns")
    elif isinstance(source, Mapping):
        yield _marked(dict_source(source), marks)
    elif isinstance(source, np.ndarray):
        if source.ndim != 2:
            raise TableError(f"an array of shape {source.shape}: expected (rows, columns)")
        yield _marked(dict_source({f"x{place}": cells for place, cells in enumerate(source.T, 1)}), marks)
    else:
        yield _marked(frame_source(source), marks)


def _marked(data: Source, marks: set[str]) -> Source:
    if not marks:
        return data
    part = data.part
    return replace(
        data,
        column=lambda name: data.column(name).without(marks),
        part=None if part is None else lambda start, stop, names: _marked(part(start, stop, names), marks),
    )


def check_names(data: Source, options: Options, weights: Any) -> None:
    for option, names in (
        ("types", options.types),
        ("ignore", options.ignore),
        ("bins", options.bins if isinstance(options.bins, Mapping) else ()),
        ("weights", [weights] if isinstance(weights, str) else ()),
    ):
        for name in names:
            if name not in data.names:
                shown = _shown(data.names)
                raise TableError(f"{option}= names the column {name!r}, which is not there; the columns are {shown}")


def _shown(names: Sequence[str]) -> str:
    return ", ".join(repr(known) for known in names[:8]) + (", …" if len(names) > 8 else "")


def _weights(data: Source, weights: str | ArrayLike | None) -> NDArray[np.float64] | None:
    """One finite weight of at least 0 for each row."""
    if weights is None:
        return None
    if isinstance(weights, str):
        column = data.column(weights)
        values = np.append(numbers(column), np.nan)
        each = values[column.codes()]
    else:
        each = np.array(weights, dtype=np.float64)
        if each.shape != (data.n_rows,):
            raise TableError(f"{each.size} weights for {data.n_rows} rows: one each is needed")
    bad = np.flatnonzero(~(np.isfinite(each) & (each >= 0)))
    if len(bad):
        raise TableError(f"the weight of row {bad[0] + 1} is {each[bad[0]]}: weights must be finite and at least 0")
    if not each.sum():
        raise TableError("all weights are 0: at least one row must count")
    return each


def _read(
    data: Source,
    options: Options,
    weighing: str | None,
    weights: NDArray[np.float64] | None,
    unseen: Unseen,
    limit: int | None,
) -> Table:
    notes: list[str] = []
    aside: dict[str, str] = {}
    variables: list[Variable] = []
    encoded = Encoded()
    for column, decision in decisions(data, options, weighing, weights):
        notes += decision.notes
        if decision.decision == "aside":
            aside[decision.name] = decision.reason
        if column is None or decision.variable is None:
            continue
        variables.append(decision.variable)
        notes += _encode(data, column, decision.variable, unseen, encoded)
    if not variables:
        why = "; ".join(f"{name!r}: {reason}" for name, reason in list(aside.items())[:4])
        raise TableError(f"{data.what} has no usable column ({why}); types= overrules this")
    if len(variables) == 1:
        notes.append(f"only {variables[0].name!r} is left: one variable has nothing to be related to.")
    return put_together(data, variables, encoded, weights, notes, aside, limit)


def _read_known(
    data: Source,
    known: Sequence[Variable],
    skip: Collection[str | None],
    weights: NDArray[np.float64] | None,
    unseen: Unseen,
    limit: int | None,
) -> Table:
    given = [name for name in data.names if name not in skip]
    notes = absent_and_extra([variable.name for variable in known], given)
    encoded = Encoded()
    for variable in known:
        if variable.name in given:
            column = data.column(variable.name)
            notes += _encode(data, column.to_be_cut() if variable.cuts else column, variable, unseen, encoded)
    kept = replace(data, names=tuple(given)) if given else data
    return put_together(kept, known, encoded, weights, notes, {}, limit)


def _encode(data: Source, column: Column, variable: Variable, unseen: Unseen, encoded: Encoded) -> list[str]:
    """Put a column's cells beside the others, unless the rows are fetched later; says what there is to say."""
    if data.part is not None:
        return places(column, variable, unseen)[1]
    codes, notes = encode(column, variable, unseen)
    encoded.codes[variable.name] = small(codes, variable)
    raw = raw_numbers(column, variable)
    if raw is not None:
        encoded.raw[variable.name] = raw
    return notes
