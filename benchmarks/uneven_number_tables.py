"""Planted tables less tidy than the others: classes of very unequal size, skewed columns, many columns beside, items in
grades, few and many rows. Written after the search, which has been tuned on none of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.number_tables import Columns, Floats
from benchmarks.planted_number_tables import Planted

SHARES = (0.1, 0.3, 0.6)


def _beside(rng: np.random.Generator, rows: int, count: int, on: Floats | None = None) -> Columns:
    """Observed columns with arcs between them, skewed, in grades or of three states; the first may hang on a column."""
    last = rng.normal(size=rows) if on is None else 0.5 * on + rng.normal(size=rows)
    table: Columns = {}
    for j in range(count):
        table[f"o{j}"] = (
            last,
            np.exp(0.7 * last),
            np.digitize(last, [-0.8, 0, 0.8]),
            np.array(list("pqr"))[np.digitize(last + rng.normal(size=rows), [-0.6, 0.6])],
        )[j % 4]
        last = 0.7 * last + rng.normal(size=rows)
    return table


def unequal(rng: np.random.Generator, rows: int) -> Planted:
    """10, 30 and 60 % of the rows; six skewed numbers, each of which tells one class from the two others."""
    h = rng.choice(3, rows, p=SHARES)
    table: Columns = {}
    for j in range(6):
        table[f"x{j}"] = np.exp(0.5 * (1.6 * (h == j % 3) * (-1) ** j + rng.normal(size=rows)))
    return Planted(table | _beside(rng, rows, 3), (frozenset(table),), "class", 3, h.astype(float))


def few_of_many(rng: np.random.Generator, rows: int) -> Planted:
    """A class behind three numbers and two categories of thirteen columns; age drives one of them and others beside."""
    h = rng.random(rows) < 0.4
    age = rng.gamma(5, 8, rows)
    table: Columns = {
        "x0": 1.5 * h + 0.03 * age + rng.normal(size=rows),
        "x1": np.exp(0.6 * (1.5 * h + rng.normal(size=rows))),
        "x2": -1.4 * h + rng.standard_t(5, size=rows),
        "x3": np.where(rng.random(rows) < np.where(h, 0.75, 0.25), "yes", "no"),
        "x4": np.array(list("uvw"))[(rng.random(rows)[:, None] > np.where(h[:, None], [0.2, 0.5], [0.6, 0.85])).sum(1)],
    }
    table["x5"] = 0.6 * table["x0"] + rng.normal(size=rows)
    seen = frozenset(name for name in table if name != "x5")
    beside = _beside(rng, rows, 6, (age - 40) / 18)
    return Planted({**table, "age": age.round(), **beside}, (seen,), "class", 2, h.astype(float))


def items(rng: np.random.Generator, rows: int) -> Planted:
    """Seven items of five answers that two classes answer differently, beside age and sex that act on two of them."""
    h = rng.random(rows) < 0.35
    age, sex = rng.normal(45, 14, rows), rng.choice(["f", "m"], rows)
    table: Columns = {}
    for j in range(7):
        lean = 1.6 * h * (-1) ** j + (0.03 * (age - 45) if j == 1 else 0) + (0.5 * (sex == "f") if j == 4 else 0)
        table[f"item{j}"] = 1 + np.digitize(lean + rng.logistic(0, 0.6, rows), [-1.2, -0.3, 0.6, 1.5])
    return Planted({**table, "age": age.round(1), "sex": sex}, (frozenset(table),), "class", 2, h.astype(float))


def factor_and_arcs(rng: np.random.Generator, rows: int) -> Planted:
    """A continuum behind four numbers and two gradings, with causes and consequences beside them."""
    f = rng.normal(size=rows)
    a = rng.normal(size=rows)
    table: Columns = {f"x{j}": 0.9 * f + 0.7 * rng.normal(size=rows) for j in range(4)}
    table["x0"] = np.exp(0.5 * (table["x0"] + 0.6 * a))
    table["x4"] = np.digitize(f + 0.8 * rng.normal(size=rows), [-1, -0.2, 0.5, 1.3])
    table["x5"] = np.digitize(f + 0.8 * rng.normal(size=rows), [-0.7, 0.1, 1])
    after = 0.6 * table["x1"] + rng.normal(size=rows)
    beside: Columns = {"a": a, "after": after, "last": after**2 + rng.normal(size=rows)}
    return Planted({**table, **beside}, (frozenset(table),), "continuum", 0, f)


def few_rows(rng: np.random.Generator, rows: int) -> Planted:
    """Two classes 1.8 deviations apart behind five numbers, 300 rows."""
    del rows
    return _two(rng, 300, 1.8)


def many_rows(rng: np.random.Generator, rows: int) -> Planted:
    """The same .9 deviations apart in 5,000 rows."""
    del rows
    return _two(rng, 5000, 0.9)


def _two(rng: np.random.Generator, rows: int, apart: float) -> Planted:
    h = rng.random(rows) < 0.3
    table: Columns = {f"x{j}": apart * h * (-1) ** j + rng.normal(size=rows) for j in range(5)}
    return Planted(table | _beside(rng, rows, 4), (frozenset(table),), "class", 2, h.astype(float))


UNEVEN: dict[str, Any] = {
    "10, 30 and 60 %": unequal,
    "five of thirteen": few_of_many,
    "items in grades": items,
    "factor and arcs": factor_and_arcs,
    "300 rows": few_rows,
    "5,000 rows": many_rows,
}
