"""A mixture of Gaussians, as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leverrier.arrays import Floats
from leverrier.data.matrix import LARGEST, matching, row_weights
from leverrier.errors import OptionError
from leverrier.inference.gaussian.gaussian_rows import (
    DiagonalPass,
    FullPass,
    GaussianPass,
    GaussianRows,
    stretches_of_posteriors,
)
from leverrier.kinds import Kinds

NEARLY_ONE = 1e-6
Covariance = Literal["full", "tied", "diagonal", "spherical"]
"""How users name the kinds."""


class CovarianceKind(Kinds):
    """What components share, and what is free."""

    FULL = "full"
    TIED = "tied"
    """One matrix for all."""
    DIAGONAL = "diagonal"
    SPHERICAL = "spherical"
    """One variance for all columns."""

    @property
    def wide(self) -> bool:
        """Whether covariances are matrices; else they are variances by column."""
        return self in (CovarianceKind.FULL, CovarianceKind.TIED)

    def compact(self, covariances: Floats) -> Floats:
        """Of one for every component, what this kind keeps."""
        if self is CovarianceKind.TIED:
            return covariances[0]
        return covariances[:, 0] if self is CovarianceKind.SPHERICAL else covariances

    @classmethod
    def of(cls, given: str, option: str) -> CovarianceKind:
        """The kind of this name; `option` is what it was given as."""
        try:
            return cls(given)
        except OptionError as problem:
            raise OptionError(f"{option}={problem}") from None


@dataclass(frozen=True, eq=False)
class Mixture:
    """P(x) = Σ_c w_c N(x | μ_c, Σ_c).

    weights: (components,)   means: (components, columns)
    covariances, by kind: full (components, columns, columns), tied (columns, columns), diagonal (components, columns),
    spherical (components,). Matrices for every component may be given for any kind; `matrices` gives them back.
    """

    weights: Floats
    means: Floats
    covariances: Floats
    kind: CovarianceKind = CovarianceKind.FULL
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check, and keep our own read-only copies."""
        object.__setattr__(self, "kind", CovarianceKind.of(self.kind, "kind"))
        means = np.array(self.means, dtype=np.float64)
        means = means[:, None] if means.ndim == 1 else means
        weights = np.array(self.weights, dtype=np.float64, ndmin=1)
        if means.ndim != 2 or not means.size or not np.all(np.isfinite(means)):
            raise OptionError(f"means have shape {means.shape}: expected finite numbers (components, columns)")
        if weights.shape != means.shape[:1]:
            raise OptionError(f"{weights.size} weights for {len(means)} means: one for each component is needed")
        if not (np.all(weights >= 0) and abs(weights.sum() - 1) <= NEARLY_ONE):
            raise OptionError("the weights are no distribution: they must be at least 0 and sum to 1")
        covariances = _compact(np.array(self.covariances, dtype=np.float64), self.kind, *means.shape)
        names = tuple(self.names) or tuple(f"x{place}" for place in range(1, means.shape[1] + 1))
        if len(names) != means.shape[1]:
            raise OptionError(f"{len(names)} names for {means.shape[1]} columns: one for each is needed")
        for name, value in (("weights", weights / weights.sum()), ("means", means), ("covariances", covariances)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "names", names)
        if not self.scaled_pass.positive:
            raise OptionError("a covariance matrix is not positive definite: it has no spread in some direction")

    @property
    def n_components(self) -> int:
        return len(self.weights)

    @property
    def n_columns(self) -> int:
        return self.means.shape[1]

    @property
    def dimension(self) -> int:
        """The number of free parameters."""
        k, d = self.means.shape
        matrices = k if self.kind is CovarianceKind.FULL else 1
        return k - 1 + k * d + (matrices * d * (d + 1) // 2 if self.kind.wide else self.covariances.size)

    @property
    def matrices(self) -> Floats:
        """The covariance matrix of every component, whatever the kind."""
        k, d = self.means.shape
        match self.kind:
            case CovarianceKind.FULL:
                return self.covariances
            case CovarianceKind.TIED:
                return np.broadcast_to(self.covariances, (k, d, d))
            case CovarianceKind.DIAGONAL:
                return self.covariances[:, :, None] * np.eye(d)
        return self.covariances[:, None, None] * np.eye(d)

    def posterior(self, x: Any) -> Floats:
        """(rows, components): P(component | row); the observed cells decide, and a row of holes has the weights."""
        rows = self.scaled_rows(x)
        found = np.empty((len(rows.x), self.n_components))
        for places, posterior, _ in stretches_of_posteriors(rows, self.scaled_pass):
            found[places] = posterior.T
        return found

    def row_log_likelihood(self, x: Any) -> Floats:
        """log P(the observed cells) of each row, in nats."""
        rows = self.scaled_rows(x)
        found = np.empty(len(rows.x))
        shifts = np.log(rows.scale)
        for places, _, logs in stretches_of_posteriors(rows, self.scaled_pass):
            present = ~np.isnan(rows.x[places]) if rows.patterns.holes else np.ones((1, self.n_columns))
            found[places] = logs + present @ shifts
        return found

    def log_likelihood(self, x: Any, weights: ArrayLike | None = None) -> float:
        """Σ over rows of log P(the observed cells), each times its weight, in nats."""
        logs = self.row_log_likelihood(x)
        each = row_weights(weights, len(logs))
        return float(logs @ each) if len(each) else float(logs.sum())

    def assign(self, x: Any) -> NDArray[np.int64]:
        """The most probable component of each row."""
        return self.posterior(x).argmax(axis=1)

    def sample(self, n_rows: int, seed: int | np.random.Generator = 0) -> Floats:
        """Rows drawn from the mixture."""
        return self.sample_labelled(n_rows, seed)[0]

    def sample_labelled(self, n_rows: int, seed: int | np.random.Generator = 0) -> tuple[Floats, NDArray[np.int64]]:
        """Rows drawn from the mixture, and the component that each came from."""
        if n_rows < 0:
            raise OptionError(f"{n_rows} rows cannot be drawn: give a number of at least 0")
        rng = np.random.default_rng(seed)
        labels = rng.choice(self.n_components, size=n_rows, p=self.weights)
        rows = rng.standard_normal((n_rows, self.n_columns))
        for c in range(self.n_components):
            own = labels == c
            if self.kind.wide:
                rows[own] = self.means[c] + rows[own] @ np.linalg.cholesky(self.matrices[c]).T
            else:
                rows[own] = self.means[c] + rows[own] * np.sqrt(self._variances[c])
        return rows, labels

    def select(self, order: ArrayLike) -> Mixture:
        """The same mixture with its components in this order."""
        own = np.asarray(order)
        spread = self.covariances if self.kind is CovarianceKind.TIED else self.covariances[own]
        return Mixture(self.weights[own], self.means[own], spread, self.kind, self.names)

    def __eq__(self, other: object) -> bool:
        """Equal numbers, bit for bit."""
        if not isinstance(other, Mixture):
            return NotImplemented
        return self.kind == other.kind and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("weights", "means", "covariances")
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.weights.tobytes(), self.means.tobytes()))

    def __repr__(self) -> str:
        shares = ", ".join(f"{weight:.3g}" for weight in self.weights[:8]) + (", …" if self.n_components > 8 else "")
        return f"Mixture({self.n_components} {self.kind} Gaussians over {self.n_columns} columns, weights {shares})"

    @property
    def _variances(self) -> Floats:
        """Of every column in every component."""
        k, d = self.means.shape
        match self.kind:
            case CovarianceKind.DIAGONAL:
                return self.covariances
            case CovarianceKind.SPHERICAL:
                return np.broadcast_to(self.covariances[:, None], (k, d))
        return np.diagonal(self.matrices, axis1=1, axis2=2)

    @cached_property
    def _units(self) -> tuple[Floats, Floats]:
        """Shift and scale (a power of two, so exact) that bring the components near 0 and 1."""
        spread = np.sqrt(np.mean(self._variances, axis=0))
        return self.weights @ self.means, np.exp2(-np.round(np.log2(spread)))

    @cached_property
    def scaled_pass(self) -> GaussianPass:
        """The components in units near 1, ready for a pass over `scaled_rows`."""
        shift, scale = self._units
        means = (self.means - shift) * scale
        if self.kind.wide:
            return FullPass(self.weights, means, self.matrices * np.outer(scale, scale))
        return DiagonalPass(self.weights, means, self._variances * scale**2)

    def scaled_rows(self, x: Any) -> GaussianRows:
        """New rows in the same units."""
        return GaussianRows(matching(x, self.names), *self._units, np.empty(0))


