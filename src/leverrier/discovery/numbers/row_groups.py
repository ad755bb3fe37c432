"""Groups that the rows of a table visibly fall into: a description, told beside a verdict and never evidence for one.

Gaussians describe any shape if there are enough of them, so that components are no groups: a skewed cloud takes two, a
bow three. Two components are two groups where rows are rarer between them than on both sides. Half of the rows says
where to look (a line from one component to the other, and three strips of equal width on it), the other half is
counted there: had the rows one hump along that line, the middle strip would hold at least as many as one of the outer
ones, and that is a binomial test.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from leverrier.arrays import Floats
from leverrier.discovery.done import GroupsSeen
from leverrier.learning.mixed.mixed_space import Space, SpaceColumn
from leverrier.learning.mixtures.fit_mixture import fit_mixture
from leverrier.models.mixture import CovarianceKind, Mixture

SHAPES = (CovarianceKind.FULL, CovarianceKind.TIED, CovarianceKind.DIAGONAL)
MOST_COMPONENTS = 5
LEAST_COLUMNS, MOST_COLUMNS = 2, 20
LEAST_ROWS, MOST_ROWS = 60, 1000
LEAST_VALUES = 10
STARTS, CLOSE = 4, 1e-4
LEVEL = 0.01
LEAST_SHARE = 0.05
"""A smaller part of the rows is no group but a few odd ones."""
DIFFER = 1.0
"""Deviations by which the means of a column must differ between two groups; so must LEAST_COLUMNS at least."""
ABOUT = 10.0
"""Of BIC: a number of components that is not farther behind the best cannot be ruled out (Raftery 1995)."""
SURE = 0.9
WIDTHS, PLACES = 12, 40
"""Strips tried in the first half: so many widths, at so many places."""


@dataclass(frozen=True, eq=False)
class Strips:
    """Where to count on a line: below, between and above, each twice `half` wide."""

    line: Floats
    middle: float
    half: float

    def counts(self, x: Floats) -> tuple[int, int, int]:
        along = (x @ self.line - self.middle) / self.half
        below, between, above = (int(((along >= a) & (along < a + 2)).sum()) for a in (-3.0, -1.0, 1.0))
        return below, between, above


def row_groups(space: Space, seed: int = 0) -> GroupsSeen | None:
    """The groups that rows fall into, if several; None too where numbers are few, or most rows have holes in them."""
    names, x = _numbers(space)
    if not names or len(x) < LEAST_ROWS or len(x) < 0.5 * space.n_rows:
        return None
    if len(x) > MOST_ROWS:
        x = x[np.random.default_rng([seed, 47]).choice(len(x), MOST_ROWS, replace=False)]
    order = np.random.default_rng([seed, 43]).permutation(len(x))
    halves = order[::2], order[1::2]
    found = [_parted(x[own], x[other], seed) for own, other in (halves, halves[::-1])]
    # (the better of two halves is taken, so that its level is halved)
    mixture, group, p = max(found, key=lambda each: (each[1].max(), -each[2]))
    count = int(group.max()) + 1
    if count < 2:
        return None
    share = np.stack([mixture.posterior(x)[:, group == g].sum(axis=1) for g in range(count)], axis=1)
    rows = np.bincount(share.argmax(axis=1), minlength=count)
    differing = _differing(names, x, share.argmax(axis=1))
    if len(differing) < LEAST_COLUMNS or rows.min() < LEAST_SHARE * len(x):
        return None
    order = np.argsort(-rows)
    unsure = float((share.max(axis=1) < SURE).mean())
    return GroupsSeen(tuple(rows[order].tolist()), differing, min(1.0, 2 * p), unsure, _components(x, seed))


def _numbers(space: Space) -> tuple[tuple[str, ...], Floats]:
    """The columns of many values, and the rows that show all of them, each column of variance one."""
    chosen = [column for column in space.columns if column.raw is not None and _many(column.raw[~column.holes])]
    if not LEAST_COLUMNS <= len(chosen) <= MOST_COLUMNS:
        return (), np.empty((0, 0))
    x = np.column_stack([_raw(column) for column in chosen])
    x = x[~np.isnan(x).any(axis=1)]
    if len(x) < LEAST_ROWS:
        return (), x
    return tuple(column.name for column in chosen), (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-12)


def _many(values: Floats) -> bool:
    """Whether Gaussians may be laid over these values: many different ones, none of them in a third of the rows."""
    counts = np.unique(values, return_counts=True)[1]
    return len(counts) >= LEAST_VALUES and 3 * int(counts.max()) < len(values)


def _raw(column: SpaceColumn) -> Floats:
    assert column.raw is not None
    raw = np.where(column.holes, np.nan, column.raw)
    return raw / (float(np.nanmax(np.abs(raw))) or 1.0)  # (squares of huge numbers overflow)


def _parted(own: Floats, other: Floats, seed: int) -> tuple[Mixture, NDArray[np.int64], float]:
    """Components by one half; the group of each, those joined that no valley parts in the other half; the largest
    p-value of those that are apart."""
    mixture = min((_fitted(own, shape, seed) for shape in SHAPES), key=lambda each: each[1])[0]
    count = mixture.n_components
    group, worst = np.arange(count), 0.0
    mine, theirs = mixture.assign(own), mixture.assign(other)
    for a, b in combinations(range(count), 2):
        p = _valley(mixture, own[np.isin(mine, (a, b))], other[np.isin(theirs, (a, b))], a, b)
        if p > LEVEL / 2:
            group[group == group[b]] = group[a]
        else:
            worst = max(worst, p)
    return mixture, np.unique(group, return_inverse=True)[1].astype(np.int64), worst


def _fitted(x: Floats, shape: CovarianceKind, seed: int) -> tuple[Mixture, float]:
    found = fit_mixture(x, range(1, MOST_COMPONENTS + 1), shape, starts=STARTS, tolerance=CLOSE, seed=seed, jobs=1)
    return found.mixture, found.table.row(found.components).bic


def _valley(mixture: Mixture, own: Floats, other: Floats, a: int, b: int) -> float:
    """How often counts as low as these in the middle strip would come up if there were one hump."""
    strips = _strips(mixture, own, a, b)
    if strips is None:
        return 1.0
    below, between, above = strips.counts(other)
    return max(float(bdtr(between, between + side, 0.5)) if side else 1.0 for side in (below, above))


def _strips(mixture: Mixture, own: Floats, a: int, b: int) -> Strips | None:
    """Three strips between two components, where the valley is clearest in these rows."""
    between = mixture.means[b] - mixture.means[a]
    spread = (mixture.matrices[a] + mixture.matrices[b]) / 2
    line = np.linalg.solve(spread + 1e-6 * np.eye(len(spread)), between)
    first, last = float(mixture.means[a] @ line), float(mixture.means[b] @ line)
    best, found = 0.0, None
    along = np.sort(own @ line)
    for half in (last - first) * np.linspace(0.05, 0.4, WIDTHS):
        places = np.linspace(first + half, last - half, PLACES)
        edges = np.searchsorted(along, places[:, None] + half * np.array([-3.0, -1.0, 1.0, 3.0]))
        below, middle, above = np.diff(edges, axis=1).T
        side = np.minimum(below, above)
        clear = (side - middle) / np.sqrt(np.maximum(side + middle, 1))
        at = int(clear.argmax())
        if clear[at] > best:
            best, found = float(clear[at]), Strips(line, float(places[at]), float(half))
    return found


def _differing(names: tuple[str, ...], x: Floats, group: NDArray[np.int64]) -> tuple[str, ...]:
    """The columns whose means differ between groups, the clearest first."""
    own = [x[group == g] for g in range(int(group.max()) + 1) if (group == g).any()]
    means = np.array([each.mean(axis=0) for each in own])
    within = np.sqrt(np.average([each.var(axis=0) for each in own], axis=0, weights=[len(each) for each in own]))
    apart = np.ptp(means, axis=0) / np.maximum(within, 1e-9)
    return tuple(names[j] for j in np.argsort(-apart) if apart[j] > DIFFER)


def _components(x: Floats, seed: int) -> tuple[int, ...]:
    """The numbers of Gaussians that BIC cannot rule out, over all shapes, all rows."""
    best: dict[int, float] = {}
    for shape in SHAPES:
        table = fit_mixture(
            x, range(1, MOST_COMPONENTS + 1), shape, starts=STARTS, tolerance=CLOSE, seed=seed, jobs=1
        ).table
        for row in table:
            best[row.components] = min(best.get(row.components, np.inf), row.bic)
    least = min(best.values())
    return tuple(sorted(count for count, bic in best.items() if bic - least <= ABOUT))
