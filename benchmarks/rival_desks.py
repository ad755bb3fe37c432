"""More tables with nothing hidden, of records made by rules: desks, machines, games, words, journeys, and all at once.

As in rival_strangers.py, whatever a column follows from stands in the table as it was recorded.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.rival_hard import Codes, Columns, Rng, cut
from benchmarks.rival_strangers import coin, draw, follow, said, slipped


def _rng(group: int, seed: int) -> Rng:
    return np.random.default_rng([seed, 4002, group])


def _rows(rng: Rng) -> int:
    return int(rng.choice([600, 1000, 2000, 5000]))


def not_told(seed: int) -> object:
    """Answers refused by some of those whose answer it would be; later answers follow what was told."""
    rng = _rng(1, seed)
    rows, count = _rows(rng), int(rng.integers(6, 11))
    asker, age = rng.integers(0, 6, rows), rng.integers(0, 5, rows)
    table: Columns = {"asker": asker, "age": age}
    for i in range(count):
        names = list(table)[1:]
        parents = [table[str(n)] for n in rng.permutation(names)[: int(rng.integers(1, 3))]]
        states = int(rng.integers(2, 6))
        answer = follow(rng, parents, states)
        refuses = rng.beta(0.5, 3, states)[answer] * rng.uniform(0.3, 1.7, 6)[asker]
        table[f"q{i}"] = np.where(rng.random(rows) < refuses, states, answer)
    return said(table, rng)


def thresholds(seed: int) -> object:
    """Columns that are over a threshold of four to six others, with products of two among them."""
    rng = _rng(2, seed)
    rows, count = _rows(rng), int(rng.integers(6, 10))
    table: Columns = {f"p{i}": rng.integers(0, int(rng.integers(2, 6)), rows) for i in range(count)}
    for child in range(int(rng.integers(3, 6))):
        names = rng.permutation(list(table))[: int(rng.integers(4, 7))]
        own = [(table[str(n)] - table[str(n)].mean()) / table[str(n)].std() for n in names]
        drive = np.sum([rng.normal() * each for each in own], axis=0) + 1.5 * own[0] * own[1] - own[2] * own[3]
        edges = np.sort(rng.normal(0, 1.5, int(rng.integers(1, 4))))
        table[f"y{child}"] = np.digitize(drive + rng.normal(0, float(rng.choice([0.1, 0.6])), rows), edges)
    return said(table, rng)


def machine(seed: int) -> object:
    """Parts that fail, gauges that show two or three of them each, and alarms when k of n gauges are red."""
    rng = _rng(3, seed)
    rows, parts, gauges = _rows(rng), int(rng.integers(4, 8)), int(rng.integers(12, 26))
    state = [draw(rng, rng.dirichlet([6.0, 2.0, 1.0], 1), np.zeros(rows, dtype=np.int64)) for _ in range(parts)]
    table: Columns = {f"part{i}": own for i, own in enumerate(state)}
    red = np.zeros((rows, gauges), dtype=np.int64)
    for g in range(gauges):
        seen = rng.permutation(parts)[: int(rng.integers(2, 4))]
        worst = np.max([state[i] for i in seen], axis=0) if g % 2 else np.sum([state[i] for i in seen], axis=0)
        shown = np.clip(slipped(rng, worst, 0.08), 0, 3)
        table[f"gauge{g:02d}"], red[:, g] = shown, shown >= 2
    for a in range(3):
        near = rng.permutation(gauges)[: int(rng.integers(4, 8))]
        table[f"alarm{a}"] = slipped(rng, (red[:, near].sum(axis=1) >= len(near) // 2).astype(np.int64), 0.01)
    return said(table, rng)


def funnel(seed: int) -> object:
    """Steps of an order: whoever stops has stopped for good; days between; what was offered by a rule."""
    rng = _rng(4, seed)
    rows, steps = _rows(rng), int(rng.integers(5, 9))
    channel, price = rng.integers(0, 5, rows), rng.integers(0, 4, rows)
    table: Columns = {"channel": channel, "price": price}
    step = rng.integers(1, 4, rows)
    for i in range(steps):
        stops = rng.random(rows) < 1 / (1 + np.exp(2.2 - 0.4 * price - rng.normal(0, 0.7, 4)[step]))
        step = np.where((step == 0) | stops, 0, draw(rng, rng.dirichlet(np.ones(3), 4), step) + 1)
        table[f"step{i}"] = step
    passed = np.sum([table[f"step{i}"] > 0 for i in range(steps)], axis=0)
    table |= {"passed": passed, "bought": (step > 1).astype(np.int64)}
    table["reminded"] = np.where((passed > 1) & (passed < steps), rng.integers(1, 3, rows), 0)
    return said(table, rng)


def running_totals(seed: int) -> object:
    """Totals that only grow, up to a cap, from hand to hand; who leads; and by how much in bands."""
    rng = _rng(5, seed)
    rows, hands, cap = _rows(rng), int(rng.integers(3, 6)), int(rng.integers(10, 30))
    mine, yours = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    table: Columns = {}
    for i in range(hands):
        mine = np.minimum(mine + rng.poisson(1.5 + 0.2 * (mine < yours), rows), cap)
        yours = np.minimum(yours + rng.poisson(1.5 + 0.2 * (yours < mine), rows), cap)
        table |= {f"mine{i}": mine, f"yours{i}": yours, f"leads{i}": np.sign(mine - yours) + 1}
    table["margin"] = np.searchsorted([-6, -3, -1, 1, 3, 6], mine - yours)
    return said(table, rng)


def ticked(seed: int) -> object:
    """Exactly three boxes of eight to ten are ticked, by the taste of the segment; the first one is named."""
    rng = _rng(6, seed)
    rows, boxes = _rows(rng), int(rng.integers(8, 11))
    segment = rng.integers(0, 4, rows)
    worth = rng.normal(0, 1.2, (4, boxes))[segment] + rng.gumbel(size=(rows, boxes))
    order = (-worth).argsort(axis=1)
    table: Columns = {"segment": segment, "first": order[:, 0]}
    for i in range(boxes):
        table[f"box{i}"] = (order[:, :3] == i).any(axis=1).astype(np.int64)
    table["pays"] = coin(rng, 1.5 * table["box0"] - table["box1"] + rng.normal(0, 1, boxes)[order[:, 0]])
    return said(table, rng)


def shares_of_ten(seed: int) -> object:
    """Ten points given out over five or six parts by the odds of a recorded group, the largest part, and bands."""
    rng = _rng(7, seed)
    rows, parts = _rows(rng), int(rng.integers(5, 7))
    group = rng.integers(0, 5, rows)
    odds = rng.dirichlet(np.full(parts, 2.0), 5)
    given = np.array([rng.multinomial(10, odds[g]) for g in group])
    table: Columns = {"group": group, **{f"part{i}": given[:, i] for i in range(parts)}}
    table["largest"] = given.argmax(axis=1)
    table["spread"] = np.searchsorted([3, 4, 5, 7], given.max(axis=1))
    table["kept"] = coin(rng, 0.6 * given[:, 0] - 0.4 * given[:, 1])
    return said(table, rng)


def eligible(seed: int) -> object:
    """Rules of an office: who is entitled, applies, is granted how much, appeals."""
    rng = _rng(8, seed)
    rows = _rows(rng)
    age, income, children = rng.integers(0, 14, rows), rng.integers(0, 20, rows), np.minimum(rng.poisson(1, rows), 5)
    alone, region = rng.integers(0, 2, rows), rng.integers(0, 6, rows)
    entitled = ((income < 8 + 2 * children) & (age > 1) | (age > 11) & (income < 15)).astype(np.int64)
    applies = entitled * coin(rng, rng.normal(0.8, 0.8, 6)[region] + 0.2 * children) | coin(rng, np.full(rows, -3.0))
    granted = applies * slipped(rng, entitled, 0.06)
    amount = np.where(granted == 1, np.clip(6 + 2 * children + 2 * alone - income // 2, 1, 15), 0)
    table: Columns = {"age": age, "income": income, "children": children, "alone": alone, "region": region}
    table |= {"entitled": entitled, "applies": applies, "granted": granted, "amount": amount}
    table["appeals"] = ((applies == 1) & (granted == 0) & (rng.random(rows) < 0.3 + 0.5 * entitled)).astype(np.int64)
    table["lives on"] = cut((income + amount) * 1.0, 6, rng)
    return said(table, rng)


def dice(seed: int) -> object:
    """Dice in order of size, a band of their total, how many are alike, what a rule pays, who cheers."""
    rng = _rng(9, seed)
    rows, count = _rows(rng), int(rng.integers(4, 6))
    thrown = np.sort(rng.integers(1, 7, (rows, count)), axis=1)
    table: Columns = {f"die{i}": thrown[:, i] for i in range(count)}
    total, alike = thrown.sum(axis=1), (np.diff(thrown, axis=1) == 0).sum(axis=1)
    table |= {"band": total // 4, "alike": alike, "steps": (np.diff(thrown, axis=1) == 1).sum(axis=1)}
    table["pays"] = np.select([alike >= 3, table["steps"] >= 3, alike >= 1], [3, 2, 1], 0)
    table["cheers"] = coin(rng, 1.5 * table["pays"] - 2.0)
    return said(table, rng)


def words(seed: int) -> object:
    """Words, each letter by the one before; vowels counted; the first letter's shelf; the ending's kind."""
    rng = _rng(10, seed)
    rows, letters, length = _rows(rng), int(rng.integers(10, 21)), int(rng.integers(5, 7))
    after = rng.dirichlet(np.full(letters, 0.25), letters)
    at = [rng.choice(letters, rows, p=rng.dirichlet(np.full(letters, 1.0)))]
    for _ in range(length - 1):
        at.append(draw(rng, after, at[-1]))
    vowel = (rng.random(letters) < 0.35).astype(np.int64)
    table: Columns = {f"letter{i}": own for i, own in enumerate(at)}
    table["vowels"] = np.sum([vowel[own] for own in at], axis=0)
    table |= {
        "shelf": at[0] // 5,
        "ending": rng.integers(0, 3, letters)[at[-1]],
        "doubled": (at[1] == at[2]).astype(int),
    }
    table["gender"] = slipped(rng, table["ending"], 0.1)
    return said(table, rng)


def bent_tree(seed: int) -> object:
    """A tree of numbers, bent from node to node, of which fine cuts are kept (12 to 40 states)."""
    rng = _rng(11, seed)
    rows, count = _rows(rng), int(rng.integers(8, 20))
    values, table = [rng.normal(size=rows)], {}
    for i in range(1, count):
        x = values[i - 1 if rng.random() < 0.6 else (i - 1) // 2]
        bent = [x, np.tanh(1.5 * x), x * np.abs(x), np.exp(0.6 * x), np.maximum(x, -0.5)][int(rng.integers(5))]
        x = bent / bent.std() + rng.normal(0, rng.uniform(0.3, 1.0), rows)
        values.append((x - x.mean()) / x.std())
    for i, x in enumerate(values):
        table[f"n{i:02d}"] = cut(x, int(rng.integers(12, 41)), rng)
    return said(table, rng)


def everything(seed: int) -> object:
    """30 to 50 columns of 2 to 60 states, each by some rule of its own from columns before it."""
    rng = _rng(12, seed)
    rows = _rows(rng)
    table: Columns = {}
    for i in range(int(rng.integers(30, 51))):
        names = rng.permutation(list(table)[-12:])[: int(rng.choice([1, 1, 2, 2, 3, 4]))]
        own = [table[str(n)] for n in names]
        table[f"c{i:02d}"] = (
            np.unique(_by_some_rule(own, rng, rows), return_inverse=True)[1]
            if own and i > 4
            else cut(rng.gamma(2, 1, rows), int(np.clip(rng.geometric(0.1) + 1, 2, 60)), rng)
        )
    return said(table, rng)


def _by_some_rule(own: list[Codes], rng: Rng, rows: int) -> Codes:
    top = [max(int(each.max()), 1) for each in own]
    level = np.sum([rng.choice([-1, 1, 2]) * each / t for each, t in zip(own, top, strict=True)], axis=0)
    rule = int(rng.integers(8))
    if rule == 0:
        return follow(
            rng, [each * 4 // (t + 1) for each, t in zip(own[:2], top, strict=False)], int(rng.integers(2, 7))
        )
    if rule == 1:
        return slipped(rng, np.max(own, axis=0), 0.05)
    if rule == 2:
        return rng.integers(0, int(rng.integers(2, 6)), top[0] + 1)[own[0]]
    if rule == 3:
        return coin(rng, 4 * (level - level.mean()) / max(float(level.std()), 1e-9))
    if rule == 4:
        return np.minimum(rng.poisson(np.exp(0.3 + 0.6 * np.tanh(level))), 12)
    if rule == 5:
        return np.where(own[-1] > top[-1] // 2, own[0], 0)
    if rule == 6:
        return np.minimum(np.sum(own, axis=0), int(rng.integers(3, 40)))
    noise = rng.normal(0, float(rng.choice([0.02, 0.1, 0.3])), rows)
    return cut(np.tanh(level) * (0.5 + own[0] / top[0]) + noise, int(np.clip(rng.geometric(0.08) + 2, 3, 60)), rng)


DESKS: dict[str, Callable[[int], object]] = {
    "not told": not_told,
    "thresholds": thresholds,
    "machine": machine,
    "funnel": funnel,
    "running totals": running_totals,
    "ticked": ticked,
    "shares of ten": shares_of_ten,
    "eligible": eligible,
    "dice": dice,
    "words": words,
    "bent tree": bent_tree,
    "everything": everything,
}
