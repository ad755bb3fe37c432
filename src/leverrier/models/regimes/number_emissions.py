"""Columns of numbers: normal, or Student's t where tails are heavy; both with regressors (autoregression included)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import gammaln

from leverrier.arrays import Floats
from leverrier.models.regimes.emission import NARROWEST, Emission, Family, solve_states
from leverrier.models.regimes.terms import Term

DEGREES = np.array([2.1, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 11.0, 16.0, 25.0, 50.0, 200.0])
"""Of Student's t: one of these, the same in every state; between neighbours the likelihood is flat."""
STEPS = 3


@dataclass(frozen=True, eq=False)
class NumberEmission(Emission):
    """y = z'β_s + σ_s ε, with ε normal or Student's t."""

    @property
    def dimension(self) -> int:
        spreads = 1 if self.tied else self.states
        return self._slopes + spreads + (self.family is Family.STUDENT)

    def logs(self, y: Floats, z: Floats) -> Floats:
        r = (y[:, None] - z @ self.coefficients.T) / self.spread
        if self.family is Family.NORMAL:
            found = -0.5 * (r * r + np.log(2 * np.pi)) - np.log(self.spread)
        else:
            found = _student(r, float(self.shape[0])) - np.log(self.spread)
        return np.where(np.isnan(y)[:, None], 0.0, found)

    def _fitted(self, y: Floats, z: Floats, weights: Floats) -> Self:
        made = self
        for _ in range(STEPS if self.family is Family.STUDENT else 1):
            made = made._once(y, z, weights)
        return made

    def _once(self, y: Floats, z: Floats, weights: Floats) -> Self:
        own, shared = self.slots
        w = weights
        if self.family is Family.STUDENT:
            nu = float(self.shape[0])
            r = (y[:, None] - z @ self.coefficients.T) / self.spread
            w = weights * (nu + 1) / (nu + r * r)
        target = np.broadcast_to(y[:, None], w.shape)
        # ECM: β given σ, then σ given β [Meng & Rubin 1993]; without shared terms σ cancels and this is exact
        coefficients = solve_states(z, own, shared, w / self.spread**2, target)
        r2 = (y[:, None] - z @ coefficients.T) ** 2
        total, square = weights.sum(axis=0), (w * r2).sum(axis=0)
        if self.tied:
            spread = np.full(self.states, np.sqrt(square.sum() / max(total.sum(), 1e-300)))
        else:
            spread = np.sqrt(square / np.maximum(total, 1e-300))
        spread = np.maximum(np.where(total > 1e-8, spread, self.spread), self.floor)
        shape = self.shape
        if self.family is Family.STUDENT:
            r = np.sqrt(r2) / spread
            values = [float((weights * (_student(r, nu) - np.log(spread))).sum()) for nu in self._near()]
            shape = np.full(self.states, self._near()[int(np.argmax(values))])
        return replace(self, coefficients=coefficients, spread=spread, shape=shape)

    def _near(self) -> list[float]:
        at = int(np.abs(DEGREES - self.shape[0]).argmin())
        return DEGREES[max(at - 1, 0) : at + 2].tolist()

    def drawn(self, z: Floats, state: int, rng: np.random.Generator) -> Floats:
        noise = rng.standard_normal(len(z))
        if self.family is Family.STUDENT:
            nu = float(self.shape[0])
            noise = noise / np.sqrt(rng.chisquare(nu, len(z)) / nu)
        return z @ self.coefficients[state] + self.spread[state] * noise

    def means(self, z: Floats) -> Floats:
        return z @ self.coefficients.T


def _student(r: Floats, nu: float) -> Floats:
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
    return constant - (nu + 1) / 2 * np.log1p(r * r / nu)


def number_emission(
    name: str, y: Floats, terms: tuple[Term, ...] = (), shared: tuple[bool, ...] | None = None, *, heavy: bool = False
) -> NumberEmission:
    """One state; the mean and the spread of the column."""
    seen = y[~np.isnan(y)]
    mean = float(seen.mean()) if len(seen) else 0.0
    spread = max(float(seen.std()) if len(seen) else 1.0, 1e-9 * max(1.0, abs(mean)))
    coefficients = np.zeros((1, 1 + len(terms)))
    coefficients[0, 0] = mean
    return NumberEmission(
        name,
        Family.STUDENT if heavy else Family.NORMAL,
        terms,
        tuple(shared) if shared is not None else (True,) * len(terms),
        coefficients,
        np.array([spread]),
        np.array([8.0 if heavy else 0.0]),
        NARROWEST * spread,
    )
