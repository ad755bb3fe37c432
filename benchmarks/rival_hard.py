"""Harder tables with nothing hidden: strong links, many parents, many states, and mechanisms that no kind was made for.

Every group is a function of a seed. Whether states are numbers, numbered text or mere names changes from seed to seed:
the order of names is not that of what they stand for.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Reals = NDArray[np.float64]
Columns = dict[str, Codes]
Rng = np.random.Generator


def _rng(group: int, seed: int) -> Rng:
    return np.random.default_rng([seed, 2027, group])


def _rows(rng: Rng) -> int:
    return int(rng.choice([1000, 2000, 3000]))


def cut(values: Reals, levels: int, rng: Rng) -> Codes:
    """Into bins of equal width or of equal share."""
    if rng.random() < 0.5:
        low, high = np.quantile(values, [0.01, 0.99])
        edges = np.linspace(low, high, levels + 1)[1:-1]
    else:
        edges = np.unique(np.quantile(values, np.arange(1, levels) / levels))
    return np.unique(np.searchsorted(edges, values), return_inverse=True)[1].reshape(-1)


def labelled(columns: Columns, rng: Rng, numbers: bool = True) -> dict[str, list[object]]:
    """As whole numbers, as text with a number in it, or as names in no order."""
    how = int(rng.integers(0 if numbers else 1, 3))
    found: dict[str, list[object]] = {}
    for name, cells in columns.items():
        names = rng.permutation([f"{a}{b}" for a in "bdfgklmnprst" for b in "aeiou"])
        if how == 0:
            found[name] = [int(code) for code in cells]
        elif how == 1:
            found[name] = [f"x{code:02d}_{code + 1:02d}" for code in cells.tolist()]
        else:
            found[name] = [str(names[code]) for code in cells.tolist()]
    return found


def _roots(rng: Rng, rows: int, count: int, low: int, high: int) -> Columns:
    found: Columns = {}
    for i in range(count):
        states = int(rng.integers(low, high + 1))
        own = rng.choice(states, rows, p=rng.dirichlet(np.full(states, 3.0)))
        if i and rng.random() < 0.4:
            own = np.where(rng.random(rows) < 0.5, np.minimum(found[f"p{i - 1}"], states - 1), own)
        found[f"p{i}"] = own
    return found


def strong_noisy_max(seed: int) -> object:
    """Three to five children, each the largest of what four to six parents bring; strong links."""
    rng = _rng(1, seed)
    rows, count = int(rng.choice([1000, 3000])), int(rng.integers(4, 8))
    table = _roots(rng, rows, count, 3, 5)
    for child in range(int(rng.integers(2, 6))):
        states = int(rng.integers(3, 6))
        chosen = rng.permutation(count)[: int(rng.integers(4, min(count, 6) + 1))]
        y = np.where(rng.random(rows) < 0.03, rng.integers(1, states, rows), 0)
        for i in chosen:
            cells = table[f"p{i}"]
            top = int(cells.max())
            for state in range(1, top + 1):
                centre = state / top * (states - 1) * rng.uniform(0.5, 1.0)
                shares = np.exp(-1.5 * (np.arange(states) - centre) ** 2)
                y = np.maximum(y, np.where(cells == state, rng.choice(states, rows, p=shares / shares.sum()), 0))
        table[f"y{child}"] = y
    return labelled(table, rng)


def _chain(rng: Rng, step: Callable[[Reals], Reals], binned: bool) -> object:
    rows, width = _rows(rng), int(rng.integers(4, 9))
    x = rng.normal(size=rows)
    table: Columns = {}
    for i in range(width):
        codes = cut(x, int(rng.integers(5, 21)), rng)
        table[f"x{i}"] = codes
        x = step((codes - codes.mean()) / codes.std() if binned else x)
        x = (x - x.mean()) / x.std()
    return labelled(table, rng)


def strong_chain(seed: int) -> object:
    """Each column is a line of the one before, both cut into bins."""
    rng = _rng(2, seed)
    return _chain(rng, lambda x: x + rng.normal(0, rng.uniform(0.15, 0.7), len(x)), bool(rng.integers(2)))


def bent_chain(seed: int) -> object:
    rng = _rng(3, seed)

    def step(x: Reals) -> Reals:
        bends = [np.sin(2 * x), x**2, np.abs(x), np.tanh(2 * x), x**3 - x, np.exp(x / 2), np.maximum(x, 0)]
        bent = bends[int(rng.integers(len(bends)))]
        return bent / bent.std() + rng.normal(0, rng.uniform(0.1, 0.6), len(x))

    return _chain(rng, step, bool(rng.integers(2)))


def formulas(seed: int) -> object:
    """30 to 50 columns; a column is a formula of numbers within its parents' intervals, in intervals of its own."""
    rng = _rng(4, seed)
    rows, width = 2000, int(rng.integers(30, 51))
    table: Columns = {}
    levels: list[int] = []
    for i in range(width):
        near = np.arange(max(0, i - 10), i)
        above = rng.permutation(near)[: int(rng.choice([0, 1, 1, 2, 2, 3]))] if i else near
        drawn = {p: (table[f"c{p:02d}"] + rng.random(rows)) / levels[p] for p in above.tolist()}
        plain = rng.beta(rng.uniform(1, 4), rng.uniform(1, 4), rows)
        x = _formula(list(drawn.values()), rng) if drawn else plain
        x = x + rng.normal(0, x.std() * float(rng.choice([0.0, 0.1, 0.3])) + 1e-9, rows)
        codes = cut(x, int(np.clip(rng.geometric(0.1) + 2, 3, 60)), rng)
        table[f"c{i:02d}"] = codes
        levels.append(int(codes.max()) + 1)
    return labelled(table, rng, numbers=False)


