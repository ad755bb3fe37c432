"""Classes and factors behind numbers, written from the words of a demand alone (see `outside_number_tables`)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

Draws = np.random.Generator


@dataclass(frozen=True)
class Behind:
    """What stands behind a table: its kind, how many states, and the columns below each hidden variable."""

    kind: str
    states: int
    columns: tuple[tuple[str, ...], ...]


Planted = tuple[pd.DataFrame, Behind]


def _classes(n: int, states: int, rng: Draws) -> np.ndarray:
    return rng.choice(states, n, p=rng.dirichlet(np.full(states, 20.0)))


def _levels(states: int, apart: float, rng: Draws) -> np.ndarray:
    """Means of the classes in one column, neighbours `apart` deviations from each other, in any order."""
    order = np.arange(states) if states == 2 else rng.permutation(states)
    return rng.choice([-1.0, 1.0]) * apart * order.astype(float)


def classes(apart: float, below: int, states: int = 2, beside: int = 0, n: int = 1000) -> Callable[[Draws], Planted]:
    """Classes behind some columns; the others hang together by themselves in a chain."""

    def make(rng: Draws) -> Planted:
        group = _classes(n, states, rng)
        frame = pd.DataFrame()
        for j in range(below):
            value = _levels(states, apart, rng)[group] + rng.normal(size=n)
            frame[f"marker_{j + 1}_ng_ml"] = 40 + 7 * value
        last = rng.normal(size=n)
        for j in range(beside):
            last = 0.7 * last + 0.7 * rng.normal(size=n)
            frame[f"other_{j + 1}_eur"] = np.exp(5 + 0.6 * last)
        hidden = tuple(c for c in frame.columns if c.startswith("marker"))
        return pd.DataFrame({name: frame[name] for name in rng.permutation(frame.columns)}), Behind(
            "class", states, (hidden,)
        )

    return make


def classes_and_arcs(rng: Draws) -> Planted:
    """Two classes behind five columns; age and sex act on some of these, and two columns act on others."""
    n = 1000
    group = _classes(n, 2, rng)
    age, sex = rng.uniform(20, 80, n), rng.random(n) < 0.5
    value = [1.3 * rng.choice([-1, 1]) * group + rng.normal(size=n) for _ in range(5)]
    value[0] = value[0] + 0.03 * (age - 50)
    value[1] = value[1] + 0.8 * sex
    outcome = 0.7 * value[2] + 0.02 * (age - 50) + rng.normal(size=n)
    frame = pd.DataFrame({"age_years": np.round(age), "sex": np.where(sex, "m", "f")})
    for j, column in enumerate(value):
        frame[f"lab{j + 1}_mmol"] = np.round(5 + column, 2)
    frame["outcome_days"] = np.round(30 + 4 * outcome, 1)
    return frame, Behind("class", 2, (tuple(f"lab{j + 1}_mmol" for j in range(5)),))


def mixed(states: int) -> Callable[[Draws], Planted]:
    """Classes behind three numbers, two yes/no columns and one of three words; two columns beside."""

    def make(rng: Draws) -> Planted:
        n = 1000
        group = _classes(n, states, rng)
        frame = pd.DataFrame()
        for name in ("height_cm", "weight_kg", "income_eur"):
            value = _levels(states, 1.4, rng)[group] + rng.normal(size=n)
            frame[name] = np.round(np.exp(7 + 0.4 * value)) if name == "income_eur" else np.round(60 + 9 * value, 1)
        for name in ("smokes", "insured"):
            chance = np.resize(rng.permutation([0.2, 0.75]), states)[group]
            frame[name] = rng.random(n) < chance
        table = np.array([[0.7, 0.2, 0.1], [0.1, 0.25, 0.65], [0.15, 0.7, 0.15]])[rng.permutation(3)]
        pick = (rng.random(n)[:, None] > np.cumsum(table[group], axis=1)).sum(axis=1)
        frame["region"] = np.array(["coast", "hills", "city"])[np.minimum(pick, 2)]
        below = tuple(frame.columns)
        frame["rain_mm"] = rng.gamma(2, 10, n)
        frame["sales_k"] = np.round(20 + 0.4 * frame["rain_mm"] + 6 * rng.normal(size=n), 1)
        return frame, Behind("class", states, (below,))

    return make


def shift_and_scale(rng: Draws) -> Planted:
    """Two regimes of six columns that differ in the means and in the spreads."""
    n = 1000
    group = _classes(n, 2, rng)
    frame = pd.DataFrame()
    for j in range(6):
        spread = np.array([1.0, rng.uniform(1.6, 2.2)])[group]
        frame[f"return_{j + 1}_pct"] = rng.choice([-1, 1]) * 1.0 * group + spread * rng.normal(size=n)
    return frame, Behind("class", 2, (tuple(frame.columns),))


def factor(items: int, grades: int = 0, beside: int = 0) -> Callable[[Draws], Planted]:
    """One trait behind numbers, or behind items of so many grades (1 to 5: Likert)."""

    def make(rng: Draws) -> Planted:
        n = 1000
        trait = rng.normal(size=n)
        frame = pd.DataFrame()
        for j in range(items):
            load = rng.uniform(0.6, 0.85)
            value = rng.choice([-1, 1]) * load * trait + np.sqrt(1 - load**2) * rng.normal(size=n)
            frame[f"item{j + 1}"] = _graded(value, grades, rng) if grades else np.round(50 + 10 * value, 1)
        below = tuple(frame.columns)
        for j in range(beside):
            frame[f"beside{j + 1}_km"] = rng.gamma(3, 4, n)
        return frame, Behind("continuum", 0, (below,))

    return make


def _graded(value: np.ndarray, grades: int, rng: Draws) -> np.ndarray:
    cuts = np.sort(rng.normal(0, 0.25, grades - 1) + np.linspace(-1.3, 1.3, grades - 1))
    return 1 + np.searchsorted(cuts, value)


def likert_classes(states: int) -> Callable[[Draws], Planted]:
    """Classes of respondents behind eight Likert items: means 1.2 deviations apart."""

    def make(rng: Draws) -> Planted:
        n = 1000
        group = _classes(n, states, rng)
        frame = pd.DataFrame()
        for j in range(8):
            level = _levels(states, 1.2, rng)
            frame[f"q{j + 1}"] = _graded(level[group] - level.mean() + rng.normal(size=n), 5, rng)
        return frame, Behind("class", states, (tuple(frame.columns),))

    return make


def two_factors(alike: float) -> Callable[[Draws], Planted]:
    """Two traits, four columns each, that go together as much as is said."""

    def make(rng: Draws) -> Planted:
        n = 1000
        first = rng.normal(size=n)
        second = alike * first + np.sqrt(1 - alike**2) * rng.normal(size=n)
        frame = pd.DataFrame()
        for name, trait in (("verbal", first), ("number", second)):
            for j in range(4):
                load = rng.uniform(0.65, 0.85)
                frame[f"{name}{j + 1}_pts"] = 100 + 15 * (load * trait + np.sqrt(1 - load**2) * rng.normal(size=n))
        names = list(frame.columns)
        return frame, Behind("continuum", 0, (tuple(names[:4]), tuple(names[4:])))

    return make


def count_classes(rng: Draws) -> Planted:
    """Two kinds of customers behind six counts."""
    n = 1000
    group = _classes(n, 2, rng)
    frame = pd.DataFrame()
    for j in range(6):
        mean = rng.uniform(1.5, 5)
        frame[f"visits_{j + 1}"] = rng.poisson(np.where(group == 1, mean * 2.2, mean))
    return frame, Behind("class", 2, (tuple(frame.columns),))


PLANTED: dict[str, Callable[[Draws], Planted]] = {
    "1.0 sd, 4 columns": classes(1.0, 4),
    "1.0 sd, 6 columns": classes(1.0, 6),
    "1.5 sd, 4 columns": classes(1.5, 4),
    "3 classes 1.2 sd, 6 columns": classes(1.2, 6, states=3),
    "3 classes 1.5 sd, 5 columns": classes(1.5, 5, states=3),
    "1.5 sd, 4 of 9": classes(1.5, 4, beside=5),
    "1.0 sd, 4 of 9": classes(1.0, 4, beside=5),
    "observed arcs": classes_and_arcs,
    "mixed, 2 states": mixed(2),
    "mixed, 3 states": mixed(3),
    "shift and scale": shift_and_scale,
    "factor, 5 numbers": factor(5),
    "factor, 5 numbers of 8": factor(5, beside=3),
    "factor, 8 Likert": factor(8, grades=5),
    "2 classes, 8 Likert": likert_classes(2),
    "3 classes, 8 Likert": likert_classes(3),
    "two factors": two_factors(0.0),
    "two factors, r .4": two_factors(0.4),
    "classes behind counts": count_classes,
}
