"""Columns of counts: Poisson, negative binomial, or Poisson with extra zeros; the mean is exp(z'β)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import gammaln

from leverrier.arrays import Floats
from leverrier.models.regimes.emission import Emission, Family, solve_states
from leverrier.models.regimes.terms import Term

STEPS = 1
SIZES = np.exp(np.linspace(np.log(0.05), np.log(500.0), 60))
"""Of a negative binomial: r is looked for among these, then between the best one's neighbours."""
MOST = 30.0


@dataclass(frozen=True, eq=False)
class CountEmission(Emission):
    """ln μ_s = z'β_s."""

    @property
    def dimension(self) -> int:
        more = self.states if self.family is not Family.POISSON else 0
        return self._slopes + more

    def _rate(self, z: Floats) -> Floats:
        return np.exp(np.clip(z @ self.coefficients.T, -MOST, MOST))

    def logs(self, y: Floats, z: Floats) -> Floats:
        hole = np.isnan(y)
        cells = np.where(hole, 0.0, y)[:, None]
        found = _law(self.family, cells, self._rate(z), self.spread, self.shape)
        return np.where(hole[:, None], 0.0, found)

    def _fitted(self, y: Floats, z: Floats, weights: Floats) -> Self:
        made = self
        for _ in range(1 if not self.terms and self.family is Family.POISSON else STEPS):
            made = made._once(y[:, None], z, weights)
        return made

    def _once(self, y: Floats, z: Floats, weights: Floats) -> Self:
        own, shared = self.slots
        w, shape, spread = weights, self.shape, self.spread
        total = np.maximum(weights.sum(axis=0), 1e-300)
        if self.family is Family.ZERO_INFLATED:
            rate = self._rate(z)
            extra = np.where(y == 0, shape / (shape + (1 - shape) * np.exp(-rate) + 1e-300), 0.0)
            shape = np.clip((weights * extra).sum(axis=0) / total, 1e-6, 1 - 1e-6)
            w = weights * (1 - extra)
        if not self.terms and self.family is not Family.NEGATIVE_BINOMIAL:
            mean = (w * y).sum(axis=0) / np.maximum(w.sum(axis=0), 1e-300)
            return replace(self, coefficients=np.log(np.maximum(mean, 1e-9))[:, None], shape=shape)
        coefficients = self._ascent(y, z, w, own, shared)
        if self.family is Family.NEGATIVE_BINOMIAL:
            rate = np.exp(np.clip(z @ coefficients.T, -MOST, MOST))
            spread = np.array(
                [_size(y[:, 0], rate[:, s], weights[:, s], float(self.spread[s])) for s in range(self.states)]
            )
        return replace(self, coefficients=coefficients, spread=spread, shape=shape)

    def _ascent(self, y: Floats, z: Floats, w: Floats, own: list[int], shared: list[int]) -> Floats:
        """One step of Fisher scoring, halved until the weighted log-likelihood does not fall."""
        count = Family.NEGATIVE_BINOMIAL if self.family is Family.NEGATIVE_BINOMIAL else Family.POISSON
        zeros = np.zeros(self.states)

        def value(at: Floats) -> float:
            rate = np.exp(np.clip(z @ at.T, -MOST, MOST))
            return float((w * _law(count, y, rate, self.spread, zeros)).sum())

        eta = np.clip(z @ self.coefficients.T, -MOST, MOST)
        rate = np.exp(eta)
        scale = 1 + rate / self.spread if count is Family.NEGATIVE_BINOMIAL else 1.0
        step = solve_states(z, own, shared, w * rate / scale + 1e-12, eta + (y - rate) / rate) - self.coefficients
        before, length = value(self.coefficients), 1.0
        while length > 1e-4:
            new = self.coefficients + length * step
            if value(new) >= before - 1e-12 * abs(before):
                return new
            length /= 2
        return self.coefficients

    def drawn(self, z: Floats, state: int, rng: np.random.Generator) -> Floats:
        rate = np.exp(np.clip(z @ self.coefficients[state], -MOST, MOST))
        if self.family is Family.NEGATIVE_BINOMIAL:
            rate = rate * rng.gamma(self.spread[state], 1 / self.spread[state], len(z))
        found = rng.poisson(np.minimum(rate, 1e9)).astype(np.float64)
        if self.family is Family.ZERO_INFLATED:
            found[rng.random(len(z)) < self.shape[state]] = 0.0
        return found

    def means(self, z: Floats) -> Floats:
        return self._rate(z) * (1 - self.shape if self.family is Family.ZERO_INFLATED else 1.0)


def _law(family: Family, y: Floats, rate: Floats, size: Floats, extra: Floats) -> Floats:
    if family is Family.NEGATIVE_BINOMIAL:
        known = _log_gamma(y, size) - _log_gamma(y, 1.0) + (size * np.log(size) - gammaln(size))
        return known + y * np.log(rate) - (size + y) * np.log(size + rate)
    plain = y * np.log(rate) - rate - _log_gamma(y, 1.0)
    if family is Family.ZERO_INFLATED:
        zero = np.log(extra + (1 - extra) * np.exp(-rate))
        return np.where(y == 0, zero, np.log1p(-extra) + plain)
    return plain


def _log_gamma(y: Floats, more: Floats | float) -> Floats:
    """ln Γ(y + more) of whole numbers: once for each number there is, unless they are few and large."""
    top = int(y.max(initial=0.0))
    if top > 2 * len(y):
        return gammaln(y + more)
    numbers = np.arange(top + 1.0).reshape(-1, *(1,) * (y.ndim - 1))
    return gammaln(numbers + more)[y.reshape(len(y)).astype(np.int64)]


def _size(y: Floats, rate: Floats, weights: Floats, now: float) -> float:
    """One of SIZES, no worse than the one that is nearest to the present one."""
    cells = np.bincount(y.astype(np.int64), weights) if y.max(initial=0.0) <= 2 * len(y) else None
    numbers = np.arange(0.0 if cells is None else len(cells))
    total = float(weights.sum())

    def value(size: float) -> float:
        """Without what does not depend on the size."""
        first = weights @ gammaln(y + size) if cells is None else cells @ gammaln(numbers + size)
        return float(
            first + total * (size * np.log(size) - gammaln(size)) - (weights * (size + y)) @ np.log(size + rate)
        )

    at = int(np.abs(np.log(SIZES / now)).argmin())
    best, most = at, value(float(SIZES[at]))
    for step in (8, -8, 2, -2, 1, -1):
        other = best + step
        if 0 <= other < len(SIZES):
            reached = value(float(SIZES[other]))
            if reached > most:
                best, most = other, reached
    return float(SIZES[best])


def count_emission(
    name: str,
    y: Floats,
    terms: tuple[Term, ...] = (),
    shared: tuple[bool, ...] | None = None,
    family: Family = Family.POISSON,
) -> CountEmission:
    """One state with the column's mean."""
    seen = y[~np.isnan(y)]
    mean = max(float(seen.mean()) if len(seen) else 1.0, 1e-6)
    coefficients = np.zeros((1, 1 + len(terms)))
    coefficients[0, 0] = np.log(mean)
    zeros = 0.3 if family is Family.ZERO_INFLATED else 0.0
    size = 5.0 if family is Family.NEGATIVE_BINOMIAL else 1.0
    return CountEmission(
        name,
        family,
        terms,
        tuple(shared) if shared is not None else (True,) * len(terms),
        coefficients,
        np.array([size]),
        np.array([zeros]),
    )
