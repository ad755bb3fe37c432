"""Tables of states with nothing hidden, by mechanisms that were written after the families and the rules were fixed.

Each function takes a generator and a number of rows. Nothing was tuned on them: they are for judging only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd


def cut(x, k):
    q = np.quantile(x, np.linspace(0, 1, k + 1)[1:-1])
    return np.searchsorted(q, x)


def noisy_max(rng: np.random.Generator, n: int, par=4, s=4) -> pd.DataFrame:
    """Three columns, each the noisy maximum of four of seven."""
    P = [rng.choice(s, n, p=rng.dirichlet(np.ones(s) * 2)) for _ in range(par + 3)]
    cols = {f"p{i}": P[i] for i in range(len(P))}
    for c in range(3):
        ps = rng.choice(len(P), par, replace=False)
        y = rng.choice(s, n, p=[0.85, 0.08, 0.05, 0.02][:s])
        for i in ps:
            M = np.zeros((s, s))
            M[0, 0] = 1
            for v in range(1, s):
                M[v] = rng.dirichlet(np.r_[np.ones(v) * 0.5, 3, np.ones(s - v - 1) * 0.3])
            cum = M[P[i]].cumsum(1)
            y = np.maximum(y, (rng.random(n)[:, None] > cum).sum(1))
        cols[f"y{c}"] = y
    return pd.DataFrame(cols).astype(str)


def formulas(rng: np.random.Generator, n: int, d=35) -> pd.DataFrame:
    """Columns of 3 to 20 states, each cut from a formula of the middles of its parents' states."""
    cols = {}
    vals = []
    for j in range(d):
        k = int(rng.choice([3, 4, 5, 7, 10, 15, 20]))
        np_ = 0 if j < 4 else int(rng.integers(0, 4))
        ps = rng.choice(j, min(np_, j), replace=False) if j else []
        if len(ps) == 0:
            x = rng.normal(size=n)
        else:
            f = rng.choice(["lin", "prod", "max", "sat"])
            W = rng.normal(size=len(ps))
            V = np.array([vals[p] for p in ps])
            if f == "lin":
                x = W @ V
            elif f == "prod":
                x = np.prod(np.abs(V) + 0.2, axis=0)
            elif f == "max":
                x = (W[:, None] * V).max(0)
            else:
                x = np.tanh(2 * W @ V)
            x = x / (x.std() + 1e-9) + rng.normal(size=n) * rng.choice([0.1, 0.3, 0.6])
        c = cut(x, k)
        mid = (c - (k - 1) / 2) / (k / 3.4)
        vals.append(mid)
        cols[f"v{j}"] = c
    return pd.DataFrame(cols).astype(str).map(lambda s: "s" + s.zfill(2))


def band_of_a_sum(rng: np.random.Generator, n: int, m=6) -> pd.DataFrame:
    """Independent items beside a band of their sum."""
    s = int(rng.choice([2, 3, 4]))
    I = np.stack([rng.choice(s, n, p=rng.dirichlet(np.ones(s) * 3)) for _ in range(m)])
    t = I.sum(0)
    b = np.digitize(t, np.unique(np.quantile(t, [0.25, 0.5, 0.75])))
    return pd.DataFrame({**{f"i{j}": I[j] for j in range(m)}, "band": b}).astype(str)


def chain_of_cuts(rng: np.random.Generator, n: int, d=7, k=8, nl=False) -> pd.DataFrame:
    """Each column cut from a line, or a bent one, of the middles of the one before."""
    x = rng.normal(size=n)
    cols = {"c0": cut(x, k)}
    v = (cols["c0"] - (k - 1) / 2) / (k / 3.4)
    for j in range(1, d):
        m = np.tanh(1.5 * v) + 0.3 * v if nl else 0.9 * v
        x = m + 0.4 * rng.normal(size=n)
        c = cut(x, k)
        cols[f"c{j}"] = c
        v = (c - (k - 1) / 2) / (k / 3.4)
    return pd.DataFrame(cols).astype(str).map(lambda s: "g" + s.zfill(2))


