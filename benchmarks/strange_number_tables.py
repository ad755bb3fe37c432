"""Tables with numbers and nothing hidden, once more: mechanisms written after the rule had its present thresholds."""

from __future__ import annotations

import numpy as np

from benchmarks.number_tables import Columns, Floats, Maker, linear_part, named, random_parents, standard


def by_arcs(shape: str) -> Maker:
    """A random graph whose arcs all have one strange shape."""

    def make(rng: np.random.Generator, rows: int, columns: int) -> Columns:
        values: list[Floats] = []
        for parents in random_parents(rng, columns):
            own = [standard(values[p]) for p in parents]
            values.append(_strange(shape, rng, own, rows) if own else rng.normal(size=rows))
        return named(values)

    return make


def _strange(shape: str, rng: np.random.Generator, own: list[Floats], rows: int) -> Floats:
    a, b, e = own[0], own[-1], rng.normal(size=rows)
    if shape == "dose and response":
        dose = np.exp(a)
        return 3 * dose**2 / (1 + dose**2) * (1 + 0.3 * np.tanh(b)) + 0.4 * e
    if shape == "volatile":
        return 0.3 * a + np.sqrt(0.2 + 0.8 * b**2) * e
    if shape == "t with its own scale":
        return 0.6 * a + rng.standard_t(2.5, rows) * (0.5 + 0.5 / (1 + np.exp(-2 * b)))
    if shape == "switched by a sum":
        return np.where(a + b > 0.4, 1.1 * a, -0.6 * b) + 0.7 * e
    if shape == "angles":
        return np.cos(3 * a) + np.sin(2 * b) + 0.4 * e
    if shape == "rare jumps":
        return 0.6 * a + 3 * (rng.random(rows) < 1 / (1 + np.exp(3 - 1.5 * b))) + 0.6 * e
    raise ValueError(shape)


def frank(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Pairs in a tree joined by Frank's copula, which ties the middle and no tail; odd margins."""
    u = [rng.random(rows)]
    for _ in range(columns - 1):
        before, v = u[int(rng.integers(len(u)))], rng.random(rows)
        theta = rng.uniform(2, 9) * rng.choice([-1, 1])
        ratio = v * np.expm1(-theta) / (np.exp(-theta * before) * (1 - v) + v)
        u.append(np.clip(-np.log1p(ratio) / theta, 1e-9, 1 - 1e-9))
    shapes = (lambda x: x, lambda x: -np.log(1 - x), lambda x: np.tan(1.4 * (x - 0.5)), lambda x: x**3)
    return named([shapes[j % 4](each) for j, each in enumerate(u)])


def detection(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Log-linear concentrations; what lies under a limit is told as half of it, what lies above another as that."""
    values = _linear(rng, rows, columns)
    table: Columns = {}
    for j, x in enumerate(values):
        raw = np.exp(0.8 * x)
        low, high = np.quantile(raw, rng.uniform(0.02, 0.35)), np.quantile(raw, rng.uniform(0.9, 0.999))
        table[f"x{j}"] = np.where(raw < low, low / 2, np.minimum(raw, high))
    return table


def ipsative(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Four things ranked by each person, one of them liked the more the older one is; and columns besides."""
    age = rng.uniform(20, 80, rows)
    liking = rng.normal(size=(rows, 4))
    liking[:, 0] += 0.03 * (age - 50)
    ranks = liking.argsort(axis=1).argsort(axis=1) + 1
    table: Columns = {"age": age.round(), **{f"rank{j}": ranks[:, j] for j in range(4)}}
    for j in range(max(0, columns - 5)):
        table[f"y{j}"] = 0.4 * ranks[:, j % 4] + 0.01 * age + rng.normal(size=rows)
    return table


def before_and_after(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """A first and a second measure, their difference and their ratio, by an arm that is observed."""
    arm = rng.integers(0, 3, rows)
    table: Columns = {"arm": np.array(["none", "low", "high"])[arm]}
    for j in range(max(1, (columns - 1) // 4)):
        first = np.exp(4 + 0.25 * rng.normal(size=rows))
        second = first * np.exp(-0.1 * arm + 0.15 * rng.normal(size=rows)) + 3 * rng.normal(size=rows)
        table |= {f"first{j}": first, f"second{j}": second, f"change{j}": second - first, f"share{j}": second / first}
    return table


def allometry(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Powers of a size that is measured, with errors that multiply, rounded to whole units."""
    length = np.exp(3 + 0.3 * rng.normal(size=rows))
    table: Columns = {"length": length.round(1)}
    for j in range(columns - 1):
        power, unit = rng.uniform(0.5, 3), 10.0 ** rng.integers(-1, 2)
        made = table["length"] ** power * np.exp(0.2 * rng.normal(size=rows))
        table[f"x{j}"] = np.round(made / unit) * unit
    return table


def seasons(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """The day of the year drives some columns by waves, and those drive others."""
    day = rng.integers(1, 366, rows)
    wave = 2 * np.pi * day / 365
    values: list[Floats] = []
    for j in range(columns - 1):
        if j < 2 or rng.random() < 0.4:
            values.append(np.cos(wave - rng.uniform(0, 6.28)) * rng.uniform(0.7, 1.6) + rng.normal(size=rows))
        else:
            values.append(linear_part(rng, [values[int(rng.integers(len(values)))]]) + rng.normal(size=rows))
    return {"day": day, **named(values)}


def heaped(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """A linear table in which people round by themselves: to whole numbers, to fives, to tens, each cell anew."""
    values = _linear(rng, rows, columns)
    table: Columns = {}
    for j, x in enumerate(values):
        raw = 50 + 12 * x
        unit = rng.choice([1, 5, 10], rows, p=rng.dirichlet([3, 2, 1]))
        table[f"x{j}"] = np.round(raw / unit) * unit
    return table


def crossed(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Numbers whose means and spreads two observed categories decide together, and grades that follow the numbers."""
    a, b = rng.integers(0, 3, rows), rng.integers(0, 4, rows)
    table: Columns = {"a": np.array(list("uvw"))[a], "b": np.array(list("pqrs"))[b]}
    last = rng.normal(size=rows)
    for j in range(columns - 2):
        mean, scale = rng.normal(0, 0.8, (3, 4)), np.exp(rng.normal(0, 0.3, (3, 4)))
        last = mean[a, b] + 0.4 * standard(last) + scale[a, b] * rng.normal(size=rows)
        table[f"x{j}"] = last if j % 3 else np.digitize(last, [-1, 0.2, 1.1])
    return table


def _linear(rng: np.random.Generator, rows: int, columns: int) -> list[Floats]:
    values: list[Floats] = []
    for parents in random_parents(rng, columns):
        values.append(standard(linear_part(rng, [values[p] for p in parents]) + rng.normal(size=rows)))
    return values


ARCS = ("dose and response", "volatile", "t with its own scale", "switched by a sum", "angles", "rare jumps")
STRANGE: dict[str, Maker] = {
    **{shape: by_arcs(shape) for shape in ARCS},
    "copulas of the middle": frank,
    "limits of detection": detection,
    "ranked by each": ipsative,
    "before and after": before_and_after,
    "allometry": allometry,
    "seasons": seasons,
    "heaped by each": heaped,
    "crossed categories": crossed,
}
