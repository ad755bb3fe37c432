"""Reversible jump for the finite model with an unknown number of causes [wood2006 algorithm 1]."""

from __future__ import annotations

import numpy as np

from leverrier.noisy_or.moves.births import empty_birth_or_death, solo_birth_or_death
from leverrier.noisy_or.moves.sweeps import visit_active, visit_rows
from leverrier.noisy_or.observations import Observations, Words
from leverrier.noisy_or.sampler import Sampler, row_order, sampler_of
from leverrier.noisy_or.sampler_state import Columns, Settings


def rjmcmc(observations: Observations, settings: Settings) -> Sampler:
    """The sampler for these signs."""

    def sweep(columns: Columns, rng: np.random.Generator, stream: Words) -> int:
        born = 0
        for i in row_order(observations.n_observed, rng):
            born += empty_birth_or_death(columns, observations, settings, rng)
            if settings.solo:
                born += solo_birth_or_death(columns, observations, settings, int(i), rng, stream)
            visit_rows(columns, observations, settings, np.array([i]), stream)
            if settings.active_each_row:
                visit_active(columns, observations, stream)
        if not settings.active_each_row:
            visit_active(columns, observations, stream)
        return born

    return sampler_of(observations, settings, sweep)
