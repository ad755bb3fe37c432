"""Counts from rows in which each hidden variable has been given a state: the data as if they were complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.family import Family
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table, Variable, code_type, missing_code
from leverrier.errors import TableError


class AssignedCounts:
    """Rows and a hard state for each hidden variable: counts of the completed data [elidan2001 section 3].

    `table` is the completed table: a hidden variable is a column of it like any other.
    """

    def __init__(self, table: Table, assigned: Mapping[str, NDArray[np.integer]]) -> None:
        self.table = completed(table, assigned)
        self.assigned = tuple(assigned)
        self._counts = ObservedCounts(self.table)

    @property
    def cardinalities(self) -> dict[str, int]:
        return self._counts.cardinalities

    @property
    def total(self) -> float:
        return self._counts.total

    def tables(self, families: Sequence[Family]) -> list[NDArray[np.float64]]:
        """One array a family; a row with a hole in a family is left out of that family's table only."""
        return self._counts.tables(families)


def completed(table: Table, assigned: Mapping[str, NDArray[np.integer]]) -> Table:
    """The table with one more column for each assignment; states are numbered from 0 without gaps."""
    columns = list(table.columns)
    codes = list(table.codes)
    for name, states in assigned.items():
        if name in table.variables:
            raise TableError(f"{name!r} is a column of the table: only what is not observed can be given a state")
        if np.shape(states) != (table.n_rows,) or (table.n_rows and np.min(states) < 0):
            raise TableError(f"{name!r}: expected one state for each of {table.n_rows} rows, numbered from 0")
        columns.append(Variable(name, tuple(str(k) for k in range(int(np.max(states, initial=0)) + 1))))
        codes.append(np.asarray(states))
    kind = code_type(max(column.cardinality for column in columns))
    cells = np.empty((len(columns), table.n_rows), dtype=kind)
    hole = table.missing
    for row, column in zip(cells, codes, strict=True):
        row[:] = column
    if kind != table.codes.dtype:
        given = cells[: len(table.columns)]
        given[table.codes == hole] = missing_code(cells)
    return Table(tuple(columns), cells, table.weights, table.notes)
