"""Tables with many hidden variables, or none, whose truth is known: stars with arcs between them, shared columns,
uneven states, chains of classes, two layers; independent columns, chains, trees, two parents a column, sums; and wide
tables put together of blocks in which columns follow from each other as tables of counts say only at length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

import leverrier as lv

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Planted:
    """A table and what is hidden in it: by hidden variable the columns next to it, and its number of states."""

    table: lv.Table
    columns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    states: Mapping[str, int] = field(default_factory=dict)
    above: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By hidden variable of the second layer, those of the first that it drives."""


def child(parent: Codes, states: int, rng: np.random.Generator, low: float = 0.5, high: float = 0.8) -> Codes:
    """A column that follows its parent in a share of the rows, between `low` and `high`, and is anything in others."""
    k = int(parent.max()) + 1
    to = rng.permutation(max(states, k))[:k] % states
    return np.where(rng.random(len(parent)) < rng.uniform(low, high), to[parent], rng.integers(0, states, len(parent)))


def stars(
    number: int, columns: int, rows: int, seed: int, size: int = 5, mechanism: str = "arcs", uneven: float = 8.0
) -> Planted:
    """Stars of `size` columns among distractors. Mechanism "plain"; "arcs": a column of every other star also follows
    one of the next star; "shared": a column follows both; "skewed": states as uneven as four to one; "chained": each
    hidden variable follows the one before it."""
    rng = np.random.default_rng([seed, number, columns, rows])
    hidden: list[Codes] = []
    cells: list[Codes] = []
    sizes: list[int] = []
    near: list[list[int]] = []
    for s in range(number):
        k = int(rng.integers(2, 4))
        weights = np.array([0.8, 0.2]) if mechanism == "skewed" and k == 2 else rng.dirichlet(np.full(k, uneven))
        state = rng.choice(k, rows, p=weights)
        if mechanism == "chained" and s:
            k = int(hidden[-1].max()) + 1
            state = child(hidden[-1], k, rng, 0.5, 0.6)
        hidden.append(state)
        near.append([])
        for _ in range(size):
            m = int(rng.integers(k, 4))
            cells.append(child(state, m, rng))
            sizes.append(m)
            near[-1].append(len(cells) - 1)
    while len(cells) < columns:
        m = int(rng.integers(2, 4))
        cells.append(rng.integers(0, m, rows))
        sizes.append(m)
    for s in range(0, number - 1, 2):
        one, other = near[s][-1], near[s + 1][-1]
        if mechanism == "arcs":
            cells[other] = np.where(rng.random(rows) < 0.25, cells[one] % sizes[other], cells[other])
        if mechanism == "shared":
            cells[other] = np.where(rng.random(rows) < 0.5, hidden[s] % sizes[other], cells[other])
            near[s].append(other)
    names = _names(columns, rng)
    table = _table(names, sizes, cells)
    columns_of = {f"S{s}": frozenset(names[v] for v in each) for s, each in enumerate(near)}
    return Planted(table, columns_of, {f"S{s}": int(hidden[s].max()) + 1 for s in range(number)})


def layers(rows: int, seed: int, size: int = 5, states: int = 3) -> Planted:
    """Nine groups under three classes under one, all of so many states."""
    rng = np.random.default_rng([seed, rows, 9])
    top = rng.integers(0, states, rows)
    cells: list[Codes] = []
    columns_of: dict[str, list[int]] = {}
    above: dict[str, frozenset[str]] = {}
    for m in range(3):
        middle = child(top, states, rng, 0.7, 0.8)
        above[f"M{m}"] = frozenset(f"S{3 * m + g}" for g in range(3))
        for g in range(3):
            state = child(middle, states, rng, 0.75, 0.85)
            columns_of[f"S{3 * m + g}"] = []
            for _ in range(size):
                cells.append(child(state, states, rng))
                columns_of[f"S{3 * m + g}"].append(len(cells) - 1)
    names = _names(len(cells), rng)
    table = _table(names, [states] * len(cells), cells)
    named = {name: frozenset(names[v] for v in each) for name, each in columns_of.items()}
    return Planted(table, named, dict.fromkeys(named, states), above)


NOTHING = ("independent", "chain", "tree", "two parents", "sums")


