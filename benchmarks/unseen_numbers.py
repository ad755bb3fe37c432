"""Tables of numbers with nothing hidden, by mechanisms that were written after the families and the rules were fixed.

Each function takes a generator and a number of rows. Nothing was tuned on them: they are for judging only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd


def blood_pressure(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Sex drives height, height weight, age and weight blood pressure."""
    sex = r.choice(2, n)
    h = 163 + 13 * sex + 7 * r.normal(size=n)
    w = 0.9 * (h - 100) + 9 * r.normal(size=n) * (1 + 0.3 * sex)
    age = r.uniform(20, 80, n)
    b = 90 + 0.5 * age + 0.3 * w + 10 * r.normal(size=n)
    return pd.DataFrame(
        {
            "sex": np.array(["f", "m"])[sex],
            "height": h.round(1),
            "weight": w.round(1),
            "age": age.round(),
            "bp": b.round(),
        }
    )


def lognormal(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Four independent columns."""
    return pd.DataFrame(np.exp(r.normal(size=(n, 4)) * 1.0), columns=list("abcd"))


def lognormal_chain(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Five in a chain."""
    x = r.normal(size=n)
    c = [x]
    for _ in range(4):
        x = 0.7 * x + 0.7 * r.normal(size=n)
        c.append(x)
    return pd.DataFrame(np.exp(np.array(c).T), columns=list("abcde"))


def heavy_tails(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Five independent columns with three degrees of freedom."""
    return pd.DataFrame(r.standard_t(3, size=(n, 5)), columns=list("abcde"))


def sines(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Arcs that go round, and a product."""
    a = r.uniform(-3, 3, n)
    b = np.sin(2 * a) + 0.3 * r.normal(size=n)
    c = np.cos(a) * b + 0.3 * r.normal(size=n)
    d = a**2 / 3 + 0.5 * r.normal(size=n)
    e = r.normal(size=n)
    f = b * e + 0.4 * r.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e, "f": f})


def three_columns_together(r: np.random.Generator, n: int) -> pd.DataFrame:
    """A product of two whose sign a third decides."""
    X = r.normal(size=(n, 4))
    y = X[:, 0] * X[:, 1] * np.sign(X[:, 2]) + 0.5 * r.normal(size=n)
    z = np.where(X[:, 3] > 0, X[:, 0], -X[:, 0]) + 0.4 * r.normal(size=n)
    return pd.DataFrame(np.c_[X, y, z], columns=list("abcdyz"))


