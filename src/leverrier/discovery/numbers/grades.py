"""Whether a table of states looks like items in grades that one thing drives: a glance, before anything is fitted."""

from __future__ import annotations

import numpy as np

from leverrier.data.table import Table

LEAST_ITEMS, MOST_ITEMS = 4, 20
LEAST_ROWS = 100
GRADES = 3
MOST_GRADES = 12
ALIKE = 1.6
"""The largest eigenvalue of the items' correlations from which on one continuum may drive several of them."""


def may_be_graded(table: Table) -> bool:
    """Items with an order, most of them of three grades or more, whose ranks go together."""
    columns = table.columns
    if not LEAST_ITEMS <= len(columns) <= MOST_ITEMS or table.n_rows < LEAST_ROWS or table.weights is not None:
        return False
    sizes = np.array([column.cardinality for column in columns])
    graded = np.array([column.ordered for column in columns]) & (sizes >= GRADES) & (sizes <= MOST_GRADES)
    if graded.sum() < LEAST_ITEMS or not (graded | (sizes == 2)).all():
        return False
    return _first_eigenvalue(table, np.flatnonzero(graded)) > ALIKE


def _first_eigenvalue(table: Table, items: np.ndarray) -> float:
    """Of the correlations of grades; a hole counts as the mean."""
    grades = table.codes[items].astype(np.float64)
    grades[table.codes[items] == table.missing] = np.nan
    away = np.nan_to_num(grades - np.nanmean(grades, axis=1, keepdims=True))
    size = np.sqrt((away**2).sum(axis=1, keepdims=True))
    unit = away / np.where(size > 0, size, 1.0)
    return float(np.linalg.eigvalsh(unit @ unit.T)[-1])
