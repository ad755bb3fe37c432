"""A table in words, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from leverrier.data.variable import Variable


def summarise(
    columns: Sequence[Variable],
    holes: NDArray[np.integer],
    n_rows: int,
    total: float | None,
    aside: Mapping[str, str],
    notes: Sequence[str],
) -> str:
    """Size, then a line a variable, then what was set aside and the notes. `total` is the rows' weight, if any."""
    cells = max(len(columns) * n_rows, 1)
    weight = "" if total is None else f" of total weight {total:g}"
    lines = [
        f"{_count(n_rows, 'row')}{weight}, {_count(len(columns), 'variable')}, "
        f"{_count(int(holes.sum()), 'hole')} ({holes.sum() / cells:.1%} of cells)"
    ]
    names = [_one_line(column.name) for column in columns]
    others_aside = {_one_line(name): reason for name, reason in aside.items()}
    width = max((len(name) for name in (*names, *others_aside)), default=0)
    for name, column, missing in zip(names, columns, holes.tolist(), strict=True):
        lost = f"  {_count(missing, 'hole')}" if missing else ""
        lines.append(f"  {name:<{width}}  {column.kind:<8}  {_states(column)}{lost}")
    if aside:
        lines += ["set aside:", *(f"  {name:<{width}}  {reason}" for name, reason in others_aside.items())]
    told = tuple(f"{name!r} is set aside" for name in aside) + tuple(f"{c.name!r} is cut" for c in columns)
    others = [note for note in notes if not note.startswith(told)]  # the lines above say those
    if others:
        lines += ["notes:", *(f"  {note}" for note in others)]
    return "\n".join(lines)


def _states(column: Variable, most: int = 6) -> str:
    shown = ", ".join(_one_line(str(state)) for state in column.states[:most])
    return f"{_count(column.cardinality, 'state')}: {shown}{', …' if column.cardinality > most else ''}"


def _one_line(text: str) -> str:
    """A name or state as it can stand in a line: breaks and other signs that are not printed are written out."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
