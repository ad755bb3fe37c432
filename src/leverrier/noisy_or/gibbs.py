"""Gibbs for the unbounded model [wood2006 algorithm 2], with split–merge and redrawn pairs."""

from __future__ import annotations

import numpy as np

from leverrier.noisy_or.moves.births import solo_birth_or_death
from leverrier.noisy_or.moves.sweeps import visit_active, visit_rows
from leverrier.noisy_or.observations import Observations, Words
from leverrier.noisy_or.sampler import Sampler, row_order, sampler_of
from leverrier.noisy_or.sampler_state import Columns, Settings


def gibbs(observations: Observations, settings: Settings) -> Sampler:
    """The sampler for these signs."""

    def sweep(columns: Columns, rng: np.random.Generator, stream: Words) -> int:
        born = 0
        visit_rows(columns, observations, settings, row_order(observations.n_observed, rng), stream)
        if not settings.shared:  # a new cause brings its own numbers, so births are proposals
            for i in row_order(observations.n_observed, rng):
                born += solo_birth_or_death(columns, observations, settings, int(i), rng, stream)
        visit_active(columns, observations, stream)
        return born

    return sampler_of(observations, settings, sweep)
