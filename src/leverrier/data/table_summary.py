"""A table in words, for the terminal."""

from __future__ import annotations

import numpy as np

from leverrier.data.table import Table, Variable


def summarise(table: Table) -> str:
    """Size, then a line a variable, then what was set aside and the notes."""
    holes = np.count_nonzero(table.codes == table.missing, axis=1)
    cells = max(table.codes.size, 1)
    weight = "" if table.weights is None else f" of total weight {table.total:g}"
    lines = [
        f"{_count(table.n_rows, 'row')}{weight}, {_count(len(table.columns), 'variable')}, "
        f"{_count(int(holes.sum()), 'hole')} ({holes.sum() / cells:.1%} of cells)"
    ]
    width = max((len(name) for name in (*table.variables, *table.aside)), default=0)
    for column, missing in zip(table.columns, holes.tolist(), strict=True):
        lost = f"  {_count(missing, 'hole')}" if missing else ""
        lines.append(f"  {column.name:<{width}}  {column.kind:<8}  {_states(column)}{lost}")
    if table.aside:
        lines += ["set aside:", *(f"  {name:<{width}}  {reason}" for name, reason in table.aside.items())]
    told = tuple(f"{name!r} is set aside" for name in table.aside) + tuple(f"{c.name!r} is cut" for c in table.columns)
    notes = [note for note in table.notes if not note.startswith(told)]  # the lines above say those
    if notes:
        lines += ["notes:", *(f"  {note}" for note in notes)]
    return "\n".join(lines)


def _states(column: Variable, most: int = 6) -> str:
    shown = ", ".join(str(state) for state in column.states[:most])
    return f"{_count(column.cardinality, 'state')}: {shown}{', …' if column.cardinality > most else ''}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
