"""Tables with numbers written from the words of a demand alone, without a look at the other generators here.

Frames as people have them: names, units, text and numbers side by side. `NOTHING` maps a name to a maker of a table in
which every common cause is a column. One exception: "rounded after" rounds what acts by up to a deviation, so that the
exact value is strictly a hidden continuum; nobody would want it told.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

Draws = np.random.Generator
UNITS = ("cm", "kg", "mmHg", "eur", "min", "degC", "km", "pct")


def _rows(rng: Draws) -> int:
    return int(np.exp(rng.uniform(np.log(500), np.log(5000))))


def _width(rng: Draws) -> int:
    return int(rng.integers(5, 26))


def _names(count: int, rng: Draws) -> list[str]:
    return [f"m{j + 1:02d}_{UNITS[int(rng.integers(len(UNITS)))]}" for j in range(count)]


def _frame(columns: list[np.ndarray], rng: Draws) -> pd.DataFrame:
    """Put columns into units of their own."""
    scaled = [
        np.asarray(c, dtype=float) * rng.choice([0.1, 1.0, 7.5, 100.0]) + rng.choice([0.0, 20.0]) for c in columns
    ]
    return pd.DataFrame(dict(zip(_names(len(columns), rng), scaled, strict=True)))


def _shock(kind: str, n: int, rng: Draws) -> np.ndarray:
    """Draw from one margin of mean about 0 and spread about 1."""
    if kind == "lognormal":
        return (rng.lognormal(0, 0.8, n) - 1.38) / 1.3
    if kind == "t3":
        return rng.standard_t(3, n) / 1.7
    if kind == "uniform":
        return rng.uniform(-1.73, 1.73, n)
    if kind == "bimodal":
        return np.where(rng.random(n) < 0.5, -0.95, 0.95) + 0.3 * rng.normal(size=n)
    return rng.normal(size=n)


def _parents(shape: str, width: int, rng: Draws) -> list[list[int]]:
    if shape == "alone":
        return [[] for _ in range(width)]
    if shape == "chain":
        return [[j - 1] if j else [] for j in range(width)]
    if shape == "tree":
        return [[int(rng.integers(j))] if j else [] for j in range(width)]
    return [sorted(rng.choice(j, min(j, int(rng.integers(0, 3))), replace=False).tolist()) for j in range(width)]


def margins(kind: str, shape: str) -> Callable[[Draws], pd.DataFrame]:
    """Columns with one kind of margin in all shocks, arcs straight lines."""

    def make(rng: Draws) -> pd.DataFrame:
        n, columns = _rows(rng), []
        for parents in _parents(shape, _width(rng), rng):
            value = _shock(kind, n, rng)
            for parent in parents:
                value = value + rng.uniform(0.5, 1.2) * rng.choice([-1, 1]) * columns[parent]
            columns.append(value)
        return _frame(columns, rng)

    return make


def lognormal_levels(rng: Draws) -> pd.DataFrame:
    """A chain in the logarithms, kept as levels (incomes, prices, sizes)."""
    n, logs = _rows(rng), []
    for parents in _parents("tree", _width(rng), rng):
        logs.append(rng.normal(size=n) * 0.7 + sum((0.8 * logs[p] for p in parents), np.zeros(n)))
    return _frame([np.exp(c) for c in logs], rng)


def conditional_gaussian(rng: Draws) -> pd.DataFrame:
    """Categories above numbers: means, slopes and spreads by state; lines among the numbers."""
    n, width = _rows(rng), _width(rng)
    states = max(2, width // 4)
    codes = [rng.integers(0, 2 + j % 3, n) for j in range(states)]
    for j in range(1, states):
        keep = rng.random(n) < 0.4
        codes[j] = np.where(keep, codes[j - 1] % (2 + j % 3), codes[j])
    numbers: list[np.ndarray] = []
    for j in range(width - states):
        code = codes[int(rng.integers(states))]
        mean = rng.normal(0, 1.2, code.max() + 1)[code]
        if numbers and rng.random() < 0.7:
            mean = mean + rng.uniform(0.2, 1.0, code.max() + 1)[code] * numbers[int(rng.integers(j))]
        numbers.append(mean + rng.uniform(0.5, 1.5, code.max() + 1)[code] * rng.normal(size=n))
    frame = _frame(numbers, rng)
    for j, code in enumerate(codes):
        frame.insert(0, f"group{j + 1}", np.array(["north", "south", "east", "west"])[code])
    return frame


def bent(kind: str) -> Callable[[Draws], pd.DataFrame]:
    """Every arc of one bent kind."""

    def make(rng: Draws) -> pd.DataFrame:
        n, columns = _rows(rng), []
        for j, parents in enumerate(_parents("graph", _width(rng), rng)):
            noise = rng.normal(size=n)
            scaled = [(columns[p] - columns[p].mean()) / columns[p].std() for p in parents]
            if kind == "product" and len(scaled) < 2 <= j:
                pair = rng.choice(j, 2, replace=False)
                scaled = [(columns[p] - columns[p].mean()) / columns[p].std() for p in pair]
            columns.append(_bend(kind, scaled, noise, rng))
        return _frame(columns, rng)

    return make


def _bend(kind: str, parents: list[np.ndarray], noise: np.ndarray, rng: Draws) -> np.ndarray:
    if not parents:
        return noise
    if kind == "product":
        return (parents[0] * parents[1] if len(parents) > 1 else parents[0]) + 0.8 * noise
    if kind == "quadratic":
        return sum((rng.choice([-1, 1]) * p**2 for p in parents), np.zeros(len(noise))) + 0.8 * noise
    if kind == "threshold":
        steps = (rng.choice([-1, 1]) * 1.8 * (p > rng.uniform(-0.7, 0.7)) for p in parents)
        return sum(steps, np.zeros(len(noise))) + 0.8 * noise
    slope = sum((0.5 * p for p in parents), np.zeros(len(noise)))
    return slope + np.exp(0.6 * parents[0]) * 0.7 * noise


def counts(zeros: bool) -> Callable[[Draws], pd.DataFrame]:
    """Counts (visits, claims) by age, income and each other; with extra zeros where asked."""

    def make(rng: Draws) -> pd.DataFrame:
        n, width = _rows(rng), int(rng.integers(5, 13))
        age = rng.uniform(18, 90, n)
        income = np.exp(rng.normal(10, 0.5, n) + 0.005 * age)
        above = [(age - 54) / 20, (np.log(income) - 10) / 0.5]
        frame = pd.DataFrame({"age_years": np.floor(age), "income_eur": np.round(income)})
        above[0] = (np.floor(age) - 54) / 20
        for j in range(width - 2):
            chosen = rng.choice(len(above), 2, replace=False)
            mean = np.exp(rng.uniform(0, 1.5) + sum(rng.uniform(-0.5, 0.5) * above[c] for c in chosen))
            mean = np.minimum(mean, 60)
            drawn = rng.poisson(mean) if j % 2 else rng.negative_binomial(2, 2 / (2 + mean))
            if zeros:
                drawn = np.where(rng.random(n) < rng.uniform(0.2, 0.5), 0, drawn)
            frame[f"visits_{j + 1}"] = drawn
            above.append(np.log1p(drawn) - np.log1p(drawn).mean())
        return frame

    return make


def rounded(rng: Draws) -> pd.DataFrame:
    """Lines among numbers that somebody wrote down coarsely: to halves, tens, one decimal."""
    frame = margins("normal", "graph")(rng)
    for name in frame.columns:
        step = frame[name].std() * rng.choice([0.05, 0.2, 0.5, 1.0])
        frame[name] = np.round(frame[name] / step) * step
    return frame


def rounded_before(rng: Draws) -> pd.DataFrame:
    """What is written down coarsely is what acts (a dose, an age in years, a size)."""
    n, columns = _rows(rng), []
    for parents in _parents("graph", _width(rng), rng):
        value = rng.normal(size=n) + sum((rng.uniform(0.4, 1.0) * columns[p] for p in parents), np.zeros(n))
        columns.append(np.round(value * rng.choice([1.0, 2.0, 5.0, 20.0])) / 2.0)
    return _frame(columns, rng)


def sums(rng: Draws) -> pd.DataFrame:
    """Parts and their totals: exact sums beside what they are sums of, and something that follows a total."""
    n = _rows(rng)
    parts = [rng.gamma(rng.uniform(1.5, 6), rng.uniform(5, 30), n) for _ in range(int(rng.integers(3, 7)))]
    frame = pd.DataFrame({f"item{j + 1}_eur": np.round(p, 2) for j, p in enumerate(parts)})
    frame["total_eur"] = frame.sum(axis=1)
    frame["food_and_rent_eur"] = frame["item1_eur"] + frame["item2_eur"]
    frame["tax_eur"] = np.round(0.2 * frame["total_eur"] + rng.normal(0, 5, n), 2)
    frame["visits"] = rng.poisson(3, n)
    return frame


def ratios(rng: Draws) -> pd.DataFrame:
    """Height and weight, the index made of them, and other ratios of columns."""
    n = _rows(rng)
    sex = rng.random(n) < 0.5
    height = np.round(rng.normal(np.where(sex, 178, 165), 7), 1)
    weight = np.round(np.exp(np.log(height / 100) * 2 + rng.normal(3.2, 0.15, n)), 1)
    frame = pd.DataFrame({"sex": np.where(sex, "m", "f"), "height_cm": height, "weight_kg": weight})
    frame["bmi"] = np.round(weight / (height / 100) ** 2, 1)
    frame["sales"], frame["area_m2"] = np.round(rng.lognormal(8, 0.6, n)), np.round(rng.lognormal(5, 0.4, n))
    frame["sales_per_m2"] = frame["sales"] / frame["area_m2"]
    frame["pressure_mmHg"] = np.round(95 + 1.2 * frame["bmi"] + rng.normal(0, 9, n))
    frame["pulse_per_pressure"] = rng.normal(70, 8, n) / frame["pressure_mmHg"]
    return frame


def crossed(rng: Draws) -> pd.DataFrame:
    """Categories that act together (none of them does it alone), on numbers and on other categories."""
    n, width = _rows(rng), int(rng.integers(5, 16))
    codes = [rng.integers(0, k, n) for k in (2, 3, 2)]
    frame = pd.DataFrame(
        {"treated": codes[0] == 1, "site": np.array(["a", "b", "c"])[codes[1]], "sex": np.where(codes[2], "m", "f")}
    )
    for j in range(width - 3):
        first, second = rng.choice(len(codes), 2, replace=False)
        cell = rng.normal(0, 1.2, (codes[first].max() + 1, codes[second].max() + 1))[codes[first], codes[second]]
        if j % 3 == 2:
            drawn = (rng.random(n) < 1 / (1 + np.exp(-1.5 * cell))).astype(int)
            codes.append(drawn)
            frame[f"event{j}"] = np.where(drawn, "yes", "no")
        else:
            frame[f"level{j}_mmol"] = cell + rng.normal(size=n)
    return frame


def holes(at_random: bool) -> Callable[[Draws], pd.DataFrame]:
    """A fifth of the cells empty: anywhere, or more often where the value is high."""

    def make(rng: Draws) -> pd.DataFrame:
        kind = ("normal", "lognormal", "uniform")[int(rng.integers(3))]
        frame = conditional_gaussian(rng) if rng.random() < 0.3 else margins(kind, "tree")(rng)
        for name in frame.columns:
            if at_random or frame[name].dtype == object or not pd.api.types.is_numeric_dtype(frame[name]):
                gone = rng.random(len(frame)) < 0.2
            else:
                rank = frame[name].rank(pct=True)
                gone = rng.random(len(frame)) < 0.4 * rank
            frame.loc[gone, name] = None
        return frame

    return make


def anything(rng: Draws) -> pd.DataFrame:
    """Draw a mechanism for each column from all of the above."""
    n, width = _rows(rng), _width(rng)
    values: list[np.ndarray] = []
    frame = pd.DataFrame(index=range(n))
    for j, parents in enumerate(_parents("graph", width, rng)):
        shock = _shock(str(rng.choice(["normal", "lognormal", "t3", "uniform", "bimodal"])), n, rng)
        scaled = [(values[p] - values[p].mean()) / (values[p].std() + 1e-9) for p in parents]
        kind = str(rng.choice(["line", "quadratic", "threshold", "product", "scatter"]))
        line = 0.9 * sum(scaled, np.zeros(n)) + 0.8 * shock
        value = line if kind == "line" else _bend(kind, scaled, shock, rng)
        last = rng.random()
        if last < 0.15:
            value = (value > np.median(value)).astype(float)
            frame[f"flag{j}"] = np.where(value > 0, "yes", "no")
        elif last < 0.3:
            value = rng.poisson(np.exp(np.clip(0.5 * value + 0.5, -3, 3.5))).astype(float)
            frame[f"count{j}"] = value.astype(int)
        elif last < 0.45:
            value = np.round(value * 2) / 2
            frame[f"coarse{j}"] = value
        else:
            frame[f"x{j}_{UNITS[j % len(UNITS)]}"] = value * 3 + 10
        values.append(value)
    return frame


NOTHING: dict[str, Callable[[Draws], pd.DataFrame]] = {
    "conditional Gaussian": conditional_gaussian,
    **{
        f"{kind}, {shape}": margins(kind, shape)
        for kind in ("lognormal", "t3", "uniform", "bimodal")
        for shape in ("alone", "chain", "tree")
    },
    "lognormal levels": lognormal_levels,
    **{kind: bent(kind) for kind in ("quadratic", "threshold", "product", "heteroscedastic")},
    "counts": counts(zeros=False),
    "counts with zeros": counts(zeros=True),
    "rounded after": rounded,
    "rounded before": rounded_before,
    "sums": sums,
    "ratios": ratios,
    "categories crossed": crossed,
    "holes at random": holes(at_random=True),
    "holes not at random": holes(at_random=False),
    "anything": anything,
}
