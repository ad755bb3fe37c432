"""Tables with nothing hidden from kinds of records whose mechanisms nobody had in mind who wrote the families.

Whatever a column follows from stands in the table as it was recorded: readings are read from readings, classes are made
from what is written beside them, and what is told wrongly stands beside what is true. Rows 600 to 5,000; states are
names in no order, numbered text, whole numbers or numbers with a fraction, and change from seed to seed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from benchmarks.rival_hard import Codes, Columns, Reals, Rng, cut, labelled


def _rng(group: int, seed: int) -> Rng:
    return np.random.default_rng([seed, 4001, group])


def _rows(rng: Rng) -> int:
    return int(rng.choice([600, 1000, 2000, 5000]))


def said(columns: Columns, rng: Rng) -> dict[str, list[object]]:
    """As in rival_hard.py, or as numbers with a fraction."""
    tidy = {name: np.unique(own, return_inverse=True)[1].reshape(-1) for name, own in columns.items()}
    if rng.random() < 0.25:
        return {name: [0.5 * code + 0.25 for code in own.tolist()] for name, own in tidy.items()}
    return labelled(tidy, rng)


def draw(rng: Rng, shares: Reals, place: Codes) -> Codes:
    """A state a row, by the shares of its place."""
    return np.minimum((rng.random(len(place))[:, None] > shares.cumsum(axis=1)[place]).sum(axis=1), shares.shape[1] - 1)


def follow(rng: Rng, parents: list[Codes], states: int, sharp: float = 0.7) -> Codes:
    """By a table of its parents."""
    place = np.zeros(len(parents[0]), dtype=np.int64)
    for own in parents:
        place = place * (int(own.max()) + 1) + own
    return draw(rng, rng.dirichlet(np.full(states, sharp), int(place.max()) + 1), place)


def coin(rng: Rng, eta: Reals) -> Codes:
    return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(np.int64)


def slipped(rng: Rng, truth: Codes, share: float) -> Codes:
    return np.where(rng.random(len(truth)) < share, rng.integers(0, int(truth.max()) + 1, len(truth)), truth)


def sites(seed: int) -> object:
    """Each site has a chain of its own through the same columns, in an order of its own."""
    rng = _rng(1, seed)
    rows, places, count, states = _rows(rng), int(rng.integers(2, 5)), int(rng.integers(6, 11)), int(rng.integers(2, 5))
    site = rng.integers(0, places, rows)
    x = np.zeros((rows, count), dtype=np.int64)
    for place in range(places):
        own = site == place
        order = rng.permutation(count)
        x[own, order[0]] = rng.integers(0, states, int(own.sum()))
        for before, after in pairwise(order.tolist()):
            x[own, after] = follow(rng, [x[own, before]], states, 0.4)
    return said({"site": site, **{f"v{i}": x[:, i] for i in range(count)}}, rng)


def two_drugs(seed: int) -> object:
    """A grid of two doses that help each other and level off; response, harm, the next dose, and who goes on."""
    rng = _rng(2, seed)
    rows = _rows(rng)
    a, b, weight = rng.integers(0, 7, rows), rng.integers(0, 6, rows), rng.integers(0, 5, rows)
    level = a / (a + 1.5 + 0.3 * weight) + b / (b + 2.0) + 0.25 * np.sqrt(a * b)
    response = cut(level + rng.normal(0, 0.15, rows), int(rng.integers(5, 13)), rng)
    harm = np.minimum(rng.poisson(0.1 + 0.08 * a * (b > 2)), 4)
    wanted = np.clip(a + (response < 3) - (harm > 1), 0, 7)
    table: Columns = {"a": a, "b": b, "weight": weight, "response": response, "harm": harm}
    table["next"] = np.where(rng.random(rows) < 0.9, wanted, a)
    table["goes on"] = coin(rng, 0.5 * response - 1.5 * harm)
    table["cured"] = coin(rng, response - 0.8 * response.max() + 0.6 * table["goes on"])
    return said(table, rng)


def heaped(seed: int) -> object:
    """Incomes and what is told of them: rounded, capped, refused; what is bought follows the true one."""
    rng = _rng(3, seed)
    rows = _rows(rng)
    school = rng.integers(0, 5, rows)
    income = cut(rng.normal(0, 1, rows) + 0.5 * school, int(rng.integers(15, 40)), rng)
    top = int(income.max())
    rounds = (rng.random(rows) < 0.7 - 0.12 * school).astype(np.int64)
    told = np.minimum(np.where(rounds == 1, 5 * ((income + 2) // 5), income), int(0.8 * top))
    told = np.where(rng.random(rows) < 0.05 + 0.4 * (income / top) ** 3, top + 5, told)
    table: Columns = {"school": school, "income": income, "told": told}
    table["bracket"] = np.searchsorted([0.2 * top, 0.5 * top, 0.8 * top], income)
    table["rent"] = cut(0.4 * income + rng.normal(0, 1.5, rows), 8, rng)
    table["car"] = coin(rng, 6 * income / top - 3)
    table["debt"] = np.clip(table["rent"] - table["bracket"] + rng.integers(-1, 2, rows), 0, 6)
    table["refused"] = slipped(rng, (told == top + 5).astype(np.int64), 0.02)
    return said(table, rng)


def body_classes(seed: int) -> object:
    """Centimetres and kilograms as written down, classes made from them, surface, risk points, doses."""
    rng = _rng(4, seed)
    rows = _rows(rng)
    sex = rng.integers(0, 2, rows)
    height = np.round((165 + 12 * sex + rng.normal(0, 8, rows)) / 3).astype(np.int64) * 3
    weight = np.round((22 + rng.gamma(4, 1.1, rows)) * (height / 100) ** 2 / 5).astype(np.int64) * 5
    ratio = weight / (height / 100) ** 2
    age = rng.integers(2, 9, rows)
    table: Columns = {"sex": sex, "height": height, "weight": weight, "age": age}
    table["class"] = np.searchsorted([18.5, 25, 30, 35], ratio)
    table["surface"] = np.round(np.sqrt(height * weight / 3600) * 10).astype(np.int64)
    table["waist"] = cut(ratio * 3 + 4 * sex + rng.normal(0, 4, rows), 8, rng)
    pressure = cut(4.0 * age + 1.5 * ratio + rng.normal(0, 8, rows), 9, rng)
    table |= {"pressure": pressure, "points": table["class"] + (age > 5) * 2 + (pressure > 6) * 2 + sex}
    table["referred"] = (table["points"] + rng.integers(0, 2, rows) > 5).astype(np.int64)
    table["dose"] = np.clip(table["surface"] - 10 - (age > 6), 0, 12)
    return said(table, rng)


def cohorts(seed: int) -> object:
    """Age, period, and the cohort that is their difference; each has its own effects."""
    rng = _rng(5, seed)
    rows = _rows(rng)
    age, period = rng.integers(0, 12, rows), rng.integers(0, 8, rows)
    cohort = period - age + 11
    old, now, born = rng.normal(0, 1, 12), rng.normal(0, 1, 8), np.cumsum(rng.normal(0, 0.7, 19))
    table: Columns = {"age": age, "period": period, "cohort": cohort}
    for i in range(int(rng.integers(3, 6))):
        eta = rng.normal() * old[age] + rng.normal() * now[period] + rng.normal() * born[cohort]
        table[f"y{i}"] = cut(eta + rng.logistic(0, 0.5, rows), int(rng.integers(2, 7)), rng)
    table["generation"] = cohort // int(rng.integers(4, 7))
    table["votes"] = follow(rng, [table["generation"], table["y0"]], 4)
    return said(table, rng)


def catalogue(seed: int) -> object:
    """Articles looked up: kind, shelf, supplier, price and tax are functions of the article; what is sold is not."""
    rng = _rng(6, seed)
    rows, articles = _rows(rng), int(rng.integers(25, 61))
    article = rng.choice(articles, rows, p=rng.dirichlet(np.full(articles, 2.0)))
    kind = rng.integers(0, int(rng.integers(6, 12)), articles)
    shelf, tax = rng.integers(0, 4, 12)[kind], rng.integers(0, 2, 12)[kind]
    price = np.minimum(rng.geometric(0.2, articles), 12)
    table: Columns = {"article": article, "kind": kind[article], "shelf": shelf[article], "tax": tax[article]}
    table |= {"supplier": rng.integers(0, 9, articles)[article], "price": price[article]}
    number = np.minimum(rng.geometric(0.2 + 0.05 * price[article]), 6)
    table |= {"number": number, "sum": number * price[article] // 4}
    table["returned"] = coin(rng, rng.normal(-1, 1, 12)[table["kind"]] + 0.2 * price[article])
    table["late"] = coin(rng, rng.normal(-1, 1, 9)[table["supplier"]])
    table["praise"] = np.clip(4 - 2 * table["returned"] - table["late"] - (rng.random(rows) < 0.4), 0, 4)
    return said(table, rng)


def instruments(seed: int) -> object:
    """A fine scale, two more that read it with their own steps and stops, which of them is trusted, and an alarm."""
    rng = _rng(7, seed)
    rows = _rows(rng)
    fine = cut(rng.gamma(3, 1, rows), int(rng.integers(20, 51)), rng)
    top = int(fine.max())
    coarse = np.clip(np.round((fine + rng.normal(0, 1.2, rows)) / 4), 0, top // 5).astype(np.int64)
    dial = np.clip(np.round((coarse * 4 + rng.normal(0, 1, rows)) / 7), 0, 8).astype(np.int64)
    trusted = coin(rng, 0.4 * (coarse - coarse.mean()))
    table: Columns = {"fine": fine, "coarse": coarse, "dial": dial, "trusted": trusted}
    table["noted"] = np.where(trusted == 1, 4 * coarse, 2 * (fine // 2))
    table["differs"] = (np.abs(fine - 4 * coarse) > 3).astype(np.int64)
    table["alarm"] = ((table["noted"] > 0.7 * top) | (rng.random(rows) < 0.03)).astype(np.int64)
    table["called"] = coin(rng, 3.0 * table["alarm"] - 1.5 + table["differs"])
    return said(table, rng)


def triples(seed: int) -> object:
    """A field without direction in which columns pull each other three at a time."""
    rng = _rng(8, seed)
    rows, count, states = _rows(rng), int(rng.integers(6, 10)), int(rng.integers(2, 4))
    groups = [rng.permutation(count)[:3] for _ in range(count - 2)]
    pulls = [rng.normal(0, 0.9, (states, states, states)) for _ in groups]
    x = rng.integers(0, states, (rows, count))
    for _ in range(50):
        for i in range(count):
            energies = np.zeros((rows, states))
            for group, pull in zip(groups, pulls, strict=True):
                if i in group:
                    at = int(np.flatnonzero(group == i)[0])
                    j, k = (int(g) for g in group if g != i)
                    energies += np.moveaxis(pull, at, 2)[x[:, j], x[:, k]]
            x[:, i] = (energies + rng.gumbel(size=energies.shape)).argmax(axis=1)
    return said({f"t{i}": x[:, i] for i in range(count)}, rng)


def cup(seed: int) -> object:
    """Eight of ten sides drawn into a cup: who met whom, who won, and the prize of the winner's class."""
    rng = _rng(9, seed)
    rows, sides = _rows(rng), 10
    strength = rng.normal(0, 1.3, sides)
    alive = rng.random((rows, sides)).argsort(axis=1)[:, :8]
    if rng.random() < 0.5:  # (the first four are put on one side, as clubs are)
        alive = np.sort(alive, axis=1)
    table: Columns = {f"draw{i}": alive[:, i] for i in range(8)}
    step = 0
    while alive.shape[1] > 1:
        first, second = alive[:, 0::2], alive[:, 1::2]
        wins = rng.random(first.shape) < 1 / (1 + np.exp(strength[second] - strength[first]))
        alive = np.where(wins, first, second)
        table |= {f"round{step}_{i}": alive[:, i] for i in range(alive.shape[1])}
        step += 1
    winner = alive[:, 0]
    table["prize"] = slipped(rng, winner % 3, 0.05)
    table["crowd"] = follow(rng, [table["round1_0"]], 4, 0.5)
    return said(table, rng)