def regressions_by_a_category(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Lines whose slopes a seen category decides."""
    g = r.choice(3, n)
    x = r.normal(size=n)
    y = np.array([1, -1, 0.2])[g] * x + np.array([0, 1, 3])[g] + 0.4 * r.normal(size=n)
    z = np.array([0, 2, -1])[g] + y * 0.5 + 0.5 * r.normal(size=n)
    w = x + z + r.exponential(size=n)
    v = r.gamma(2, size=n) * np.array([1, 2, 4])[g]
    return pd.DataFrame({"g": np.array(list("ABC"))[g], "x": x, "y": y, "z": z, "w": w, "v": v})


def selected_rows(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Independent columns of rows that two sums select."""
    X = r.normal(size=(n * 8, 5))
    k = (X[:, :3].sum(1) > 1) & (X[:, 3] + X[:, 4] > -0.5)
    X = X[k][:n]
    return pd.DataFrame(X, columns=list("abcde"))


def heaped_incomes(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Rounded incomes, savings of 0, costs."""
    age = r.uniform(18, 90, n)
    inc = np.exp(9 + 0.02 * age + 0.6 * r.normal(size=n))
    inc = np.where(r.random(n) < 0.6, np.round(inc, -3), np.round(inc, -2))
    sav = np.where(r.random(n) < 0.3, 0, inc * r.beta(1, 6, n))
    rent = 0.3 * inc + 300 * r.exponential(size=n)
    kids = np.minimum(r.poisson(1.2, n), 6)
    cost = rent * 0.3 + 200 * kids + 150 * r.normal(size=n)
    return pd.DataFrame(
        {
            "age": age.round(),
            "income": inc,
            "savings": sav.round(-1),
            "rent": rent.round(-1),
            "kids": kids,
            "cost": cost.round(),
        }
    )


def shares_of_a_whole(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Four shares that add up to a hundred."""
    G = r.gamma([2, 3, 1.5, 4], size=(n, 4))
    S = G / G.sum(1, keepdims=True)
    t = r.lognormal(size=n)
    return pd.DataFrame(
        np.c_[S * 100, t, S[:, 0] * t + 0.1 * r.normal(size=n)], columns=["sand", "silt", "clay", "org", "total", "x"]
    ).round(2)


def limits_of_measuring(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Values below a limit are told as the limit."""
    a = np.exp(r.normal(size=n))
    b = a**1.3 * np.exp(0.5 * r.normal(size=n))
    c = np.sqrt(a * b) * np.exp(0.4 * r.normal(size=n))
    d = np.exp(r.normal(size=n))

    def f(x, q):
        return np.maximum(x, np.quantile(x, q))

    return pd.DataFrame({"a": f(a, 0.2), "b": f(b, 0.3), "c": f(c, 0.15), "d": f(d, 0.25), "e": np.minimum(a + d, 5)})


def unequal_spread(r: np.random.Generator, n: int) -> pd.DataFrame:
    """The spread of a column depends on another."""
    a = r.normal(size=n)
    b = np.exp(0.7 * a) * r.normal(size=n)
    c = b + np.abs(a) * r.normal(size=n)
    d = 0.5 * a + r.standard_t(4, size=n)
    e = np.exp(0.3 * d) * r.exponential(size=n)
    f = np.maximum(a, d) + 0.3 * r.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e, "f": f})


def counts(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Visits, drugs and days: Poisson, negative binomial, many zeros."""
    age = r.uniform(20, 80, n)
    sm = r.random(n) < 0.3
    v = r.poisson(np.exp(-1 + 0.03 * age + 0.5 * sm))
    z = np.where(r.random(n) < 0.4, 0, r.negative_binomial(2, 0.4, n) + v)
    cost = 100 * v + 50 * z + r.exponential(80, n)
    d = r.poisson(0.2 + 0.1 * v)
    ch = np.where(r.random(n) < 0.2 + 0.3 * sm, "yes", "no")
    return pd.DataFrame(
        {
            "age": age.round(),
            "smoker": np.where(sm, "y", "n"),
            "visits": v,
            "drugs": z,
            "cost": cost.round(1),
            "days": d,
            "chronic": ch,
        }
    )


def two_humps(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Columns with two humps each, of their own."""

    def f():
        return np.where(r.random(n) < 0.5, -2, 2) + r.normal(size=n) * 0.6

    a, b, c = f(), f(), f()
    d = 0.6 * a + r.normal(size=n)
    e = a - b + r.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e})


def sums_and_ratios(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Body measures, their sums and ratios."""
    w = np.exp(4.3 + 0.2 * r.normal(size=n))
    h = 1.7 + 0.1 * r.normal(size=n)
    bmi = w / h**2
    waist = 50 + 1.5 * bmi + 5 * r.normal(size=n)
    hip = waist / (0.85 + 0.07 * r.normal(size=n))
    whr = waist / hip
    tot = waist + hip
    return pd.DataFrame({"w": w, "h": h, "bmi": bmi, "waist": waist, "hip": hip, "whr": whr, "tot": tot})


def smooth_functions(r: np.random.Generator, n: int) -> pd.DataFrame:
    """A random graph of random smooth functions, ten columns with margins of all kinds, a tenth of the cells empty."""
    V = []
    for j in range(10):
        ps = r.choice(j, min(j, int(r.integers(0, 3))), replace=False) if j else []
        x = r.normal(size=n) * (1 if len(ps) == 0 else 0.5)
        for p in ps:
            W = r.normal(size=(6,))
            B = r.normal(size=6)
            x = x + (np.tanh(np.outer(V[p], W) + B) @ r.normal(size=6)) * 0.6
        x = (x - x.mean()) / x.std()
        V.append(x)
    X = np.array(V).T
    out = {}
    for j in range(10):
        k = r.choice(["id", "exp", "round", "cat", "cube"])
        x = X[:, j]
        out[f"v{j}"] = (
            x
            if k == "id"
            else np.exp(x)
            if k == "exp"
            else np.round(x * 3)
            if k == "round"
            else np.array(list("abc"))[np.digitize(x, [-0.5, 0.7])]
            if k == "cat"
            else x**3
        )
    df = pd.DataFrame(out)
    m = r.random(df.shape) < 0.1
    return df.mask(m)


def random_mechanisms(r: np.random.Generator, n: int, d=20) -> pd.DataFrame:
    """A random graph of arcs of six kinds and margins of six kinds."""
    V = []
    for j in range(d):
        ps = r.choice(j, min(j, int(r.integers(0, 4))), replace=False) if j else []
        x = r.normal(size=n) * (1 if len(ps) == 0 else r.choice([0.3, 0.6, 1]))
        for p in ps:
            k = r.integers(6)
            v = V[p]
            x = (
                x
                + [
                    0.8 * v,
                    0.5 * (v**2 - 1),
                    np.where(v > 0.3, 1, -0.5),
                    np.abs(v) * 0.8,
                    np.sin(2 * v),
                    np.exp(-(v**2)) * 2,
                ][k]
            )
        if len(ps) > 1 and r.random() < 0.4:
            x = x + 0.6 * V[ps[0]] * V[ps[1]]
        x = (x - x.mean()) / x.std()
        V.append(x)
    out = {}
    for j in range(d):
        x = V[j]
        k = r.integers(6)
        out[f"v{j}"] = [
            x,
            np.exp(x),
            np.round(2 * x),
            (x > 0.2) * 1,
            np.maximum(x, -0.3),
            np.array(list("abcd"))[np.digitize(x, [-1, 0, 1])],
        ][k]
    return pd.DataFrame(out)


GROUPS: dict[str, Callable[[np.random.Generator], pd.DataFrame]] = {
    "blood pressure": lambda r: blood_pressure(r, 1000),
    "lognormal": lambda r: lognormal(r, 1000),
    "lognormal chain": lambda r: lognormal_chain(r, 1000),
    "heavy tails": lambda r: heavy_tails(r, 1000),
    "sines": lambda r: sines(r, 1000),
    "three columns together": lambda r: three_columns_together(r, 1000),
    "regressions by a category": lambda r: regressions_by_a_category(r, 1000),
    "selected rows": lambda r: selected_rows(r, 1000),
    "heaped incomes": lambda r: heaped_incomes(r, 1000),
    "shares of a whole": lambda r: shares_of_a_whole(r, 1000),
    "limits of measuring": lambda r: limits_of_measuring(r, 1000),
    "unequal spread": lambda r: unequal_spread(r, 1000),
    "counts": lambda r: counts(r, 1000),
    "two humps": lambda r: two_humps(r, 1000),
    "sums and ratios": lambda r: sums_and_ratios(r, 1000),
    "smooth functions": lambda r: smooth_functions(r, 1000),
    "random mechanisms, 500 rows": lambda r: random_mechanisms(r, 500, 12),
    "random mechanisms, 2,000 rows": lambda r: random_mechanisms(r, 2000, 15),
}
