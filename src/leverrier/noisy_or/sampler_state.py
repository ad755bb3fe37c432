"""A sampler's state as a value, what is asked of it, and the working columns that its kernels change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from leverrier.models.noisy_or.causes_prior import Beta, Gamma
from leverrier.noisy_or.observations import Observations, Words, unpack

Method = Literal["gibbs", "rjmcmc"]
Number = float | NDArray[np.float64]
FLAT = Beta(1.0, 1.0)
FLAT_ALPHA = Gamma(1.0, 1.0)
ROOM = 64
"""Columns kept free while sweeping: more new causes than this at one row have no mass worth counting."""


@dataclass(frozen=True)
class Settings:
    """Which model, which priors (a plain number is fixed), and which moves a sweep makes."""

    method: Method = "gibbs"
    alpha: Gamma | float = FLAT_ALPHA
    epsilon: Beta | float = FLAT
    lam: Beta | float = FLAT
    p: Beta | float = FLAT
    each_lam: bool = False
    """Every cause has its own λ."""
    each_p: bool = False
    decay: float = 0.9
    """P(K) ∝ decay^K, for RJMCMC."""
    split_merge: int = 10
    """Proposals a sweep, y of both causes summed out."""
    pairs: int = 3
    """Pairs of causes a sweep whose links are redrawn, y of both summed out."""
    solo: bool = True
    """RJMCMC: births and deaths with one link attached, one proposal a row."""
    active_each_row: bool = False
    """RJMCMC: redraw Y after every row, as the source's algorithm 1 does."""

    @property
    def unbounded(self) -> bool:
        return self.method == "gibbs"

    @property
    def shared(self) -> bool:
        """One λ and one p for all causes: births can be drawn outright."""
        return not (self.each_lam or self.each_p)

    def plain(self) -> Settings:
        """The source's own moves and no others."""
        return replace(self, split_merge=0, pairs=0, solo=False, active_each_row=self.method == "rjmcmc")


@dataclass(frozen=True, eq=False)
class State:
    """Links, active causes and the four numbers. λ and p are arrays when each cause has its own."""

    links: NDArray[np.uint8]
    """(causes, observed)."""
    active: Words
    """(causes, words of trials)."""
    epsilon: float
    lam: Number
    p: Number
    alpha: float

    @property
    def n_causes(self) -> int:
        return len(self.links)

    @property
    def linked(self) -> NDArray[np.bool_]:
        """Which causes reach anything."""
        return self.links.sum(axis=1) > 0

    @property
    def count(self) -> int:
        """K₊, the number of causes that reach anything."""
        return int(np.count_nonzero(self.linked))

    def active_cells(self, n_trials: int) -> NDArray[np.uint8]:
        """(causes, trials), 0/1."""
        return unpack(self.active, n_trials)


class Columns:
    """The causes while a sweep changes them: arrays with room to grow, `size` of them in use."""

    def __init__(self, state: State, observations: Observations, settings: Settings) -> None:
        size = state.n_causes
        self.size = size
        self.settings = settings
        self.epsilon = state.epsilon
        self.alpha = state.alpha
        self.shared_lam = state.lam if not settings.each_lam else None
        self.shared_p = state.p if not settings.each_p else None
        capacity = size + 2 * ROOM
        self.links = np.empty((capacity, observations.n_observed), np.uint8)
        self.active = np.empty((capacity, observations.n_words), np.uint64)
        self.degree = np.empty(capacity, np.int64)
        self.lam = np.empty(capacity)
        self.p = np.empty(capacity)
        self.links[:size] = state.links
        self.active[:size] = state.active
        self.degree[:size] = state.links.sum(axis=1)
        self.lam[: size if settings.each_lam else None] = state.lam
        self.p[: size if settings.each_p else None] = state.p

    def grow(self) -> None:
        """Twice the room."""
        for name in ("links", "active", "degree", "lam", "p"):
            old = getattr(self, name)
            new = np.empty((2 * len(old), *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            new[len(old) :] = old[-1] if name in ("lam", "p") else 0
            setattr(self, name, new)

    def insert(self, links: NDArray[np.uint8], active: Words, lam: float, p: float, rng: np.random.Generator) -> int:
        """A new cause, at any place alike; the one that was there becomes the last. Returns its column."""
        if self.size == len(self.degree):
            self.grow()
        k = int(rng.random() * (self.size + 1))
        for array in (self.links, self.active, self.degree, self.lam, self.p):
            array[self.size] = array[k]
        self.links[k], self.active[k] = links, active
        self.degree[k] = links.sum()
        self.lam[k], self.p[k] = lam, p
        self.size += 1
        return k

    def remove(self, k: int) -> None:
        """Take a cause out; the last one moves to its place: the way back of `insert`."""
        self.size -= 1
        for array in (self.links, self.active, self.degree, self.lam, self.p):
            array[k] = array[self.size]

    def set_shared(self, *, lam: float | None = None, p: float | None = None) -> None:
        if lam is not None:
            self.shared_lam = lam
            self.lam[:] = lam
        if p is not None:
            self.shared_p = p
            self.p[:] = p

    def new_numbers(self, rng: np.random.Generator) -> tuple[float, float]:
        """λ and p of a cause to be born: the shared ones, or a draw from the prior."""
        lam, p = self.shared_lam, self.shared_p
        if lam is None:
            assert isinstance(self.settings.lam, Beta)
            lam = self.settings.lam.draw(rng)
        if p is None:
            assert isinstance(self.settings.p, Beta)
            p = self.settings.p.draw(rng)
        return float(lam), float(p)

    def freeze(self) -> State:
        n = self.size
        return State(
            self.links[:n].copy(),
            self.active[:n].copy(),
            self.epsilon,
            self.lam[:n].copy() if self.shared_lam is None else self.shared_lam,
            self.p[:n].copy() if self.shared_p is None else self.shared_p,
            self.alpha,
        )
