"""Rows that come in groups, for `discover`: which column says so, and what cannot be asked then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leverrier.data.table import Table
from leverrier.discovery.evidence.whole_groups import Groups, numbered
from leverrier.errors import OptionError, TableError

LEAST = 5
"""Fewer groups say nothing of how groups differ."""


def read_as_groups(groups: str | ArrayLike | None, types: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A column of groups is never an identifier to be set aside."""
    return {**(types or {}), groups: "category"} if isinstance(groups, str) else types


def grouped(table: Table, groups: str | ArrayLike | None, method: str, client: Any) -> tuple[Table, Groups | None]:
    """The table without its column of groups, and by row the number of its group."""
    if groups is None:
        return table, None
    if method not in ("auto", "network"):
        raise OptionError(f'groups= is for method="network" (and "auto", which is that then), not {method!r}')
    if table.weights is not None or client is not None:
        raise OptionError("groups= needs the rows one by one, each counting once: no weights, no cluster")
    if isinstance(groups, str):
        if groups not in table.variables:
            raise TableError(f"groups={groups!r}: no such column, or none that can be used")
        codes = table.column(groups).astype(np.int64)
        labels: list[Any] = [None if code == table.missing else int(code) for code in codes]
        table = table.drop(groups)
    else:
        labels = np.asarray(groups, dtype=object).tolist()
        if len(labels) != table.n_rows:
            raise OptionError(f"groups= has {len(labels):,} values, the table {table.n_rows:,} rows")
    found = numbered(labels)
    if found.max() + 1 < LEAST:
        raise OptionError(f"groups= tells {found.max() + 1} groups apart: expected at least {LEAST}")
    return table, found
