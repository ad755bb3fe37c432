"""The four numbers given the rest: p and α by Gibbs where conjugate, λ and ε (and the finite model's α) by slices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.noisy_or.bit_levels import count_cells
from leverrier.kernels.noisy_or.dense_moves import gather, log_likelihood
from leverrier.kernels.noisy_or.hyper_slices import slice_alpha, slice_unit
from leverrier.models.noisy_or.causes_prior import Beta, Gamma, harmonic
from leverrier.noisy_or.observations import Observations, Words
from leverrier.noisy_or.sampler_state import Columns, Settings


def counts_of(columns: Columns, observations: Observations) -> NDArray[np.int64]:
    """How many cells are 0 and 1 with 0, 1, 2… active linked causes, (2, counts)."""
    n = columns.size
    seen = np.zeros((2, n + 1), np.int64)
    above = np.empty((n + 1, observations.n_words), np.uint64)
    rest = np.empty(observations.n_words, np.uint64)
    count_cells(observations.ones, observations.zeros, columns.links[:n], columns.active[:n], above, rest, seen)
    return seen


def log_likelihood_of(columns: Columns, observations: Observations) -> float:
    """log P(X | Z, Y) [wood2006 eq. 3]."""
    lam, n = columns.shared_lam, columns.size
    if isinstance(lam, float):
        seen = counts_of(columns, observations)
        log_off = np.log1p(-columns.epsilon) + np.arange(n + 1) * np.log1p(-lam)
        return float(seen[0] @ log_off + seen[1] @ np.log1p(-np.exp(log_off)))
    return log_likelihood(
        observations.cells,
        columns.links[:n],
        columns.active[:n],
        1 - columns.lam[:n],
        columns.epsilon,
        np.empty(observations.n_trials),
    )


def n_active(columns: Columns) -> NDArray[np.int64]:
    """How many trials each cause is active in."""
    return np.bitwise_count(columns.active[: columns.size]).sum(axis=1, dtype=np.int64)


def draw_numbers(
    columns: Columns, observations: Observations, settings: Settings, rng: np.random.Generator, stream: Words
) -> None:
    """Every number that has a prior, in turn."""
    _draw_p(columns, observations, settings, rng)
    _draw_alpha(columns, observations, settings, rng, stream)
    if isinstance(columns.shared_lam, float):
        _draw_shared(columns, observations, settings, stream)
    else:
        _draw_each(columns, observations, settings, stream)


def _draw_p(columns: Columns, observations: Observations, settings: Settings, rng: np.random.Generator) -> None:
    prior, n = settings.p, columns.size
    if not isinstance(prior, Beta):
        return
    on = n_active(columns)
    if settings.each_p:
        drawn = rng.beta(prior.a + on, prior.b + observations.n_trials - on)
        columns.p[:n] = np.clip(drawn, 1e-12, 1 - 1e-12)
    else:
        total = on.sum()
        drawn = rng.beta(prior.a + total, prior.b + n * observations.n_trials - total)
        columns.set_shared(p=float(np.clip(drawn, 1e-12, 1 - 1e-12)))


def _draw_alpha(
    columns: Columns, observations: Observations, settings: Settings, rng: np.random.Generator, stream: Words
) -> None:
    prior, n = settings.alpha, observations.n_observed
    if not isinstance(prior, Gamma):
        return
    if settings.unbounded:
        columns.alpha = max(float(rng.gamma(prior.shape + columns.size, 1 / (prior.rate + harmonic(n)))), 1e-9)
    else:
        degree = columns.degree[: columns.size]
        columns.alpha = slice_alpha(columns.alpha, degree, n, prior.shape, prior.rate, stream)


def _draw_shared(columns: Columns, observations: Observations, settings: Settings, stream: Words) -> None:
    if not (isinstance(settings.lam, Beta) or isinstance(settings.epsilon, Beta)):
        return
    seen = counts_of(columns, observations)
    power = np.arange(seen.shape[1], dtype=np.float64)
    weight = seen[1].astype(np.float64)
    n = seen.shape[1]
    lam = columns.shared_lam
    assert isinstance(lam, float)
    if isinstance(settings.lam, Beta):
        base = np.full(n, 1 - columns.epsilon)
        lam = slice_unit(lam, base, weight, power, n, float(seen[0] @ power), settings.lam.a, settings.lam.b, stream)
        columns.set_shared(lam=lam)
    if isinstance(settings.epsilon, Beta):
        base, zeros = (1 - lam) ** power, float(seen[0].sum())
        prior = settings.epsilon
        columns.epsilon = slice_unit(columns.epsilon, base, weight, np.ones(n), n, zeros, prior.a, prior.b, stream)


def _draw_each(columns: Columns, observations: Observations, settings: Settings, stream: Words) -> None:
    """λ of every cause from the cells it reaches now, then ε from all cells."""
    n = columns.size
    most = observations.cells.size
    base, off, none = np.empty(most), np.empty(observations.n_trials), np.empty(0)
    links, active = columns.links[:n], columns.active[:n]

    def drawn(value: float, only: int, prior: Beta) -> float:
        found, zeros = gather(observations.cells, links, active, 1 - columns.lam[:n], columns.epsilon, only, base, off)
        return slice_unit(value, base, none, none, found, float(zeros), prior.a, prior.b, stream)

    if isinstance(settings.lam, Beta):
        for k in range(n):
            columns.lam[k] = drawn(columns.lam[k], k, settings.lam)
    if isinstance(settings.epsilon, Beta):
        columns.epsilon = drawn(columns.epsilon, -1, settings.epsilon)
