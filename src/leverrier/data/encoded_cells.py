"""Encoded cells put together: every row, or, where those would not fit, the distinct rows with how often each came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.column import Source
from leverrier.data.labels import few
from leverrier.data.memory_limit import fits, in_words, numbers_fit, refuse_beyond
from leverrier.data.projection import project
from leverrier.data.reading.encoding import places, raw_numbers
from leverrier.data.table import Table
from leverrier.data.variable import Variable, code_type
from leverrier.hints import option

BATCH = 8_000_000
"""Cells of a tall file that are fetched and encoded at a time."""
Cells = NDArray[np.unsignedinteger]


@dataclass(frozen=True)
class Encoded:
    """Columns of a short source by name: their cells as codes, and the numbers of those that were cut."""

    codes: dict[str, Cells] = field(default_factory=dict)
    raw: dict[str, Floats] = field(default_factory=dict)


def put_together(
    data: Source,
    variables: Sequence[Variable],
    encoded: Encoded,
    weights: Floats | None,
    notes: Sequence[str],
    aside: Mapping[str, str],
    limit: int | None,
) -> Table:
    """The table of these variables. `encoded` has the cells of short sources; those of tall files are fetched here,
    straight into the table or, where that would not fit, into its distinct rows."""
    kind = code_type(max(variable.cardinality for variable in variables))
    whole = fits(variables, data.n_rows, limit)
    kept = whole and numbers_fit(variables, data.n_rows, limit)
    said = (*notes, *_numbers_lost(variables, data.n_rows, whole, kept))
    if data.part is None:
        codes, raw = _stacked(variables, encoded.codes, data.n_rows, kind), encoded.raw if kept else {}
        table = Table(tuple(variables), codes, weights, said, dict(aside), raw=raw)
        if whole:
            return table
        counted = table.distinct()
        refuse_beyond(variables, counted.n_rows, limit, f"the {counted.n_rows:,} distinct rows of {data.what}")
        return counted
    if whole:
        return _fetched_whole(data, variables, kind, kept, weights, said, aside)
    rows = DistinctRows(variables, data.what, limit)
    for start, part in _parts(data, variables):
        cells = encoded_part(part, variables, kind)
        rows.add(cells, None if weights is None else weights[start : start + part.n_rows])
    return rows.table(said, aside)


def _fetched_whole(
    data: Source,
    variables: Sequence[Variable],
    kind: type[np.unsignedinteger[Any]],
    kept: bool,
    weights: Floats | None,
    notes: Sequence[str],
    aside: Mapping[str, str],
) -> Table:
    """Every row of a tall file, a batch at a time; with its numbers if those are kept."""
    codes = np.full((len(variables), data.n_rows), np.iinfo(kind).max, dtype=kind)
    raw: dict[str, Floats] = {}
    for start, part in _parts(data, variables):
        rows = slice(start, start + part.n_rows)
        codes[:, rows] = encoded_part(part, variables, kind)
        for variable in [each for each in variables if kept and each.name in part.names]:
            values = raw_numbers(part.column(variable.name).to_be_cut(), variable)
            if values is not None:
                if variable.name not in raw:
                    raw[variable.name] = np.full(data.n_rows, np.nan)
                raw[variable.name][rows] = values
    return Table(tuple(variables), codes, weights, tuple(notes), dict(aside), raw=raw)


def _numbers_lost(variables: Sequence[Variable], rows: int, whole: bool, kept: bool) -> list[str]:
    """What to say where only the bins of numbers are kept."""
    cut = [variable.name for variable in variables if variable.binned]
    if kept or not cut:
        return []
    much = f"they take {in_words(8.0 * rows * len(cut))}; {option('max_memory')} allows more"
    why = much if whole else "equal rows are counted"
    return [f"only the bins of {few(cut)} are kept, not the numbers: {why}."]


@dataclass
class DistinctRows:
    """Rows that come in batches, kept once each with the weight of all that were equal, in ascending order."""

    variables: Sequence[Variable]
    what: str = "the table"
    limit: int | None = None
    _waiting: list[tuple[Cells, Floats]] = field(default_factory=list)
    _kept: int = 0
    _new: int = 0

    def add(self, codes: Cells, weights: Floats | None = None) -> None:
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


def _parts(data: Source, variables: Sequence[Variable]) -> Iterator[tuple[int, Source]]:
    """Where each batch of rows begins, and its columns."""
    assert data.part is not None
    present = [variable.name for variable in variables if variable.name in data.names]
    rows = max(BATCH // max(len(present), 1), 1)
    for start in range(0, data.n_rows, rows):
        yield start, data.part(start, min(start + rows, data.n_rows), present)


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
