"""Labels as text, and found among a variable's states: 1, 1.0 and "1" are the same answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.data.variable import Label
from leverrier.errors import OptionError, TableError
from leverrier.hints import option

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


def unseen_label(name: str, label: Any, row: int, states: Sequence[Label], cut: bool = False) -> TableError:
    """What to say of a label that no state has. Rows are counted from 1."""
    shown = ", ".join(repr(state) for state in states[:6]) + (", …" if len(states) > 6 else "")
    return TableError(
        f"column {name!r} holds {label!r} in row {row + 1}, which is {'no number and ' if cut else ''}"
        f"none of its {'bins' if cut else 'states'} ({shown}); "
        f"{option('unseen', 'hole')} takes such cells as missing"
    )


def check_unseen(unseen: str) -> None:
    if unseen not in ("error", "hole"):
        raise OptionError(f'{option("unseen", unseen)}: expected "error" or "hole"')


def unseen_note(name: str, labels: Sequence[Any], cells: int) -> str:
    return f"{name!r}: {cells} cells hold labels that are not among its states, so holes: {few(labels)}."


def few(names: Sequence[Any], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more
