"""Densities of one column given linear predictors, with first and second derivatives in them.

`q` has shape (classes, channels, cells): the linear predictors of every cell in every class. A density knows its cells
(the distinct values with their designs) and gives, for all classes at once, log f, ∂ log f / ∂q and ∂² log f / ∂q∂q'.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, log_ndtr, polygamma, psi

from leverrier.arrays import Floats, Integers

LOG_2_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Derivatives:
    """log f (classes, cells), its first derivatives (classes, channels, cells) and its second."""

    log: Floats
    first: Floats
    second: Floats


class Density(ABC):
    """log f of the cells' values and its derivatives in the linear predictors."""

    logit_scale = False
    """Whether a linear predictor may run off to infinity at a probability (or a rate) of 0."""

    @abstractmethod
    def log(self, q: Floats) -> Floats:
        """(classes, cells)."""

    @abstractmethod
    def derivatives(self, q: Floats) -> Derivatives: ...

    @abstractmethod
    def draw(self, q: Floats, rng: np.random.Generator) -> Floats:
        """One value for each cell, from predictors (channels, cells): codes, counts, or numbers in the data's units."""


@dataclass(frozen=True, eq=False)
class Categorical(Density):
    """P(state) ∝ exp q_state: nominal columns, and ordered ones by adjacent logits (their design says so)."""

    codes: Integers
    logit_scale = True

    def log(self, q: Floats) -> Floats:
        return (q - _log_sum(q)[:, None])[:, self.codes, np.arange(len(self.codes))]

    def derivatives(self, q: Floats) -> Derivatives:
        logs = q - _log_sum(q)[:, None]
        p = np.exp(logs)
        seen = np.zeros(q.shape[1:])
        seen[self.codes, np.arange(len(self.codes))] = 1.0
        second = p[:, :, None] * p[:, None, :]
        states = np.arange(q.shape[1])
        second[:, states, states] -= p
        return Derivatives(logs[:, self.codes, np.arange(len(self.codes))], seen - p, second)

    def draw(self, q: Floats, rng: np.random.Generator) -> Floats:
        p = np.exp(q - _log_sum(q[None])[0])
        return (rng.random(q.shape[1]) >= np.cumsum(p, axis=0)[:-1]).sum(axis=0).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Cumulative(Density):
    """P(value ≥ s) = σ(q_0 − τ_s), τ_1 = 0 and the others the further channels."""

    codes: Integers
    states: int
    logit_scale = True

    def _ends(self, q: Floats) -> tuple[Floats, Floats]:
        """q_0 − τ at the value and at the next: where P(value ≥ s) begins and ends; ±∞ at the outer states."""
        thresholds = np.concatenate([np.zeros_like(q[:, :1]), q[:, 1:]], axis=1)
        cells = np.arange(len(self.codes))
        low = np.maximum(self.codes - 1, 0)
        high = np.minimum(self.codes, self.states - 2)
        begin = np.where(self.codes > 0, q[:, 0] - thresholds[:, low, cells], np.inf)
        end = np.where(self.codes < self.states - 1, q[:, 0] - thresholds[:, high, cells], -np.inf)
        return begin, end

    def log(self, q: Floats) -> Floats:
        begin, end = self._ends(q)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(np.maximum(expit(begin) - expit(end), 0.0))

    def derivatives(self, q: Floats) -> Derivatives:
        begin, end = self._ends(q)
        at, after = expit(begin), expit(end)
        p = np.maximum(at - after, 1e-300)
        slope, slope_after = at * (1 - at) / p, after * (1 - after) / p
        d = np.stack([slope, -slope_after])  # in begin and in end
        h = np.empty((2, 2, *p.shape))
        h[0, 0] = slope * (1 - 2 * at) - slope**2
        h[1, 1] = -slope_after * (1 - 2 * after) - slope_after**2
        h[0, 1] = h[1, 0] = slope * slope_after
        chain = np.zeros((2, q.shape[1], len(self.codes)))  # ∂(begin, end) / ∂q
        chain[:, 0] = 1.0
        cells = np.arange(len(self.codes))
        inner = (self.codes >= 2) & (self.codes <= self.states - 1)
        chain[0, self.codes[inner] - 1, cells[inner]] = -1.0
        inner = (self.codes >= 1) & (self.codes <= self.states - 2)
        chain[1, self.codes[inner], cells[inner]] = -1.0
        first = np.einsum("ekc,erc->krc", d, chain)
        second = np.einsum("efkc,erc,fsc->krsc", h, chain, chain)
        return Derivatives(np.log(p), first, second)

    def draw(self, q: Floats, rng: np.random.Generator) -> Floats:
        thresholds = np.concatenate([np.zeros_like(q[:1]), q[1:]])
        return (rng.random(q.shape[1]) < expit(q[0] - thresholds)).sum(axis=0).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Poisson(Density):
    """Counts with log rate q_0."""

    counts: Floats
    logit_scale = True

    def log(self, q: Floats) -> Floats:
        return self.counts * q[:, 0] - np.exp(q[:, 0]) - gammaln(self.counts + 1)

    def derivatives(self, q: Floats) -> Derivatives:
        rate = np.exp(q[:, 0])
        return Derivatives(self.log(q), (self.counts - rate)[:, None], -rate[:, None, None])

    def draw(self, q: Floats, rng: np.random.Generator) -> Floats:
        return rng.poisson(np.exp(q[0])).astype(np.float64)


