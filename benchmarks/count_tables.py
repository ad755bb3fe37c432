"""Tables of counts: log links on observed columns, more spread than Poisson, extra zeros; and a class behind counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.number_tables import Columns, named, random_parents
from benchmarks.planted_number_tables import Planted

COUNTED = 6


def drawn(rng: np.random.Generator, mean: Any, kind: str) -> np.ndarray:
    """Counts of these means: Poisson, negative binomial, or either with zeros of another origin."""
    if kind == "spread":
        mean = mean * rng.gamma(1.5, 1 / 1.5, len(mean))
    values = rng.poisson(mean)
    return np.where(rng.random(len(mean)) < 0.3, 0, values) if kind == "zeros" else values


def count_network(kind: str) -> Any:
    """Counts whose logs of means are lines in the logs of one or two counts before."""

    def make(rng: np.random.Generator, rows: int, columns: int) -> Columns:
        values: list[Any] = []
        for parents in random_parents(rng, columns):
            log_mean = np.full(rows, rng.uniform(0.8, 2.5))
            for p in parents:
                above = np.log1p(values[p])
                log_mean = log_mean + rng.uniform(0.4, 0.9) * rng.choice([-1, 1]) * (above - above.mean())
            values.append(drawn(rng, np.exp(np.clip(log_mean, -3, 5)), kind).astype(float))
        return named(values)

    return make


def exposures(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """How long somebody was looked at is known, and every count is proportional to it."""
    time = rng.gamma(2.0, 1.0, rows) + 0.1
    values = [rng.poisson(time * rng.uniform(1, 6)).astype(float) for _ in range(columns - 1)]
    return {"time": time, **named(values)}


def shared_totals(rng: np.random.Generator, rows: int, columns: int) -> Columns:
    """A total that is there, parted among the others by a multinomial."""
    total = rng.negative_binomial(3, 0.1, rows)
    parts = rng.multinomial(total, rng.dirichlet(np.full(columns - 1, 3.0)))
    return {"total": total.astype(float), **named(list(parts[:, :-1].T.astype(float)))}


def class_behind(kind: str, times: float) -> Any:
    """Two classes whose means differ by this factor in each of six counts."""

    def make(rng: np.random.Generator, rows: int) -> Planted:
        h = rng.integers(0, 2, rows)
        values = []
        for _ in range(COUNTED):
            side = rng.choice([-1, 1])
            mean = rng.uniform(2, 8) * times ** (side * (h - 0.5))
            values.append(drawn(rng, mean, kind).astype(float))
        behind = frozenset(f"x{j}" for j in range(COUNTED))
        return Planted(named(values), (behind,), "class", 2, h.astype(float))

    return make


COUNT_NULLS: dict[str, Any] = {
    "Poisson": count_network("plain"),
    "overdispersed": count_network("spread"),
    "zero-inflated counts": count_network("zeros"),
    "exposures": exposures,
    "shared totals": shared_totals,
}
COUNTS: dict[str, Any] = {
    "class behind counts": class_behind("plain", 1.8),
    "class behind overdispersed counts": class_behind("spread", 3.0),
    "class behind zero-inflated counts": class_behind("zeros", 2.5),
}
