"""Many count tables of one child in one flat array: what a structure search asks for and a score reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from leverrier.statistics.family import Family, Statistics

Counts = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PackedTables:
    """Table c is counts[starts[c]:starts[c+1]], the child's states fastest.

    Rows of parent configurations that never occur may be left out: no score depends on them.
    """

    counts: Counts
    starts: NDArray[np.int64]


@runtime_checkable
class Expanding(Protocol):
    """Statistics that can count a child with parents P and each of many further parents in one pass."""

    def expand(self, child: str, parents: Sequence[str], candidates: Sequence[str | None]) -> PackedTables: ...


def expand(
    statistics: Statistics, child: str, parents: Sequence[str], candidates: Sequence[str | None]
) -> PackedTables:
    """Tables of (child | parents + candidate) for each candidate; None stands for no further parent."""
    if isinstance(statistics, Expanding):
        return statistics.expand(child, parents, candidates)
    families = [Family(child, (*parents, extra) if extra is not None else tuple(parents)) for extra in candidates]
    tables = statistics.tables(families)
    starts = np.concatenate([[0], np.cumsum([table.size for table in tables])]).astype(np.int64)
    flat = [np.ravel(table) for table in tables]
    return PackedTables(np.concatenate(flat) if flat else np.zeros(0), starts)
