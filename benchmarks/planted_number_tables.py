"""Tables with numbers and something planted behind them: what the hidden truth is comes with each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.number_tables import Columns, Floats, named


@dataclass(frozen=True)
class Planted:
    """What is behind the columns: the truth by row, the columns it drives, its kind and number of states."""

    columns: Columns
    children: tuple[frozenset[str], ...]
    kind: str
    states: int
    hidden: Floats


def classes(apart: float, states: int = 2, driven: int = 5, extra: int = 0, lognormal: bool = False) -> Any:
    """Classes whose means lie `apart` deviations from each other in each column they drive."""

    def make(rng: np.random.Generator, rows: int) -> Planted:
        h = rng.choice(states, rows, p=_shares(rng, states))
        values = []
        for _ in range(driven):
            order = rng.permutation(states)
            values.append(apart * order[h] + rng.normal(size=rows))
        for _ in range(extra):
            before = values[-1] if len(values) > driven else rng.normal(size=rows)
            values.append(0.6 * before + rng.normal(size=rows))
        if lognormal:
            values = [np.exp(0.6 * v) for v in values]
        return Planted(named(values), (_names(driven),), "class", states, h.astype(float))

    return make


def _shares(rng: np.random.Generator, states: int) -> Floats:
    raw = rng.uniform(0.7, 1.3, states)
    return raw / raw.sum()


def _names(driven: int) -> frozenset[str]:
    return frozenset(f"x{j}" for j in range(driven))


def with_arcs(rng: np.random.Generator, rows: int) -> Planted:
    """Five columns driven by a class, with observed columns driving some of them and driven by them."""
    h = rng.integers(0, 2, rows)
    a, b = rng.normal(size=rows), rng.normal(size=rows)
    x = [1.3 * h * s + rng.normal(size=rows) for s in (1, -1, 1, 1, -1)]
    x[0] = x[0] + 0.7 * a
    x[1] = x[1] + 0.6 * b
    table = named(x) | {"a": a, "b": 0.5 * a + b, "c": 0.7 * x[2] + rng.normal(size=rows)}
    return Planted(table, (_names(5),), "class", 2, h.astype(float))


def mixed(rng: np.random.Generator, rows: int) -> Planted:
    """A class behind three numbers and two categories, with observed arcs beside."""
    h = rng.integers(0, 2, rows)
    a = rng.normal(size=rows)
    table: Columns = {f"x{j}": 1.4 * h * s + rng.normal(size=rows) for j, s in enumerate((1, -1, 1))}
    table["x0"] = table["x0"] + 0.6 * a
    for j in range(2):
        likely = np.where(h == 1, 0.75, 0.25)
        table[f"x{3 + j}"] = np.where(rng.random(rows) < likely, "yes", "no")
    table["a"] = a
    table["b"] = np.where(rng.random(rows) < 1 / (1 + np.exp(-a)), "u", "v")
    return Planted(table, (_names(5),), "class", 2, h.astype(float))


def shift_and_scale(rng: np.random.Generator, rows: int) -> Planted:
    h = rng.integers(0, 2, rows)
    scale = np.where(h == 1, 2.2, 1.0)
    table = named([1.0 * h + scale * rng.normal(size=rows) for _ in range(5)])
    table |= {f"y{j}": rng.normal(size=rows) for j in range(2)}
    return Planted(table, (_names(5),), "class", 2, h.astype(float))


def factor(driven: int = 5, extra: int = 2) -> Any:
    def make(rng: np.random.Generator, rows: int) -> Planted:
        f = rng.normal(size=rows)
        values = [rng.uniform(0.6, 1.2) * f + rng.normal(size=rows) for _ in range(driven)]
        values += [rng.normal(size=rows) for _ in range(extra)]
        return Planted(named(values), (_names(driven),), "continuum", 0, f)

    return make


def likert(rng: np.random.Generator, rows: int) -> Planted:
    """Eight items of five answers with one continuum behind, and a number of its own."""
    f = rng.normal(size=rows)
    table: Columns = {}
    for j in range(8):
        raw = rng.uniform(0.9, 1.8) * f + rng.logistic(size=rows)
        table[f"x{j}"] = np.searchsorted(np.array([-2.2, -0.8, 0.8, 2.2]) + rng.normal(0, 0.3), raw) + 1
    table["age"] = rng.normal(50, 12, rows)
    return Planted(table, (_names(8),), "continuum", 0, f)


def two_factors(rng: np.random.Generator, rows: int) -> Planted:
    f, g = rng.normal(size=rows), rng.normal(size=rows)
    values = [rng.uniform(0.7, 1.2) * (f if j < 4 else g) + rng.normal(size=rows) for j in range(8)]
    second = frozenset(f"x{j}" for j in range(4, 8))
    return Planted(named(values), (_names(4), second), "continuum", 0, f)


def likert_alone(rng: np.random.Generator, rows: int) -> Planted:
    """The same without any number."""
    made = likert(rng, rows)
    return replace(made, columns={name: each for name, each in made.columns.items() if name != "age"})


def holed(make: Any, at_random: bool) -> Any:
    """A fifth of the cells empty: anywhere, or the more often the larger the value is."""

    def with_holes(rng: np.random.Generator, rows: int) -> Planted:
        made = make(rng, rows)
        columns = {name: np.asarray(each, dtype=np.float64).copy() for name, each in made.columns.items()}
        for each in columns.values():
            place = each.argsort().argsort() / rows
            each[rng.random(rows) < (0.2 if at_random else 0.4 * place)] = np.nan
        return replace(made, columns=columns)

    return with_holes


PLANTED: dict[str, Any] = {
    "0.7 sd": classes(0.7),
    "1.0 sd": classes(1.0),
    "1.0 sd, four": classes(1.0, driven=4, extra=2),
    "1.5 sd": classes(1.5),
    "3 sd": classes(3.0),
    "three classes": classes(1.2, states=3, driven=6),
    "4 of 9, lognormal": classes(1.5, driven=4, extra=5, lognormal=True),
    "observed arcs": with_arcs,
    "mixed columns": mixed,
    "shift and scale": shift_and_scale,
    "one factor": factor(),
    "Likert items": likert,
    "two factors": two_factors,
    "Likert items alone": likert_alone,
    "1.5 sd, holes at random": holed(classes(1.5), True),
    "1.5 sd, holes not at random": holed(classes(1.5), False),
    "one factor, holes at random": holed(factor(), True),
    "one factor, holes not at random": holed(factor(), False),
}
