"""Which columns of a table are items in grades, and whether they look like several scales: a glance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.data.variable import ColumnKind, Variable
from leverrier.discovery.evidence.residual import pair_information
from leverrier.discovery.traits.first_traits import minimum_partial, standard_scores, turned_factors
from leverrier.learning.mixed.learn_mixed import space_of

FEWEST, MOST = 6, 80
GRADES, MOST_GRADES = 3, 12
LEAST_ROWS, LEAST_SHARE = 200, 0.5
HOLES = 0.1
"""A column beside the items with more holes than this share is left out, so that rows need not be."""
LEAST_ITEMS, LEAST_LOAD = 3, 0.35
FOLLOWS = 0.9
"""An item of which another one tells so much, as a share of what there is to tell, is a copy or a function of it."""
SMALLEST_TOLD = 1e-9
WIDE, MOSTLY = 60, 0.5
"""Of so many columns so large a share must be items, else it is no questionnaire: networks of every kind over all the
other columns, and others of every simulated table, would take longer than all other routes together."""
_NUMBERED = re.compile(r"\s*(\d+)\D")


def in_grades(table: Table) -> Table:
    """The same with answers that begin with a number, each its own, in the order of these numbers."""
    columns, codes = [], []
    for column, cells in zip(table.columns, table.codes, strict=True):
        order = _numbered(column)
        if order is None:
            columns.append(column)
            codes.append(cells.astype(np.int64))
            continue
        rank = np.append(np.argsort(order), table.missing)
        states = tuple(column.states[k] for k in order)
        columns.append(replace(column, states=states, kind=ColumnKind.ORDERED))
        codes.append(rank[np.where(cells == table.missing, len(order), cells.astype(np.int64))])
    return replace(table, columns=tuple(columns), codes=np.array(codes).astype(table.codes.dtype))


def _numbered(column: Variable) -> list[int] | None:
    """The order of states that all begin with different numbers; None of others."""
    if column.ordered or not GRADES <= column.cardinality <= MOST_GRADES:
        return None
    found = [_NUMBERED.match(state) if isinstance(state, str) else None for state in column.states]
    numbers = [int(each.group(1)) for each in found if each is not None]
    if len(numbers) < len(found) or len(set(numbers)) < len(numbers):
        return None
    return [int(k) for k in np.argsort(numbers)]


def whole_rows(table: Table) -> tuple[Table, tuple[str, ...]] | None:
    """The rows without a hole and the items in grades; columns with many holes that are no items are left out. None
    where items, rows or whole rows are few."""
    if table.weights is not None or table.n_rows < LEAST_ROWS:
        return None
    table = in_grades(table)
    empty = (table.codes == table.missing).mean(axis=1)
    items = [column.name for column, share in zip(table.columns, empty, strict=True) if _graded(column, float(share))]
    if not FEWEST <= len(items) <= MOST:
        return None
    kept = [name for name, share in zip(table.variables, empty, strict=True) if name in items or share <= HOLES]
    table = table.select(kept)
    rows = (table.codes != table.missing).all(axis=0)
    if rows.sum() < max(LEAST_ROWS, LEAST_SHARE * table.n_rows):
        return None
    return table.take(rows), tuple(items)


def _graded(column: Variable, empty: float) -> bool:
    return column.ordered and not column.binned and GRADES <= column.cardinality <= MOST_GRADES and empty <= 2 * HOLES


def several_scales(table: Table, items: Sequence[str]) -> tuple[str, ...]:
    """The items, where their scores look like two common factors or more that each load three of them; else none.
    Items that follow no factor stand beside as other columns do."""
    space = space_of(table)
    follow = following_items(table, items)
    own = [name for name in items if name in space.names and name not in follow]
    if len(own) < FEWEST or (len(space) > WIDE and len(own) < MOSTLY * len(space)):
        return ()
    z = standard_scores(space, own)
    count = minimum_partial(z)
    if count < 2:
        return ()
    loads = turned_factors(z, count)[0]
    following = tuple(name for name, row in zip(own, loads, strict=True) if np.abs(row).max() >= LEAST_LOAD)
    few = len(space) > WIDE and len(following) < MOSTLY * len(space)
    return following if scales_in(loads) >= 2 and not few else ()


def following_items(table: Table, items: Sequence[str]) -> frozenset[str]:
    """Items that are copies or functions of each other: a sum's parts, an amount and a number of the same thing. They
    go together because they must, and not by what stands behind them."""
    own = table.select(list(items))
    shared = pair_information(own.codes, own.missing, own.cardinalities, own.weights)
    told = np.diag(shared)
    least = np.maximum(np.minimum.outer(told, told), SMALLEST_TOLD)
    alike = (shared >= FOLLOWS * least) & ~np.eye(len(told), dtype=bool)
    return frozenset(items[v] for v in np.flatnonzero(alike.sum(axis=1)).tolist())


def scales_in(loads: Floats) -> int:
    """Factors that are the main one of three items."""
    main = np.abs(loads).argmax(axis=1)
    clear = np.abs(loads).max(axis=1) >= LEAST_LOAD
    return int((np.bincount(main[clear], minlength=loads.shape[1]) >= LEAST_ITEMS).sum())
