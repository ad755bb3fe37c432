"""A table projected on a few variables: its distinct configurations with their weights.

With everything else observed a hidden variable sees only its blanket, and a blanket has few distinct
configurations: learning works on those, never on rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Projection:
    """`configurations[:, j]` occurs with total weight `weights[j]`; row i has configuration `index[i]`."""

    configurations: NDArray[np.unsignedinteger]
    weights: NDArray[np.float64]
    index: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.weights)


def project(
    codes: NDArray[np.unsignedinteger], cardinalities: NDArray[np.int64], weights: NDArray[np.float64] | None
) -> Projection:
    """Distinct columns of `codes` in ascending order of their mixed-radix number (holes last)."""
    raise_if_empty = codes.shape[1]
    keys = np.zeros(raise_if_empty, dtype=np.int64)
    hole = np.iinfo(codes.dtype).max
    size = 1
    for row, cardinality in zip(codes, cardinalities, strict=True):
        digit = np.where(row == hole, cardinality, row)
        radix = int(cardinality) + 1
        if size > (2**62) // radix:  # the number would overflow: rank what there is, then go on
            present, keys = np.unique(keys, return_inverse=True)
            size = len(present)
        keys = keys * radix + digit
        size *= radix
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return Projection(
        np.ascontiguousarray(codes[:, first]),
        np.bincount(index, weights=weights, minlength=len(first)).astype(np.float64),
        index.astype(np.int64),
    )
