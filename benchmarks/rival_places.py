"""Tables with nothing hidden from places where people get them: fields, registers, calendars, clinics, tests, stores.

None was written with a kind of family in mind. Fields and rings have no direction at all (each cell leans on its
neighbours), tests adapt to the answers, equations feed back: no network without a hidden variable says them exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.rival_hard import Codes, Columns, Reals, Rng, labelled

SWEEPS = 60


def _rng(group: int, seed: int) -> Rng:
    return np.random.default_rng([seed, 991, group])


def _shares(values: Reals, levels: int) -> Codes:
    return np.searchsorted(np.quantile(values, np.arange(1, levels) / levels), values)


def _widths(values: Reals, levels: int) -> Codes:
    low, high = np.quantile(values, [0.01, 0.99])
    return np.clip(((values - low) / (high - low) * levels).astype(int), 0, levels - 1)


def _drawn(rng: Rng, energies: Reals) -> Codes:
    """A state a row, with probability exp(energy)."""
    odds = np.exp(energies - energies.max(axis=1, keepdims=True))
    edges = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
    return (rng.random(len(odds))[:, None] > edges).sum(axis=1).clip(0, odds.shape[1] - 1)


def _logistic(rng: Rng, values: Reals) -> Codes:
    return (rng.random(len(values)) < 1 / (1 + np.exp(-values))).astype(int)


def _pairwise(rng: Rng, rows: int, states: int, pull: dict[tuple[int, int], Reals], count: int) -> Codes:
    """Gibbs sweeps over columns that lean on each other, both ways: (rows, columns)."""
    x = rng.integers(0, states, (rows, count))
    for _ in range(SWEEPS):
        for i in range(count):
            energies = np.zeros((rows, states))
            for (a, b), force in pull.items():
                if a == i:
                    energies += force[:, x[:, b]].T
                elif b == i:
                    energies += force[x[:, a]]
            x[:, i] = _drawn(rng, energies)
    return x


def field(seed: int) -> object:
    """A lattice: each cell like its neighbours."""
    rng = _rng(1, seed)
    side, states = (4, 2) if rng.random() < 0.5 else (3, 3)
    alike = np.eye(states) * rng.uniform(0.6, 1.1)
    cells = [(i, j) for i in range(side) for j in range(side)]
    place = {cell: k for k, cell in enumerate(cells)}
    pull = {(place[i, j], place[n]): alike for i, j in cells for n in ((i + 1, j), (i, j + 1)) if n in place}
    x = _pairwise(rng, 2000, states, pull, len(cells))
    return labelled({f"g{i}{j}": x[:, place[i, j]] for i, j in cells}, rng)


def ring(seed: int) -> object:
    """Eight columns of four states in a circle of pulls."""
    rng = _rng(2, seed)
    pull = {(i, (i + 1) % 8): rng.normal(0, 1.2, (4, 4)) for i in range(8)}
    x = _pairwise(rng, 2000, 4, pull, 8)
    return labelled({f"r{i}": x[:, i] for i in range(8)}, rng)


def pairs(seed: int) -> object:
    """Log-linear in pairs, half of all pairs, no direction."""
    rng = _rng(3, seed)
    pull = {(i, j): rng.normal(0, 0.6, (3, 3)) for i in range(7) for j in range(i) if rng.random() < 0.5}
    x = _pairwise(rng, 3000, 3, pull, 7)
    return labelled({f"v{i}": x[:, i] for i in range(7)}, rng)


def calendar(seed: int) -> object:
    """Parts of a date beside each other, weather and sales by the season and the weekday."""
    rng = _rng(4, seed)
    rows = 2000
    day = rng.integers(0, 730, rows)
    of_year = day % 365
    angle = 2 * np.pi * of_year / 365
    weekend = (day % 7 >= 5).astype(int)
    rain = (rng.random(rows) < 0.3 + 0.2 * np.sin(angle)).astype(int)
    warmth = 12 - 10 * np.cos(angle) + rng.normal(0, 3, rows)
    sales = _widths(5 + 0.3 * warmth + 3 * weekend - 2 * rain + rng.normal(0, 1.5, rows), 7)
    table: Columns = {
        "month": of_year // 31,
        "quarter": of_year // 92,
        "fortnight": of_year // 14,
        "weekday": day % 7,
        "weekend": weekend,
        "season": ((of_year + 30) % 365) // 92,
        "warmth": _widths(warmth, 8),
        "rain": rain,
        "sales": sales,
        "staff": _widths(sales + rng.normal(0, 0.7, rows), 5),
    }
    return labelled(table, rng)


def register(seed: int) -> object:
    """Region, district and ward, one inside the other, and what hangs on each."""
    rng = _rng(5, seed)
    rows = 2000
    region = rng.choice(5, rows, p=rng.dirichlet(np.full(5, 4.0)))
    district = region * 4 + rng.integers(0, 4, rows)
    ward = district * 3 + rng.integers(0, 3, rows)
    urban = (rng.random(20) < 0.5).astype(int)[district]
    income = _widths(rng.normal(0, 1, 60)[ward] + 0.8 * urban + rng.normal(0, 1, rows), 6)
    table: Columns = {
        "region": region,
        "district": district,
        "urban": urban,
        "income": income,
        "car": (rng.random(rows) < 0.8 - 0.4 * urban).astype(int),
        "rent": np.clip(income - rng.integers(0, 3, rows) + urban, 0, 6),
        "owner": _logistic(rng, income - 3.0 - urban),
        "vote": _logistic(rng, rng.normal(0, 1, 20)[district]),
    }
    return labelled(table, rng)


def ranking(seed: int) -> object:
    """Six things put in order: each rank is given once."""
    rng = _rng(6, seed)
    liked = rng.normal(0, 1, (1500, 6)) + rng.normal(0, 0.5, 6)
    ranks = liked.argsort(axis=1).argsort(axis=1)
    return labelled({f"item{i}": ranks[:, i] for i in range(6)}, rng)


def clinic(seed: int) -> object:
    """Bins of height and weight, classes of their ratio, pressure, a drug by a threshold."""
    rng = _rng(7, seed)
    rows = 2000
    sex = rng.integers(0, 2, rows)
    height = 165 + 12 * sex + rng.normal(0, 7, rows)
    ratio = 22 * np.exp(rng.normal(0, 0.17, rows))
    age = rng.uniform(20, 80, rows)
    pressure = 90 + 0.4 * age + 1.2 * ratio + rng.normal(0, 9, rows)
    table: Columns = {
        "sex": sex,
        "height": _widths(height, 8),
        "weight": _widths(ratio * (height / 100) ** 2, 9),
        "ratio": np.searchsorted([18.5, 25, 30, 35], ratio),
        "age": (age // 10).astype(int),
        "pressure": _widths(pressure, 7),
        "high": (pressure > 140).astype(int),
        "drug": ((pressure > 145) & (rng.random(rows) < 0.7)).astype(int),
        "waist": _widths(ratio * 3 + rng.normal(0, 4, rows), 7),
    }
    return labelled(table, rng)


def feedback(seed: int) -> object:
    """Seven quantities that act on each other in circles, at rest, in five bins."""
    rng = _rng(8, seed)
    acts = rng.normal(0, 0.35, (7, 7)) * (1 - np.eye(7))
    acts /= max(1.0, np.abs(np.linalg.eigvals(acts)).max() / 0.8)
    x = np.linalg.solve(np.eye(7) - acts, rng.normal(0, 1, (7, 2000)))
    return labelled({f"f{i}": _shares(x[i], 5) for i in range(7)}, rng)


def adaptive_test(seed: int) -> object:
    """Each question's level hangs on the answers before it; a total and its grade beside them."""
    rng = _rng(9, seed)
    level, last, total = np.full(1500, 3), np.zeros(1500, dtype=int), np.zeros(1500, dtype=int)
    table: Columns = {}
    for k in range(5):
        right = _logistic(rng, 3 - level + 0.5 * last)
        table |= {f"level{k}": level.copy(), f"right{k}": right}
        level, last, total = np.clip(level + 2 * right - 1, 1, 6), right, total + right
    return labelled({**table, "total": total, "grade": np.searchsorted([2, 3, 5], total)}, rng)


