"""Tables in which nothing is hidden, though full tables cannot say cheaply how their columns hang together.

Every group is a function of a seed. Columns are whole numbers where they are in order, text where they are not. The
first groups are what the rival's kinds of families were made for; those in UNFORESEEN are not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Columns = dict[str, Codes]
Rng = np.random.Generator


def _rng(group: int, seed: int) -> Rng:
    return np.random.default_rng([seed, 101, group])


def _rows(rng: Rng) -> int:
    return int(rng.choice([1000, 2000, 3000]))


def _text(columns: Columns) -> dict[str, list[str]]:
    return {name: [f"s{code}" for code in cells.tolist()] for name, cells in columns.items()}


def _causes(rng: Rng, rows: int, count: int, states: int) -> Columns:
    """Parents, every third of which leans on the one before."""
    found: Columns = {}
    for i in range(count):
        own = rng.choice(states, rows, p=rng.dirichlet(np.full(states, 4.0)))
        if i % 3 == 2:
            own = np.where(rng.random(rows) < 0.4, found[f"p{i - 1}"], own)
        found[f"p{i}"] = own
    return found


def _cut(values: NDArray[np.float64], levels: int, even: bool) -> Codes:
    if even:
        low, high = np.quantile(values, [0.01, 0.99])
        edges = np.linspace(low, high, levels + 1)[1:-1]
    else:
        edges = np.quantile(values, np.arange(1, levels) / levels)
    return np.searchsorted(edges, values)


def noisy_or(seed: int) -> Columns:
    rng = _rng(1, seed)
    rows, count = _rows(rng), int(rng.integers(3, 9))
    table = _causes(rng, rows, count, 2)
    for child in range(2):
        chosen = rng.permutation(count)[: max(3, count - child)]
        brought = [rng.random(rows) < 0.05]
        brought += [(table[f"p{i}"] == 1) & (rng.random(rows) < rng.uniform(0.2, 0.8)) for i in chosen]
        table[f"y{child}"] = np.any(brought, axis=0).astype(np.int64)
    return table


def noisy_max(seed: int) -> Columns:
    rng = _rng(2, seed)
    rows, count, states = _rows(rng), int(rng.integers(3, 7)), int(rng.integers(3, 5))
    table = _causes(rng, rows, count, 3)
    for child in range(2):
        chosen = rng.permutation(count)[: max(3, count - child)]
        y = np.where(rng.random(rows) < 0.05, rng.integers(1, states, rows), 0)
        for i in chosen:
            for state in (1, 2):
                shares = rng.dirichlet([2.0 / state, *np.ones(states - 1)])
                y = np.maximum(y, np.where(table[f"p{i}"] == state, rng.choice(states, rows, p=shares), 0))
        table[f"y{child}"] = y
    return table


def logits(seed: int) -> Columns:
    rng = _rng(3, seed)
    rows, count = _rows(rng), int(rng.integers(4, 8))
    table = _causes(rng, rows, count, int(rng.integers(2, 4)))
    for child in range(2):
        chosen = rng.permutation(count)[: int(rng.integers(3, count + 1))]
        states = int(rng.integers(2, 4))
        eta = np.zeros((rows, states))
        for i in chosen:
            eta += rng.normal(0, 0.9, (4, states))[table[f"p{i}"]]
        table[f"y{child}"] = (eta + rng.gumbel(size=eta.shape)).argmax(axis=1)
    return table


def ordered_logits(seed: int) -> Columns:
    rng = _rng(4, seed)
    rows, count = _rows(rng), int(rng.integers(3, 6))
    table = _causes(rng, rows, count, int(rng.integers(3, 6)))
    for child in range(2):
        chosen = rng.permutation(count)[: int(rng.integers(3, count + 1))]
        eta = sum(rng.normal(0, 0.7) * table[f"p{i}"] for i in chosen) + rng.logistic(size=rows)
        table[f"y{child}"] = _cut(np.asarray(eta), int(rng.integers(4, 8)), even=bool(rng.integers(2)))
    return table


def trees(seed: int) -> dict[str, list[str]]:
    rng = _rng(5, seed)
    rows, count = _rows(rng), 6
    table = _causes(rng, rows, count, 3)
    for child in range(2):
        states = int(rng.integers(2, 5))
        place = np.zeros(rows, dtype=np.int64)
        for leaf in range(1, int(rng.integers(4, 7))):
            inside = place == rng.integers(0, leaf)
            place[inside & (table[f"p{rng.integers(count)}"] == rng.integers(3))] = leaf
        shares = rng.dirichlet(np.full(states, 0.6), 8)
        table[f"y{child}"] = (rng.random(rows)[:, None] > np.cumsum(shares[place], axis=1)).sum(axis=1)
    return _text({name: np.minimum(cells, 3) for name, cells in table.items()})


def arithmetic(seed: int) -> Columns:
    rng = _rng(6, seed)
    rows = _rows(rng)
    a, b, c, d = (rng.binomial(int(rng.integers(2, 6)), rng.uniform(0.3, 0.7), rows) for _ in range(4))
    noise = np.where(rng.random(rows) < 0.1, rng.integers(-1, 2, rows), 0)
    made = {
        "sum": a + b,
        "difference": a - c,
        "product": b * d,
        "threshold": (a + c + d > np.median(a + c + d)).astype(np.int64),
        "band": np.digitize(a + b + d, np.quantile(a + b + d, [0.3, 0.7])),
        "noisy sum": np.maximum(c + d + noise, 0),
        "largest": np.maximum(a, d),
    }
    chosen = rng.permutation(list(made))[:4]
    return {"a": a, "b": b, "c": c, "d": d, **{str(name): made[str(name)] for name in chosen}}


def _chained(group: int, seed: int, step: Callable[[NDArray[np.float64], Rng], NDArray[np.float64]]) -> Columns:
    """An observed chain: each column is made from the one before as it was measured, in bins."""
    rng = _rng(group, seed)
    rows, levels = _rows(rng), int(rng.choice([5, 7, 10, 15, 20]))
    even = bool(rng.integers(2))
    x = rng.normal(size=rows)
    table: Columns = {}
    for i in range(int(rng.integers(5, 9))):
        table[f"x{i}"] = _cut(x, levels, even)
        x = step(x, rng)
        x = (x - x.mean()) / x.std()
    return table


def linear_chain(seed: int) -> Columns:
    return _chained(7, seed, lambda x, rng: rng.uniform(0.5, 0.95) * x + rng.normal(0, 0.5, len(x)))


def curved_chain(seed: int) -> Columns:
    def step(x: NDArray[np.float64], rng: Rng) -> NDArray[np.float64]:
        bent = [np.sin(2 * x), x**2, np.abs(x), np.tanh(2 * x), x**3][int(rng.integers(5))]
        return bent / bent.std() + rng.normal(0, rng.uniform(0.3, 0.8), len(x))

    return _chained(8, seed, step)


def totals(seed: int) -> Columns:
    rng = _rng(9, seed)
    rows, count, states = _rows(rng), int(rng.integers(4, 9)), int(rng.integers(2, 5))
    items = {f"i{k}": rng.choice(states, rows, p=rng.dirichlet(np.full(states, 4.0))) for k in range(count)}
    total = np.sum(list(items.values()), axis=0)
    if rng.random() < 0.5:
        return {**items, "total": total}
    return {**items, "band": np.digitize(total, np.quantile(total, [0.25, 0.5, 0.75]))}


def determined(seed: int) -> dict[str, list[str]]:
    rng = _rng(10, seed)
    rows = _rows(rng)
    table: Columns = {
        f"v{i}": rng.choice(s, rows, p=rng.dirichlet(np.full(s, 3.0))) for i, s in enumerate((4, 6, 9, 3))
    }
    errors = float(rng.choice([0.0, 0.01, 0.05]))
    for child in range(5):
        chosen = rng.permutation(4)[: int(rng.integers(1, 3))]
        states = int(rng.integers(2, 7))
        place = np.zeros(rows, dtype=np.int64)
        for i in chosen:
            place = place * 10 + table[f"v{i}"]
        y = rng.integers(0, states, 100)[place]
        table[f"f{child}"] = np.where(rng.random(rows) < errors, rng.integers(0, states, rows), y)
    return _text(table)


def skips(seed: int) -> dict[str, list[str]]:
    rng = _rng(11, seed)
    rows = _rows(rng)
    table: Columns = {"age": rng.integers(0, 6, rows), "job": rng.choice(4, rows), "region": rng.choice(5, rows)}
    asked = (table["job"] < 2) & (table["age"] > 0)
    for block in range(2):
        if block:
            asked = asked & (table["q0_0"] % 2 == 1)
        for i in range(4):
            states = int(rng.integers(2, 6))
            shares = rng.dirichlet(np.full(states, 3.0), 6)[table["age"]]
            y = (rng.random(rows)[:, None] > np.cumsum(shares, axis=1)).sum(axis=1)
            table[f"q{block}_{i}"] = np.where(asked, np.minimum(y, states - 1), states)
    return _text(table)


def one_hot(seed: int) -> Columns:
    rng = _rng(12, seed)
    rows = _rows(rng)
    table: Columns = {}
    for group in range(2):
        count = int(rng.integers(4, 9))
        chosen = rng.choice(count, rows, p=rng.dirichlet(np.full(count, 3.0)))
        table |= {f"g{group}_{k}": (chosen == k).astype(np.int64) for k in range(count)}
    table["y"] = (rng.random(rows) < 0.2 + 0.5 * table["g0_0"]).astype(np.int64)
    return table


def selected(seed: int) -> Columns:
    rng = _rng(13, seed)
    wanted = _rows(rng)
    rows, count, states = 6 * wanted, int(rng.integers(4, 8)), int(rng.integers(2, 5))
    table = {f"v{i}": rng.choice(states, rows, p=rng.dirichlet(np.full(states, 4.0))) for i in range(count)}
    sums = np.sum(list(table.values()), axis=0) + rng.logistic(0, 0.5, rows)
    kept = np.flatnonzero(sums > np.quantile(sums, 0.6))[:wanted]
    return {name: cells[kept] for name, cells in table.items()}


def many_states(seed: int) -> dict[str, list[str]]:
    """Like networks of agriculture: columns are functions, in bins, of the bins of others."""
    rng = _rng(14, seed)
    rows, width = 2000, int(rng.integers(30, 51))
    value: dict[int, NDArray[np.float64]] = {}
    table: Columns = {}
    for i in range(width):
        above = rng.permutation(i)[: int(rng.integers(0, 4))] if i else []
        x = rng.normal(size=rows) * (1.0 if len(above) == 0 else rng.uniform(0.1, 0.6))
        for p in above:
            bent = [value[p], value[p] ** 2, np.sin(value[p]), np.maximum(value[p], 0), value[p] * value[above[0]]]
            x = x + rng.normal(0, 1) * bent[int(rng.integers(len(bent)))]
        levels = int(np.clip(rng.geometric(0.12) + 2, 3, 60))
        codes = _cut(x, levels, even=rng.random() < 0.7)
        table[f"c{i:02d}"] = codes
        value[i] = (codes - codes.mean()) / max(codes.std(), 0.3)
    return {name: [f"x{code:02d}_{code + 1:02d}" for code in cells.tolist()] for name, cells in table.items()}


def remainders(seed: int) -> Columns:
    rng = _rng(21, seed)
    rows = _rows(rng)
    table = _causes(rng, rows, 5, 4)
    for child in range(2):
        chosen = rng.permutation(5)[:3]
        y = sum(table[f"p{i}"] for i in chosen) % 3
        table[f"y{child}"] = np.where(rng.random(rows) < 0.15, rng.integers(0, 3, rows), y)
    return table


def switches(seed: int) -> Columns:
    rng = _rng(22, seed)
    rows, states = _rows(rng), int(rng.integers(4, 8))
    table = _causes(rng, rows, 4, states)
    gate = rng.integers(0, 2, rows)
    y = np.where(gate == 0, table["p0"], table["p1"])
    z = np.where(gate == 1, table["p2"], table["p3"])
    off = rng.integers(0, states, (2, rows))
    return {
        **table,
        "gate": gate,
        "y": np.where(rng.random(rows) < 0.1, off[0], y),
        "z": np.where(rng.random(rows) < 0.1, off[1], z),
    }


def uneven_noise(seed: int) -> Columns:
    rng = _rng(23, seed)
    rows, levels = _rows(rng), int(rng.integers(5, 13))
    x, w = rng.normal(size=(2, rows))
    first, second = _cut(x, levels, False), _cut(w, levels, False)
    y = 0.6 * first + rng.normal(size=rows) * (0.3 + 0.4 * second)
    z = rng.normal(size=rows) * (0.3 + 0.5 * _cut(y, levels, False))
    return {"x": first, "w": second, "y": _cut(y, levels, False), "z": _cut(z, levels, False)}


def distances(seed: int) -> Columns:
    rng = _rng(24, seed)
    rows, levels = _rows(rng), int(rng.integers(5, 11))
    a, b, c = (_cut(rng.normal(size=rows), levels, True) for _ in range(3))
    middle = (levels - 1) / 2
    far = np.hypot(a - middle, b - middle) + rng.normal(0, 0.3, rows)
    median = np.median([a, b, c], axis=0).astype(np.int64)
    return {"a": a, "b": b, "c": c, "far": _cut(far, levels, False), "median": median}


def event_counts(seed: int) -> Columns:
    rng = _rng(25, seed)
    rows = _rows(rng)
    table = _causes(rng, rows, 5, 3)
    for child in range(3):
        chosen = rng.permutation(5)[:3]
        rate = np.exp(0.3 + sum(rng.normal(0, 0.4) * table[f"p{i}"] for i in chosen))
        table[f"n{child}"] = np.minimum(rng.poisson(rate), 15)
    return table


FORESEEN: dict[str, Callable[[int], object]] = {
    "noisy-or": noisy_or,
    "noisy-max": noisy_max,
    "logits": logits,
    "ordered logits": ordered_logits,
    "trees": trees,
    "arithmetic": arithmetic,
    "linear chains": linear_chain,
    "curved chains": curved_chain,
    "totals": totals,
    "determined": determined,
    "skips": skips,
    "one-hot": one_hot,
    "selected": selected,
    "many states": many_states,
}
UNFORESEEN: dict[str, Callable[[int], object]] = {
    "remainders": remainders,
    "switches": switches,
    "uneven noise": uneven_noise,
    "distances": distances,
    "event counts": event_counts,
}
