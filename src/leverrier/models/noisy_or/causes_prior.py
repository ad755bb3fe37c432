"""Priors of the overlapping-causes model: over its links, and over its four numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from leverrier.errors import OptionError

Links = NDArray[np.uint8]
"""(observed, causes), 1 where the cause reaches the variable."""


@dataclass(frozen=True)
class Beta:
    """A prior for a probability."""

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        if not (self.a > 0 and self.b > 0):
            raise OptionError(f"Beta({self.a}, {self.b}): both numbers must be positive")

    def log_density(self, value: float | NDArray[np.float64]) -> float:
        v = np.asarray(value, dtype=np.float64)
        return float(np.sum((self.a - 1) * np.log(v) + (self.b - 1) * np.log1p(-v) - betaln(self.a, self.b)))

    def draw(self, rng: np.random.Generator, size: int | None = None) -> float | NDArray[np.float64]:
        # a draw of exactly 0 or 1 would make cells impossible
        return np.clip(rng.beta(self.a, self.b, size), 1e-12, 1 - 1e-12)


@dataclass(frozen=True)
class Gamma:
    """A prior for a positive number: shape and rate."""

    shape: float = 1.0
    rate: float = 1.0

    def __post_init__(self) -> None:
        if not (self.shape > 0 and self.rate > 0):
            raise OptionError(f"Gamma({self.shape}, {self.rate}): both numbers must be positive")

    def log_density(self, value: float) -> float:
        return float(
            self.shape * np.log(self.rate) - gammaln(self.shape) + (self.shape - 1) * np.log(value) - self.rate * value
        )

    def draw(self, rng: np.random.Generator) -> float:
        return max(float(rng.gamma(self.shape, 1 / self.rate)), 1e-9)


@cache
def harmonic(n: int) -> float:
    """H_n = 1 + 1/2 + … + 1/n."""
    return float(np.sum(1.0 / np.arange(1, n + 1)))


@dataclass(frozen=True)
class IndianBuffet:
    """Unboundedly many causes, of which finitely many reach anything [wood2006 section 3.2]."""

    alpha: float = 1.0

    def log_probability(self, links: Links) -> float:
        """log P(Z) of the class of matrices that differ only in the order of their columns."""
        n_observed = len(links)
        columns = links[:, links.any(axis=0)]
        _, repeats = np.unique(columns, axis=1, return_counts=True) if columns.shape[1] else (None, np.ones(0))
        m = columns.sum(axis=0).astype(np.float64)
        return float(
            len(m) * np.log(self.alpha)
            - np.sum(gammaln(repeats + 1))
            - self.alpha * harmonic(n_observed)
            + np.sum(gammaln(n_observed - m + 1) + gammaln(m) - gammaln(n_observed + 1))
        )

    def sample(self, n_observed: int, rng: np.random.Generator) -> Links:
        """The buffet: row i takes dish k with m/i, then Poisson(α/i) new dishes."""
        columns: list[NDArray[np.uint8]] = []
        for i in range(n_observed):
            for column in columns:
                column[i] = rng.random() < column[:i].sum() / (i + 1)
            for _ in range(rng.poisson(self.alpha / (i + 1))):
                columns.append(np.zeros(n_observed, np.uint8))
                columns[-1][i] = 1
        return np.array(columns, np.uint8).reshape(len(columns), n_observed).T

    def sample_given(self, n_observed: int, n_causes: int, rng: np.random.Generator) -> Links:
        """A draw among matrices with this many non-empty columns, without rejection.

        Given K₊ the columns are independent: P(m) ∝ C(N, m)(N−m)!(m−1)!/N! = 1/m, and any m rows alike.
        """
        sizes = np.arange(1, n_observed + 1)
        chances = 1.0 / sizes
        links = np.zeros((n_observed, n_causes), np.uint8)
        for k in range(n_causes):
            m = rng.choice(sizes, p=chances / chances.sum())
            links[rng.choice(n_observed, m, replace=False), k] = 1
        return links


@dataclass(frozen=True)
class BetaBernoulli:
    """K causes, columns in order, θ_k ~ Beta(α/K, 1) integrated out [wood2006 eq. 5]; K itself is geometric.

    The source leaves P(K) open. Ours is P(K) = (1 − decay) decay^(K−1) for K = 1, 2, …: proper, wide, and
    one number.
    """

    alpha: float = 1.0
    decay: float = 0.9

    def __post_init__(self) -> None:
        if not 0 < self.decay < 1:
            raise OptionError(f"decay={self.decay}: the geometric prior of the number of causes needs 0 < decay < 1")

    def log_probability(self, links: Links) -> float:
        """log P(Z | K) + log P(K), of the matrix with its columns in this order."""
        n_observed, n_causes = links.shape
        if n_causes == 0:
            return -np.inf
        a = self.alpha / n_causes
        m = links.sum(axis=0).astype(np.float64)
        columns = np.log(a) + gammaln(m + a) + gammaln(n_observed - m + 1) - gammaln(n_observed + 1 + a)
        return float(np.sum(columns) + np.log1p(-self.decay) + (n_causes - 1) * np.log(self.decay))

    def sample(self, n_observed: int, rng: np.random.Generator) -> Links:
        n_causes = int(rng.geometric(1 - self.decay))
        theta = rng.beta(self.alpha / n_causes, 1.0, n_causes)
        return (rng.random((n_observed, n_causes)) < theta).astype(np.uint8)