def _compact(given: Floats, kind: CovarianceKind, k: int, d: int) -> Floats:
    """Covariances in the shape of their kind, from that shape or from a matrix for every component."""
    shapes: dict[CovarianceKind, tuple[int, ...]] = {
        CovarianceKind.FULL: (k, d, d),
        CovarianceKind.TIED: (d, d),
        CovarianceKind.DIAGONAL: (k, d),
        CovarianceKind.SPHERICAL: (k,),
    }
    if d == 1 and given.shape in ((k,), (k, 1)):
        given = given.reshape(k, 1, 1)
    if given.shape == (k, d, d) != shapes[kind]:
        diagonal = np.diagonal(given, axis1=1, axis2=2)
        tied, spherical = kind is CovarianceKind.TIED, kind is CovarianceKind.SPHERICAL
        small = kind.compact(given if tied else diagonal)
        back = given[:1] if tied else diagonal[:, : 1 if spherical else d, None] * np.eye(d)
        if not np.array_equal(np.broadcast_to(back, given.shape), given):
            raise OptionError(f"the covariance matrices are not {kind}: give kind='full', or matrices that are")
        given = small.copy()
    if given.shape != shapes[kind]:
        raise OptionError(f"covariances have shape {given.shape}, expected {shapes[kind]} for {kind} covariances")
    if not np.all(np.isfinite(given)) or np.abs(given).max() > LARGEST**2:
        raise OptionError("the covariances must be finite numbers")
    variances = np.diagonal(given, axis1=-2, axis2=-1) if kind.wide else given
    if not np.all(variances > 0):
        raise OptionError("a variance is not positive: every component needs spread in every column")
    if kind.wide:
        size = np.sqrt(variances[..., None] * variances[..., None, :])
        if not np.all(np.abs(given - np.swapaxes(given, -1, -2)) <= 1e-6 * size):
            raise OptionError("a covariance matrix is not symmetric")
        given = 0.5 * (given + np.swapaxes(given, -1, -2))
    return given