def nothing(kind: str, columns: int, rows: int, seed: int) -> Planted:
    """Columns with nothing hidden. "sums": every fifth column counts how many of the four before it are on, now and
    then wrongly, which no table of a pair says and many tables say badly."""
    rng = np.random.default_rng([seed, NOTHING.index(kind), columns, rows])
    sizes = [2] * columns if kind == "sums" else rng.integers(2, 4, columns).tolist()
    cells: list[Codes] = []
    for v in range(columns):
        free = rng.integers(0, sizes[v], rows)
        if kind == "independent" or v == 0:
            cells.append(free)
        elif kind == "sums":
            on = np.sum(cells[v - 4 : v], axis=0) >= 2
            cells.append(np.where((rng.random(rows) < 0.9) & (v % 5 == 4), on.astype(np.int64), free))
        elif kind == "two parents":
            both = rng.integers(0, v, 2)
            to = rng.integers(0, sizes[v], (sizes[both[0]], sizes[both[1]]))
            cells.append(np.where(rng.random(rows) < rng.uniform(0.4, 0.8), to[cells[both[0]], cells[both[1]]], free))
        else:
            p = v - 1 if kind == "chain" else int(rng.integers(0, v))
            cells.append(child(cells[p], sizes[v], rng, 0.4, 0.8))
    return Planted(_table(_names(columns, rng), sizes, cells))


def _noisy_max(rows: int, rng: np.random.Generator) -> list[Codes]:
    """Three causes of three degrees, and four effects that show the worst of what each cause does to them."""
    causes = [rng.choice(3, rows, p=[0.6, 0.25, 0.15]) for _ in range(3)]
    worst = [
        np.max([np.where(rng.random(rows) < rng.uniform(0.5, 0.9), c, 0) for c in causes], axis=0) for _ in range(4)
    ]
    return [*causes, *worst]


def _bands(rows: int, rng: np.random.Generator) -> list[Codes]:
    """Six items that go together by a chain, and the band of their sum."""
    items = [rng.integers(0, 3, rows)]
    for _ in range(5):
        items.append(child(items[-1], 3, rng, 0.2, 0.4))
    total = np.sum(items, axis=0)
    return [*items, np.digitize(total, np.quantile(total, [0.25, 0.5, 0.75]))]


def _one_hot(rows: int, rng: np.random.Generator) -> list[Codes]:
    """A question with six answers as six columns of yes and no, and a column that follows from the answer."""
    answer = rng.choice(6, rows, p=rng.dirichlet(np.full(6, 5.0)))
    return [*((answer == k).astype(np.int64) for k in range(6)), child(answer, 3, rng)]


def _grades(rows: int, rng: np.random.Generator) -> list[Codes]:
    """A chain of measurements, each a line of the one before, cut into five grades: nobody measured finer."""
    grade = rng.integers(0, 5, rows)
    found = [grade]
    for _ in range(6):
        line = rng.uniform(0.7, 1.2) * (grade - 2) + rng.normal(0, 1, rows)
        grade = np.digitize(line, [-1.5, -0.5, 0.5, 1.5])
        found.append(grade)
    return found


def _skips(rows: int, rng: np.random.Generator) -> list[Codes]:
    """A gate, and five questions that are not asked (state 0) where it is closed; those asked go by a chain."""
    gate = rng.integers(0, 2, rows)
    asked = [rng.integers(1, 4, rows)]
    for _ in range(4):
        asked.append(1 + child(asked[-1] - 1, 3, rng, 0.3, 0.6))
    return [gate, *(np.where(gate == 1, each, 0) for each in asked)]


BLOCKS = {"noisy-max": _noisy_max, "bands": _bands, "one-hot": _one_hot, "grades": _grades, "skips": _skips}


def blocks(kind: str, columns: int, rows: int, seed: int) -> Planted:
    """So many columns, nothing hidden: blocks of one kind, and noise where no whole block has room."""
    rng = np.random.default_rng([seed, list(BLOCKS).index(kind), columns, rows, 7])
    cells: list[Codes] = []
    while True:
        block = BLOCKS[kind](rows, rng)
        if len(cells) + len(block) > columns:
            break
        cells += block
    while len(cells) < columns:
        cells.append(rng.integers(0, 3, rows))
    return Planted(_table(_names(columns, rng), [_states(each) for each in cells], cells))


def among(rows: int, seed: int, number: int = 6) -> Planted:
    """So many stars, and two blocks of every kind beside them: what is hidden is to be told from what is not."""
    planted = stars(number, 5 * number, rows, seed)
    rng = np.random.default_rng([seed, rows, 8])
    cells = [each for make in BLOCKS.values() for _ in range(2) for each in make(rows, rng)]
    beside = _table([f"b{number:04d}" for number in rng.permutation(len(cells))], [_states(c) for c in cells], cells)
    codes = np.concatenate([planted.table.codes.astype(np.int64), beside.codes.astype(np.int64)])
    return replace(planted, table=lv.Table.from_codes({**planted.table.states, **beside.states}, codes))


def _states(cells: Codes) -> int:
    return int(cells.max()) + 1


def _names(columns: int, rng: np.random.Generator) -> list[str]:
    """In no order that would tell groups."""
    return [f"c{number:04d}" for number in rng.permutation(columns)]


def _table(names: list[str], sizes: list[int], cells: list[Codes]) -> lv.Table:
    order = np.argsort(names)
    states = {names[v]: tuple(range(sizes[v])) for v in order}
    return lv.Table.from_codes(states, np.stack([cells[v] for v in order]))
