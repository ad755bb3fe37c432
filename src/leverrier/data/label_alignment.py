"""One table's labels found among another's states: how a fitted model reads new data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Label, Table, Variable, code_type
from leverrier.errors import OptionError, TableError

Unseen = Literal["error", "hole"]


def text_of(label: Any) -> str:
    """A label as text, so that 1, 1.0 and "1" meet, and True, "TRUE" and "true"."""
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    text = str(label).strip()
    folded = text.lower()
    return folded if folded in ("true", "false") else text


def lookup(values: Sequence[Any], states: Sequence[Label]) -> NDArray[np.int32]:
    """The state of each value: the equal one, else the one of equal text, else −1."""
    exact = {state: code for code, state in reversed(list(enumerate(states)))}
    found = np.array([exact.get(value, -1) for value in values], dtype=np.int32)
    if np.any(found < 0):
        by_text = {text_of(state): code for code, state in reversed(list(enumerate(states)))}
        for position in np.flatnonzero(found < 0).tolist():
            found[position] = by_text.get(text_of(values[position]), -1)
    return found


def unseen_label(name: str, label: Any, row: int, states: Sequence[Label]) -> TableError:
    """What to say of a label that no state has. Rows are counted from 1."""
    shown = ", ".join(repr(state) for state in states[:6]) + (", …" if len(states) > 6 else "")
    return TableError(
        f"column {name!r} holds {label!r} in row {row + 1}, which is none of its states ({shown}); "
        'unseen="hole" takes such cells as missing'
    )


def check_unseen(unseen: str) -> None:
    if unseen not in ("error", "hole"):
        raise OptionError(f'unseen={unseen!r}: expected "error" or "hole"')


def align(table: Table, states: Mapping[str, Sequence[Label]], unseen: Unseen = "error") -> NDArray[np.int32]:
    """The table's cells in these states' codes: shape (variables of `states`, rows), −1 for holes and absent columns.

    Labels meet by equality, else by text. A label that occurs and that no state has is an error or a hole.
    """
    aligned = np.full((len(states), table.n_rows), -1, dtype=np.int32)
    _fill(aligned, table, states, unseen)
    return aligned


def realign(table: Table, variables: Sequence[Variable], unseen: Unseen = "error") -> Table:
    """The table with exactly these variables: what it lacks is all holes, what is more is left out; both are said."""
    names = tuple(variable.name for variable in variables)
    present = table.states
    if all(present.get(variable.name) == variable.states for variable in variables):
        return table if names == table.variables else table.select(names)
    kind = code_type(max((variable.cardinality for variable in variables), default=1))
    codes = np.full((len(variables), table.n_rows), np.iinfo(kind).max, dtype=kind)
    notes = _fill(codes, table, {variable.name: variable.states for variable in variables}, unseen)
    notes += absent_and_extra(names, table.variables)
    return replace(table, columns=tuple(variables), codes=codes, notes=(*table.notes, *notes), _projections={})


def absent_and_extra(wanted: Sequence[str], given: Sequence[str]) -> list[str]:
    """Sentences on columns that are not there (all holes) and on those that nobody asked for (left out)."""
    there, asked = set(given), set(wanted)
    absent = [name for name in wanted if name not in there]
    extra = [name for name in given if name not in asked]
    if len(absent) == len(wanted):
        raise TableError(
            f"none of the columns {_few(wanted)} is in the data, which has {_few(given)}: the names must agree"
        )
    notes = []
    if absent:
        notes.append(f"not in the data, so all holes: {_few(absent)}.")
    if extra:
        notes.append(f"not among the known variables, so left out: {_few(extra)}.")
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


def unseen_note(name: str, labels: Sequence[Any], cells: int) -> str:
    return f"{name!r}: {cells} cells hold labels that are not among its states, so holes: {_few(labels)}."


def _few(names: Sequence[Any], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more
