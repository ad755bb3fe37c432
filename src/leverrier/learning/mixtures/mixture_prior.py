"""The prior on a component's mean and covariance, and the M-step under it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats
from leverrier.errors import OptionError
from leverrier.inference.gaussian.gaussian_rows import FullPass, GaussianPass, Moments
from leverrier.models.mixture import CovarianceKind


@dataclass(frozen=True, eq=False)
class NormalInverseWishart:
    """μ | Σ ~ N(mean, Σ / mean_strength) and Σ ~ inverse Wishart(degrees, scale), the same for every component.

    A mean_strength of 0 leaves the means free. Only the mode is used, so `degrees` may be so low that there is no
    proper distribution: with −columns, and nothing on the means, the prior weighs as much as one row: "weak".
    """

    mean: Floats
    mean_strength: float
    degrees: float
    scale: Floats

    def __post_init__(self) -> None:
        mean = np.array(self.mean, dtype=np.float64, ndmin=1)
        scale = np.array(self.scale, dtype=np.float64)
        scale = scale.reshape(1, 1) if scale.ndim == 0 else scale
        if scale.shape != (mean.size, mean.size):
            raise OptionError(f"prior: the scale has shape {scale.shape}, expected ({mean.size}, {mean.size})")
        if not (self.mean_strength >= 0 and np.isfinite(self.mean_strength)):
            raise OptionError(f"prior: mean_strength={self.mean_strength!r} must be a number of at least 0")
        if not self.degrees + mean.size + 1 > 0:
            raise OptionError(f"prior: degrees={self.degrees!r} must exceed {-mean.size - 1}, or there is no mode")
        _require_positive(scale)
        for name, value in (("mean", mean), ("scale", scale)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def strength(self) -> float:
        """How many rows the prior weighs, as far as a component's covariance is concerned."""
        return self.degrees + self.mean.size + 1 + (self.mean_strength > 0)

    def moved(self, shift: Floats, scale: Floats) -> NormalInverseWishart:
        """The same prior for rows seen as (x − shift) · scale."""
        return NormalInverseWishart(
            (self.mean - shift) * scale, self.mean_strength, self.degrees, self.scale * np.outer(scale, scale)
        )

    def moved_back(self, shift: Floats, scale: Floats) -> NormalInverseWishart:
        return NormalInverseWishart(
            self.mean / scale + shift, self.mean_strength, self.degrees, self.scale / np.outer(scale, scale)
        )


def _require_positive(scale: Floats) -> None:
    """Symmetric and positive definite, whatever the columns' units."""
    variances = np.diagonal(scale)
    good = bool(np.all(np.isfinite(scale)) and np.all(variances > 0))
    if good:
        correlation = scale / np.sqrt(variances) / np.sqrt(variances)[:, None]
        good = np.allclose(correlation, correlation.T) and bool(np.all(np.linalg.eigvalsh(correlation) > 0))
    if not good:
        raise OptionError("prior: the scale must be a symmetric positive definite matrix")


def weak_prior(spread: Floats) -> NormalInverseWishart:
    """One row's worth of a typical component's covariance, and nothing on the means."""
    d = len(spread)
    return NormalInverseWishart(np.zeros(d), 0.0, -d, spread)


@dataclass(frozen=True, eq=False)
class Components:
    """Parameters on their way: covariances are matrices, or variances by column (diagonal and spherical)."""

    weights: Floats
    means: Floats
    covariances: Floats


def maximise(kind: CovarianceKind, now: Components, moments: Moments, prior: NormalInverseWishart | None) -> Components:
    """The parameters that fit the expected moments best [20.3.1, M-step]; with a prior, the posterior's mode.

    A component without rows keeps its mean; its covariance is then the prior's, or zero.
    """
    count = moments.count
    step = moments.first / np.maximum(count, 1e-300)[:, None]
    means = now.means + step
    scatter = moments.second - _times(count, step, moments.second.ndim)
    strength = 0.0
    if prior is not None:
        strength = prior.strength
        kappa = prior.mean_strength
        if kappa > 0:
            away = means - prior.mean
            scatter = scatter + _times(kappa * count / (kappa + count), away, scatter.ndim)
            means = (count[:, None] * means + kappa * prior.mean) / (count + kappa)[:, None]
        own = prior.scale if scatter.ndim == 3 else np.diagonal(prior.scale)
        scatter = scatter + (own / len(count) if kind is CovarianceKind.TIED else own)
    weights = count / count.sum()
    if kind is CovarianceKind.TIED:
        extra = strength + (len(count) - 1) * (prior is not None and prior.mean_strength > 0)
        pooled = scatter.sum(axis=0) / (count.sum() + extra)
        return Components(weights, means, np.broadcast_to(pooled, scatter.shape).copy())
    rows = np.maximum(count + strength, 1e-300)
    if kind is CovarianceKind.SPHERICAL:
        scatter = np.broadcast_to(scatter.mean(axis=1, keepdims=True), scatter.shape)
    return Components(weights, means, scatter / rows.reshape(-1, *[1] * (scatter.ndim - 1)))


def _times(counts: Floats, steps: Floats, dimensions: int) -> Floats:
    """counts · steps stepsᵀ for each component; only the diagonals where there are no matrices."""
    if dimensions == 3:
        return counts[:, None, None] * (steps[:, :, None] * steps[:, None, :])
    return counts[:, None] * steps**2


def log_prior(kind: CovarianceKind, now: Components, components: GaussianPass, prior: NormalInverseWishart) -> float:
    """Log density of the parameters less that at the prior's mode, so that it is at most 0 and has no units."""
    k, d = now.means.shape
    pulled = prior.mean_strength > 0
    if isinstance(components, FullPass):
        inverse = components.inverse
        traces = np.einsum("cij,jk,cik->c", inverse, prior.scale, inverse)
        away = np.einsum("cij,cj->ci", inverse, now.means - prior.mean)
        mode_log_determinant = float(np.linalg.slogdet(prior.scale)[1])
    else:
        own = np.diagonal(prior.scale)
        traces = (own / now.covariances).sum(axis=1)
        away = (now.means - prior.mean) / np.sqrt(now.covariances)
        mode_log_determinant = (
            float(np.log(own).sum()) if kind is CovarianceKind.DIAGONAL else d * float(np.log(own.mean()))
        )
    log_determinants = components.log_determinants
    if kind is CovarianceKind.TIED:
        strength = prior.strength + (k - 1) * pulled
        traces, log_determinants, copies = traces[:1], log_determinants[:1], 1
    else:
        strength, copies = prior.strength, k
    at_mode = strength * (mode_log_determinant - d * np.log(strength)) + strength * d
    value = strength * float(log_determinants.sum()) + float(traces.sum()) - copies * at_mode
    return -0.5 * (value + (prior.mean_strength * float((away**2).sum()) if pulled else 0.0))
