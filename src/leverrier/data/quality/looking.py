"""What the rows of a table show together: copies, totals, one category in several columns, skipped questions.

The work is bounded: some thousand rows, spread over the table, and some hundred columns are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.quality.noticed import Notice, Noticed
from leverrier.data.quality.one_category import one_hot
from leverrier.data.quality.row_looking import Table, look_at_rows

ROWS = 5000
"""Rows that are looked at, spread evenly; what is said of all rows holds in these."""
COLUMNS = 150
LEAST_ROWS = 20
ALIKE, CORRELATED = 0.95, 0.9995
"""Agreement beyond chance, and correlation of numbers, from which columns may be copies."""

FEW_ROWS = 5
"""Rows that differ from all the others in a column: fewer are no sign of anything."""
MOST_GATES, SETTLED = 2, 0.05
"""Questions that may each let another one be skipped, and the share of holes that two of them may leave unexplained."""
BY_CHANCE = -20.0
"""The logarithm of the chance that all rows of an answer are empty: above, it is no sign."""
MOST_UNEXPLAINED = 0.2
"""Of the holes of a question that was skipped: so many may have another reason."""

Codes = NDArray[np.int32]


def looked(table: Table) -> tuple[Noticed, ...]:
    """What can be seen in the rows; nothing in a table with too few of them."""
    if table.n_rows < LEAST_ROWS or not table.columns:
        return ()
    rows = np.unique(np.linspace(0, table.n_rows - 1, min(ROWS, table.n_rows)).astype(np.int64))
    some = table.take(rows)
    codes = np.where(some.codes == some.missing, -1, some.codes.astype(np.int32))[:COLUMNS]
    names = tuple(column.name for column in table.columns[:COLUMNS])
    numbers = {name: some.numbers[name] for name in names if name in some.numbers}
    hot = list(one_hot(table, names, codes))
    taken = {name for each in hot for name in each.columns}
    found = [*copies(names, codes, numbers, taken), *hot, *totals(names, numbers), *skips(table, names, codes)]
    return (*found, *look_at_rows(table))


def copies(names: tuple[str, ...], codes: Codes, numbers: dict[str, Floats], taken: set[str]) -> Iterator[Noticed]:
    """Columns that say the same under other names, wholly or nearly; of several that are equal, one sentence."""
    same: dict[bytes, list[str]] = {}
    for name, own in zip(names, codes, strict=True):
        cells = _by_appearance(own)
        if len(cells) - np.bincount(cells).max() < FEW_ROWS:
            continue  # (two that are rare may well meet)
        exact = numbers[name].tobytes() if name in numbers and _continuous(numbers[name]) else cells.tobytes()
        same.setdefault(exact, []).append(name)
    for group in same.values():
        if len(group) > 1:
            yield Noticed(Notice.DUPLICATE, tuple(group))
    left = [group[0] for group in same.values()]
    place = {name: index for index, name in enumerate(names)}
    near: list[tuple[set[str], float]] = []
    for i, one in enumerate(left):
        for other in left[i + 1 :]:
            if {one, other} <= taken:
                continue
            share = _agreement(one, other, codes[place[one]], codes[place[other]], numbers)
            if share is not None:
                met = [each for each in near if each[0] & {one, other}]
                together = {one, other}.union(*(group for group, _ in met))
                near = [each for each in near if each not in met]
                near.append((together, min([share, *(least for _, least in met)])))
    for group, share in near:
        yield Noticed(Notice.NEAR_DUPLICATE, tuple(name for name in names if name in group), share=share)


def _continuous(values: Floats) -> bool:
    return len(np.unique(values[~np.isnan(values)])) > 12


def _by_appearance(cells: Codes) -> Codes:
    """States numbered as they first appear, so that 0/1 and no/yes are the same column; a hole is a state."""
    values, first, back = np.unique(cells, return_index=True, return_inverse=True)
    rank = np.empty(len(values), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(values))
    return rank[back]


def _agreement(one: str, other: str, a: Codes, b: Codes, numbers: dict[str, Floats]) -> float | None:
    """The share of rows in which two columns say the same, if that is beyond what their frequencies give."""
    if one in numbers and other in numbers and _continuous(numbers[one]) and _continuous(numbers[other]):
        x, y = numbers[one], numbers[other]
        both = ~(np.isnan(x) | np.isnan(y))
        if both.sum() < LEAST_ROWS or not (np.ptp(x[both]) and np.ptp(y[both])):
            return None
        equal = float(np.mean(x[both] == y[both]))
        if ALIKE <= equal < 1:
            return equal
        return 1.0 if abs(float(np.corrcoef(x[both], y[both])[0, 1])) > CORRELATED else None
    both = (a >= 0) & (b >= 0)
    size = int(max(a.max(initial=0), b.max(initial=0))) + 1
    if both.sum() < LEAST_ROWS or size > 40 or abs(int(a.max(initial=0)) - int(b.max(initial=0))) > 1:
        return None
    joint = np.bincount(a[both] * size + b[both], minlength=size * size).reshape(size, size) / both.sum()
    best = joint.max(axis=1).sum()
    if len(np.unique(joint.argmax(axis=1)[joint.sum(axis=1) > 0])) < np.count_nonzero(joint.sum(axis=1)):
        return None  # (two states of one go with the same state of the other)
    chance = float((joint.sum(axis=1) * joint.sum(axis=0)[joint.argmax(axis=1)]).sum())
    return float(best) if chance < 1 and (best - chance) / (1 - chance) >= ALIKE and best < 1 else None


def totals(names: tuple[str, ...], numbers: dict[str, Floats]) -> Iterator[Noticed]:
    """Columns that are the sum of others, exactly or but for rounding: least squares says of which, rows whether."""
    wanted = [name for name in names if name in numbers and _usable(numbers[name])][:40]
    if len(wanted) < 3:
        return
    cells = np.stack([numbers[name] for name in wanted], axis=1)
    cells = cells[~np.isnan(cells).any(axis=1) & np.isfinite(cells).all(axis=1)][:2000]
    if len(cells) < max(LEAST_ROWS, 2 * len(wanted)):
        return
    for place, name in enumerate(wanted):
        others = np.delete(cells, place, axis=1)
        left = [each for each in wanted if each != name]
        weights = np.linalg.lstsq(others, cells[:, place], rcond=None)[0]
        rounded = (np.abs(weights - 1) < 0.2).astype(np.float64)
        if rounded.sum() < 2:
            continue
        away = float(np.abs(others @ rounded - cells[:, place]).max())
        exact = away <= 1e-6 * max(np.abs(cells[:, place]).max(), 1e-12)
        if exact or away <= _rounding(cells[:, place], others[:, rounded > 0]):
            parts = tuple(each for each, weight in zip(left, rounded, strict=True) if weight)
            yield Noticed(Notice.TOTAL, (name, *parts), share=0.0 if exact else away)


def _usable(values: Floats) -> bool:
    """Whether a column of numbers varies, and is not mostly empty: what is empty hides the sums of all others."""
    seen = values[~np.isnan(values)]
    return len(seen) >= 0.7 * len(values) and bool(np.ptp(seen) > 0)


def _rounding(total: Floats, parts: Floats) -> float:
    """How far a sum may be off where each number was rounded to the last place it shows; 0 where the sum hardly moves
    by more than that."""
    unit = max(_last_place(total), *(_last_place(own) for own in parts.T))
    far = 0.5 * _last_place(total) + 0.5 * unit * parts.shape[1] * (unit == _last_place(total)) + 1e-9 * unit
    return far if np.ptp(total) >= 20 * far else 0.0


def _last_place(values: Floats) -> float:
    """1, .1, .01 …: the place that all these numbers are rounded to; 0 where that is none of the first six."""
    for digits in range(7):
        if np.allclose(values, np.round(values, digits), rtol=0, atol=1e-9):
            return 10.0**-digits
    return 0.0


def skips(table: Table, names: tuple[str, ...], codes: Codes) -> Iterator[Noticed]:
    """Columns that are empty wherever another one, or one of several, has some answer, and filled elsewhere."""
    patterns: dict[bytes, list[int]] = {}
    for place, cells in enumerate(codes):
        if 0.02 <= np.mean(cells < 0) <= 0.98:
            patterns.setdefault((cells < 0).tobytes(), []).append(place)
    said: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for places in list(patterns.values())[:40]:
        for gate in _explained(codes, places, table):
            said.setdefault(gate, []).extend(names[place] for place in places)
    for (gate, states), columns in said.items():
        column, cells = table.columns[table.index(gate)], table.column(gate)
        count = int(np.isin(cells, states).sum())
        yield Noticed(
            Notice.SKIP, tuple(columns), tuple(column.states[state] for state in states), count=count, name=gate
        )


def _explained(codes: Codes, places: list[int], table: Table) -> list[tuple[str, tuple[int, ...]]]:
    """The columns and their states that imply these holes, the one that implies the most first; none where too many
    holes would be left unexplained."""
    holes = codes[places[0]] < 0
    left, found, rest = np.ones(len(holes), dtype=bool), [], []
    while len(found) < MOST_GATES and (not rest or rest[-1] > SETTLED):
        gates = [_gate(codes, place, places, table, holes, left) for place in range(len(codes))]
        known = [gate for gate in gates if gate is not None]
        if not known:
            break
        _, place, states = max(known, key=lambda gate: (gate[0], -gate[1]))
        found.append((table.columns[place].name, states))
        left &= ~np.isin(codes[place], states)
        rest.append((holes & left).sum() / holes.sum())
    if len(found) > 1 and rest[-1] <= SETTLED:
        return found
    return found[:1] if rest and rest[0] <= MOST_UNEXPLAINED else []


def _gate(
    codes: Codes, place: int, places: list[int], table: Table, holes: NDArray[np.bool_], left: NDArray[np.bool_]
) -> tuple[int, int, tuple[int, ...]] | None:
    """How many of the rows left a column explains: the states of which all rows are empty although, by the holes in its
    other rows, they would not be."""
    variable, gate = table.columns[place], codes[place]
    seen = (gate >= 0) & left
    if place in places or variable.binned or variable.cardinality > 12 or (gate >= 0).mean() < 0.9:
        return None
    size = np.bincount(gate[seen], minlength=variable.cardinality)
    empty = np.bincount(gate[seen & holes], minlength=variable.cardinality)
    implied = np.flatnonzero((empty == size) & (size >= max(5, 0.01 * len(holes))))
    other = np.setdiff1d(np.flatnonzero(size), implied)
    if not len(implied) or not len(other):
        return None
    rest = empty[other].sum() / size[other].sum()
    if rest > 0.2 and size[implied].min() * np.log(rest) > BY_CHANCE:
        return None
    return int(size[implied].sum()), place, tuple(implied.tolist())
