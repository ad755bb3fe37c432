"""A table's rows wherever they live: here, in parts of a file on disk, or with the workers of a cluster.

Learners ask `Rows` and never where that is.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from leverrier.counts.cluster_parts import ClusterParts
from leverrier.counts.family import Statistics
from leverrier.counts.observation import Observation, Pairing, observe
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.counts.parted_counts import DiskParts, PartedCounts, Parts, counts_of, gathered
from leverrier.counts.parted_observation import PartedObservation
from leverrier.data.file_parts import FileParts, is_parquet_path, look_at
from leverrier.data.reading.read_table import as_table
from leverrier.data.table import Label, Table
from leverrier.errors import TooLargeError
from leverrier.models.graph import Graph
from leverrier.run.cluster import connect

States = Mapping[str, tuple[Label, ...]]


class Rows(ABC):
    """What a learner may ask of rows."""

    here: bool
    """Whether the rows themselves are in `table`."""

    @property
    @abstractmethod
    def table(self) -> Table:
        """The columns and what was said of them, with the rows if they are here."""

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether no cell is missing."""

    @abstractmethod
    def counts(self, threads: int = 1) -> Statistics:
        """Who counts them."""

    @abstractmethod
    def only(self, names: Sequence[str]) -> Rows:
        """The same rows of these columns."""

    @abstractmethod
    def pair(self, graph: Graph, states: States) -> Pairing:
        """Paired with a graph that has these states."""

    @abstractmethod
    def gathered(self, limit: int | None = None) -> Rows:
        """The distinct rows brought here, if they fit into so many bytes; those that are here as they are."""


@dataclass(frozen=True, eq=False)
class RowsHere(Rows):
    """A table in memory."""

    own: Table
    laid_out: ObservedCounts | None = None
    """Counts of it, where somebody made them before."""
    here = True

    @property
    def table(self) -> Table:
        return self.own

    @property
    def complete(self) -> bool:
        return not self.own.n_missing

    def counts(self, threads: int = 1) -> Statistics:
        return self.laid_out or counts_of(self.own, threads)

    def only(self, names: Sequence[str]) -> RowsHere:
        return self if tuple(names) == self.own.variables else RowsHere(self.own.select(names))

    def pair(self, graph: Graph, states: States) -> Observation:
        return observe(graph, states, self.own, self.laid_out)

    def gathered(self, limit: int | None = None) -> RowsHere:  # noqa: ARG002
        return self


@dataclass(frozen=True, eq=False)
class RowsInParts(Rows):
    """A Parquet file's rows in parts: on disk, or with the workers of a Dask client."""

    file: FileParts
    client: Any = None
    here = False

    @cached_property
    def parts(self) -> Parts:
        return DiskParts(self.file) if self.client is None else ClusterParts(connect(self.client), self.file)

    @property
    def table(self) -> Table:
        none = np.zeros((len(self.file.columns), 0), np.uint16)
        return Table(self.file.columns, none, None, self.file.notes, self.file.aside)

    @property
    def complete(self) -> bool:
        return bool(self.parts.full.all())

    def counts(self, threads: int = 1) -> PartedCounts:  # noqa: ARG002
        return PartedCounts(self.parts)

    def only(self, names: Sequence[str]) -> RowsInParts:
        same = set(names) == {column.name for column in self.file.columns}
        return self if same else RowsInParts(self.file.only(names), self.client)

    def pair(self, graph: Graph, states: States) -> PartedObservation:
        return PartedObservation(graph, states, self.table, self.counts(), parts=self.parts)

    def gathered(self, limit: int | None = None) -> RowsHere:
        return RowsHere(gathered(self.parts, self.file, limit))


def rows_of(data: Any, max_memory: int | str | None = None, client: Any = None, states: States | None = None) -> Rows:
    """Rows from whatever a caller gives. In parts where they do not fit into memory, or where a cluster reads the file.

    `states`: what the columns' states are known to be. Whoever fits many graphs to one table may give its Rows, or its
    ObservedCounts: they are laid out once.
    """
    if isinstance(data, Rows):
        return data
    laid_out = data if isinstance(data, ObservedCounts) else None
    data = data if laid_out is None else laid_out.table
    if client is None or not isinstance(data, str | os.PathLike):
        try:
            known = None if states is None or _agrees(data, states) else states
            return RowsHere(as_table(data, states=known, max_memory=max_memory), laid_out)
        except TooLargeError:
            if not is_parquet_path(data):
                raise
    return RowsInParts(look_at(data, states=states), client)


def _agrees(data: Any, known: States) -> bool:
    """Whether this is a Table whose columns have these states already."""
    return isinstance(data, Table) and all(
        column.states == known[column.name] for column in data.columns if column.name in known
    )