def cut_chain(rng: np.random.Generator, n: int, d=6, k=6) -> pd.DataFrame:
    """A chain of numbers of which only the cuts are kept."""
    x = rng.normal(size=n)
    cols = {}
    for j in range(d):
        if j:
            x = 0.8 * x + 0.6 * rng.normal(size=n)
        cols[f"c{j}"] = cut(x, k)
    return pd.DataFrame(cols).astype(str).map(lambda s: "g" + s.zfill(2))


def survey_skips(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Questions that are asked only of those who said yes."""
    a = rng.random(n) < 0.5
    b = np.where(a, rng.choice(4, n) + 1, 0)
    c = np.where(a, rng.choice(3, n) + 1, 0)
    d = np.where(a & (b > 2), rng.choice(3, n) + 1, 0)
    e = rng.random(n) < 0.3
    f = np.where(e, rng.choice(3, n) + 1, 0)
    g = rng.choice(3, n)
    return pd.DataFrame(
        {"has": a * 1, "kind": b, "often": c, "more": d, "smoke": e * 1, "pack": f, "region": g}
    ).astype(str)


def one_hot(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """A category of five as five columns, and what it drives."""
    r = rng.choice(5, n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    cols = {f"r{i}": (r == i) * 1 for i in range(5)}
    cols["y"] = (rng.random(n) < np.array([0.1, 0.3, 0.5, 0.7, 0.9])[r]) * 1
    cols["z"] = rng.choice(3, n)
    cols["w"] = (rng.random(n) < 0.2 + 0.5 * cols["y"]) * 1
    return pd.DataFrame(cols).astype(str)


def nearest_prototype(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Children that are told by the nearest of six prototypes of five parents."""
    P = np.stack([rng.choice(3, n) for _ in range(5)], 1)
    C = rng.integers(0, 3, size=(6, 5))
    out = {f"p{i}": P[:, i] for i in range(5)}
    for c in range(2):
        C = rng.integers(0, 3, size=(6, 5))
        lab = rng.choice(3, 6)
        d = ((P[:, None] - C) ** 2).sum(2) + rng.normal(size=(n, 6)) * 0.4
        y = lab[d.argmin(1)]
        out[f"y{c}"] = np.where(rng.random(n) < 0.08, rng.choice(3, n), y)
    return pd.DataFrame(out).astype(str)


def first_rule_that_fires(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Of four rules over seven columns the first that fires decides."""
    X = rng.random((n, 7)) < rng.uniform(0.2, 0.5, 7)
    y = np.zeros(n, int)
    done = np.zeros(n, bool)
    for r in range(4):
        i, j = rng.choice(7, 2, replace=False)
        f = X[:, i] & (X[:, j] ^ (r % 2 == 1)) & ~done
        y[f] = r + 1
        done |= f
    y = np.where(rng.random(n) < 0.05, rng.choice(5, n), y)
    z = np.where(X[:, 0] ^ X[:, 1] ^ (rng.random(n) < 0.1), 1, 0)
    return pd.DataFrame({**{f"x{i}": X[:, i] * 1 for i in range(7)}, "y": y, "z": z}).astype(str)


def dose_and_response(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """A saturating response, side effects that depend on two columns, a clipped sum."""
    d = rng.choice(6, n)
    age = rng.choice(5, n)
    sex = rng.choice(2, n)
    p = 1 / (1 + np.exp(-(8 * d**2 / (d**2 + 6) - 4 - 0.3 * age)))
    resp = (rng.random(n) < p) * 1
    side = rng.poisson(0.3 + 0.4 * d * (age > 2))
    side = np.minimum(side, 4)
    adh = (rng.random(n) < 0.9 - 0.15 * side) * 1
    out = np.clip(resp + adh + rng.choice(2, n) - (sex & (age > 3)), 0, 3)
    return pd.DataFrame({"dose": d, "age": age, "sex": sex, "resp": resp, "side": side, "adh": adh, "out": out}).astype(
        str
    )


def selected_rows(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Independent columns of rows that were selected by their sum."""
    m = n * 6
    X = (rng.random((m, 6)) < 0.5) * 1
    keep = X.sum(1) + rng.normal(size=m) > 3.6
    X = X[keep][:n]
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(6)]).astype(str)


