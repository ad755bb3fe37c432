"""A child with states (or codes) by what says equal rows of its table once: trees, lookups, lumps, noisy-max.

These are the kinds of tables of states; here numbers stand among the parents by their codes. A column of whole numbers
0 to 3 may be a label as well as a grade, and what depends on a label by "if this, then that" no logit says cheaply.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import xlogy

from leverrier.learning.families.family_counts import FamilyCounts, Price, projected_on
from leverrier.learning.families.function_fit import functions_of, offer_lookups, offer_trees
from leverrier.learning.families.kind_choice import CHOICE
from leverrier.learning.families.lump_fit import offer_lumps
from leverrier.learning.families.max_fit import offer_maxima
from leverrier.learning.families.offered import Offered
from leverrier.learning.families.state_column import StateColumn
from leverrier.learning.mixed.fitted import Fitted
from leverrier.learning.mixed.mixed_design import Design
from leverrier.learning.mixed.mixed_space import SpaceColumn
from leverrier.models.families.number_kind import NumberKind
from leverrier.models.families.state_kind import StateKind

MOST_CELLS = 2**20
"""Cells of the family written out as a table: it can then be saved and read in any form."""
CELL = 1.0
"""The prior count of a state in a leaf, as in tables of states."""


def fit_by_codes(design: Design, child: int, parents: Sequence[int], floor: float) -> Fitted | None:
    """The best of these kinds, if it scores above the floor."""
    columns = [design.space.columns[v] for v in (child, *parents)]
    sizes = [column.n_codes for column in columns]
    if not parents or max(sizes) < 2 or float(np.prod(sizes, dtype=np.float64)) > MOST_CELLS:
        return None
    family = _counts(design, child, parents)
    price = Price(0.5 * float(np.log(max(family.total, 2.0))), CELL)
    if family.saturated - price.parameter * (family.states - 1) - CHOICE <= floor:
        return None
    found = max(
        (_fitted(offered, family, price) for offered in _offers(family, price, floor + CHOICE)),
        key=lambda each: each[0],
        default=None,
    )
    if found is None or found[0] <= floor:
        return None
    score, logs, said = found
    bounds = columns[0].bounds if columns[0].number else ()
    return Fitted(NumberKind(bounds, tuple(each.bounds for each in columns[1:]), said), logs, logs - score)


def _offers(family: FamilyCounts, price: Price, floor: float) -> Iterator[Offered]:
    yield from offer_lookups(family, price, floor)
    yield from offer_trees(family, price, floor, functions_of(family))
    yield from offer_lumps(family, price, floor)
    yield from offer_maxima(family, price, floor)


def _fitted(offered: Offered, family: FamilyCounts, price: Price) -> tuple[float, float, StateKind]:
    """Score, log-likelihood, family. The other kinds here pay by their parameters, and an evidence is lenient where
    cells are many and rows few: the score is whichever asks more."""
    said = offered.make()
    assert isinstance(said, StateKind)
    logs = float(xlogy(family.counts, np.maximum(said.rows(family.codes), 1e-300)).sum())
    by_parameters = logs - price.parameter * said.dimension
    return min(offered.score, by_parameters) - CHOICE, logs, said


def _counts(design: Design, child: int, parents: Sequence[int]) -> FamilyCounts:
    """The family's counts by codes, over the rows that show all of it."""
    rows = design.rows_of((child, *parents))
    columns = [design.space.columns[v] for v in (child, *parents)]
    codes = [column.codes if rows is None else column.codes[rows] for column in columns]
    states = [_as_states(column, own) for column, own in zip(columns, codes, strict=True)]
    sizes = [column.n_codes for column in columns[1:]]
    found = projected_on(np.stack(codes[1:]).astype(np.uint16), sizes, None)
    cells = np.bincount(found.index * states[0].states + codes[0], minlength=len(found) * states[0].states)
    counts = cells.astype(np.float64).reshape(len(found), states[0].states)
    return FamilyCounts(found.configurations.astype(np.int64), counts, states[0], tuple(states[1:]))


def _as_states(column: SpaceColumn, codes: np.ndarray) -> StateColumn:
    """Codes as the kinds of families see them: whole numbers that have a code each by their values."""
    weights = np.bincount(codes, minlength=column.n_codes).astype(np.float64)
    values = _values(column)
    if values is not None:
        return StateColumn(values, True, weights)
    return StateColumn(tuple(map(float, range(column.n_codes))), column.ordered, weights, measured=False)


def _values(column: SpaceColumn) -> tuple[float, ...] | None:
    """A number for each code, where a code stands for one."""
    if not column.number:
        whole = [float(each) for each in column.labels if isinstance(each, int) and not isinstance(each, bool)]
        return tuple(whole) if len(set(whole)) == column.n_codes else None
    if not column.discrete or not column.told_by_codes or column.raw is None:
        return None
    seen = ~column.holes
    _, first = np.unique(column.codes[seen], return_index=True)
    values = tuple(column.raw[seen][first].tolist())
    return values if len(values) == column.n_codes else None
