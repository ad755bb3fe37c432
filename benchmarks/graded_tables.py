"""Tables of items in grades (Likert scales, ratings): with a class or a continuum behind them, and with nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.number_tables import Columns
from benchmarks.planted_number_tables import Planted

EDGES = np.array([-2.2, -0.8, 0.8, 2.2])


def cut(rng: np.random.Generator, along: Any, grades: int = 5, middle: float = 0.0) -> np.ndarray:
    """An ordered logit: the answer to a question that this much speaks for."""
    edges = np.linspace(-2.2, 2.2, grades - 1) if grades != 5 else EDGES
    return np.searchsorted(edges + middle + rng.normal(0, 0.3), along + rng.logistic(size=len(along))) + 1


def named_items(values: list[Any]) -> Columns:
    return {f"q{j}": each for j, each in enumerate(values)}


def classes_behind(states: int, items: int, apart: float) -> Any:
    """Classes whose answers lie so many logits apart, in an order of its own in each item."""

    def make(rng: np.random.Generator, rows: int) -> Planted:
        h = rng.choice(states, rows, p=np.full(states, 1 / states))
        values = []
        for _ in range(items):
            order = rng.permutation(states) - (states - 1) / 2
            values.append(cut(rng, apart * order[h]))
        return Planted(named_items(values), (_all(items),), "class", states, h.astype(float))

    return make


def factor_behind(items: int) -> Any:
    def make(rng: np.random.Generator, rows: int) -> Planted:
        f = rng.normal(size=rows)
        values = [cut(rng, rng.uniform(0.9, 1.8) * f) for _ in range(items)]
        return Planted(named_items(values), (_all(items),), "continuum", 0, f)

    return make


def _all(items: int) -> frozenset[str]:
    return frozenset(f"q{j}" for j in range(items))


def _items(columns: int) -> int:
    return max(6, min(columns, 10))


def ordered_chain(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Each answer by an ordered logit of the one before."""
    values = [rng.integers(1, 6, rows)]
    while len(values) < _items(columns):
        values.append(cut(rng, rng.uniform(0.6, 1.5) * (values[-1] - 3)))
    return named_items(values)


def item_sums(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Some items of their own, the rest graded sums of two or three of them."""
    count = _items(columns)
    values = [cut(rng, rng.normal(0, 1.0, rows)) for _ in range(count // 2)]
    while len(values) < count:
        own = rng.choice(count // 2, int(rng.integers(2, 4)), replace=False)
        total = sum(values[j] - 3.0 for j in own)
        values.append(cut(rng, 0.9 * np.asarray(total)))
    return named_items(values)


def acquiescence(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """How readily a person agrees is asked for, and moves every other answer."""
    count = _items(columns)
    ready = rng.integers(1, 8, rows)
    values = [cut(rng, rng.uniform(0.4, 0.8) * (ready - 4), middle=rng.normal(0, 0.8)) for _ in range(count - 1)]
    return {"agrees": ready, **named_items(values)}


def cut_chain(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """A linear chain in which the next number depends on the one before as it was cut into grades."""
    values: list[np.ndarray] = []
    x = rng.normal(size=rows)
    for _ in range(_items(columns)):
        edges = np.sort(rng.normal(0, 1.0, 4))
        values.append(np.searchsorted(edges, x) + 1)
        seen = values[-1] - values[-1].mean()
        x = rng.uniform(0.5, 0.9) * seen / max(float(seen.std()), 0.1) + 0.7 * rng.normal(size=rows)
    return named_items(values)


def skewed(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """Ratings that are nearly all good, each moved by one or two of those before."""
    values: list[np.ndarray] = []
    for _ in range(_items(columns)):
        along = rng.normal(0, 0.6, rows)
        for j in rng.permutation(len(values))[:2]:
            along = along + rng.uniform(0.3, 0.8) * (values[j] - values[j].mean())
        values.append(np.searchsorted(np.array([-4.5, -3.3, -2.0, -0.8]), along + rng.gumbel(size=rows)) + 1)
    return named_items(values)


def floor_and_ceiling(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """A tree of items in seven grades, half of them at one end of their scale."""
    values: list[np.ndarray] = []
    for j in range(_items(columns)):
        before = values[rng.integers(len(values))] if values else None
        along = 0.0 if before is None else rng.uniform(0.6, 1.2) * (before - before.mean())
        middle = (-2.0, 2.0, 0.0)[j % 3]
        raw = np.round(4 + middle + along + 1.3 * rng.normal(size=rows))
        values.append(np.clip(raw, 1, 7).astype(int))
    return named_items(values)


GRADED_NULLS: dict[str, Any] = {
    "ordered chain": ordered_chain,
    "sums of items": item_sums,
    "acquiescence asked for": acquiescence,
    "cut linear chain": cut_chain,
    "skewed ratings": skewed,
    "floor and ceiling": floor_and_ceiling,
}
GRADED: dict[str, Any] = {
    "two classes, 6 items": classes_behind(2, 6, 2.0),
    "two classes, 8 items": classes_behind(2, 8, 1.6),
    "three classes, 7 items": classes_behind(3, 7, 2.0),
    "three classes, 8 items": classes_behind(3, 8, 1.7),
    "two classes near, 6 items": classes_behind(2, 6, 1.3),
    "three classes near, 8 items": classes_behind(3, 8, 1.0),
    "one factor, 8 items": factor_behind(8),
}
