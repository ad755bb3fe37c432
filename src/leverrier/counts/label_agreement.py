"""How far two labellings of the same rows agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def adjusted_rand(one: ArrayLike, other: ArrayLike) -> float:
    """The adjusted Rand index: 1 where the labellings are the same but for names, about 0 by chance.

    scikit-learn has it too, but takes a second to load.
    """
    _, first = np.unique(np.asarray(one), return_inverse=True)
    _, second = np.unique(np.asarray(other), return_inverse=True)
    n = len(first)
    table = np.bincount(first * (second.max(initial=0) + 1) + second)
    together, in_one, in_other = (_pairs(counts) for counts in (table, np.bincount(first), np.bincount(second)))
    expected = in_one * in_other / max(n * (n - 1) / 2, 1)
    most = (in_one + in_other) / 2
    return 1.0 if most == expected else float((together - expected) / (most - expected))


def _pairs(counts: np.ndarray) -> float:
    return float((counts * (counts - 1.0)).sum() / 2)