def _formula(values: list[Reals], rng: Rng) -> Reals:
    share = rng.dirichlet(np.ones(len(values)))
    mixed = np.sum([w * v for w, v in zip(share, values, strict=True)], axis=0)
    forms = [
        mixed,
        np.prod(values, axis=0),
        values[0] / (0.3 + values[-1]),
        1 - np.exp(-3 * mixed),
        np.minimum.reduce(values),
        np.maximum(mixed - 0.4, 0),
        np.exp(2 * values[0]) * (1 - 0.8 * values[-1]),
        1 / (1 + np.exp(-12 * (mixed - 0.5))),
    ]
    return forms[int(rng.integers(len(forms)))]


def diagnosis(seed: int) -> object:
    """A column of 20 to 60 diseases, and 60 to 100 findings that follow from it and from a few other findings."""
    rng = _rng(5, seed)
    rows, width, diseases = 2000, int(rng.integers(60, 101)), int(rng.integers(20, 61))
    disease = rng.choice(diseases, rows, p=rng.dirichlet(np.full(diseases, 0.7)))
    table: Columns = {"disease": disease}
    for i in range(width):
        states = int(rng.integers(2, 5))
        kinds = int(rng.integers(2, 7))  # (diseases alike in this finding)
        place = rng.integers(0, kinds, diseases)[disease]
        if i > 3 and rng.random() < 0.3:
            place = place * 5 + table[f"f{rng.integers(i):02d}"]
        shares = rng.dirichlet(np.full(states, 0.3), 5 * kinds)[place]
        table[f"f{i:02d}"] = np.minimum((rng.random(rows)[:, None] > np.cumsum(shares, axis=1)).sum(axis=1), states - 1)
    return labelled(table, rng, numbers=False)


def bands(seed: int) -> object:
    """Independent items, and a band of their sum; items may count differently."""
    rng = _rng(6, seed)
    rows, count, states = _rows(rng), int(rng.integers(4, 9)), int(rng.integers(2, 6))
    items = {f"i{k}": rng.choice(states, rows, p=rng.dirichlet(np.full(states, 5.0))) for k in range(count)}
    weights = np.ones(count) if rng.random() < 0.6 else rng.integers(1, 4, count)
    total = np.sum([w * own for w, own in zip(weights, items.values(), strict=True)], axis=0)
    made = np.digitize(total, np.quantile(total, np.arange(1, k := int(rng.integers(2, 7))) / k))
    return labelled({**items, "band": np.unique(made, return_inverse=True)[1]}, rng)


