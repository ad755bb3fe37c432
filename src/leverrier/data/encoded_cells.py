"""Encoded cells put together: every row, or, where those would not fit, the distinct rows with how often each came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.column import Source
from leverrier.data.memory_limit import fits, refuse_beyond
from leverrier.data.projection import project
from leverrier.data.reading.encoding import places
from leverrier.data.table import Table, Variable, code_type

BATCH = 8_000_000
"""Cells of a tall file that are fetched and encoded at a time."""
Cells = NDArray[np.unsignedinteger]
Weights = NDArray[np.float64]


def put_together(
    data: Source,
    variables: Sequence[Variable],
    encoded: dict[str, Cells],
    weights: Weights | None,
    notes: Sequence[str],
    aside: Mapping[str, str],
    limit: int | None,
) -> Table:
    """The table of these variables. `encoded` has the cells of short sources; those of tall files are fetched here,
    straight into the table or, where that would not fit, into its distinct rows."""
    kind = code_type(max(variable.cardinality for variable in variables))
    if data.part is None:
        whole = _stacked(variables, encoded, data.n_rows, kind)
        table = Table(tuple(variables), whole, weights, tuple(notes), dict(aside))
        if fits(variables, data.n_rows, limit):
            return table
        counted = table.distinct()
        refuse_beyond(variables, counted.n_rows, limit, f"the {counted.n_rows:,} distinct rows of {data.what}")
        return counted
    present = [variable.name for variable in variables if variable.name in data.names]
    if fits(variables, data.n_rows, limit):
        codes = np.full((len(variables), data.n_rows), np.iinfo(kind).max, dtype=kind)
        for start, part in _parts(data, variables, present, kind):
            codes[:, start : start + part.shape[1]] = part
        return Table(tuple(variables), codes, weights, tuple(notes), dict(aside))
    rows = DistinctRows(variables, data.what, limit)
    for start, part in _parts(data, variables, present, kind):
        rows.add(part, None if weights is None else weights[start : start + part.shape[1]])
    return rows.table(notes, aside)


@dataclass
class DistinctRows:
    """Rows that come in batches, kept once each with the weight of all that were equal, in ascending order."""

    variables: Sequence[Variable]
    what: str = "the table"
    limit: int | None = None
    _waiting: list[tuple[Cells, Weights]] = field(default_factory=list)
    _kept: int = 0
    _new: int = 0

    def add(self, codes: Cells, weights: Weights | None = None) -> None:
        found = project(codes, self._sizes, weights)
        self._waiting.append((found.configurations, found.weights))
        self._new += len(found)
        if self._new >= max(self._kept, 1):  # as many new ones as are kept: each row is merged a few times only
            self._merge()

    def table(self, notes: Sequence[str] = (), aside: Mapping[str, str] | None = None) -> Table:
        self._merge()
        codes, weights = self._waiting[0]
        return Table(tuple(self.variables), codes, weights, tuple(notes), dict(aside or {}), counted=True)

    @property
    def _sizes(self) -> NDArray[np.int64]:
        return np.array([variable.cardinality for variable in self.variables], dtype=np.int64)

    def _merge(self) -> None:
        if len(self._waiting) > 1:
            refuse_beyond(self.variables, self._kept + self._new, self.limit, f"the distinct rows of {self.what}")
            weights = np.concatenate([weight for _, weight in self._waiting])
            codes = np.concatenate([cells for cells, _ in self._waiting], axis=1)
            self._waiting.clear()
            merged = project(codes, self._sizes, weights)
            self._waiting.append((merged.configurations, merged.weights))
        self._kept, self._new = sum(len(weights) for _, weights in self._waiting), 0


def _parts(
    data: Source, variables: Sequence[Variable], present: Sequence[str], kind: type[np.unsignedinteger[Any]]
) -> Iterator[tuple[int, Cells]]:
    """Where each batch of rows begins, and its cells."""
    assert data.part is not None
    rows = max(BATCH // max(len(present), 1), 1)
    for start in range(0, data.n_rows, rows):
        part = data.part(start, min(start + rows, data.n_rows), present)
        yield start, encoded_part(part, variables, kind)


def encoded_part(data: Source, variables: Sequence[Variable], kind: type[np.unsignedinteger[Any]]) -> Cells:
    """The cells of some rows; what they may hold was checked when their columns were looked at."""
    codes = np.full((len(variables), data.n_rows), np.iinfo(kind).max, dtype=kind)
    for row, variable in zip(codes, variables, strict=True):
        if variable.name in data.names:
            column = data.column(variable.name)
            column = column.to_be_cut() if variable.cuts else column
            found, _ = places(column, variable, "hole")
            _fill(row, np.append(found, np.int32(-1))[column.codes()])
    return codes


def _stacked(
    variables: Sequence[Variable], encoded: dict[str, Cells], n_rows: int, kind: type[np.unsignedinteger[Any]]
) -> Cells:
    """All columns in one array, each given up as it is copied."""
    codes = np.full((len(variables), n_rows), np.iinfo(kind).max, dtype=kind)
    for row, variable in zip(codes, variables, strict=True):
        cells = encoded.pop(variable.name, None)
        if cells is not None:
            np.copyto(row, cells, where=cells != np.iinfo(cells.dtype).max)
    return codes


def small(codes: NDArray[np.signedinteger], variable: Variable) -> Cells:
    """One column in the smallest type that holds its states, whose largest value is the hole."""
    kind = code_type(variable.cardinality)
    cells = np.full(len(codes), np.iinfo(kind).max, dtype=kind)
    _fill(cells, codes)
    return cells


def _fill(row: Cells, codes: NDArray[np.signedinteger]) -> None:
    """States as they are; −1 becomes the hole, which is what the row holds already."""
    np.copyto(row, codes, where=codes >= 0, casting="unsafe")
