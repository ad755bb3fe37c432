"""Whatever a user has, read as a Table: dataframes, dicts, files. Every decision is said and can be overruled."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leverrier.data.column import About, Column, Source
from leverrier.data.encoded_cells import Encoded, put_together, small
from leverrier.data.label_alignment import absent_and_extra, realign
from leverrier.data.labels import Unseen, check_unseen, few
from leverrier.data.memory_limit import memory_limit, rows_within
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.reading.binning import Rule, cuts_of
from leverrier.data.reading.encoding import (
    DATES,
    Bins,
    Decision,
    Fate,
    Options,
    decide,
    encode,
    ignored,
    numbers,
    places,
    raw_numbers,
    unseen_in,
)
from leverrier.data.reading.file_options import FileOptions
from leverrier.data.reading.sources import opened
from leverrier.data.table import Table
from leverrier.data.variable import ColumnKind, Label, Variable
from leverrier.errors import OptionError, TableError
from leverrier.hints import option


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
    join: Mapping[str, Sequence[str]] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    sheet: str | int | None = None,
    max_memory: int | str | None = None,
) -> Table:
    """A Table from a dataframe, a dict of columns, or a path (docs/tables.md lists the kinds of files).

    `table.notes` says what was decided, `table.quality` what a careful analyst would notice.

    types      what a column is: "category", "caseless", "ordered", "number", "boolean", "day-first", "month-first",
               "ignore", or the list of its states
    ignore     columns to leave out
    bins       for numbers: how many bins, or the cuts; also by column, {"age": 3, "pay": [1000, 2000]}
    bin_rule   "quantile" (as many rows in each bin) or "width"
    weights    the column that says how often each row counts, or the weights themselves
    like       a fitted table: its variables, states and cuts are used, whatever order the data has
    states     the same from states by variable, such as a network's
    unseen     what a label outside `like` or `states` is: an "error" or a "hole"
    missing    further values that mean a hole, such as "NA" or -9
    join       yes/no columns that are one category: {"colour": ["colour_red", "colour_blue", "colour_green"]}
    encoding, delimiter   of a text file, where they cannot be told from it
    decimal    what parts fractions, "." or ",", where it cannot be told column by column
    sheet      of a workbook: its name, or its place counted from 1
    max_memory bytes, or a text such as "2GB", for the whole program. A table that needs more is read as its distinct
               rows with how often each came (`table.counted`), which learners take alike; if those need more too,
               it is refused
    """
    check_unseen(unseen)
    limit = memory_limit(max_memory)
    known = known_variables(like, states)
    files = FileOptions(encoding, delimiter, decimal, sheet)
    if isinstance(source, Table):
        if types or ignore or missing or weights is not None or join or files.given:
            raise OptionError("the source is a Table already: only like=, states= and unseen= apply to it")
        return source if known is None else realign(source, known, unseen)
    options = options_of(types, ignore, bins, bin_rule)
    if known is not None:
        require_agreement(known, options)
    with opened(source, options, missing, files, join, rows_within(limit)) as data:
        return table_of(data, options, known, weights, unseen, limit)


def require_agreement(known: Sequence[Variable], options: Options) -> None:
    """Where the states are known already, a type may say how cells are written, and nothing else."""
    for variable in known:
        asked = options.asked(variable.name)
        if asked is None or asked in ("ignore", *DATES) or (asked == "number" and variable.cuts):
            continue
        if asked in (variable.kind, "category", "caseless") and not variable.cuts:
            continue
        raise OptionError(
            f"{option('types', {variable.name: asked})}: the states of {variable.name!r} are known already: "
            f"{few(variable.states)}; leave it out"
        )


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
    data: Any, states: Mapping[str, Sequence[Label]] | None = None, *, max_memory: int | str | None = None
) -> Table:
    """A Table as it is, or anything `read_table` takes; with `states`, exactly those variables and codes."""
    return read_table(data, states=states, max_memory=max_memory)


def as_asked(data: Any, reading: Mapping[str, Any], max_memory: int | str | None = None) -> Any:
    """The data read as the user says; as they are where nothing is said. Rows are taken one by one here: columns that
    say whose they are (by=) and when (time=) are no measurements, and left out."""
    said = {name: value for name, value in reading.items() if value is not None and not _is_empty(value)}
    own = [name for key in ("by", "time") if key in said for name in _names(said.pop(key))]
    if own:
        said["ignore"] = [*_names(said.get("ignore", ())), *own]
    return read_table(data, **said, max_memory=max_memory) if said else data


def _is_empty(value: Any) -> bool:
    return isinstance(value, str | Collection) and not isinstance(value, np.ndarray) and not len(value)


def describe_columns(
    source: Any,
    *,
    types: Mapping[str, str | Sequence[Label]] | None = None,
    ignore: str | Collection[str] = (),
    bins: Bins | Mapping[str, Bins] = 5,
    bin_rule: Rule = "quantile",
    weights: str | None = None,
    missing: Collection[Any] = (),
    join: Mapping[str, Sequence[str]] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    sheet: str | int | None = None,
) -> list[Decision]:
    """What `read_table` would decide, column by column, with the reasons; nothing is encoded."""
    options = options_of(types, ignore, bins, bin_rule)
    with opened(source, options, missing, FileOptions(encoding, delimiter, decimal, sheet), join) as data:
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
            yield column, Decision(name, column.came, column.distinct, column.holes, Fate.WEIGHTS, reason)
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
    return Variable(name, labels, ColumnKind.BINNED if cuts else ColumnKind.CATEGORY, cuts)


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


def check_names(data: Source, options: Options, weights: Any) -> None:
    for which, names in (
        ("types", options.types),
        ("ignore", options.ignore),
        ("bins", options.bins if isinstance(options.bins, Mapping) else ()),
        ("weights", [weights] if isinstance(weights, str) else ()),
    ):
        for name in names:
            if name not in data.names:
                parts = [part.strip() for part in name.split(",")]
                several = len(parts) > 1 and all(part in data.names for part in parts)
                rest = f": say {option(which, parts)}" if several and which == "ignore" else ""
                raise TableError(
                    f"{option(which)} names the column {name!r}, which is not there"
                    + (rest or f"; the columns are {_shown(data.names)}")
                )


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
    noticed = list(data.noticed)
    about: dict[str, About] = {}
    for column, decision in decisions(data, options, weighing, weights):
        notes += decision.notes
        noticed += decision.noticed
        if decision.decision is Fate.ASIDE:
            aside[decision.name] = decision.reason
        if column is None or decision.variable is None:
            continue
        variables.append(decision.variable)
        if column.about is not None:
            about[column.name] = column.about
        notes += _encode(data, column, decision.variable, unseen, encoded)
    if not variables:
        why = "; ".join(f"{name!r}: {reason}" for name, reason in list(aside.items())[:4])
        raise TableError(f"{data.what} has no usable column ({why}); {option('types')} overrules this")
    if len(variables) == 1:
        notes.append(f"only {variables[0].name!r} is left: one variable has nothing to be related to.")
    table = put_together(data, variables, encoded, weights, notes, aside, limit)
    kept = about if not table.counted else {name: replace(each, reasons=None) for name, each in about.items()}
    return replace(table, noticed=said_once(noticed), about=kept)


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
    noticed = list(data.noticed)
    for variable in known:
        if variable.name in given:
            column = data.column(variable.name)
            column = column.to_be_cut() if variable.cuts else column
            noticed += column.noticed
            if unseen == "hole":
                noticed += unseen_in(column, variable)
            notes += _encode(data, column, variable, unseen, encoded)
    kept = replace(data, names=tuple(given)) if given else data
    return replace(put_together(kept, known, encoded, weights, notes, {}, limit), noticed=said_once(noticed))


def said_once(noticed: Sequence[Noticed]) -> tuple[Noticed, ...]:
    """What is the same of several columns, as one."""
    alike = {kind: [each for each in noticed if each.kind is kind] for kind in (Notice.DECIMAL_COMMA, Notice.THOUSANDS)}
    several = {kind: found for kind, found in alike.items() if len(found) > 1}
    together = [
        replace(found[0], columns=tuple(name for each in found for name in each.columns)) for found in several.values()
    ]
    return (*(each for each in noticed if each.kind not in several), *together)


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
