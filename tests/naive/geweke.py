"""Geweke's joint-distribution test: draws from the prior against a chain that redraws data and state in turn.

If every move leaves the posterior invariant, both have the joint distribution of data and state. Nothing here knows
how the sampler works.
"""

from __future__ import annotations

import numpy as np

from leverrier.models.noisy_or.causes_prior import Beta, BetaBernoulli, Gamma, IndianBuffet
from leverrier.noisy_or.gibbs import gibbs
from leverrier.noisy_or.observations import Observations, pack, unpack
from leverrier.noisy_or.rjmcmc import rjmcmc
from leverrier.noisy_or.sampler_state import State

NAMES = [
    "count",
    "count²",
    "links",
    "links²",
    "epsilon",
    "epsilon²",
    "lambda",
    "lambda²",
    "p",
    "p²",
    "alpha",
    "log alpha",
    "ones",
    "ones²",
    "first cell",
    "first two rows",
    "active",
    "active²",
    "shared",
    "first row's links",
    "epsilon·ones",
    "lambda·ones",
    "p·active",
    "alpha·count",
    "count·ones",
    "lambda·epsilon",
    "causes of one sign",
]


def number(prior, rng):
    return float(prior.draw(rng)) if isinstance(prior, Beta | Gamma) else float(prior)


def prior_state(settings, n_observed, n_trials, rng):
    """Everything from the prior."""
    alpha = number(settings.alpha, rng)
    prior = IndianBuffet(alpha) if settings.unbounded else BetaBernoulli(alpha, settings.decay)
    links = np.ascontiguousarray(prior.sample(n_observed, rng).T)
    n = len(links)
    lam = settings.lam.draw(rng, n) if settings.each_lam else number(settings.lam, rng)
    p = settings.p.draw(rng, n) if settings.each_p else number(settings.p, rng)
    active = rng.random((n, n_trials)) < np.broadcast_to(p, (n,))[:, None]
    return State(links, pack(active), number(settings.epsilon, rng), lam, p, alpha)


def draw_cells(state, n_trials, rng, holes=None):
    """X given everything; cells under `holes` are not seen."""
    active = unpack(state.active, n_trials).astype(float)
    log_fail = np.log1p(-np.broadcast_to(state.lam, (state.n_causes,)))
    off = (1 - state.epsilon) * np.exp(state.links.T.astype(float) @ (active * log_fail[:, None]))
    cells = (rng.random(off.shape) >= off).astype(np.uint8)
    return cells if holes is None else np.where(holes, np.uint8(2), cells)


def moments(state, cells, n_trials):
    linked = state.linked
    z = state.links[linked].astype(float)
    active = unpack(state.active, n_trials)[linked]
    lam, p = (
        (float(value[linked].mean()) if linked.any() else 0.5) if isinstance(value, np.ndarray) else value
        for value in (state.lam, state.p)
    )
    k, links, ones, on = len(z), z.sum(), float((cells == 1).sum()), float(active.sum())
    shared = (z.T @ z)[0, -1] if k else 0.0
    return [
        k,
        k * k,
        links,
        links**2,
        state.epsilon,
        state.epsilon**2,
        lam,
        lam**2,
        p,
        p * p,
        state.alpha,
        np.log(state.alpha),
        ones,
        ones**2,
        cells[0, 0] == 1,
        (cells[0] == 1) @ (cells[-1] == 1),
        on,
        on**2,
        shared,
        z[:, 0].sum() if k else 0.0,
        state.epsilon * ones,
        lam * ones,
        p * on,
        state.alpha * k,
        k * ones,
        lam * state.epsilon,
        (z.sum(axis=1) == 1).sum() if k else 0.0,
    ]


def joint_test(settings, *, n_observed, n_trials, draws, seed, holes=None, batches=50):
    """Standardised differences of every moment: prior draws minus chain, in standard errors."""
    rng = np.random.default_rng(seed)
    ahead = np.empty((draws, len(NAMES)))
    for j in range(draws):
        state = prior_state(settings, n_observed, n_trials, rng)
        ahead[j] = moments(state, draw_cells(state, n_trials, rng, holes), n_trials)
    chain = np.empty((draws, len(NAMES)))
    state = prior_state(settings, n_observed, n_trials, rng)
    cells = draw_cells(state, n_trials, rng, holes)
    make = gibbs if settings.unbounded else rjmcmc
    for j in range(draws):
        sampler = make(Observations.of(np.ascontiguousarray(cells.T)), settings)
        state, _ = sampler.step(rng, state)
        cells = draw_cells(state, n_trials, rng, holes)
        chain[j] = moments(state, cells, n_trials)
    size = draws // batches
    means = chain[: size * batches].reshape(batches, size, -1).mean(axis=1)
    error = np.sqrt(means.var(axis=0, ddof=1) / batches + ahead.var(axis=0, ddof=1) / draws)
    moving = error > 1e-12
    difference = ahead.mean(axis=0) - chain.mean(axis=0)
    return {name: float(d / e) for name, d, e, use in zip(NAMES, difference, error, moving, strict=True) if use}
