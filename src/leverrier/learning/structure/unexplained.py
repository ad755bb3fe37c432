"""How much a further parent could gain, by what a family's distribution leaves unexplained beside it.

For every other column, the counts of (column, child) are compared with what the family expects there: as a score test
of one slope, of a slope for each state, of one split, and of a table of main effects, each less what it would cost. All
columns are looked at in one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from leverrier.arrays import Floats
from leverrier.kernels.families.expectations import count_beside, expect_beside
from leverrier.learning.families.state_column import StateColumn

NEVER = 1e-6
"""What is never expected is expected this often: a count there is a surprise, not a proof."""

FEW_CELLS = 2**17
"""Other columns' states times configurations, counted before they are weighed."""


def unexplained(
    codes: NDArray[np.unsignedinteger],
    others: NDArray[np.int64],
    columns: Sequence[StateColumn],
    seen: Floats,
    own: StateColumn,
    shares: Floats,
    index: NDArray[np.int64],
    weights: Floats,
    parameter: float,
) -> Floats:
    """By other column, the most that one of the tests says it could gain, in nats, less `parameter` a parameter.

    `seen` counts the child's states beside each state of each of them.
    """
    sizes = np.array([column.states for column in columns], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    spread = shares @ own.scores**2 - (shares @ own.scores) ** 2
    wide = np.ascontiguousarray(np.concatenate([shares, np.maximum(spread, 0.0)[:, None]], axis=1))
    expected = _expected(codes, others, index, wide, weights, starts)
    return _most(seen, expected[:, :-1], expected[:, -1], columns, starts[:-1], sizes, own.scores, parameter)


def _expected(
    codes: NDArray[np.unsignedinteger],
    others: NDArray[np.int64],
    index: NDArray[np.int64],
    wide: Floats,
    weights: Floats,
    starts: NDArray[np.int64],
) -> Floats:
    """By state of each other column, the sum of its rows' shares: with few configurations each is counted there first,
    which asks for one addition a row."""
    cells = int(starts[-1])
    if cells * len(wide) > FEW_CELLS:
        expected = np.zeros((cells, wide.shape[1]))
        expect_beside(codes, others, index, wide, weights, starts[:-1], expected)
        return expected
    counts = np.zeros((cells, len(wide)))
    count_beside(codes, others, index, weights, starts[:-1], counts)
    return counts @ wide


def _most(
    seen: Floats,
    expected: Floats,
    spread: Floats,
    columns: Sequence[StateColumn],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    scores: Floats,
    parameter: float,
) -> Floats:
    beside = np.concatenate([column.scores for column in columns])
    pull = (seen - expected) @ scores
    slope = np.add.reduceat(beside * pull, starts) ** 2 / (
        2 * np.maximum(np.add.reduceat(beside**2 * spread, starts), NEVER)
    )
    each = np.add.reduceat(pull**2 / (2 * np.maximum(spread, NEVER)), starts) - parameter * (sizes - 1)
    gain = _surprise(seen, expected)
    states = np.count_nonzero(seen.sum(axis=0))
    whole = np.add.reduceat(gain, starts) - parameter * (sizes - 1) * (states - 1)
    total = np.repeat(np.add.reduceat(seen, starts, axis=0), sizes, axis=0)
    rest = np.repeat(np.add.reduceat(expected, starts, axis=0), sizes, axis=0)
    apart = gain + _surprise(total - seen, np.maximum(rest - expected, 0.0))
    split = np.maximum.reduceat(apart, starts) - parameter * (states - 1) - np.log(sizes)
    return np.max([slope - parameter, each, whole, split], axis=0)


def _surprise(seen: Floats, expected: Floats) -> Floats:
    """Σ seen ln(seen / expected) by row, for what was seen as often as expected in all."""
    size = seen.sum(axis=1, keepdims=True)
    scaled = expected * size / np.maximum(expected.sum(axis=1, keepdims=True), NEVER)
    return (xlogy(seen, seen) - xlogy(seen, np.maximum(scaled, NEVER))).sum(axis=1)
