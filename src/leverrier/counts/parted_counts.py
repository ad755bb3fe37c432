"""Counts summed over the parts of a table: over bits of how often rows came, over batches, over machines.

Sums of whole counts are exact, so that the answer is the same however a table is parted.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.family import Family
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.encoded_cells import DistinctRows
from leverrier.data.file_parts import FileParts
from leverrier.data.projection import Projection, project
from leverrier.data.table import Table, Variable

Whole = NDArray[np.int64]
FEW_ROWS = 4096
"""Up to this many distinct rows are counted with their weights: bits would be many short tables."""


Question = str | Callable[..., Any]
"""A method or attribute of what a part is, by name, or a function of it."""


class Kept(Protocol):
    """Something for each part, wherever it is, in a fixed order of parts."""

    def ask(self, question: Question, *about: Any) -> list[Any]:
        """What each answers, part by part."""
        ...


class Parts(Kept, Protocol):
    """Parts of a table, as `CountedRows`: each answers for its own rows."""

    columns: tuple[Variable, ...]
    total: float
    full: NDArray[np.bool_]
    """By column, whether no row lacks it."""

    def each(self, question: Question, *about: Any) -> Iterator[Any]:
        """As `ask`, one part after another, so that only one answer is here at a time."""
        ...

    def keep(self, question: Question, *about: Any) -> Kept:
        """The answers themselves as parts: left where they are made, to be asked in their turn."""
        ...


class CountedRows:
    """Distinct rows with whole weights. Rows whose weight has a bit set are counted by bitmaps, bit by bit: most rows
    of a large table came once or twice, so that this is little more than counting each distinct row once."""

    def __init__(self, table: Table, threads: int = 1) -> None:
        self.table = table
        self._threads = threads

    @property
    def cardinalities(self) -> dict[str, int]:
        return {column.name: column.cardinality for column in self.table.columns}

    @property
    def total(self) -> float:
        return self.table.total

    @cached_property
    def full(self) -> NDArray[np.bool_]:
        return self.table.codes.max(axis=1, initial=0) < self.table.missing

    @property
    def shown(self) -> NDArray[np.bool_]:
        """By column, whether some row has it."""
        return self.table.codes.min(axis=1, initial=self.table.missing) < self.table.missing

    @property
    def complete(self) -> bool:
        return bool(self.full.all())

    @cached_property
    def _bits(self) -> list[tuple[int, ObservedCounts]]:
        """What each row of a table without weights stands for, and its counts."""
        table = self.table
        if table.weights is None or table.n_rows <= FEW_ROWS:
            return [(1, ObservedCounts(table, self._threads))]
        whole = table.weights.astype(np.int64)
        found = []
        for bit in range(int(whole.max(initial=0)).bit_length()):
            rows = np.flatnonzero(whole >> bit & 1)
            if len(rows):
                codes = np.ascontiguousarray(table.codes[:, rows])
                found.append((1 << bit, ObservedCounts(Table(table.columns, codes), self._threads)))
        return found

    def tables(self, families: Sequence[Family]) -> list[NDArray[np.float64]]:
        """One array a family: axes are the parents in order, then the child."""
        by_bit = [[each * times for each in counts.tables(families)] for times, counts in self._bits]
        return [np.sum(same, axis=0) for same in zip(*by_bit, strict=True)]

    def expand(self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_]) -> tuple[Whole, Whole]:
        """Tables of the child with these parents and each wanted column (see PackedTables), none left out."""
        places = np.flatnonzero(wanted)
        states = np.append(self.table.cardinalities, 1)
        sizes = np.where(wanted, states * states[[child, *parents]].prod(), 0)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        counts = np.zeros(int(starts[-1]), dtype=np.int64)
        for times, part in self._bits:
            own, begins = part.expand(child, parents, wanted, keep_empty=True)
            asked = [own[begins[v] : begins[v + 1]] for v in places.tolist()]  # (bitmaps leave room for the others)
            counts += np.concatenate(asked).astype(np.int64) * times
        return counts, starts

    def __getstate__(self) -> dict[str, Any]:
        """Counts are made again where they are needed, not sent to other processes."""
        return {"table": self.table, "_threads": self._threads}

    def project(self, names: Sequence[str]) -> tuple[NDArray[np.unsignedinteger], NDArray[np.float64]]:
        """The distinct configurations of these columns, and their weights."""
        table = self.table
        if tuple(names) == table.variables and table.weights is not None:
            return table.codes, table.weights
        places = np.array([table.index(name) for name in names], dtype=np.int64)
        found = project(table.codes, table.cardinalities[places], table.weights, places)  # (asked once: not kept)
        return found.configurations, found.weights

    def n_distinct(self, names: Sequence[str]) -> int:
        """How many configurations these are."""
        return len(self.project(names)[1])


class DiskParts:
    """A file's rows in parts that wait in a temporary folder, for tables whose distinct rows do not fit in memory. Each
    question reads all of them once, one at a time; the folder goes when nobody asks any more."""

    def __init__(self, file: FileParts) -> None:
        self.columns = file.columns
        self.total = float(file.n_rows)
        folder = tempfile.mkdtemp(prefix="leverrier-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._names: list[Path] = []
        for start, stop in file.ranges():
            table = file.read(start, stop)
            assert table.weights is not None
            self._names.append(Path(folder) / str(start))
            np.save(f"{self._names[-1]}.codes.npy", table.codes)
            np.save(f"{self._names[-1]}.weights.npy", table.weights)
        self.full: NDArray[np.bool_] = np.logical_and.reduce(self.ask("full"))

    def ask(self, question: Question, *about: Any) -> list[Any]:
        return list(self.each(question, *about))

    def each(self, question: Question, *about: Any) -> Iterator[Any]:
        for name in self._names:
            yield answer(self._part(name), question, about)

    def keep(self, question: Question, *about: Any) -> Kept:
        return DiskKept(self.each(question, *about))

    def _part(self, name: Path) -> CountedRows:
        codes, weights = (np.load(f"{name}.{what}.npy") for what in ("codes", "weights"))
        return CountedRows(Table(self.columns, codes, weights, counted=True))


class DiskKept:
    """Anything made of the parts of a file, in a temporary folder of its own that nobody else may write to."""

    def __init__(self, made: Iterator[Any]) -> None:
        folder = tempfile.mkdtemp(prefix="leverrier-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._names: list[Path] = []
        for number, each in enumerate(made):
            self._names.append(Path(folder) / str(number))
            with self._names[-1].open("wb") as file:
                pickle.dump(each, file, protocol=5)

    def ask(self, question: Question, *about: Any) -> list[Any]:
        return [answer(self._load(name), question, about) for name in self._names]

    def _load(self, name: Path) -> Any:
        with name.open("rb") as file:
            return pickle.load(file)


def answer(part: Any, question: Question, about: tuple[Any, ...]) -> Any:
    """What a part says."""
    if callable(question):
        return question(part, *about)
    said = getattr(part, question)
    return said(*about) if callable(said) else said


class PartedCounts:
    """Counts of all parts together. One question to every part is one pass over the data."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @property
    def cardinalities(self) -> dict[str, int]:
        return {column.name: column.cardinality for column in self._parts.columns}

    @property
    def total(self) -> float:
        return self._parts.total

    @property
    def complete(self) -> bool:
        return bool(self._parts.full.all())

    def tables(self, families: Sequence[Family]) -> list[NDArray[np.float64]]:
        """One array a family, summed over the parts in their order."""
        answers = self._parts.ask("tables", list(families))
        return [np.sum(same, axis=0) for same in zip(*answers, strict=True)]

    def expand(self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_]) -> tuple[Whole, Whole]:
        """As CountedRows.expand; every part has the same tables."""
        answers = self._parts.ask("expand", child, list(parents), wanted)
        return np.sum([counts for counts, _ in answers], axis=0), answers[0][1]


def projected(parts: Parts, names: Sequence[str]) -> Projection:
    """The distinct configurations of these columns over all parts, ascending, without who has which."""
    place = {column.name: v for v, column in enumerate(parts.columns)}
    sizes = np.array([parts.columns[place[name]].cardinality for name in names], dtype=np.int64)
    answers = parts.ask("project", tuple(names))
    codes = np.concatenate([configurations for configurations, _ in answers], axis=1)
    return project(codes, sizes, np.concatenate([weights for _, weights in answers]))


def gathered(parts: Parts, file: FileParts, limit: int | None = None) -> Table:
    """All distinct rows in one table, if they fit."""
    rows = DistinctRows(parts.columns, file.path, limit)
    for table in parts.each("table"):
        rows.add(table.codes, table.weights)
    return rows.table(file.notes, file.aside)


def counts_of(table: Table, threads: int = 1) -> ObservedCounts | CountedRows:
    """Who counts a table: distinct rows that came many times by bits, others as they are."""
    return CountedRows(table, threads) if table.counted and table.n_rows > FEW_ROWS else ObservedCounts(table, threads)