def totals(seed: int) -> object:
    """Two scales: items, their totals, a band of a total, and an outcome that follows the bands."""
    rng = _rng(7, seed)
    rows = _rows(rng)
    table: Columns = {}
    for scale in "ab":
        count, states = int(rng.integers(3, 7)), int(rng.integers(2, 5))
        items = [rng.choice(states, rows, p=rng.dirichlet(np.full(states, 4.0))) for _ in range(count)]
        table |= {f"{scale}{k}": own for k, own in enumerate(items)}
        table[f"total_{scale}"] = np.sum(items, axis=0)
    table["band"] = cut(table["total_a"].astype(np.float64), 4, rng)
    eta = 1.5 * table["band"] + 0.4 * table["total_b"] + rng.logistic(size=rows)
    table["outcome"] = (eta > np.median(eta)).astype(np.int64)
    return labelled({name: np.unique(own, return_inverse=True)[1] for name, own in table.items()}, rng)


def nearly_determined(seed: int) -> object:
    """Columns that look up one to three others, wrong in 0 to 5 % of the rows."""
    rng = _rng(8, seed)
    rows = _rows(rng)
    table = _roots(rng, rows, 5, 2, 7)
    for child in range(6):
        chosen = rng.permutation(5 + child)[: int(rng.integers(1, 4))]
        names = list(table)
        place = np.zeros(rows, dtype=np.int64)
        for i in chosen:
            place = place * 8 + table[names[i]]
        states = int(rng.integers(2, 7))
        y = rng.integers(0, states, 8**3)[place]
        table[f"f{child}"] = np.where(rng.random(rows) < rng.choice([0, 0.01, 0.05]), rng.integers(0, states, rows), y)
    return labelled(table, rng, numbers=False)


def survey_skips(seed: int) -> object:
    """Blocks of questions that are not asked of all; answers lean on age and on the question before."""
    rng = _rng(9, seed)
    rows = _rows(rng)
    table: Columns = {
        "age": rng.integers(0, 6, rows),
        "job": rng.integers(0, 5, rows),
        "home": rng.integers(0, 4, rows),
    }
    for block in range(3):
        names = list(table)
        gate = table[str(names[int(rng.integers(len(names)))])]
        asked = gate >= np.quantile(gate, rng.uniform(0.3, 0.6))
        before = table["age"]
        for i in range(int(rng.integers(3, 6))):
            states = int(rng.integers(2, 6))
            shares = rng.dirichlet(np.full(states, 1.0), 8)[np.minimum(before, 7)]
            y = np.minimum((rng.random(rows)[:, None] > np.cumsum(shares, axis=1)).sum(axis=1), states - 1)
            table[f"q{block}_{i}"] = before = np.where(asked, y + 1, 0)
    return labelled({name: np.unique(own, return_inverse=True)[1] for name, own in table.items()}, rng)


def one_hot_groups(seed: int) -> object:
    """Several questions as yes/no columns, one for each answer; outcomes lean on the answers; some boxes left out."""
    rng = _rng(10, seed)
    rows = _rows(rng)
    table: Columns = {}
    eta = np.zeros(rows)
    for group in range(int(rng.integers(1, 4))):
        count = int(rng.integers(3, 10))
        chosen = rng.choice(count, rows, p=rng.dirichlet(np.full(count, 3.0)))
        table |= {f"g{group}_{k}": (chosen == k).astype(np.int64) for k in range(count - int(rng.integers(2)))}
        eta += rng.normal(0, 1.5, count)[chosen]
    for child in range(2):
        table[f"y{child}"] = (eta + rng.logistic(size=rows) > 0).astype(np.int64)
        eta = eta * rng.uniform(-1, 1)
    return table