def store(seed: int) -> object:
    """Demand, stock, what is sold, left, ordered and lost, by rules."""
    rng = _rng(10, seed)
    rows = 1500
    demand, stock = np.minimum(rng.poisson(4, rows), 10), rng.integers(0, 12, rows)
    left = stock - np.minimum(demand, stock)
    order = np.where(left < 3, 10 - left, 0)
    lost = (demand > stock).astype(int)
    table: Columns = {
        "demand": demand,
        "stock": stock,
        "left": left,
        "order": order,
        "lost": lost,
        "cost": _widths(order + 4.0 * lost + rng.normal(0, 1, rows), 7),
        "late": (rng.random(rows) < 0.1 + 0.05 * order).astype(int),
    }
    return labelled(table, rng)


def capped_counts(seed: int) -> object:
    """Counts that bring counts, each with a largest value, their sum and a flag."""
    rng = _rng(11, seed)
    visits = np.minimum(rng.poisson(2, 2000), 6)
    tests = np.minimum(rng.binomial(visits + 2, 0.4), 6)
    odd = np.minimum(rng.poisson(0.3 + 0.4 * tests), 6)
    points = np.minimum(visits + tests + odd, 12)
    letters = np.minimum(rng.poisson(0.5 + 0.2 * points), 8)
    late = np.minimum(rng.negative_binomial(1, 1 / (1.5 + letters)), 9)
    named = {"visits": visits, "tests": tests, "odd": odd, "points": points, "letters": letters, "late": late}
    return labelled({**named, "flag": (letters > 2).astype(int)}, rng)


def plots(seed: int) -> object:
    """Places on a grid: distance, sector, quadrant and colour of the square, and a price."""
    rng = _rng(12, seed)
    x, y = rng.integers(0, 10, 2000), rng.integers(0, 10, 2000)
    away = np.hypot(x - 5, y - 5)
    price = _widths(-away + rng.normal(0, 0.6, 2000), 6)
    table: Columns = {
        "x": x,
        "y": y,
        "centre": (away < 3).astype(int),
        "sector": ((np.arctan2(y - 5, x - 5) + np.pi) / (2 * np.pi) * 8).astype(int) % 8,
        "price": price,
        "quadrant": (x > 5) * 2 + (y > 5),
        "colour": (x + y) % 2,
        "size": _widths(price + 0.3 * x + rng.normal(0, 0.6, 2000), 5),
    }
    return labelled(table, rng)


PLACES: dict[str, Callable[[int], object]] = {
    "field": field,
    "ring": ring,
    "pairs": pairs,
    "calendar": calendar,
    "register": register,
    "ranking": ranking,
    "clinic": clinic,
    "feedback": feedback,
    "adaptive test": adaptive_test,
    "store": store,
    "capped counts": capped_counts,
    "plots": plots,
}