def diagnosis(rng: np.random.Generator, n: int, d=100) -> pd.DataFrame:
    """Thirty diseases, all seen, and seventy signs by noisy-or."""
    k = 30
    D = rng.random((n, k)) < rng.uniform(0.02, 0.25, k)
    S = []
    for _j in range(d - k):
        ps = rng.choice(k, int(rng.integers(1, 6)), replace=False)
        q = np.where(D[:, ps], rng.uniform(0.05, 0.7, len(ps)), 1).prod(1) * rng.uniform(0.9, 0.99)
        S.append(rng.random(n) > q)
    return pd.DataFrame(
        np.c_[D, np.array(S).T] * 1, columns=[f"d{i}" for i in range(k)] + [f"s{i}" for i in range(d - k)]
    ).astype(str)


def random_network(r: np.random.Generator, n: int, d=7, s=3) -> pd.DataFrame:
    """A random network of tables."""
    X = []
    for j in range(d):
        ps = r.choice(j, min(j, int(r.integers(0, 3))), replace=False) if j else []
        code = np.zeros(n, int)
        for p in ps:
            code = code * s + X[p]
        T = r.dirichlet(np.ones(s), size=s ** len(ps))
        X.append((r.random(n)[:, None] > T[code].cumsum(1)).sum(1).clip(0, s - 1))
    return pd.DataFrame(np.array(X).T, columns=[f"x{i}" for i in range(d)]).astype(str)


def duplicated_rows(r: np.random.Generator, n: int) -> pd.DataFrame:
    """Half of the rows are copies."""
    b = random_network(r, n // 2)
    return pd.concat([b, b.sample(n // 2, replace=True, random_state=int(r.integers(1e9)))], ignore_index=True)


def holes_not_at_random(r: np.random.Generator, n: int) -> pd.DataFrame:
    """A state that is often not told."""
    b = random_network(r, n)
    a = b.copy()
    for c in b.columns[1:]:
        a[c] = b[c].mask((b[c] == "2") & (r.random(n) < 0.4))
    return a


GROUPS: dict[str, Callable[[np.random.Generator], pd.DataFrame]] = {
    "noisy-max": lambda r: noisy_max(r, 1000),
    "noisy-max, 3,000 rows": lambda r: noisy_max(r, 3000),
    "formulas": lambda r: formulas(r, 2000, 35),
    "band of a sum": lambda r: band_of_a_sum(r, 1000),
    "band of a sum, 3,000 rows": lambda r: band_of_a_sum(r, 3000, 5),
    "chain of cuts": lambda r: chain_of_cuts(r, 2000),
    "bent chain, 12 cuts": lambda r: chain_of_cuts(r, 2000, 6, 12, True),
    "cut chain": lambda r: cut_chain(r, 1000),
    "survey skips": lambda r: survey_skips(r, 1000),
    "one-hot": lambda r: one_hot(r, 1000),
    "nearest prototype": lambda r: nearest_prototype(r, 1500),
    "first rule that fires": lambda r: first_rule_that_fires(r, 1500),
    "dose and response": lambda r: dose_and_response(r, 1500),
    "selected rows": lambda r: selected_rows(r, 1500),
    "diagnosis": lambda r: diagnosis(r, 1500),
    "random network": lambda r: random_network(r, 300, 8),
    "random network, 5,000 rows": lambda r: random_network(r, 5000, 12),
    "duplicated rows": lambda r: duplicated_rows(r, 1000),
    "holes not at random": lambda r: holes_not_at_random(r, 1000),
}