def chosen_rows(seed: int) -> object:
    """Rows kept by a rule over several columns, and columns that lean on those."""
    rng = _rng(11, seed)
    wanted = _rows(rng)
    rows, count = 8 * wanted, int(rng.integers(4, 7))
    table = _roots(rng, rows, count, 2, 4)
    parts = [rng.choice([-1, 1]) * table[f"p{i}"] for i in range(count)]
    rules = [np.sum(parts, axis=0), np.maximum.reduce(parts), table["p0"] * table["p1"] - table["p2"]]
    score = rules[int(rng.integers(3))] + rng.logistic(0, 0.4, rows)
    y = table["p0"] + table["p1"] + rng.integers(0, 2, rows)
    table |= {"y": y, "z": np.where(rng.random(rows) < 0.3, rng.integers(0, 3, rows), np.minimum(y, 2))}
    kept = np.flatnonzero(score > np.quantile(score, 0.7))[:wanted]
    return labelled({name: np.unique(own[kept], return_inverse=True)[1] for name, own in table.items()}, rng)


def products(seed: int) -> object:
    rng = _rng(21, seed)
    rows = _rows(rng)
    table = _roots(rng, rows, 5, 3, 5)
    for child in range(3):
        a, b, c = (table[f"p{i}"] for i in rng.permutation(5)[:3])
        made = np.asarray((1.0 + a) * (1 + b) * np.where(rng.random() < 0.5, 1, 1 + c), dtype=np.float64)
        table[f"y{child}"] = cut(made * np.exp(rng.normal(0, 0.15, rows)), int(rng.integers(4, 9)), rng)
    return labelled(table, rng)


def max_of_min(seed: int) -> object:
    rng = _rng(22, seed)
    rows = _rows(rng)
    table = _roots(rng, rows, 6, 3, 5)
    for child in range(3):
        a, b, c, d = (table[f"p{i}"] for i in rng.permutation(6)[:4])
        y = np.maximum(np.minimum(a, b), np.minimum(c, d))
        table[f"y{child}"] = np.where(rng.random(rows) < 0.08, rng.integers(0, 4, rows), y)
    return labelled(table, rng)