def quotas(seed: int) -> object:
    """Rows are taken until each cell of age by sex is full, and only of those who pass one of two tests."""
    rng = _rng(10, seed)
    wanted = _rows(rng)
    rows = 12 * wanted
    age, sex = rng.choice(5, rows, p=rng.dirichlet(np.full(5, 3.0))), rng.integers(0, 2, rows)
    skill, luck = rng.integers(0, 6, rows), rng.integers(0, 6, rows)
    written, spoken = np.clip(skill + rng.integers(-1, 2, rows), 0, 6), np.clip(luck + rng.integers(-1, 2, rows), 0, 6)
    passed = (written >= 4) | (spoken >= 5)
    pay = np.clip(written + spoken + age - 3 + rng.integers(-1, 2, rows), 0, 12)
    cell = age * 2 + sex
    full = np.zeros(rows, dtype=bool)
    for each in range(10):
        full[np.flatnonzero(passed & (cell == each))[: wanted // 10]] = True
    table: Columns = {"age": age, "sex": sex, "skill": skill, "luck": luck, "written": written, "spoken": spoken}
    table |= {"pay": pay, "stays": coin(rng, 0.5 * pay - 3.0)}
    return said({name: own[full] for name, own in table.items()}, rng)


STRANGERS: dict[str, Callable[[int], object]] = {
    "sites": sites,
    "two drugs": two_drugs,
    "heaped": heaped,
    "body classes": body_classes,
    "cohorts": cohorts,
    "catalogue": catalogue,
    "instruments": instruments,
    "triples": triples,
    "cup": cup,
    "quotas": quotas,
}
