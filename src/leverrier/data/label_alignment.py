"""One table's labels found among another's states: how a fitted model reads new data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from leverrier.data.labels import Unseen, check_unseen, few, lookup, unseen_label, unseen_note
from leverrier.data.table import Table
from leverrier.data.variable import Label, Variable, code_type
from leverrier.errors import TableError


def align(table: Table, states: Mapping[str, Sequence[Label]], unseen: Unseen = "error") -> NDArray[np.int32]:
    """The table's cells in these states' codes: shape (variables of `states`, rows), −1 for holes and absent columns.

    Labels meet by equality, else by text. A label that occurs and that no state has is an error or a hole.
    """
    aligned = np.full((len(states), table.n_rows), -1, dtype=np.int32)
    _fill(aligned, table, states, unseen)
    return aligned


def realign(table: Table, variables: Sequence[Variable], unseen: Unseen = "error") -> Table:
    """The table with exactly these variables: what it lacks is all holes, what is more is left out; both are said.

    A column that was cut into other bins than these is cut again, from its numbers.
    """
    names = tuple(variable.name for variable in variables)
    present = table.states
    if all(present.get(variable.name) == variable.states for variable in variables):
        return table if names == table.variables else table.select(names)
    kind = code_type(max((variable.cardinality for variable in variables), default=1))
    codes = np.full((len(variables), table.n_rows), np.iinfo(kind).max, dtype=kind)
    numbers = table.numbers
    cut = [each.name for each in variables if each.cuts and each.name in numbers and present[each.name] != each.states]
    notes = _fill(codes, table.drop(*cut), {variable.name: variable.states for variable in variables}, unseen)
    for row, variable in zip(codes, variables, strict=True):
        if variable.name in cut:
            values = numbers[variable.name]
            row[:] = np.where(np.isnan(values), row, np.searchsorted(variable.cuts, values, side="right"))
    notes += absent_and_extra(names, table.variables)
    raw = {name: values for name, values in table.raw.items() if name in names}
    return replace(table, columns=tuple(variables), codes=codes, raw=raw, notes=(*table.notes, *notes), _projections={})


def absent_and_extra(wanted: Sequence[str], given: Sequence[str]) -> list[str]:
    """Sentences on columns that are not there (all holes) and on those that nobody asked for (left out)."""
    there, asked = set(given), set(wanted)
    absent = [name for name in wanted if name not in there]
    extra = [name for name in given if name not in asked]
    if len(absent) == len(wanted):
        raise TableError(
            f"none of the columns {few(wanted)} is in the data, which has {few(given)}: the names must agree"
        )
    notes = []
    if absent:
        notes.append(f"not in the data, so all holes: {few(absent)}.")
    if extra:
        notes.append(f"not among the known variables, so left out: {few(extra)}.")
    return notes


def _fill(
    aligned: NDArray[np.integer], table: Table, states: Mapping[str, Sequence[Label]], unseen: Unseen
) -> list[str]:
    """Fills the rows of `aligned`, which holds nothing but holes; a look-up table a column. Returns what to say."""
    check_unseen(unseen)
    place = {name: position for position, name in enumerate(table.variables)}
    notes = []
    for row, (name, wanted) in zip(aligned, states.items(), strict=True):
        if name not in place or not len(row):
            continue
        column, cells = table.columns[place[name]], table.codes[place[name]]
        found = lookup(column.states, wanted)
        lut = np.full(int(np.iinfo(cells.dtype).max) + 1, row[0], dtype=row.dtype)
        lut[: len(found)] = np.where(found < 0, row[0], found)
        np.take(lut, cells, out=row, mode="clip")  # every code is in range; "raise" would copy
        if np.any(found < 0):
            notes += _unseen_notes(name, column.states, cells, found, wanted, unseen)
    return notes


def _unseen_notes(
    name: str,
    labels: Sequence[Label],
    cells: NDArray[np.unsignedinteger],
    found: NDArray[np.int32],
    states: Sequence[Label],
    unseen: Unseen,
) -> list[str]:
    """A state that no row has is no harm; one that occurs is an error, or a sentence."""
    counts = np.bincount(cells, minlength=len(labels))
    lost = [code for code in np.flatnonzero(found < 0).tolist() if counts[code]]
    if not lost:
        return []
    if unseen == "error":
        raise unseen_label(name, labels[lost[0]], int(np.argmax(cells == lost[0])), states)
    return [unseen_note(name, [labels[code] for code in lost], int(counts[lost].sum()))]
