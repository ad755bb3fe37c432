"""Which columns are explained and which are only given: what never changes within a person, clocks and calendars."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.sequences.panel import Panel
from leverrier.data.sequences.sequences import Sequences
from leverrier.learning.regimes.column_laws import is_count

LUMP = 0.1
"""A larger share of cells with one and the same value is a lump."""
LEAST_PERSONS = 2
LEAST_STARTS = 5
"""So many sequences that begin with the same number do not do so by chance."""
ROUNDING = 1.0 + 1e-6
"""A clock is off a straight line by no more than so many of its smallest steps."""


class Role(StrEnum):
    """Why a column is an input; the value is the words."""

    ASKED = "an input, as asked"
    FIXED = "never changes within a sequence: an input, not an outcome"
    CLOCK = "only tells the time: an input, not an outcome"
    CALENDAR = "goes round like a calendar: an input, not an outcome"


@dataclass(frozen=True)
class Roles:
    """The columns that are explained, and those that are given with the reason."""

    outcomes: tuple[str, ...]
    inputs: dict[str, Role]


def number_columns(sequences: Sequences) -> set[str]:
    """Columns taken as numbers: those that a table cuts into bins, and whole numbers of many kinds that are counts.

    A column that often has one and the same value (a limit of detection, dry days) has no density: a state without
    spread would sit there and gain without end. It stays in its bins.
    """
    kinds = {column.name: column for column in sequences.table.columns}
    found = set()
    for name, column in kinds.items():
        if name in sequences.numbers:
            values = np.asarray(sequences.numbers[name])
            counts = column.cardinality > 7 and is_count(values)
            if counts or (column.binned and (is_count(values) or not _lumped(values))):
                found.add(name)
    return found


def _lumped(values: Floats) -> bool:
    seen = values[~np.isnan(values)]
    return bool(len(seen)) and float(np.unique(seen, return_counts=True)[1].max()) > LUMP * len(seen)


def roles_of(panel: Panel, asked: Collection[str] = ()) -> Roles:
    """Every column is an outcome unless it cannot be one; at least one always is."""
    found: dict[str, Role] = {}
    for name, values in panel.values.items():
        role = Role.ASKED if name in asked else _role(panel, name, values)
        if role is not None:
            found[name] = role
    outcomes = tuple(name for name in panel.values if name not in found)
    if not outcomes:
        found = {name: role for name, role in found.items() if role is Role.ASKED}
        outcomes = tuple(name for name in panel.values if name not in found)
    return Roles(outcomes, found)


def _role(panel: Panel, name: str, values: Floats) -> Role | None:
    seen = ~np.isnan(values)
    if panel.persons >= LEAST_PERSONS and _fixed(panel, values, seen):
        return Role.FIXED
    if name not in panel.labels:
        return Role.CLOCK if _clock(panel, values, seen) else Role.CALENDAR if _round(panel, values, seen) else None
    if len(panel.labels[name]) > 2 and _cycle(panel, values, seen):
        return Role.CALENDAR
    numbers = _as_numbers(panel, name, values)
    return Role.CLOCK if numbers is not None and _clock(panel, numbers, seen) else None


def _as_numbers(panel: Panel, name: str, values: Floats) -> Floats | None:
    labels = panel.labels[name]
    if len(labels) < 3 or not all(isinstance(each, int | float | np.integer) for each in labels):
        return None
    table = np.array([float(each) for each in labels if isinstance(each, int | float | np.integer)])
    return np.where(np.isnan(values), np.nan, table[np.nan_to_num(values).astype(np.int64)])


def _fixed(panel: Panel, values: Floats, seen: np.ndarray) -> bool:
    who, cells = panel.person[seen], values[seen]
    low = np.full(panel.persons, np.inf)
    high = np.full(panel.persons, -np.inf)
    np.minimum.at(low, who, cells)
    np.maximum.at(high, who, cells)
    several = np.bincount(who, minlength=panel.persons) >= 2
    return bool(several.sum() >= LEAST_PERSONS and np.all(low[several] == high[several]))


def _neighbours(panel: Panel, values: Floats, seen: np.ndarray) -> tuple[Floats, Floats]:
    """Cells and the ones after them in the same sequence, both there."""
    after = np.flatnonzero((panel.position > 0) & seen)
    after = after[seen[after - 1]]
    return values[after - 1], values[after]


def _clock(panel: Panel, values: Floats, seen: np.ndarray) -> bool:
    """A straight line of time within every sequence, but for rounding."""
    before, now = _neighbours(panel, values, seen)
    if len(now) < 5 or np.any(now < before) or now.max() == before.min():
        return False
    steps = np.unique(np.round(np.abs(np.diff(np.unique(values[seen]))), 9))
    smallest = float(steps[steps > 0].min()) if np.any(steps > 0) else 0.0
    who = panel.person[seen]
    count = np.maximum(np.bincount(who, minlength=panel.persons), 1)
    x, y = panel.times[seen], values[seen]
    x = x - (np.bincount(who, x, panel.persons) / count)[who]
    y = y - (np.bincount(who, y, panel.persons) / count)[who]
    slope = float(x @ y) / max(float(x @ x), 1e-300)
    return bool(np.abs(y - slope * x).max() <= ROUNDING * smallest)


def _round(panel: Panel, values: Floats, seen: np.ndarray) -> bool:
    """Whole numbers that stay, go up by one, or go back to the first."""
    cells = values[seen]
    if not len(cells) or np.any(cells != np.round(cells)):
        return False
    before, now = _neighbours(panel, values, seen)
    step, width = now - before, cells.max() - cells.min()
    if len(step) < 8 or width < 3:
        return False
    back = step == -width
    return bool(np.all((step == 0) | (step == 1) | back) and back.sum() >= 2)


def _cycle(panel: Panel, values: Floats, seen: np.ndarray) -> bool:
    """Each state is followed by one and the same other state, and all of them make one round."""
    before, now = _neighbours(panel, values, seen)
    if len(now) < 3 * len(np.unique(values[seen])):
        return False
    pairs = np.unique(np.stack([before, now]), axis=1).astype(np.int64)
    if np.any(pairs[0] == pairs[1]) or len(pairs[0]) != len(np.unique(pairs[0])):
        return False
    after = dict(zip(pairs[0].tolist(), pairs[1].tolist(), strict=True))
    at, count = int(pairs[0, 0]), 0
    for _ in range(len(after)):
        at, count = after.get(at, -1), count + 1
    return at == int(pairs[0, 0]) and count == len(after)


def without_given_starts(panel: Panel, roles: Roles) -> Panel:
    """The same with holes where every sequence begins with one and the same number, as changes since a beginning do:
    such cells are no outcomes, and a state that sits on them alone would gain without end."""
    first = panel.starts[:-1]
    made = {}
    for name in roles.outcomes:
        values = panel.values[name]
        begun = values[first][~np.isnan(values[first])]
        if name not in panel.labels and len(begun) >= LEAST_STARTS and np.ptp(begun) == 0 and np.nanstd(values) > 0:
            made[name] = values.copy()
            made[name][first] = np.nan
    return panel.with_values(made) if made else panel
