"""Tables with numbers and nothing hidden, by the mechanism that made them.

A generator takes (rng, rows, columns) and gives {name: values}. Nothing here
looks at the package: the tables are what users have, in their own units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = dict[str, Any]
Maker = Callable[[np.random.Generator, int, int], Columns]


# --- pieces


def random_parents(rng: np.random.Generator, columns: int, most: int = 2) -> list[list[int]]:
    """A random directed graph: each column has up to `most` parents among those before it."""
    return [
        sorted(rng.choice(j, size=min(j, int(rng.integers(0, most + 1))), replace=False).tolist())
        for j in range(columns)
    ]


def noise(rng: np.random.Generator, rows: int, kind: str) -> Floats:
    """Of mean about 0 and deviation about 1."""
    if kind == "normal":
        return rng.normal(size=rows)
    if kind == "t3":
        return rng.standard_t(3, rows) / 1.7
    if kind == "exponential":
        return rng.exponential(size=rows) - 1
    if kind == "lognormal":
        return (np.exp(rng.normal(size=rows) * 0.8) - 1.38) / 1.3
    if kind == "uniform":
        return rng.uniform(-1.73, 1.73, rows)
    if kind == "bimodal":
        return (np.where(rng.random(rows) < 0.5, -1.5, 1.5) + 0.5 * rng.normal(size=rows)) / 1.6
    raise ValueError(kind)


NOISES = ("normal", "t3", "exponential", "lognormal", "uniform", "bimodal")


def named(values: list[Floats]) -> Columns:
    return {f"x{j}": each for j, each in enumerate(values)}


def standard(x: Floats) -> Floats:
    return (x - x.mean()) / max(float(x.std()), 1e-9)


def linear_part(rng: np.random.Generator, parents: list[Floats]) -> Any:
    """A weighted sum of the parents; 0 where there are none."""
    if not parents:
        return 0.0
    weights = rng.uniform(0.4, 1.0, len(parents)) * rng.choice([-1, 1], len(parents))
    return sum(w * standard(each) for w, each in zip(weights, parents, strict=True))


def grown(
    rng: np.random.Generator, rows: int, columns: int, effect: Callable[[list[Floats]], Floats | float], kinds: Any
) -> list[Floats]:
    """Columns one after another, each an effect of its parents and noise."""
    found: list[Floats] = []
    for parents in random_parents(rng, columns):
        part = effect([found[p] for p in parents])
        found.append(part + noise(rng, rows, str(rng.choice(kinds))))
    return found


# --- nothing hidden: the groups that must be shown


def conditional_gaussian(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Categories and numbers, with arcs from categories to numbers and among numbers."""
    n_categories = max(1, columns // 3)
    table: Columns = {}
    codes: list[NDArray[np.int64]] = []
    for j in range(n_categories):
        levels = int(rng.integers(2, 5))
        shares = rng.dirichlet(np.full(levels, 3.0))
        made = rng.choice(levels, rows, p=shares)
        if codes and rng.random() < 0.5:
            made = np.where(rng.random(rows) < 0.5, codes[-1] % levels, made)
        codes.append(made)
        table[f"c{j}"] = np.array(list("abcde"))[made]
    numbers: list[Floats] = []
    for j, parents in enumerate(random_parents(rng, columns - n_categories)):
        value = linear_part(rng, [numbers[p] for p in parents]) + rng.normal(size=rows)
        if rng.random() < 0.6:
            own = codes[int(rng.integers(len(codes)))]
            value = value + rng.normal(0, 1.0, 5)[own]
        numbers.append(value)
        table[f"x{j}"] = value
    return table


def independent(kind: str) -> Maker:
    def make(rng: np.random.Generator, rows: int, columns: int) -> Columns:
        return named([noise(rng, rows, kind) for _ in range(columns)])

    return make


def chained(kind: str) -> Maker:
    """Chains and trees: each column hangs on one before it; a lognormal one is the exponential of its normal self."""

    def make(rng: np.random.Generator, rows: int, columns: int) -> Columns:
        values: list[Floats] = []
        tree = rng.random() < 0.5
        for j in range(columns):
            part = 0.0
            if j:
                part = rng.uniform(0.5, 1.0) * standard(values[int(rng.integers(j)) if tree else j - 1])
            values.append(part + noise(rng, rows, "normal" if kind == "lognormal" else kind))
        return named([np.exp(standard(v)) for v in values] if kind == "lognormal" else values)

    return make


def shaped(shape: str) -> Maker:
    """Arcs of one shape: quadratic, threshold, product, heteroscedastic."""

    def make(rng: np.random.Generator, rows: int, columns: int) -> Columns:
        values: list[Floats] = []
        for parents in random_parents(rng, columns):
            own = [standard(values[p]) for p in parents]
            e = rng.normal(size=rows)
            if not own:
                values.append(e)
            elif shape == "quadratic":
                values.append(sum(rng.uniform(0.4, 0.9) * (v**2 - 1) for v in own) + e)
            elif shape == "threshold":
                values.append(sum(rng.uniform(0.8, 2.0) * (v > rng.normal(0, 0.5)) for v in own) + e)
            elif shape == "product":
                values.append(rng.uniform(0.5, 1.0) * own[0] * own[-1] + 0.4 * own[0] + e)
            else:
                values.append(0.5 * own[0] + np.exp(rng.uniform(0.3, 0.7) * own[-1]) * e)
        return named(values)

    return make


def counts(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Poisson counts and numbers that drive each other through logs."""
    values: list[Floats] = []
    for parents in random_parents(rng, columns):
        drive = np.clip(linear_part(rng, [values[p] for p in parents]), -2, 2) * 0.6
        if rng.random() < 0.6:
            values.append(rng.poisson(np.exp(rng.uniform(0.2, 2.0) + drive), rows).astype(float))
        else:
            values.append(drive + rng.normal(size=rows))
    return named(values)


def zero_inflated(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    values: list[Floats] = []
    for parents in random_parents(rng, columns):
        drive = np.clip(linear_part(rng, [values[p] for p in parents]), -2, 2) * 0.6
        if rng.random() < 0.5:
            amount = np.exp(0.5 + drive + 0.5 * rng.normal(size=rows))
            if rng.random() < 0.5:
                amount = rng.poisson(amount).astype(float)
            values.append(np.where(rng.random(rows) < rng.uniform(0.2, 0.5), 0.0, amount))
        else:
            values.append(drive + rng.normal(size=rows))
    return named(values)


def rounded(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    values = grown(rng, rows, columns, lambda own: linear_part(rng, own), ("normal", "exponential"))
    return named([np.round(standard(v) / (s := rng.choice([0.1, 0.2, 0.4]))) * s for v in values])


def sums_and_ratios(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Totals, differences and ratios of other columns, some exact."""
    first = max(3, columns // 2)
    values = [
        np.exp(0.3 * rng.normal(size=rows) + 1) if rng.random() < 0.5 else 5 + rng.normal(size=rows)
        for _ in range(first)
    ]
    for j in range(1, first):
        if rng.random() < 0.4:
            values[j] = values[j] + 0.5 * values[j - 1]
    while len(values) < columns:
        a, b = rng.choice(len(values), 2, replace=False)
        how = rng.integers(4)
        made = (
            values[a] + values[b],
            values[a] - values[b],
            values[a] / np.maximum(np.abs(values[b]), 0.5),
            values[a] / np.maximum(np.abs(values[b]), 0.5) ** 2,
        )[how]
        values.append(made + (0.1 * made.std() * rng.normal(size=rows) if rng.random() < 0.5 else 0.0))
    return named(values)


def interacting_categories(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Numbers whose mean and slope depend on combinations of categories, and categories driven by numbers."""
    table: Columns = {}
    codes = [rng.integers(0, int(rng.integers(2, 4)), rows) for _ in range(max(2, columns // 3))]
    for j, own in enumerate(codes):
        table[f"c{j}"] = np.array(list("abcd"))[own]
    numbers: list[Floats] = []
    for j in range(columns - len(codes) - 1):
        a, b = (codes[int(k)] for k in rng.choice(len(codes), 2, replace=False))
        mean = rng.normal(0, 0.8, (4, 4))[a, b]
        if numbers:
            mean = mean + rng.normal(0, 0.6, 4)[a] * standard(numbers[int(rng.integers(len(numbers)))])
        numbers.append(mean + rng.normal(size=rows))
        table[f"x{j}"] = numbers[-1]
    chance = 1 / (1 + np.exp(-1.2 * standard(numbers[-1]) - rng.normal(0, 0.8, 4)[codes[0]]))
    table["outcome"] = np.where(rng.random(rows) < chance, "yes", "no")
    return table


def with_holes(at_random: bool) -> Maker:
    """A linear or curved table with 20 % of its cells empty, at random or by how large they were."""

    def make(rng: np.random.Generator, rows: int, columns: int) -> Columns:
        maker = (conditional_gaussian, chained("normal"), shaped("quadratic"))[int(rng.integers(3))]
        table = maker(rng, rows, columns)
        for name, values in table.items():
            chance = np.full(rows, 0.2)
            if not at_random and np.asarray(values).dtype.kind == "f":
                chance = 0.4 / (1 + np.exp(-1.5 * standard(values)))
            lost = rng.random(rows) < chance
            table[name] = (
                np.where(lost, np.nan, values)
                if np.asarray(values).dtype.kind == "f"
                else np.where(lost, None, np.asarray(values, dtype=object))
            )
        return table

    return make


def body(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Sex drives height, height weight, age and weight blood pressure: everything observed."""
    sex = rng.integers(0, 2, rows)
    age = rng.uniform(20, 80, rows)
    height = 164 + 12 * sex + 6.5 * rng.normal(size=rows)
    weight = 0.9 * (height - 100) + 11 * rng.normal(size=rows)
    pressure = 90 + 0.4 * age + 0.3 * (weight - 70) + 9 * rng.normal(size=rows)
    table: Columns = {"sex": np.array(["f", "m"])[sex], "age": age, "height": height, "weight": weight, "bp": pressure}
    if columns > 5:
        table["bmi"] = weight / (height / 100) ** 2
    for j in range(max(0, columns - 6)):
        table[f"lab{j}"] = np.exp(0.4 * rng.normal(size=rows) + 0.01 * (age - 50) * rng.integers(0, 2))
    return table


def anything(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Each column by a mechanism of its own, drawn from all above; margins bent at the end."""
    columns_now: list[Floats] = []
    table: Columns = {}
    for j, parents in enumerate(random_parents(rng, columns, 3)):
        own = [standard(columns_now[p]) for p in parents]
        e = noise(rng, rows, str(rng.choice(NOISES)))
        value = e if not own else _anything(rng, own, e)
        if rng.random() < 0.2:
            levels = int(rng.integers(2, 5))
            cuts = np.quantile(value, np.arange(1, levels) / levels)
            codes = np.searchsorted(cuts, value)
            columns_now.append(codes.astype(float))
            table[f"x{j}"] = np.array(list("abcde"))[codes]
            continue
        columns_now.append(value)
        bend = rng.integers(5)
        z = standard(value)
        table[f"x{j}"] = (value, np.exp(0.7 * z), z**3 + z, np.round(z / 0.2) * 0.2, value)[bend]
        columns_now[j] = np.asarray(table[f"x{j}"], dtype=float)
    return table


def _anything(rng: np.random.Generator, own: list[Floats], e: Floats) -> Floats:
    a, b = own[0], own[-1]
    how = rng.integers(9)
    if how < 3:
        return linear_part(rng, own) + e
    if how == 3:
        return 0.7 * (a**2 - 1) + 0.4 * b + e
    if how == 4:
        return 1.5 * (a > rng.normal(0, 0.5)) + 0.3 * b + e
    if how == 5:
        return 0.7 * a * b + 0.3 * a + e
    if how == 6:
        return 0.5 * a + np.exp(0.5 * b) * e
    if how == 7:
        return rng.poisson(np.exp(0.8 + 0.5 * np.clip(a, -2, 2))).astype(float)
    return 1.2 * np.tanh(1.5 * a) + 0.4 * b + 0.6 * e


NOTHING: dict[str, Maker] = {
    "conditional gaussian": conditional_gaussian,
    **{f"{kind} independent": independent(kind) for kind in ("lognormal", "t3", "uniform", "bimodal")},
    **{f"{kind} chains": chained(kind) for kind in ("lognormal", "t3", "uniform", "bimodal")},
    **{f"{shape} arcs": shaped(shape) for shape in ("quadratic", "threshold", "product", "heteroscedastic")},
    "counts": counts,
    "zero-inflated": zero_inflated,
    "rounded": rounded,
    "sums and ratios": sums_and_ratios,
    "categories with interactions": interacting_categories,
    "holes at random": with_holes(True),
    "holes not at random": with_holes(False),
    "body": body,
    "random mechanisms": anything,
}
