"""What every sampler here is: `init` gives a state, `step` a next one that leaves the posterior invariant."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leverrier.errors import OptionError
from leverrier.models.noisy_or.causes_prior import Beta, Gamma
from leverrier.noisy_or.moves.hyper import draw_numbers, log_likelihood_of, n_active
from leverrier.noisy_or.moves.link_prior import log_structure
from leverrier.noisy_or.moves.split_merge import redraw_pair, split_or_merge
from leverrier.noisy_or.observations import Observations, Words, pack
from leverrier.noisy_or.sampler_state import Columns, Settings, State


@dataclass(frozen=True)
class Info:
    """What a step did."""

    split_merge: int = 0
    """Split and merge proposals taken."""
    births: int = 0
    """Birth and death proposals taken, where they are proposals."""


@dataclass(frozen=True)
class Sampler:
    """`init(rng, start)` and `step(rng, state)`: the same generator and state give the same answer."""

    init: Callable[[np.random.Generator, int], State]
    step: Callable[[np.random.Generator, State], tuple[State, Info]]
    log_joint: Callable[[State], float]
    """log P(X, Y, Z, numbers) of a state; causes without links are left out, and causes in any order are one."""


Sweep = Callable[[Columns, np.random.Generator, Words], int]
"""One visit of everything that a kind of sampler visits in its own order: births and deaths taken."""


def sampler_of(observations: Observations, settings: Settings, sweep: Sweep) -> Sampler:
    """A sampler by its sweep: split–merge, redrawn pairs and the numbers follow it."""

    def init(rng: np.random.Generator, start: int = 0) -> State:
        return start_state(observations, settings, rng, start)

    def step(rng: np.random.Generator, state: State) -> tuple[State, Info]:
        columns = Columns(state, observations, settings)
        stream = new_stream(rng)
        taken = 0
        with np.errstate(over="ignore"):  # the stream's additions wrap around; only without the compiler does it show
            born = sweep(columns, rng, stream)
            for _ in range(settings.split_merge):
                taken += split_or_merge(columns, observations, settings, rng, stream)
            for _ in range(settings.pairs):
                redraw_pair(columns, observations, settings, rng, stream)
            draw_numbers(columns, observations, settings, rng, stream)
        return columns.freeze(), Info(taken, born)

    def log_joint(state: State) -> float:
        return log_joint_of(Columns(state, observations, settings), observations, settings)

    return Sampler(init, step, log_joint)


def row_order(n_observed: int, rng: np.random.Generator) -> np.ndarray:
    """Every row once, in random order."""
    return rng.permutation(n_observed)


def new_stream(rng: np.random.Generator) -> Words:
    """A kernel's own random stream, drawn from the generator."""
    return rng.integers(0, 2**64, 4, dtype=np.uint64)


def start_state(observations: Observations, settings: Settings, rng: np.random.Generator, n_causes: int) -> State:
    """No links at all, or `n_causes` random ones [wood2006 section 5]; the finite model has at least one column."""
    if n_causes < 0:
        raise OptionError(f"start={n_causes}: 0 (no links) or a number of random causes is expected")
    numbers = {
        "epsilon": _first(settings.epsilon, 0.05),
        "lam": _first(settings.lam, 0.8),
        "p": _first(settings.p, 0.1),
    }
    n_columns = n_causes if settings.unbounded else max(n_causes, 1)
    links = (rng.random((n_columns, observations.n_observed)) < 0.5).astype(np.uint8)
    if n_causes == 0:
        links[:] = 0
    else:
        lonely = ~links.any(axis=1)
        links[lonely, rng.integers(observations.n_observed, size=int(lonely.sum()))] = 1
    active = pack(rng.random((n_columns, observations.n_trials)) < numbers["p"])
    return State(
        links,
        active,
        numbers["epsilon"],
        np.full(n_columns, numbers["lam"]) if settings.each_lam else numbers["lam"],
        np.full(n_columns, numbers["p"]) if settings.each_p else numbers["p"],
        _first(settings.alpha, 1.0),
    )


def _first(number: Beta | Gamma | float, guess: float) -> float:
    return guess if isinstance(number, Beta | Gamma) else float(number)


def log_joint_of(columns: Columns, observations: Observations, settings: Settings) -> float:
    """log P(X, Y, Z, numbers). Empty columns of the finite model are counted in Z and left out of Y."""
    n = columns.size
    degree = columns.degree[:n]
    linked = degree > 0
    on, p = n_active(columns)[linked], columns.p[:n][linked]
    total = log_likelihood_of(columns, observations)
    total += float(np.sum(on * np.log(p) + (observations.n_trials - on) * np.log1p(-p)))
    total += log_structure(degree, observations.n_observed, columns.alpha, settings)
    total += math.lgamma(n + 1) - math.lgamma(n - len(p) + 1)  # any order of the linked columns
    for prior, value in (
        (settings.epsilon, columns.epsilon),
        (settings.lam, columns.lam[:n][linked] if settings.each_lam else columns.shared_lam),
        (settings.p, p if settings.each_p else columns.shared_p),
    ):
        if isinstance(prior, Beta) and value is not None:
            total += prior.log_density(value)
    return total + (settings.alpha.log_density(columns.alpha) if isinstance(settings.alpha, Gamma) else 0.0)
