"""A whole number as a sum or difference of others and a step. Shares of steps by EM: ends hide how far one went."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from leverrier.arrays import Floats
from leverrier.learning.mixed.count_fit import counted_of
from leverrier.learning.mixed.fitted import Fitted
from leverrier.learning.mixed.mixed_design import Design
from leverrier.learning.mixed.mixed_space import SpaceColumn
from leverrier.models.families.number_count import Counted
from leverrier.models.families.number_offset import NumberOffset, StepLaw, Whole, middles

SIGNS = {1: ((1,), (-1,)), 2: ((1, 1), (1, -1), (-1, 1)), 3: ((1, 1, 1),)}
"""By the number of parents."""
MOST_STEPS = 64
"""Steps that reach farther are no counting: regressions say them for less."""
ROUNDS, CLOSE = 100, 1e-3
PRIOR = 0.5
"""Rows' worth of every step alike, so that none is impossible."""


def fit_offsets(design: Design, child: int, parents: Sequence[int]) -> list[Fitted]:
    """The best of these forms; nothing of columns that are no whole numbers."""
    forms = SIGNS.get(len(parents), ())
    column = design.space.columns[child]
    counted = _counted(column) if forms else None
    above = [_whole(design.space.columns[p]) for p in parents] if counted is not None else []
    if counted is None or any(each is None for each in above):
        return []
    rows = design.rows_of((child, *parents))
    cells = design.cells_of(child, rows)
    z = cells if column.number else middles(counted)[cells]
    wholes = tuple(each for each in above if each is not None)
    values = [own.of(design.cells_of(p, rows)) for own, p in zip(wholes, parents, strict=True)]
    found = []
    for signs in forms:
        begun = np.sum([s * own for s, own in zip(signs, values, strict=True)], axis=0)
        law = step_law(counted, counted.place(z), begun)
        if law is not None:
            found.append(_fitted(NumberOffset(law, counted, signs, wholes, not column.number), z, begun, len(forms)))
    return [max(found, key=lambda each: each.score)] if found else []


def _counted(column: SpaceColumn) -> Counted | None:
    """Values and their shares of a column of counts, also where they are states in order."""
    if column.number:
        return counted_of(column)
    values = _labels(column)
    counts = np.bincount(column.codes[column.codes >= 0], minlength=column.n_codes)
    if len(values) < 3 or values[0] < 0 or not counts.all():
        return None
    edges = counts.cumsum()[:-1] / counts.sum()
    return Counted(values, tuple(edges.tolist()), tuple(ndtri(edges).tolist()))


def _whole(column: SpaceColumn) -> Whole | None:
    """What its cells stand for, if they are whole numbers."""
    if not column.number:
        values = _labels(column)
        return Whole(values) if values else None
    counted = counted_of(column)
    return None if counted is None else Whole(counted.values, counted.edges)


def _labels(column: SpaceColumn) -> tuple[float, ...]:
    """The whole numbers that its states are; nothing of other states."""
    values = [float(each) for each in column.labels if isinstance(each, int) and not isinstance(each, bool)]
    rising = all(a < b for a, b in pairwise(values))
    return tuple(values) if values and rising and len(values) == column.n_codes else ()


def step_law(counted: Counted, place: NDArray[np.int64], begun: Floats) -> StepLaw | None:
    """The shares of the steps from `begun` to the value at `place`: a value stands for all numbers nearer to it than to
    another, the smallest and the largest for all beyond them. None where steps are too many."""
    values = np.array(counted.values)
    off = values[place] - begun
    first, last = int(off.min()), int(off.max())
    if last - first >= MOST_STEPS:
        return None
    starts, which = np.unique(begun, return_inverse=True)
    pairs, times = np.unique(which * len(values) + place, return_counts=True)
    start, at = starts[pairs // len(values)], pairs % len(values)
    below = np.append(-np.inf, counted.tops[:-1])[at] - start - first + 1
    above = counted.tops[at] - start - first + 1
    size = last - first + 1
    lo, hi = (np.clip(each, 0, size).astype(np.int64) for each in (below, above))
    shares, reached = np.full(size, 1 / size), -np.inf
    for _ in range(ROUNDS):
        upto = np.concatenate([[0.0], np.cumsum(shares)])
        inside = np.maximum(upto[hi] - upto[lo], 1e-300)
        logs = float(times @ np.log(inside))
        if logs - reached < CLOSE:
            break
        reached = logs
        pulls = np.bincount(lo, times / inside, size + 1) - np.bincount(hi, times / inside, size + 1)
        shares = shares * np.cumsum(pulls)[:size]
        shares = np.maximum(shares, 0.0) + PRIOR / size
        shares = shares / shares.sum()
    return StepLaw(first, tuple(shares.tolist()))


def _fitted(family: NumberOffset, z: Floats, begun: Floats, forms: int) -> Fitted:
    law, counted, n = family.law, family.counted, len(z)
    logs = float(counted.log_density(law, z, begun).sum())
    used = int((np.array(law.shares) * n > PRIOR).sum())
    y = counted.numbers(z)
    upto = law.up_to(y - 1, begun) + counted.within(z) * np.exp(law.log_chance(y, begun))
    paid = 0.5 * max(used - 1, 0) * float(np.log(max(n, 2))) + float(np.log(forms + 1))
    return Fitted(family, logs, paid, ndtri(np.clip(upto, 1e-6, 1 - 1e-6)))
