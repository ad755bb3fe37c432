"""Groups of rows that one column shows by itself: not hidden, but worth a word where nothing hidden was found."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.discovery.done import GroupsSeen
from leverrier.learning.mixed.mixed_space import Space, SpaceColumn
from leverrier.learning.mixed.residual_noise import fit_noise

APART = 3.0
"""√2 times the distance of two humps in units of their joint spread, from which on they are two groups (2 is the
least at which a gap shows)."""
LEAST_SHARE = 0.1
DIFFER = 1.0
"""Deviations by which the means of another column must differ between two groups."""


def visible_groups(space: Space) -> GroupsSeen | None:
    """The column whose humps lie farthest apart, if other columns differ between them too."""
    found = [(*each, column) for column in space.columns if (each := _humps(column)) is not None]
    for _, groups, column in sorted(found, key=lambda each: -each[0]):
        others = tuple(c.name for c in space.columns if c is not column and _differs(c, groups))
        if others:
            return GroupsSeen(column.name, tuple(np.bincount(groups).tolist()), others)
    return None


def _humps(column: SpaceColumn) -> tuple[float, NDArray[np.int64]] | None:
    """How far apart the nearest humps lie, and each row's; None where there is only one."""
    if column.discrete or column.raw is None or not column.complete:
        return None
    x = column.raw / (float(np.abs(column.raw).max()) or 1.0)
    e = (x - x.mean()) / x.std()
    noise, _ = fit_noise(e, float(np.log(len(e))))
    order = np.argsort(noise.means)
    means, spreads, shares = (np.array(part)[order] for part in (noise.means, noise.deviations, noise.weights))
    gaps = np.sqrt(2) * np.diff(means) / np.sqrt(spreads[1:] ** 2 + spreads[:-1] ** 2)
    clear = np.flatnonzero(gaps > APART)
    sizes = [part.sum() for part in np.split(shares, clear + 1)]
    if not len(clear) or min(sizes) < LEAST_SHARE:
        return None
    # the border lies where both humps are as many of their deviations away
    cuts = [(means[g] * spreads[g + 1] + means[g + 1] * spreads[g]) / (spreads[g] + spreads[g + 1]) for g in clear]
    return float(gaps[clear].min()), np.searchsorted(np.array(cuts), e)


def _differs(column: SpaceColumn, groups: NDArray[np.int64]) -> bool:
    """Whether the scores of the column differ between neighbouring groups."""
    if column.scores is None or not column.complete:
        return False
    own: list[Floats] = [column.scores[groups == g] for g in range(int(groups.max()) + 1)]
    if min(map(len, own)) < 2:
        return False
    within = np.sqrt(np.mean([each.var() for each in own]))
    return bool(max(abs(a.mean() - b.mean()) for a, b in pairwise(own)) > DIFFER * within)
