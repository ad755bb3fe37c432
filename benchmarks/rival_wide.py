"""Wide and many-parented tables with nothing hidden: where a rival of tables alone was wrong by hundreds of nats.

Every group is a function of a seed; labels are numbers, numbered text or names in no order, as in rival_hard.py.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.rival_hard import Columns, Rng, cut, labelled


def _rng(group: int, seed: int) -> Rng:
    return np.random.default_rng([seed, 2028, group])


def _grades(rng: Rng, rows: int, count: int) -> Columns:
    """Causes of two to four states, some of which go together."""
    found: Columns = {}
    for i in range(count):
        states = int(rng.integers(2, 5))
        own = rng.choice(states, rows, p=rng.dirichlet(np.r_[3.0, np.ones(states - 1)]))
        if i and rng.random() < 0.3:
            own = np.where(rng.random(rows) < 0.4, np.minimum(found[f"p{i - 1}"], states - 1), own)
        found[f"p{i}"] = own
    return found


def many_causes(seed: int) -> object:
    """Noisy-max of three to eight parents, each child with as many as chance says."""
    rng = _rng(1, seed)
    rows, count = int(rng.choice([1000, 3000])), 9
    table = _grades(rng, rows, count)
    for child in range(3):
        states = int(rng.integers(2, 5))
        y = np.where(rng.random(rows) < 0.05, rng.integers(1, states, rows), 0)
        for i in rng.permutation(count)[: int(rng.integers(3, 9))].tolist():
            cells = table[f"p{i}"]
            for state in range(1, int(cells.max()) + 1):
                shares = rng.dirichlet(np.r_[2.0, np.full(states - 1, 0.7 * state)])
                y = np.maximum(y, np.where(cells == state, rng.choice(states, rows, p=shares), 0))
        table[f"y{child}"] = y
    return labelled(table, rng)


def crops(seed: int) -> object:
    """30 to 50 columns of 3 to 60 states: each is cut from a response to the middles of columns before it."""
    rng = _rng(2, seed)
    rows, width = 2000, int(rng.integers(30, 51))
    table: Columns = {}
    middles: list[np.ndarray] = []
    for i in range(width):
        above = rng.permutation(np.arange(max(0, i - 8), i))[: int(rng.integers(0, 4))].tolist() if i else []
        x = rng.gamma(2.0, 1.0, rows)
        if above:
            drive = np.sum([rng.uniform(-1, 1.5) * middles[p] for p in above], axis=0)
            bends = [drive, np.tanh(drive), np.exp(0.7 * drive), np.maximum(drive, 0.2), drive * middles[above[0]]]
            x = bends[int(rng.integers(len(bends)))]
            x = x / max(float(x.std()), 1e-9) + rng.choice([0.05, 0.2, 0.5]) * rng.normal(size=rows)
        codes = cut(x, int(np.clip(rng.geometric(0.09) + 2, 3, 60)), rng)
        table[f"c{i:02d}"] = codes
        middles.append((codes - codes.mean()) / max(float(codes.std()), 0.3))
    return labelled(table, rng, numbers=False)


def lumped_codes(seed: int) -> object:
    """Codes (regions, trades) of 8 to 24 values in no order; what follows depends on groups of them."""
    rng = _rng(3, seed)
    rows, count = int(rng.choice([1000, 3000])), int(rng.integers(3, 6))
    table: Columns = {}
    for i in range(count):
        size = int(rng.integers(8, 25))
        table[f"code{i}"] = rng.choice(size, rows, p=rng.dirichlet(np.full(size, 3.0)))
    for child in range(int(rng.integers(2, 5))):
        place = np.zeros(rows, dtype=np.int64)
        for i in rng.permutation(count)[: int(rng.integers(1, 3))].tolist():
            cells = table[f"code{i}"]
            place = place * 4 + rng.integers(0, int(rng.integers(2, 5)), int(cells.max()) + 1)[cells]
        states = int(rng.integers(2, 8))
        shares = rng.dirichlet(np.full(states, 0.5), 16)[place]
        table[f"y{child}"] = np.minimum((rng.random(rows)[:, None] > shares.cumsum(axis=1)).sum(axis=1), states - 1)
    return labelled(table, rng, numbers=False)


WIDE: dict[str, Callable[[int], object]] = {"many causes": many_causes, "crops": crops, "lumped codes": lumped_codes}
