"""Tables with nothing hidden whose columns are whole numbers, one group for each mechanism that the demand names.

Codes are how most files write their states (0, 1, 2, …), in order or not; read as grades they go to the route of
numbers, which other benches, whose states have names, seldom ask. Graphs are random; rows 600 to 5,000.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.rival_hard import Codes, Reals, Rng
from benchmarks.rival_strangers import coin, draw


def _rng(group: int, seed: int) -> Rng:
    return np.random.default_rng([seed, 7103, group])


def _rows(rng: Rng) -> int:
    return int(rng.choice([600, 1000, 2000, 5000]))


def _root(rng: Rng, rows: int, states: int) -> Codes:
    return draw(rng, rng.dirichlet(np.full(states, 2.0))[None], np.zeros(rows, dtype=np.int64))


def _steps(value: Reals, count: int, rng: Rng) -> Codes:
    """Cut at random quantiles."""
    at = np.sort(rng.choice(np.arange(1, 20), count - 1, replace=False)) / 20
    return np.searchsorted(np.quantile(value, at), value).astype(np.int64)


def _parents(rng: Rng, done: list[Codes], most: int) -> list[Codes]:
    count = min(len(done), int(rng.integers(1, most + 1)))
    return [done[i] for i in rng.choice(len(done), count, replace=False)]


def _table(columns: list[Codes], rng: Rng) -> object:
    """In an order that says nothing."""
    order = rng.permutation(len(columns))
    return {f"x{place}": columns[i].tolist() for place, i in enumerate(order.tolist())}


def noisy_or(seed: int) -> object:
    rng = _rng(1, seed)
    rows, columns = _rows(rng), []
    for _ in range(int(rng.integers(5, 9))):
        columns.append((rng.random(rows) < rng.uniform(0.1, 0.5)).astype(np.int64))
    for _ in range(int(rng.integers(4, 8))):
        on = np.full(rows, 1 - rng.uniform(0.0, 0.1))
        for cause in _parents(rng, columns, 8):
            on *= 1 - rng.uniform(0.3, 0.95) * cause
        columns.append((rng.random(rows) > on).astype(np.int64))
    return _table(columns, rng)


def noisy_max(seed: int) -> object:
    rng = _rng(2, seed)
    rows, grades = _rows(rng), int(rng.integers(3, 5))
    columns = [_root(rng, rows, grades) for _ in range(int(rng.integers(4, 7)))]
    for _ in range(int(rng.integers(4, 7))):
        level = np.zeros(rows, dtype=np.int64)
        for cause in _parents(rng, columns, 5):
            works = rng.random(rows) < np.sort(np.append(0.0, rng.uniform(0.3, 0.95, grades - 1)))[cause]
            level = np.maximum(level, np.where(works, rng.integers(0, cause + 1), 0))
        columns.append(level)
    return _table(columns, rng)


def logits(seed: int) -> object:
    rng = _rng(3, seed)
    rows, columns = _rows(rng), []
    for _ in range(int(rng.integers(8, 13))):
        states = int(rng.integers(2, 6))
        eta = rng.normal(0, 0.5, (1, states)).repeat(rows, axis=0)
        for parent in _parents(rng, columns, 5) if columns else ():
            eta += rng.normal(0, 1, (int(parent.max()) + 1, states))[parent]
        columns.append((eta + rng.gumbel(size=eta.shape)).argmax(axis=1))
    return _table(columns, rng)


def ordered(seed: int) -> object:
    rng = _rng(4, seed)
    rows, columns = _rows(rng), []
    for _ in range(int(rng.integers(8, 13))):
        eta = np.zeros(rows)
        for parent in _parents(rng, columns, 4) if columns else ():
            eta += rng.normal(0, 0.8) * parent
        columns.append(_steps(eta + rng.logistic(size=rows), int(rng.integers(3, 7)), rng))
    return _table(columns, rng)


def asked(seed: int) -> object:
    """Columns that ask their parents one after another."""
    rng = _rng(5, seed)
    rows, columns = _rows(rng), []
    for _ in range(int(rng.integers(9, 14))):
        states = int(rng.integers(3, 5))
        if len(columns) < 3:
            columns.append(_root(rng, rows, states))
            continue
        parents = _parents(rng, columns, 5)
        leaf = np.full(rows, len(parents), dtype=np.int64)
        for place, parent in enumerate(parents):
            held = parent == rng.integers(0, int(parent.max()) + 1)
            leaf = np.where((leaf == len(parents)) & held, place, leaf)
        columns.append(draw(rng, rng.dirichlet(np.full(states, 0.6), len(parents) + 1), leaf))
    return _table(columns, rng)


def arithmetic(seed: int) -> object:
    """Sums, differences, products and thresholds of columns, now and then wrong."""
    rng = _rng(6, seed)
    rows = _rows(rng)
    columns = [_root(rng, rows, int(rng.integers(2, 5))) for _ in range(int(rng.integers(4, 7)))]
    for _ in range(int(rng.integers(4, 7))):
        a, b = _parents(rng, columns, 2)[0], _parents(rng, columns, 2)[-1]
        value = (a + b, np.abs(a - b), np.minimum(a * b, 6), ((a + b) > 2).astype(np.int64))[int(rng.integers(4))]
        wrong = rng.random(rows) < rng.uniform(0.0, 0.2)
        columns.append(np.where(wrong, rng.permutation(value), value))
    return _table(columns, rng)


def linear_chain(seed: int) -> object:
    rng = _rng(7, seed)
    return _chain(rng, bent=False)


def bent_chain(seed: int) -> object:
    rng = _rng(8, seed)
    return _chain(rng, bent=True)


def _chain(rng: Rng, *, bent: bool) -> object:
    """Each column is made of the code of the one before, as it is written."""
    rows = _rows(rng)
    columns = [_steps(rng.normal(size=rows), int(rng.integers(5, 21)) % 19 + 2, rng)]
    for _ in range(int(rng.integers(5, 9))):
        before = columns[-1] / columns[-1].max()
        eta = np.sin(rng.uniform(2, 7) * before) if bent else rng.choice([-1, 1]) * 2.5 * before
        columns.append(_steps(eta + rng.normal(0, 0.5, rows), int(rng.integers(5, 19)), rng))
    return _table(columns, rng)


def totals(seed: int) -> object:
    rng = _rng(9, seed)
    rows = _rows(rng)
    items = [_root(rng, rows, int(rng.integers(2, 4))) for _ in range(int(rng.integers(5, 9)))]
    total = np.sum(items, axis=0)
    return _table([*items, total, np.searchsorted(np.quantile(total, [0.3, 0.7]), total)], rng)


def almost_certain(seed: int) -> object:
    rng = _rng(10, seed)
    rows, columns = _rows(rng), []
    for _ in range(int(rng.integers(8, 13))):
        states = int(rng.integers(2, 5))
        place = np.zeros(rows, dtype=np.int64)
        for parent in _parents(rng, columns, 3) if columns else ():
            place = place * (int(parent.max()) + 1) + parent
        one = rng.integers(0, states, int(place.max()) + 1)[place] if columns else _root(rng, rows, states)
        slip = rng.random(rows) < rng.choice([0.0, 0.01, 0.05])
        columns.append(np.where(slip, rng.integers(0, states, rows), one))
    return _table(columns, rng)


def skips(seed: int) -> object:
    """Questions that are asked only of some; the others have a code of their own."""
    rng = _rng(11, seed)
    rows = _rows(rng)
    columns = [_root(rng, rows, int(rng.integers(2, 4))) for _ in range(3)]
    for _ in range(int(rng.integers(2, 4))):
        gate = _parents(rng, columns, 1)[0] == 0
        for _ in range(int(rng.integers(2, 5))):
            eta = rng.normal(0, 0.7) * _parents(rng, columns, 1)[0]
            columns.append(np.where(gate, 9, _steps(eta + rng.logistic(size=rows), int(rng.integers(3, 6)), rng)))
    return _table(columns, rng)


def one_hot(seed: int) -> object:
    rng = _rng(12, seed)
    rows = _rows(rng)
    kind = _root(rng, rows, int(rng.integers(4, 8)))
    columns = [(kind == state).astype(np.int64) for state in range(int(kind.max()) + 1)]
    for _ in range(int(rng.integers(3, 6))):
        shares = rng.dirichlet(np.full(3, 0.8), int(kind.max()) + 1)
        columns.append(draw(rng, shares, kind))
    return _table(columns, rng)


def chosen_rows(seed: int) -> object:
    """A network's rows are in the table only if one of its columns, which stands there, let them in."""
    rng = _rng(13, seed)
    rows = _rows(rng)
    many, columns = rows * 8, []
    for _ in range(int(rng.integers(7, 11))):
        eta = (
            sum((rng.normal(0, 0.9) * own for own in _parents(rng, columns, 3)), np.zeros(many))
            if columns
            else np.zeros(many)
        )
        columns.append(_steps(eta + rng.logistic(size=many), int(rng.integers(2, 5)), rng))
    gate = columns[-1]
    let = np.flatnonzero(coin(rng, 2.0 * (gate - gate.mean())))[:rows]
    return _table([own[let] for own in columns], rng)


def many_states(seed: int) -> object:
    """30 to 50 columns of 3 to 60 states that are functions of numbers which stand in the table, cut fine."""
    rng = _rng(14, seed)
    rows, columns = int(rng.choice([1000, 2000])), []
    for _ in range(int(rng.integers(30, 51))):
        eta = np.zeros(rows)
        for parent in _parents(rng, columns, 3) if len(columns) > 4 else ():
            own = parent / max(int(parent.max()), 1)
            eta += rng.normal(0, 2) * (own if rng.random() < 0.6 else np.abs(own - 0.5))
        value = eta + rng.normal(0, rng.uniform(0.3, 1.0), rows)
        low, high = value.min(), value.max()
        columns.append(np.floor((value - low) / (high - low + 1e-9) * int(rng.integers(3, 61))).astype(np.int64))
    return _table(columns, rng)


CODES: dict[str, Callable[[int], object]] = {
    f"codes-{make.__name__.replace('_', '-')}": make
    for make in (
        noisy_or,
        noisy_max,
        logits,
        ordered,
        asked,
        arithmetic,
        linear_chain,
        bent_chain,
        totals,
        almost_certain,
        skips,
        one_hot,
        chosen_rows,
        many_states,
    )
}
