"""The chance of every pattern of a few signs at once, causes summed out.

Causes work independently, so a pattern is built up by one after another: from what the signs show by themselves, each
cause either stays away or turns on each of its signs, as it happens to. That is a sum of positive terms only (no digits
are lost, as in sums over sets of ones), and its length grows with the number of causes, not with that of their states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats

MOST_SIGNS = 12
"""2^12 patterns; of more signs rows are summed one by one."""


def pattern_chances(links: NDArray[np.uint8], epsilon: float, lam: Floats, p: Floats) -> Floats:
    """(2, …, 2): P(x), an axis for each sign [wood2006 eqs. 3, 4]."""
    n = len(links)
    chances = np.zeros((2,) * n)
    chances[(0,) * n] = 1.0
    for sign in range(n):
        _turned_on(chances, sign, epsilon)
    for cause in np.flatnonzero(links.any(axis=0)).tolist():
        present = p[cause] * chances
        for sign in np.flatnonzero(links[:, cause]).tolist():
            _turned_on(present, sign, lam[cause])
        chances = (1 - p[cause]) * chances + present
    return chances


def _turned_on(chances: Floats, sign: int, chance: float) -> None:
    """A sign that is off comes on with this chance, whatever the others are."""
    off, on = np.moveaxis(chances, sign, 0)
    on += chance * off
    off *= 1 - chance


def log_chances(chances: Floats, cells: NDArray[np.uint8], hole: int) -> Floats:
    """log P(row), what is a hole summed out."""
    found = np.empty(len(cells))
    patterns, which = np.unique(cells == hole, axis=0, return_inverse=True)
    for at, holes in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == at)
        shown = chances.sum(axis=tuple(np.flatnonzero(holes).tolist()))
        found[rows] = shown[tuple(cells[rows][:, ~holes].T)]
    with np.errstate(divide="ignore"):  # (less than any number: whoever asks sums such rows in logarithms)
        return np.log(found)
