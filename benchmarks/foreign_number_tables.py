"""Tables with numbers and nothing hidden, by mechanisms that no family here was made for."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.number_tables import Columns, Floats, Maker, linear_part, named, random_parents, standard


def foreign(shape: str) -> Maker:
    def make(rng: np.random.Generator, rows: int, columns: int) -> Columns:
        values: list[Floats] = []
        switch = rng.integers(0, 2, rows)
        for parents in random_parents(rng, columns):
            own = [standard(values[p]) for p in parents]
            values.append(_foreign(shape, rng, own, switch, rows))
        table = named(values)
        if shape == "switch":
            table["switch"] = np.array(["off", "on"])[switch]
        return table

    return make


def _foreign(shape: str, rng: np.random.Generator, own: list[Floats], switch: Any, rows: int) -> Floats:
    e = rng.normal(size=rows)
    if not own:
        return e
    a, b = own[0], own[-1]
    if shape == "sinusoid":
        return 1.2 * np.sin(rng.uniform(1.0, 2.5) * a) + 0.5 * e
    if shape == "saturation":
        return 4 * np.exp(a) / (1 + np.exp(a)) / (1 + np.exp(-b)) + 0.4 * e
    if shape == "three":
        return 0.8 * a * b * (np.abs(own[0]) > 0.7) + 0.5 * np.sign(a) * np.sign(b) + e
    if shape == "switch":
        return np.where(switch == 1, 1.2 * a, -0.8 * b) + e
    if shape == "skewed noise":
        return 0.7 * a + rng.gamma(np.exp(0.5 * b), 1.0)
    if shape == "maximum":
        return np.maximum(a, b) + 0.3 * e
    if shape == "rational":
        return a / (1 + b**2) + 0.4 * e
    raise ValueError(shape)


def tails(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Pairs in a chain joined by Clayton copulas: they go together in one tail only."""
    u = [rng.random(rows)]
    for _ in range(columns - 1):
        theta, v = rng.uniform(0.8, 3.0), rng.random(rows)
        before = u[-1] if rng.random() < 0.6 else u[int(rng.integers(len(u)))]
        u.append(((v ** (-theta / (1 + theta)) - 1) * before**-theta + 1) ** (-1 / theta))
    return named([-np.log(np.clip(each, 1e-12, 1)) if k % 2 else each for k, each in enumerate(u)])


def after(what: str) -> Maker:
    """A linear table, and then what measuring does to columns that drive no other: limits, heaps, ranks, truncation."""

    def make(rng: np.random.Generator, rows: int, columns: int) -> Columns:
        extra = 3 if what == "truncation" else 1
        values: list[Floats] = []
        parents = random_parents(rng, columns)
        for own in parents:
            values.append(linear_part(rng, [values[p] for p in own]) + rng.normal(size=rows * extra))
        leaves = [j for j in range(columns) if not any(j in own for own in parents)]
        if what == "truncation":
            kept = np.flatnonzero(values[0] > np.quantile(values[0], 0.4))[:rows]
            return named([v[kept] for v in values])
        for j in leaves:
            x = values[j]
            if what == "limits":
                values[j] = np.maximum(x, np.quantile(x, rng.uniform(0.1, 0.4)))
            elif what == "heaps":
                fine = np.round(10 * x) / 10
                values[j] = np.where(rng.random(rows) < 0.6, np.round(2 * x) / 2, fine)
            else:
                values[j] = np.argsort(np.argsort(x)).astype(float)
        return named(values)

    return make


def by_function(draw: str) -> Maker:
    """Arcs by a function drawn anew for each column: smooth curves through random points, or three columns together."""

    def make(rng: np.random.Generator, rows: int, columns: int) -> Columns:
        values: list[Floats] = []
        for parents in random_parents(rng, columns, 3):
            own = [standard(values[p]) for p in parents]
            values.append(_function(draw, rng, own, rows) if own else rng.normal(size=rows))
        return named(values)

    return make


def _function(draw: str, rng: np.random.Generator, own: list[Floats], rows: int) -> Floats:
    e = rng.normal(size=rows)
    if draw == "spline":
        knots = np.linspace(-2.5, 2.5, 7)
        return sum(np.interp(each, knots, rng.normal(0, 1.0, 7)) for each in own) + 0.6 * e
    if draw == "three together":
        product = np.prod(own, axis=0) if len(own) == 3 else own[0] * own[-1]
        return 0.7 * product + 0.3 * own[0] + 0.8 * e
    if draw == "multiplicative noise":
        return np.exp(0.4 * own[0] + 0.25 * own[-1] + rng.uniform(0.3, 0.7) * e)
    if draw == "periodic":
        return 1.5 * np.sin(rng.uniform(2.0, 4.0) * own[0] + rng.uniform(0, 6)) + 0.3 * own[-1] + 0.5 * e
    if draw == "scale by two":
        return 0.4 * own[0] + np.exp(0.35 * own[0] + 0.35 * np.abs(own[-1])) * e
    if draw == "mixture noise":
        return 0.6 * own[0] + np.where(rng.random(rows) < 0.3, 1.5 + 0.3 * e, -0.6 + 0.6 * e)
    if draw == "nearly exact":
        return np.tanh(own[0]) + 0.5 * own[-1] ** 2 + 0.05 * e
    raise ValueError(draw)


