"""Many count tables of one child in one flat array: what a structure search asks for and a score reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.family import Family, Statistics
from leverrier.counts.observed_counts import Counts


@dataclass(frozen=True, eq=False)
class PackedTables:
    """Variable v's table, with v as one more parent, is counts[starts[v]:starts[v+1]], child's states fastest.

    The place after the last variable is the family with no further parent. Rows of parent configurations
    that never occur may be left out: no score depends on them.
    """

    counts: Counts
    starts: NDArray[np.int64]


def expand(
    statistics: Statistics, names: Sequence[str], child: int, parents: Sequence[int], wanted: NDArray[np.bool_]
) -> PackedTables:
    """Tables of (child | parents + v) for every wanted v.

    A source with a method `expand(child, parents, wanted)`, by number of its variables, counts them in one pass.
    """
    counted = getattr(statistics, "expand", None)  # (an instance check against a protocol costs more than the counting)
    if counted is not None:
        return PackedTables(*counted(child, parents, wanted))
    above = tuple(names[p] for p in parents)
    places = np.flatnonzero(wanted)
    families = [Family(names[child], (*above, names[v]) if v < len(names) else above) for v in places.tolist()]
    sizes = np.zeros(len(wanted), dtype=np.int64)
    tables = [np.ravel(table) for table in statistics.tables(families)]
    sizes[places] = [table.size for table in tables]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return PackedTables(np.concatenate(tables) if tables else np.zeros(0), starts)
