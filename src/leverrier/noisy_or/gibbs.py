"""Gibbs for the unbounded model [wood2006 algorithm 2], with split–merge and redrawn pairs."""

from __future__ import annotations

import numpy as np

from leverrier.noisy_or.moves.births import solo_birth_or_death
from leverrier.noisy_or.moves.hyper import draw_numbers
from leverrier.noisy_or.moves.split_merge import redraw_pair, split_or_merge
from leverrier.noisy_or.moves.sweeps import visit_active, visit_rows
from leverrier.noisy_or.observations import Observations
from leverrier.noisy_or.sampler import Info, Sampler, log_joint_of, new_stream, start_state
from leverrier.noisy_or.sampler_state import Columns, Settings, State


def gibbs(observations: Observations, settings: Settings) -> Sampler:
    """The sampler for these signs."""

    def init(rng: np.random.Generator, start: int = 0) -> State:
        return start_state(observations, settings, rng, start)

    def step(rng: np.random.Generator, state: State) -> tuple[State, Info]:
        columns = Columns(state, observations, settings)
        stream = new_stream(rng)
        born = taken = 0
        with np.errstate(over="ignore"):  # the stream's additions wrap around; only without the compiler does it show
            visit_rows(columns, observations, settings, row_order(observations.n_observed, rng), stream)
            if not settings.shared:  # a new cause brings its own numbers, so births are proposals
                for i in row_order(observations.n_observed, rng):
                    born += solo_birth_or_death(columns, observations, settings, int(i), rng, stream)
            visit_active(columns, observations, stream)
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
