"""Signs as the samplers see them: the same cells packed by variable, by trial, and as bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.errors import TableError

Words = NDArray[np.uint64]


def pack(bits: NDArray[np.integer] | NDArray[np.bool_]) -> Words:
    """Rows of 0/1 as rows of 64-bit words, the first column in the lowest bit."""
    n_rows, n = bits.shape
    words = np.zeros((n_rows, max(1, -(-n // 64)) * 8), np.uint8)
    words[:, : -(-n // 8)] = np.packbits(bits.astype(bool), axis=1, bitorder="little")
    return words.view(np.uint64)


def unpack(words: Words, n: int) -> NDArray[np.uint8]:
    """The first n bits of each row, as 0/1."""
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, count=n, bitorder="little")


@dataclass(frozen=True, eq=False)
class Observations:
    """Cells 0, 1 or 2 (a hole), and what the kernels read of them."""

    cells: NDArray[np.uint8]
    """(observed, trials)."""
    ones: Words
    """(observed, words of trials): seen 1."""
    zeros: Words
    ones_by_trial: Words
    """(trials, words of observed)."""
    zeros_by_trial: Words

    @classmethod
    def of(cls, cells: NDArray[np.uint8]) -> Observations:
        """From cells of shape (trials, observed), as read_cells gives them."""
        if cells.shape[0] == 0 or cells.shape[1] == 0:
            raise TableError(f"signs have shape {cells.shape}: at least one trial and one sign are needed")
        turned = np.ascontiguousarray(cells.T)
        return cls(turned, pack(turned == 1), pack(turned == 0), pack(cells == 1), pack(cells == 0))

    @property
    def n_observed(self) -> int:
        return self.cells.shape[0]

    @property
    def n_trials(self) -> int:
        return self.cells.shape[1]

    @property
    def n_words(self) -> int:
        return self.ones.shape[1]
