"""One pass over the links and one over the active causes: the packed kernels where λ is shared, the dense ones else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.noisy_or.dense_moves import sweep_active_dense, sweep_links_dense
from leverrier.kernels.noisy_or.packed_sweeps import sweep_active, sweep_active_wide, sweep_links
from leverrier.noisy_or.moves.link_prior import pseudo_links
from leverrier.noisy_or.observations import Observations, Words
from leverrier.noisy_or.sampler_state import ROOM, Columns, Settings


def birth_rate(alpha: float, n_observed: int) -> float:
    """New causes of the last customer are Poisson(α/N) a priori [wood2006 section 4.2]."""
    return alpha / n_observed


def visit_rows(
    columns: Columns, observations: Observations, settings: Settings, rows: NDArray[np.int64], stream: Words
) -> None:
    """Draw the links of these rows in this order; in the unbounded model with shared numbers, births too."""
    n_observed, n_words, n_trials = observations.n_observed, observations.n_words, observations.n_trials
    pseudo = pseudo_links(columns.size, columns.alpha, settings)
    log_odds = np.empty(n_observed)
    lam = columns.shared_lam
    if not isinstance(lam, float):
        sweep_links_dense(
            observations.cells,
            columns.links,
            columns.active,
            columns.degree,
            columns.size,
            rows,
            settings.unbounded,
            pseudo,
            1 - columns.lam[: columns.size],
            columns.epsilon,
            np.empty(n_trials),
            log_odds,
            stream,
        )
        return
    births = settings.unbounded and settings.shared
    rate = birth_rate(columns.alpha, n_observed) if births else 0.0
    p = columns.shared_p if isinstance(columns.shared_p, float) else 0.5
    done = 0
    while done < len(rows):
        if births and columns.size + ROOM > len(columns.degree):
            columns.grow()
        capacity = len(columns.degree)
        done, columns.size = sweep_links(
            observations.ones,
            observations.zeros,
            columns.links,
            columns.active,
            columns.degree,
            columns.size,
            rows,
            done,
            settings.unbounded,
            pseudo,
            rate,
            columns.epsilon,
            lam,
            p,
            n_trials,
            np.empty((capacity + 1, n_words), np.uint64),
            np.empty(n_words, np.uint64),
            np.empty(capacity + 1, np.int64),
            np.empty(capacity + 1),
            log_odds,
            np.empty(ROOM),
            stream,
        )


def visit_active(columns: Columns, observations: Observations, stream: Words) -> None:
    """Draw every cause's activity in every trial."""
    n = columns.size
    if n == 0:
        return
    links, active, p = columns.links[:n], columns.active[:n], columns.p[:n]
    lam = columns.shared_lam
    if not isinstance(lam, float):
        scratch = np.empty(observations.n_observed)
        sweep_active_dense(observations.cells, links, active, p, 1 - columns.lam[:n], columns.epsilon, scratch, stream)
        return
    ones, zeros = observations.ones_by_trial, observations.zeros_by_trial
    n_words = ones.shape[1]
    epsilon, step = columns.epsilon, np.empty(n + 1)
    if n_words == 1:
        masks, above = np.empty((2, n + 1), np.uint64)
        sweep_active(ones.ravel(), zeros.ravel(), links, active, p, epsilon, lam, step, masks[:n], above, stream)
    else:
        masks, above = np.empty((n, n_words), np.uint64), np.empty((n_words, n + 1), np.uint64)
        tops = np.empty(n_words, np.int64)
        sweep_active_wide(ones, zeros, links, active, p, epsilon, lam, step, masks, above, tops, stream)
