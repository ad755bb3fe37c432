"""Noisy-OR and its relatives: the child is the largest (or smallest) of what its active causes bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.kernels.families.noisy_max import largest_of
from leverrier.models.families.state_kind import Codes, StateKind, normalised_rows


@dataclass(frozen=True, eq=False)
class NoisyMaxKind(StateKind):
    """Each state of a parent but its resting state is a cause with a distribution over the child's ranks."""

    order: tuple[int, ...]
    """The child's states by rank; the largest rank wins."""
    resting: tuple[int, ...]
    sizes: tuple[int, ...]
    causes: Floats
    """(causes, ranks): first the leak, then by parent each state but the resting one."""

    @property
    def kind(self) -> str:
        return "noisy-or" if self.states == 2 else "noisy-max"

    @property
    def states(self) -> int:
        return int(self.causes.shape[1])

    @property
    def dimension(self) -> int:
        return self.causes.size - len(self.causes)

    def rows(self, codes: Codes) -> Floats:
        ranked = np.empty((codes.shape[1], self.states))
        largest_of(self.causes, active_causes(codes, self.resting, self.sizes), ranked)
        out = np.empty_like(ranked)
        out[:, list(self.order)] = np.maximum(ranked, 0.0)
        return normalised_rows(out)

    def require_whole(self) -> None:
        shape, ranks = (1 + sum(self.sizes) - len(self.sizes), len(self.order)), list(range(len(self.order)))
        if self.causes.shape != shape or sorted(self.order) != ranks:
            raise ValueError("the causes do not fit the parents")


def active_causes(codes: Codes, resting: Sequence[int], sizes: Sequence[int]) -> NDArray[np.int64]:
    """(rows, 1 + parents): the number of each active cause, −1 where a parent rests; the leak is always there."""
    out = np.zeros((codes.shape[1], 1 + len(sizes)), dtype=np.int64)
    begin = 1
    for i, (rest, size) in enumerate(zip(resting, sizes, strict=True)):
        numbers = np.empty(size, dtype=np.int64)
        numbers[rest] = -1
        numbers[np.arange(size) != rest] = begin + np.arange(size - 1)
        out[:, i + 1] = numbers[codes[i]]
        begin += size - 1
    return out