def composition(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Shares that sum to one, and numbers that follow from some of them."""
    parts = min(columns, int(rng.integers(3, 6)))
    raw = np.exp(rng.normal(0, 0.6, (rows, parts)) + rng.normal(0, 0.5, parts))
    shares = raw / raw.sum(axis=1, keepdims=True)
    table = {f"share{j}": shares[:, j] for j in range(parts)}
    for j in range(columns - parts):
        table[f"x{j}"] = 0.8 * standard(shares[:, int(rng.integers(parts))]) + rng.normal(size=rows)
    return table


def trend(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Columns that drift with the day, which is a column too, and hang on each other."""
    day = np.arange(rows).astype(float)
    values: list[Floats] = []
    for parents in random_parents(rng, columns - 1):
        along = rng.choice([0.0, 1.0, 1.0]) * np.sin(day / rows * rng.uniform(1, 4) + rng.uniform(0, 6)) * 1.2
        values.append(along + linear_part(rng, [values[p] for p in parents]) + rng.normal(size=rows))
    return {"day": day} | named(values)


def selected(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """A linear table of which only rows with a large sum of two columns were kept."""
    values: list[Floats] = []
    for parents in random_parents(rng, columns):
        values.append(linear_part(rng, [values[p] for p in parents]) + rng.normal(size=4 * rows))
    sum_of_two = standard(values[0]) + standard(values[-1]) + 0.3 * rng.normal(size=4 * rows)
    kept = np.flatnonzero(sum_of_two > np.quantile(sum_of_two, 0.6))[:rows]
    return named([v[kept] for v in values])


def regimes(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Each number hangs on others by lines that a category of three to five states chooses: it is observed."""
    states = int(rng.integers(3, 6))
    regime = rng.choice(states, rows, p=rng.dirichlet(np.full(states, 4.0)))
    values: list[Floats] = []
    for parents in random_parents(rng, columns - 1):
        value = rng.normal(0, 0.8, states)[regime] + rng.uniform(0.5, 1.5, states)[regime] * rng.normal(size=rows)
        for p in parents:
            value = value + rng.normal(0, 0.7, states)[regime] * standard(values[p])
        values.append(value)
    return named(values) | {"regime": np.array(list("abcde"))[regime]}


def survey(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Age, income and answers: grades that follow from numbers, numbers that follow from grades."""
    age = rng.uniform(18, 85, rows)
    school = np.searchsorted([-1.0, 0.2, 1.2], 0.02 * (50 - age) + rng.normal(size=rows))
    income = np.round(np.exp(7.2 + 0.25 * school - 0.0004 * (age - 48) ** 2 + 0.5 * rng.normal(size=rows)), -2)
    children = rng.poisson(np.clip((age - 20) / 25, 0, 1.6))
    owns = rng.random(rows) < 1 / (1 + np.exp(-(np.log(income) - 7.6) * 1.5 - 0.02 * (age - 50)))
    table: Columns = {
        "age": np.floor(age),
        "school": np.array(list("abcd"))[school],
        "income": income,
        "children": children,
        "owner": np.where(owns, "yes", "no"),
    }
    for j in range(max(0, columns - 5)):
        lean = (0.6 * standard(np.log(income)), 0.5 * standard(age), 0.4 * owns)[j % 3]
        table[f"q{j}"] = np.searchsorted([-1.2, -0.3, 0.5, 1.4], lean + rng.normal(size=rows)) + 1
    return table


FUNCTIONS = (
    "spline",
    "three together",
    "multiplicative noise",
    "periodic",
    "scale by two",
    "mixture noise",
    "nearly exact",
)
FOREIGN: dict[str, Maker] = {
    **{s: foreign(s) for s in ("sinusoid", "saturation", "three", "switch", "skewed noise", "maximum", "rational")},
    "tail copulas": tails,
    **{s: after(s) for s in ("limits", "heaps", "ranks", "truncation")},
    **{s: by_function(s) for s in FUNCTIONS},
    "composition": composition,
    "trend": trend,
    "selected": selected,
    "regimes": regimes,
    "survey": survey,
}
