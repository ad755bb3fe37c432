"""A table as the learners see it: named variables with finite states, cells as small integers by column."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.data.card import card
from leverrier.data.projection import Projection, project
from leverrier.errors import TableError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Label = Hashable
Kind = Literal["category", "ordered", "boolean", "integer", "binned"]
_KEPT_BYTES = 64 * 2**20
"""Projections above this much memory together are forgotten, oldest first."""


def missing_code(codes: NDArray[np.unsignedinteger]) -> int:
    """The code of a hole: the largest value of the cells' type, so that states stay 0, 1, 2…"""
    return (1 << 8 * codes.itemsize) - 1


def code_type(largest_cardinality: int) -> type[np.uint8] | type[np.uint16]:
    """The smallest cell type that holds the states and the hole."""
    if largest_cardinality <= 255:
        return np.uint8
    if largest_cardinality <= 65535:
        return np.uint16
    raise TableError(
        f"a variable has {largest_cardinality} states; at most 65535 can be used: "
        "leave the column out (ignore=) or cut it into bins (bins=)"
    )


@dataclass(frozen=True)
class Variable:
    """A column's name, its states in order, and how they came about."""

    name: str
    states: tuple[Label, ...]
    kind: Kind = "category"
    cuts: tuple[float, ...] = ()
    """For a binned column the inner cuts, ascending: state i holds cuts[i-1] <= x < cuts[i]."""

    @property
    def cardinality(self) -> int:
        return len(self.states)


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

    def index(self, name: str) -> int:
        if name not in self._places:
            raise TableError(f"no column {name!r}; the columns are {_some(self.variables)}")
        return self._places[name]

    def column(self, name: str) -> NDArray[np.unsignedinteger]:
        return self.codes[self.index(name)]

    def select(self, names: Iterable[str]) -> Table:
        """These columns, in this order."""
        kept = [self.index(name) for name in names]
        return replace(
            self,
            columns=tuple(self.columns[position] for position in kept),
            codes=np.ascontiguousarray(self.codes[kept]),
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
        """Each row once, in ascending order, with the weight of all that are equal."""
        found = project(self.codes, self.cardinalities, self.weights)
        return replace(
            self,
            codes=found.configurations,
            weights=found.weights,
            counted=self.counted or self.weights is None,
            _projections={},
        )

    def to_pandas(self) -> pandas.DataFrame:
        """The rows with their labels, as a pandas DataFrame; holes are missing values."""
        from leverrier.data.reading.frames import to_frame

        return to_frame(self, "pandas")

    def to_polars(self) -> polars.DataFrame:
        """The rows with their labels, as a polars DataFrame; holes are nulls."""
        from leverrier.data.reading.frames import to_frame

        return to_frame(self, "polars")

    def to_pyarrow(self) -> pyarrow.Table:
        """The rows with their labels, as a pyarrow Table; holes are nulls."""
        from leverrier.data.reading.frames import to_frame

        return to_frame(self, "pyarrow")

    def summary(self) -> str:
        """The table in words: size, variables with their states and holes, what was set aside, the notes."""
        from leverrier.data.table_summary import summarise

        return summarise(self)

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


def _some(names: Sequence[Any], most: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