@dataclass(frozen=True, eq=False)
class NegativeBinomial(Density):
    """Counts with log mean q_0 and variance μ + μ² / exp(q_1)."""

    counts: Floats

    def log(self, q: Floats) -> Floats:
        mean, size, y = np.exp(q[:, 0]), np.exp(q[:, 1]), self.counts
        whole = gammaln(y + size) - gammaln(size) - gammaln(y + 1)
        return whole + size * q[:, 1] + y * q[:, 0] - (y + size) * np.log(size + mean)

    def derivatives(self, q: Floats) -> Derivatives:
        mean, size, y = np.exp(q[:, 0]), np.exp(q[:, 1]), self.counts
        both = size + mean
        in_size = psi(y + size) - psi(size) + q[:, 1] + 1 - np.log(both) - (y + size) / both
        first = np.stack([size * (y - mean) / both, size * in_size], axis=1)
        second = np.empty((len(q), 2, 2, len(y)))
        second[:, 0, 0] = -size * mean * (size + y) / both**2
        second[:, 0, 1] = second[:, 1, 0] = size * (y - mean) * mean / both**2
        curved = polygamma(1, y + size) - polygamma(1, size) + 1 / size - 1 / both - (mean - y) / both**2
        second[:, 1, 1] = size**2 * curved + size * in_size
        return Derivatives(self.log(q), first, second)

    def draw(self, q: Floats, rng: np.random.Generator) -> Floats:
        mean, size = np.exp(q[0]), np.exp(np.minimum(q[1], 30.0))
        return rng.negative_binomial(size, size / (size + mean)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Normal(Density):
    """Numbers with mean q_0 and log deviation q_1, in units of `scale` from `shift`; the density is of the data.

    Values at `low` or `high` (in the same units) are only known to lie at or beyond them.
    """

    values: Floats
    shift: float
    scale: float
    low: float = -np.inf
    high: float = np.inf

    @property
    def _side(self) -> NDArray[np.int64]:
        """−1 at or below the lower limit, 1 at or above the upper, 0 between."""
        return (self.values >= self.high).astype(np.int64) - (self.values <= self.low)

    def log(self, q: Floats) -> Floats:
        z = (self.values - q[:, 0]) / np.exp(q[:, 1])
        logs = -0.5 * (LOG_2_PI + z**2) - q[:, 1] - np.log(self.scale)
        side = self._side
        if np.any(side):
            logs = np.where(side == 0, logs, log_ndtr(-side * z))
        return logs

    def derivatives(self, q: Floats) -> Derivatives:
        sd = np.exp(q[:, 1])
        z = (self.values - q[:, 0]) / sd
        first = np.stack([z / sd, z**2 - 1], axis=1)
        second = np.empty((len(q), 2, 2, q.shape[2]))
        second[:, 0, 0] = -(sd**-2)
        second[:, 0, 1] = second[:, 1, 0] = -2 * z / sd
        second[:, 1, 1] = -2 * z**2
        out = np.flatnonzero(self._side)
        if len(out):
            side, sd = self._side[out], sd[:, out]
            v = -side * z[:, out]
            ratio = np.exp(-0.5 * (LOG_2_PI + v**2) - log_ndtr(v))
            bend = -ratio * (v + ratio)
            first[:, 0, out], first[:, 1, out] = ratio * side / sd, -ratio * v
            second[:, 0, 0, out] = bend / sd**2
            mixed = side / sd * (-bend * v - ratio)
            second[:, 0, 1, out] = second[:, 1, 0, out] = mixed
            second[:, 1, 1, out] = bend * v**2 + ratio * v
        return Derivatives(self.log(q), first, second)

    def draw(self, q: Floats, rng: np.random.Generator) -> Floats:
        drawn = np.clip(q[0] + np.exp(q[1]) * rng.standard_normal(q.shape[1]), self.low, self.high)
        return self.shift + self.scale * drawn


def _log_sum(q: Floats) -> Floats:
    """log Σ_channels exp q."""
    top = q.max(axis=1)
    return top + np.log(np.exp(q - top[:, None]).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Known(Density):
    """Nothing to estimate: log P(cell | class) is given, such as how often rows are assigned to each class."""

    table: Floats
    """(classes, cells)."""

    def log(self, q: Floats) -> Floats:
        return self.table + q[:, 0]

    def derivatives(self, q: Floats) -> Derivatives:
        none = np.zeros_like(q)
        return Derivatives(self.log(q), none, none[:, :, None])

    def draw(self, q: Floats, rng: np.random.Generator) -> Floats:
        raise NotImplementedError("a known part is never drawn")
