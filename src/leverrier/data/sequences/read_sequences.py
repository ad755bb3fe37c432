"""Whatever a user has, read as Sequences: rows told apart by a column, put in order by another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.data.column import Column
from leverrier.data.labels import Unseen, check_unseen
from leverrier.data.reading.binning import Rule, cuts_of
from leverrier.data.reading.encoding import Bins
from leverrier.data.reading.file_options import FileOptions
from leverrier.data.reading.read_table import (
    known_variables,
    options_of,
    raw_columns,
    read_table,
    require_agreement,
    table_of,
)
from leverrier.data.reading.sources import opened
from leverrier.data.sequences.sequences import Sequences, lagged
from leverrier.data.sequences.time_axis import Gaps, TimeKind, lay_out, time_numbers
from leverrier.data.table import Label, Table, Variable
from leverrier.data.variable import ColumnKind
from leverrier.errors import OptionError, TableError
from leverrier.hints import option

__all__ = ["Sequences", "as_sequences", "lagged", "read_sequences"]


def read_sequences(
    source: Any,
    by: str | Sequence[str] | None = None,
    time: str | None = None,
    ignore: str | Collection[str] = (),
    *,
    gaps: Gaps = "fill",
    types: Mapping[str, str | Sequence[Label]] | None = None,
    bins: Bins | Mapping[str, Bins] = 5,
    bin_rule: Rule = "quantile",
    like: Sequences | Table | None = None,
    states: Mapping[str, Sequence[Label]] | None = None,
    unseen: Unseen = "error",
    missing: Collection[Any] = (),
    join: Mapping[str, Sequence[str]] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    sheet: str | int | None = None,
) -> Sequences:
    """Sequences from a dataframe, a dict of columns, or a path; `notes` says what was decided.

    by         the column, or columns, that tell sequences apart; without it all rows are one sequence
    time       the column that orders a sequence's rows: numbers, dates or text; without it the order of the rows
    gaps       where evenly spaced times skip some: "fill" with slices that are all holes, "split" into sequences, or
               "ignore" (each row is one slice after the row before it)
    The rest is as in `read_table`.
    """
    fitted = like.table if isinstance(like, Sequences) else like
    if isinstance(source, Sequences):
        if by or time or ignore or types or missing or join or encoding or delimiter or decimal or sheet:
            raise OptionError("the source is Sequences already: only like=, states= and unseen= apply to it")
        return source.with_table(read_table(source.table, like=fitted, states=states, unseen=unseen))
    if isinstance(source, Table):
        if by or time:
            raise OptionError(
                "the source is a Table, whose rows are one sequence: read the data itself with by=, time="
            )
        return Sequences.from_table(read_table(source, like=fitted, states=states, unseen=unseen))
    keys = (by,) if isinstance(by, str) else tuple(by or ())
    own = tuple(str(name) for name in (*keys, *([time] if time is not None else ())))
    if time is not None and str(time) in keys:
        raise OptionError(f"{option('by')} and {option('time')} both name {time!r}: they are two columns")
    left = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    options = options_of(types, tuple(dict.fromkeys((*own, *left))), bins, bin_rule)
    known = known_variables(fitted, states)
    check_unseen(unseen)
    if known is not None:
        require_agreement(known, options)
    files = FileOptions(encoding, delimiter, decimal, sheet)
    with opened(source, options, missing, files, join) as data:
        raw = raw_columns(data, own)
        table = table_of(data, options, known, unseen=unseen)
        absent = [name for name in table.variables if name not in data.names]
    which, names = _sequence_of(keys, raw, table.n_rows)
    times, kind, labels = np.arange(table.n_rows, dtype=np.float64), TimeKind.ORDER, ()
    if time is not None:
        times, kind, labels = time_numbers(*raw[str(time)])
    slices = lay_out(which, names, times, kind, labels, gaps)
    if time is None:
        slices = replace(slices, times=_places(slices.starts))
    spread = _spread(table, slices.rows)
    return Sequences(
        table=spread.without_numbers(),
        starts=slices.starts,
        names=tuple(names[i] for i in slices.sequence.tolist()),
        times=slices.times,
        rows=slices.rows,
        numbers={name: values for name, values in spread.numbers.items() if name not in absent},
        by=keys,
        time=time,
        time_kind=kind,
        time_labels=labels,
        notes=(*_worth_saying(table.notes, own), *slices.notes),
    )


def as_sequences(data: Any, states: Mapping[str, Sequence[Label]]) -> Sequences:
    """Sequences with exactly these variables and codes; a bare table or dataframe is one sequence.

    A column that was cut into other bins than these is cut again, from its numbers.
    """
    if not isinstance(data, Sequences):
        return read_sequences(data, states=states)
    table = data.table
    for name, values in data.numbers.items():
        cuts = cuts_of(states.get(name, ()))
        if cuts and name in table.variables and table.states[name] != tuple(states[name]):
            table = _recut(table, Variable(name, tuple(states[name]), ColumnKind.BINNED, cuts), values)
    return data.with_table(read_table(table, states=states))


def _recut(table: Table, variable: Variable, values: Floats) -> Table:
    place = table.index(variable.name)
    codes = table.codes.copy()
    codes[place] = np.where(np.isnan(values), table.missing, np.searchsorted(variable.cuts, values, side="right"))
    columns = (*table.columns[:place], variable, *table.columns[place + 1 :])
    return replace(table, columns=columns, codes=codes, _projections={})


def _places(starts: Integers) -> Floats:
    return (np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))).astype(np.float64)


def _sequence_of(
    keys: Sequence[str], raw: Mapping[str, tuple[Column, NDArray[Any]]], n_rows: int
) -> tuple[Integers, list[Label]]:
    """Which sequence each row belongs to, numbered as they first appear, and the sequences' names."""
    if not keys:
        return np.zeros(n_rows, dtype=np.int64), [0]
    joint = np.zeros(n_rows, dtype=np.int64)
    for key in keys:
        column, codes = raw[key]
        hole = np.flatnonzero(codes < 0)
        if len(hole):
            raise TableError(f"by={key!r} is missing in row {hole[0] + 1}: every row must say its sequence")
        _, joint = np.unique(joint * (len(column.values) + 1) + codes, return_inverse=True)
    _, first, back = np.unique(joint, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    labels = {key: raw[key][0].labels for key in keys}
    names = [tuple(labels[key][raw[key][1][row]] for key in keys) for row in np.sort(first).tolist()]
    return rank[back], [name[0] if len(keys) == 1 else name for name in names]


def _spread(table: Table, rows: Integers) -> Table:
    """The table's rows in the order of the slices, all holes where a slice has no row."""
    found = table.take(np.maximum(rows, 0))
    if not np.any(rows < 0):
        return found
    codes = found.codes.copy()
    codes[:, rows < 0] = table.missing
    raw = {name: np.where(rows < 0, np.nan, values) for name, values in found.raw.items()}
    return replace(found, codes=codes, raw=raw, _projections={})


def _worth_saying(notes: Sequence[str], own: Sequence[str]) -> list[str]:
    """What reading the table said, but for by= and time= being left out of it."""
    skip = tuple(f"{name!r} is set aside: ignored" for name in own)
    return [note for note in notes if not note.startswith(skip)]
