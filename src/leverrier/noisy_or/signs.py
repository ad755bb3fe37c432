"""Yes/no signs from whatever a user has: arrays of 0/1, tables, dataframes, files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.reading.read_table import as_table
from leverrier.data.table import Label, Table, Variable
from leverrier.errors import TableError
from leverrier.models.noisy_or.noisy_or_model import HOLE, read_cells
from leverrier.noisy_or.sampler_notes import NotYesNo, RarerIsYes
from leverrier.words_of import told

YES = frozenset({"1", "true", "yes", "y", "t", "present", "positive", "pos", "+", "on", "abnormal"})
NO = frozenset({"0", "false", "no", "n", "f", "absent", "negative", "neg", "-", "off", "normal"})
MOST_ROWS = 50_000_000
"""Weighted rows are repeated; beyond this many we say no before allocating."""


@dataclass(frozen=True, eq=False)
class Signs:
    """Cells (trials, observed) of 0, 1 and HOLE, the signs' names, and which row each trial came from."""

    cells: NDArray[np.uint8]
    names: tuple[str, ...]
    rows: NDArray[np.int64]
    n_rows: int
    notes: tuple[str, ...] = ()
    states: Mapping[str, tuple[Label, ...]] = field(default_factory=dict)
    """The labels of signs that came from a table, and which of them means yes."""
    yes: Mapping[str, int] = field(default_factory=dict)

    def by_row(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Means over the trials of each row: a row that counts several times has several trials."""
        if len(self.rows) == self.n_rows:
            return values
        total = np.zeros((self.n_rows, values.shape[1]))
        np.add.at(total, self.rows, values)
        return total / np.maximum(np.bincount(self.rows, minlength=self.n_rows), 1)[:, None]

    def like(self, source: Any) -> NDArray[np.uint8]:
        """Cells of new rows, read as these were; in a table a column that is not there is holes."""
        if self.yes and not isinstance(source, np.ndarray | list | tuple):
            table = as_table(source, self.states)
            columns = [
                np.where(codes == table.missing, HOLE, codes == self.yes[name])
                for name, codes in zip(self.names, table.codes, strict=True)
            ]
            return np.stack(columns, axis=1).astype(np.uint8)
        cells = read_signs(source).cells
        if cells.shape[1] != len(self.names):
            raise TableError(f"rows have {cells.shape[1]} signs; {len(self.names)} were fitted")
        return cells


def read_signs(source: Any) -> Signs:
    """Signs from an array (trials, observed) of 0, 1 and missing, or from anything read_table takes.

    Of a table the columns with two states are used, the others set aside and named. Which state is "yes" follows
    from its word or number; where that says nothing, it is the rarer one, and a note says so.
    """
    if isinstance(source, Signs):
        return source
    if isinstance(source, np.ndarray | list | tuple):
        cells = read_cells(source)
        names = tuple(f"x{i}" for i in range(cells.shape[1]))
        return Signs(cells, names, np.arange(len(cells)), len(cells))
    return _from_table(as_table(source))


def _from_table(table: Table) -> Signs:
    columns: list[NDArray[np.uint8]] = []
    names: list[str] = []
    notes: list[str] = list(table.notes)
    aside: list[str] = []
    states: dict[str, tuple[Label, ...]] = {}
    codes_of_yes: dict[str, int] = {}
    for variable, codes in zip(table.columns, table.codes, strict=True):
        seen = codes != table.missing
        yes = _yes_state(variable, codes[seen], notes)
        if yes is None:
            aside.append(variable.name)
            continue
        columns.append(np.where(seen, codes == yes, HOLE).astype(np.uint8))
        names.append(variable.name)
        states[variable.name], codes_of_yes[variable.name] = variable.states, yes
    if aside:
        notes += told([NotYesNo(tuple(aside))])
    if not columns:
        raise TableError("no column has two states: hidden causes need yes/no signs; see table.states")
    cells = np.stack(columns, axis=1)
    rows = _repeats(table)
    return Signs(cells[rows], tuple(names), rows, table.n_rows, tuple(notes), states, codes_of_yes)


def _yes_state(variable: Variable, codes: NDArray[np.unsignedinteger], notes: list[str]) -> int | None:
    """The code that means yes; −1 where the column only ever says no; None where it is no yes/no column."""
    words = [_word(state) for state in variable.states]
    if len(words) > 2 or not words:
        return None
    for code, word in enumerate(words):
        other = words[1 - code] if len(words) == 2 else ""
        if word in YES and other not in YES:
            return code
        if word in NO and other not in NO:
            return 1 - code if len(words) == 2 else -1
    if len(words) == 1:
        return None
    yes = int(np.count_nonzero(codes == 1) <= np.count_nonzero(codes == 0))
    notes += told([RarerIsYes(variable.name, variable.states[yes])])
    return yes


def _word(state: Label) -> str:
    if isinstance(state, float) and state.is_integer():
        state = int(state)
    return str(state).strip().lower()


def _repeats(table: Table) -> NDArray[np.int64]:
    """Rows as often as their weights say; a cause is active or not in each of them."""
    rows = np.arange(table.n_rows)
    if table.weights is None:
        return rows
    whole = np.rint(table.weights)
    if not np.array_equal(whole, table.weights):
        raise TableError("weights are not whole numbers: hidden causes are drawn for every row, so rows are repeated")
    if whole.sum() > MOST_ROWS:
        raise TableError(f"the weights sum to {whole.sum():.0f} rows; at most {MOST_ROWS} can be sampled")
    return np.repeat(rows, whole.astype(np.int64))
