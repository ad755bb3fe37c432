"""Kept samples of one chain, stored end to end: small in memory, plain arrays in a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.noisy_or.observations import Words, unpack
from leverrier.noisy_or.sampler_state import State

MOST_DRAWS = 1000
MOST_BYTES = 2**27
"""A chain keeps at most this much of Y."""


def every(n_kept: int, n_trials: int) -> int:
    """Keep one sweep in this many, so that a chain's draws stay small (eight causes are assumed)."""
    fit = max(20, MOST_BYTES // max(1, n_trials))
    return max(1, -(-n_kept // min(MOST_DRAWS, fit)))


@dataclass(frozen=True, eq=False)
class Draw:
    """One kept sample; only causes that reach anything."""

    sweep: int
    links: NDArray[np.uint8]
    """(causes, observed)."""
    active: Words
    lam: NDArray[np.float64]
    p: NDArray[np.float64]
    epsilon: float
    alpha: float

    def active_cells(self, n_trials: int) -> NDArray[np.uint8]:
        return unpack(self.active, n_trials)


class Draws:
    """A growing list of draws."""

    def __init__(self) -> None:
        self.items: list[Draw] = []

    def add(self, sweep: int, state: State) -> None:
        linked = state.linked
        n = int(linked.sum())
        lam = state.lam[linked] if isinstance(state.lam, np.ndarray) else np.full(n, state.lam)
        p = state.p[linked] if isinstance(state.p, np.ndarray) else np.full(n, state.p)
        self.items.append(Draw(sweep, state.links[linked], state.active[linked], lam, p, state.epsilon, state.alpha))

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Draw]:
        return iter(self.items)

    def to_arrays(self, n_observed: int, n_words: int) -> dict[str, NDArray]:
        """Everything end to end, with each draw's number of causes."""
        return {
            "draw_sweep": np.array([d.sweep for d in self.items], np.int64),
            "draw_size": np.array([len(d.links) for d in self.items], np.int64),
            "draw_links": np.concatenate([np.zeros((0, n_observed), np.uint8), *(d.links for d in self.items)]),
            "draw_active": np.concatenate([np.zeros((0, n_words), np.uint64), *(d.active for d in self.items)]),
            "draw_lam": np.concatenate([np.zeros(0), *(d.lam for d in self.items)]),
            "draw_numbers": np.array([[d.epsilon, d.alpha] for d in self.items]).reshape(-1, 2),
            "draw_p": np.concatenate([np.zeros(0), *(d.p for d in self.items)]),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray]) -> Draws:
        draws = cls()
        ends = np.cumsum(arrays["draw_size"])
        sizes = zip(arrays["draw_sweep"], arrays["draw_size"], ends, arrays["draw_numbers"], strict=True)
        for sweep, size, end, numbers in sizes:
            part = slice(int(end - size), int(end))
            draws.items.append(
                Draw(
                    int(sweep),
                    arrays["draw_links"][part],
                    arrays["draw_active"][part],
                    arrays["draw_lam"][part],
                    arrays["draw_p"][part],
                    float(numbers[0]),
                    float(numbers[1]),
                )
            )
        return draws
