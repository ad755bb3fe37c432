"""A table as the learners see it: named variables with finite states, cells as small integers by column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.card import card
from leverrier.data.column import About
from leverrier.data.projection import Projection, project
from leverrier.data.quality.noticed import Noticed
from leverrier.data.table_summary import summarise
from leverrier.data.variable import Label, Variable, code_type, free_name, missing_code
from leverrier.errors import TableError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_KEPT_BYTES = 64 * 2**20
"""Projections above this much memory together are forgotten, oldest first."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of finite-state variables. `codes[v, i]` is row i's state of variable v; a hole is `missing`."""

    columns: tuple[Variable, ...]
    codes: NDArray[np.unsignedinteger]
    weights: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()
    """What reading changed or set aside, one sentence each."""
    aside: Mapping[str, str] = field(default_factory=dict)
    """The columns that were set aside, and why."""
    counted: bool = False
    """Whether rows are distinct ones, each standing for as many rows of the source as its weight says."""
    about: Mapping[str, About] = field(default_factory=dict, repr=False)
    """What a statistics file says of its columns: labels, codes, codes for missing. `write_table` writes it again."""
    noticed: tuple[Noticed, ...] = ()
    """What reading noticed in the data; `quality` has what is seen in the rows as well."""
    raw: Mapping[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)
    """Of columns that were cut into bins: what they held, by row, NaN for a hole. Ask `numbers`, which has all."""
    _projections: dict[tuple[str, ...], Projection] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise TableError(f"two columns are named {twice[0]!r}: column names must differ; rename one")
        if self.codes.ndim != 2 or len(self.codes) != len(names):
            raise TableError(f"codes have shape {self.codes.shape}, expected ({len(names)}, rows)")
        if self.weights is not None and self.weights.shape != (self.codes.shape[1],):
            raise TableError(f"{self.weights.size} weights for {self.codes.shape[1]} rows: one each is needed")
        for name, values in self.raw.items():
            if name not in names or values.shape != (self.codes.shape[1],):
                raise TableError(f"numbers of {name!r} of shape {values.shape}: one a row of a column is needed")
            values.flags.writeable = False
        self.codes.flags.writeable = False

    @classmethod
    def from_codes(
        cls,
        states: Mapping[str, Sequence[Label]],
        codes: NDArray[np.integer],
        weights: NDArray[np.float64] | None = None,
    ) -> Table:
        """A table from states by variable and codes of shape (variables, rows), −1 where missing."""
        columns = tuple(Variable(name, tuple(labels)) for name, labels in states.items())
        kind = code_type(max((len(column.states) for column in columns), default=1))
        cells = np.asarray(codes)
        small = np.where(cells < 0, np.iinfo(kind).max, cells).astype(kind)
        return cls(columns, np.ascontiguousarray(small), weights)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def quality(self) -> tuple[Noticed, ...]:
        """What a careful analyst would notice: copies, totals, codes for missing, skipped questions, groups of rows."""
        from leverrier.data.quality.looking import looked

        return (*self.noticed, *looked(self))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.variables)}

    @property
    def states(self) -> dict[str, tuple[Label, ...]]:
        return {column.name: column.states for column in self.columns}

    @property
    def cardinalities(self) -> NDArray[np.int64]:
        return np.array([column.cardinality for column in self.columns], dtype=np.int64)

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])

    @property
    def total(self) -> float:
        """The number of rows, or the sum of the weights."""
        return float(self.n_rows if self.weights is None else self.weights.sum())

    @property
    def n_cases(self) -> int:
        """How many rows the source had: those that equal ones stand for are counted too."""
        return round(self.total) if self.counted else self.n_rows

    @property
    def missing(self) -> int:
        return missing_code(self.codes)

    @property
    def n_missing(self) -> int:
        """Empty cells, of the source if its equal rows were counted."""
        if not self.counted or self.weights is None:
            return int(np.count_nonzero(self.codes == self.missing))
        return round(float(np.count_nonzero(self.codes == self.missing, axis=0) @ self.weights))

    @property
    def numbers(self) -> Mapping[str, NDArray[np.float64]]:
        """By column that came as numbers (kind "binned" or "integer"): its values by row, NaN for a hole.

        Empty for a table made of codes. Rows that were counted (`distinct`, or read within max_memory) stand for many
        numbers within a bin: such a table has those of its "integer" columns alone, whose states are the numbers.
        """
        return Numbers(self)

    @property
    def measured(self) -> tuple[str, ...]:
        """The columns of many numbers that are kept beside their bins."""
        return tuple(column.name for column in self.columns if column.binned and column.name in self.numbers)

    def index(self, name: str) -> int:
        if name not in self._places:
            raise TableError(f"no column {name!r}; the columns are {_some(self.variables)}")
        return self._places[name]

    def column(self, name: str) -> NDArray[np.unsignedinteger]:
        return self.codes[self.index(name)]

    def select(self, names: Iterable[str]) -> Table:
        """These columns, in this order."""
        wanted = list(names)
        kept = [self.index(name) for name in wanted]
        return replace(
            self,
            columns=tuple(self.columns[position] for position in kept),
            codes=np.ascontiguousarray(self.codes[kept]),
            raw={name: self.raw[name] for name in wanted if name in self.raw},
            about={name: self.about[name] for name in wanted if name in self.about},
            _projections={},
        )

    def drop(self, *names: str) -> Table:
        """Every column but these."""
        for name in names:
            self.index(name)
        return self.select(name for name in self.variables if name not in names)

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_] | slice) -> Table:
        """These rows, in this order (repeats allowed: that is a resample)."""
        return replace(
            self,
            codes=np.ascontiguousarray(self.codes[:, rows]),
            weights=None if self.weights is None else self.weights[rows],
            raw={name: values[rows] for name, values in self.raw.items()},
            about={name: each.of_rows(rows) for name, each in self.about.items()},
            _projections={},
        )

    def project(self, names: Sequence[str]) -> Projection:
        """The distinct configurations of these variables with their weights (the latest are kept)."""
        key = tuple(names)
        kept = self._projections
        found = kept.get(key)
        if found is None:
            positions = np.array([self.index(name) for name in key], dtype=np.int64)
            found = project(self.codes, self.cardinalities[positions], self.weights, positions)
            kept[key] = found
            while len(kept) > 1 and sum(projection.nbytes for projection in list(kept.values())) > _KEPT_BYTES:
                kept.pop(next(iter(kept)), None)
        return found

    def distinct(self) -> Table:
        """Each row once, in ascending order, with the weight of all that are equal. Equal rows may differ in their
        numbers within a bin, so those of binned columns are not kept."""
        found = project(self.codes, self.cardinalities, self.weights)
        return replace(
            self,
            codes=found.configurations,
            weights=found.weights,
            counted=self.counted or self.weights is None,
            raw={},
            about={name: each.of_rows(None) for name, each in self.about.items()},
            _projections={},
        )

    def without_numbers(self) -> Table:
        """The same states alone: what learners over states send to other processes."""
        return replace(self, raw={}, _projections={}) if self.raw else self

    def labelled(self, weights: str = "weight") -> dict[str, tuple[Variable | None, NDArray[Any]]]:
        """What the table becomes outside: each variable with its numbers where they are kept, else with its codes (−1
        for holes); last the weights, if there are any, under a name that is free."""
        columns: dict[str, tuple[Variable | None, NDArray[Any]]] = {}
        for variable, cells in zip(self.columns, self.codes, strict=True):
            codes = np.where(cells == self.missing, -1, cells.astype(np.int32))
            columns[variable.name] = variable, self.raw.get(variable.name, codes)
        if self.weights is not None:
            columns[free_name(weights, columns)] = None, self.weights
        return columns

    def to_pandas(self) -> pandas.DataFrame:
        """The rows with their labels, numbers as numbers, as a pandas DataFrame; holes are missing values."""
        from leverrier.data.reading.frames import to_frame

        return to_frame(self.labelled(), "pandas")

    def to_polars(self) -> polars.DataFrame:
        """The rows with their labels, numbers as numbers, as a polars DataFrame; holes are nulls."""
        from leverrier.data.reading.frames import to_frame

        return to_frame(self.labelled(), "polars")

    def to_pyarrow(self) -> pyarrow.Table:
        """The rows with their labels, numbers as numbers, as a pyarrow Table; holes are nulls."""
        from leverrier.data.reading.frames import to_frame

        return to_frame(self.labelled(), "pyarrow")

    def summary(self) -> str:
        """The table in words: size, variables with their states and holes, what was set aside, the notes."""
        holes = np.count_nonzero(self.codes == self.missing, axis=1)
        total = None if self.weights is None else self.total
        return summarise(self.columns, holes, self.n_rows, total, self.aside, self.notes)

    def __getstate__(self) -> dict[str, Any]:
        """Projections are made again where they are needed, not sent to other processes."""
        return {**self.__dict__, "_projections": {}}

    def _repr_html_(self) -> str:
        holes = np.count_nonzero(self.codes == self.missing, axis=1).tolist()
        rows = [
            (column.name, column.kind, column.cardinality, ", ".join(str(state) for state in column.states[:6]), count)
            for column, count in zip(self.columns, holes, strict=True)
        ]
        facts = {"rows": f"{self.n_rows:,}", "variables": len(self.columns), "holes": f"{self.n_missing:,}"}
        return card("Table", facts, ("variable", "kind", "states", "", "holes"), rows, self.notes[:4])

    def __repr__(self) -> str:
        holes = f", {self.n_missing} holes" if self.n_missing else ""
        return f"Table({self.n_rows} rows, {len(self.columns)} variables{holes})"


@dataclass(frozen=True, eq=False)
class Numbers(Mapping[str, NDArray[np.float64]]):
    """The columns of a table that came as numbers: kept beside their bins, or told by the states of whole numbers."""

    table: Table

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        table = self.table
        if name in table.raw:
            return table.raw[name]
        if name not in self._names:
            raise KeyError(name)
        place = table.index(name)
        known = np.full(table.missing + 1, np.nan)
        known[: table.columns[place].cardinality] = np.array(table.columns[place].states, dtype=np.float64)
        return known[table.codes[place]]

    @property
    def _names(self) -> list[str]:
        return [each.name for each in self.table.columns if each.whole or each.name in self.table.raw]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _some(names: Sequence[Any], most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
