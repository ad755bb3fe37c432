"""A table projected on a few variables: its distinct configurations with their weights.

With everything else observed a hidden variable sees only its blanket, and a blanket has few distinct
configurations: learning works on those, never on rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.counts.mixed_radix import mixed_radix, tally

_LARGEST_KEY = 2**62
_DENSE = 2**16
"""Up to this many possible configurations (or as many as there are rows) are counted in a dense histogram."""


@dataclass(frozen=True, eq=False)
class Projection:
    """`configurations[:, j]` occurs with total weight `weights[j]`; row i has configuration `index[i]`."""

    configurations: NDArray[np.unsignedinteger]
    weights: NDArray[np.float64]
    index: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def nbytes(self) -> int:
        return self.configurations.nbytes + self.weights.nbytes + self.index.nbytes


def project(
    codes: NDArray[np.unsignedinteger],
    cardinalities: NDArray[np.int64],
    weights: NDArray[np.float64] | None = None,
    positions: NDArray[np.int64] | None = None,
) -> Projection:
    """Distinct columns of `codes[positions]`, ascending as mixed-radix numbers (holes last), and who has which.

    `cardinalities` are those of the chosen rows of `codes`, in the same order.
    """
    chosen = np.arange(len(codes)) if positions is None else np.asarray(positions, dtype=np.int64)
    keys, size = _numbers(codes, chosen, cardinalities)
    if size > max(_DENSE, len(keys)):
        keys, size = _ranks(keys)
    first = np.full(size, -1, dtype=np.int64)
    totals = np.zeros(size)
    tally(keys, np.empty(0) if weights is None else weights, first, totals)
    present = np.flatnonzero(first >= 0)
    rank = np.empty(size, dtype=np.int64)
    rank[present] = np.arange(len(present))
    return Projection(np.ascontiguousarray(codes[chosen[:, None], first[present]]), totals[present], rank[keys])


def _numbers(
    codes: NDArray[np.unsignedinteger], positions: NDArray[np.int64], cardinalities: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Each row as one number below the returned size. Where it would overflow, what there is so far is ranked."""
    keys = np.zeros(codes.shape[1], dtype=np.int64)
    missing = int(np.iinfo(codes.dtype).max)
    size, start = 1, 0
    for stop, cardinality in enumerate(cardinalities.tolist()):
        if size * (cardinality + 1) > _LARGEST_KEY:
            mixed_radix(codes, positions[start:stop], cardinalities[start:stop], missing, keys)
            keys, size = _ranks(keys)
            start = stop
        size *= cardinality + 1
    mixed_radix(codes, positions[start:], cardinalities[start:], missing, keys)
    return keys, size


def _ranks(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """The keys' ranks among the distinct ones: the same order in the smallest range."""
    distinct, ranks = np.unique(keys, return_inverse=True)
    return ranks.astype(np.int64, copy=False), max(len(distinct), 1)