def rounding(seed: int) -> object:
    """Ages and sums of money, reported in round numbers by some, and derived columns."""
    rng = _rng(23, seed)
    rows = _rows(rng)
    x = cut(rng.normal(size=rows), 20, rng)
    told = np.where(rng.random(rows) < 0.5, 5 * np.round(x / 5).astype(np.int64), x)
    half = np.where(told % 5 == 0, told // 5, 4 + rng.integers(0, 2, rows))
    y = np.clip(told // 2 + rng.integers(-1, 2, rows), 0, 12)
    table = {"x": x, "told": told, "half": half, "y": y, "z": cut(y + 0.3 * x + rng.normal(size=rows), 6, rng)}
    return labelled({name: np.unique(own, return_inverse=True)[1] for name, own in table.items()}, rng)


def noisy_xor(seed: int) -> object:
    rng = _rng(24, seed)
    rows, count = _rows(rng), int(rng.integers(5, 9))
    table: Columns = {f"p{i}": (rng.random(rows) < rng.uniform(0.3, 0.7)).astype(np.int64) for i in range(count)}
    for child in range(3):
        chosen = rng.permutation(count)[: int(rng.integers(2, 6))]
        y = np.sum([table[f"p{i}"] for i in chosen], axis=0) % 2
        table[f"y{child}"] = np.where(rng.random(rows) < 0.12, 1 - y, y)
    return labelled(table, rng)


def nearest(seed: int) -> object:
    """The class of the nearest of some points in the space of the columns."""
    rng = _rng(25, seed)
    rows, count = _rows(rng), int(rng.integers(3, 6))
    table = _roots(rng, rows, count, 4, 7)
    at = np.stack([own / own.max() for own in table.values()], axis=1)
    for child in range(2):
        points = rng.random((int(rng.integers(5, 12)), count))
        y = ((at[:, None] - points[None]) ** 2).sum(axis=2).argmin(axis=1) % int(rng.integers(3, 6))
        table[f"y{child}"] = np.where(rng.random(rows) < 0.05, rng.integers(0, y.max() + 1, rows), y)
    return labelled(table, rng, numbers=False)


def dose_response(seed: int) -> object:
    """Effects that saturate, with tolerance: a Hill curve of dose by weight, then side effects."""
    rng = _rng(26, seed)
    rows = _rows(rng)
    dose, weight, age = (rng.integers(0, k, rows) for k in (8, 5, 6))
    level = dose**2 / (dose**2 + (2.0 + weight + 0.4 * age) ** 2)
    table: Columns = {"dose": dose, "weight": weight, "age": age}
    for child in range(4):
        eta = rng.uniform(4, 9) * level - rng.uniform(1, 3) + 0.2 * rng.normal() * age + rng.logistic(size=rows)
        table[f"y{child}"] = np.digitize(eta, np.sort(rng.normal(0, 1.5, int(rng.integers(1, 4)))))
    return labelled({name: np.unique(own, return_inverse=True)[1] for name, own in table.items()}, rng)


def competing_rules(seed: int) -> object:
    """Each row follows the first rule that applies to it."""
    rng = _rng(27, seed)
    rows, count = _rows(rng), 7
    table = _roots(rng, rows, count, 2, 5)
    for child in range(3):
        states = int(rng.integers(3, 6))
        y = rng.integers(0, states, rows)
        for _ in range(int(rng.integers(3, 7))):
            a, b = rng.permutation(count)[:2]
            applies = (table[f"p{a}"] > 0) & (table[f"p{b}"] != rng.integers(0, 2))
            y = np.where(applies & (rng.random(rows) < 0.9), rng.integers(0, states), y)
        table[f"y{child}"] = y
    return labelled(table, rng, numbers=False)


def weighted_index(seed: int) -> object:
    """An index with odd weights of five to seven columns, in bands, and two columns that follow the index' band."""
    rng = _rng(28, seed)
    rows, count = _rows(rng), int(rng.integers(5, 8))
    table = _roots(rng, rows, count, 2, 5)
    index = np.sum([rng.uniform(-2, 2) * own for own in table.values()], axis=0)
    band = cut(index + rng.normal(0, 0.2 * index.std(), rows), int(rng.integers(3, 8)), rng)
    table["band"] = band
    for child in range(2):
        table[f"y{child}"] = np.where(rng.random(rows) < 0.3, rng.integers(0, 3, rows), band % 3)
    return labelled(table, rng)


def clocks(seed: int) -> object:
    """Hours and months, shifted and lumped: what follows goes round."""
    rng = _rng(29, seed)
    rows = _rows(rng)
    hour, month = rng.integers(0, 12, rows), rng.integers(0, 12, rows)
    later = (hour + rng.choice([1, 2, 3], rows)) % 12
    turn = 2 * np.pi / 12
    warm = cut(np.cos(turn * (month - 6)) + 0.5 * np.cos(turn * (hour - 7)) + rng.normal(0, 0.3, rows), 7, rng)
    shift = ((later + 1) // 4) % 3
    use = cut(np.abs(warm - 3) + (shift == 1) + rng.normal(0, 0.5, rows), 5, rng)
    return labelled({"hour": hour, "month": month, "later": later, "warm": warm, "shift": shift, "use": use}, rng)


HARD: dict[str, Callable[[int], object]] = {
    "strong noisy-max": strong_noisy_max,
    "strong chain": strong_chain,
    "bent chain": bent_chain,
    "formulas": formulas,
    "diagnosis": diagnosis,
    "bands": bands,
    "scales": totals,
    "nearly determined": nearly_determined,
    "survey skips": survey_skips,
    "one-hot groups": one_hot_groups,
    "chosen rows": chosen_rows,
}
STRANGE: dict[str, Callable[[int], object]] = {
    "products": products,
    "max of min": max_of_min,
    "rounding": rounding,
    "noisy xor": noisy_xor,
    "nearest": nearest,
    "dose response": dose_response,
    "competing rules": competing_rules,
    "weighted index": weighted_index,
    "clocks": clocks,
}
