"""One pass over the links and one over the active causes: the packed kernels where λ is shared, the dense ones else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.noisy_or_dense import sweep_active_dense, sweep_links_dense
from leverrier.kernels.noisy_or_levels import fill_steps
from leverrier.kernels.noisy_or_sweep import sweep_active, sweep_active_wide, sweep_links
from leverrier.sampling.observations import Observations, Words, pack
from leverrier.sampling.state import ROOM, Columns, Settings
from leverrier.sampling.structure import link_log_odds


def step_table(epsilon: float, lam: float, size: int) -> NDArray[np.float64]:
    """What one more cause adds to log P(x = 1), as differences over the number already there [wood2006 eq. 3]."""
    table = np.empty(size)
    fill_steps(epsilon, lam, table)
    return table


def birth_rate(alpha: float, n_observed: int) -> float:
    """New causes of the last customer are Poisson(α/N) a priori [wood2006 section 4.2]."""
    return alpha / n_observed


def visit_rows(
    columns: Columns, observations: Observations, settings: Settings, rows: NDArray[np.int64], stream: Words
) -> None:
    """Draw the links of these rows in this order; in the unbounded model with shared numbers, births too."""
    n_observed = observations.n_observed
    log_odds = link_log_odds(n_observed, max(columns.size, 1), columns.alpha, settings)
    lam = columns.shared_lam
    if not isinstance(lam, float):
        order = np.empty(columns.size, np.int64)
        sweep_links_dense(
            observations.cells, columns.links, columns.active, columns.degree, columns.size, rows, settings.unbounded,
            settings.random_order, log_odds, 1 - columns.lam, columns.epsilon, np.empty(observations.n_trials), order,
            stream,
        )  # fmt: skip
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
            observations.ones, observations.zeros, columns.links, columns.active, columns.degree, columns.size, rows,
            done, settings.unbounded, settings.random_order, log_odds, step_table(columns.epsilon, lam, capacity + 1),
            np.log1p(-lam), rate, columns.epsilon, lam, p, observations.n_trials,
            np.empty((capacity + 1, observations.n_words), np.uint64), np.empty(observations.n_words, np.uint64),
            np.empty(capacity, np.int64), np.empty(capacity + 1, np.int64), np.empty(ROOM), stream,
        )  # fmt: skip


def visit_active(
    columns: Columns, observations: Observations, rng: np.random.Generator, stream: Words
) -> None:
    """Draw every cause's activity in every trial, causes in random order."""
    n = columns.size
    if n == 0:
        return
    order = rng.permutation(n)
    links, active, p = columns.links[:n], columns.active[:n], columns.p[:n]
    log_odds = np.log(p) - np.log1p(-p)
    lam = columns.shared_lam
    if not isinstance(lam, float):
        scratch = np.empty(observations.n_observed)
        sweep_active_dense(
            observations.cells, links, active, order, log_odds, 1 - columns.lam[:n], columns.epsilon, scratch, stream
        )
        return
    step, miss, masks = step_table(columns.epsilon, lam, n + 1), np.log1p(-lam), pack(links)
    ones, zeros = observations.ones_by_trial, observations.zeros_by_trial
    n_words = ones.shape[1]
    if n_words == 1:
        above = np.empty(n + 1, np.uint64)
        sweep_active(ones[:, 0], zeros[:, 0], masks[:, 0], active, order, log_odds, step, miss, above, stream)
    else:
        above, tops = np.empty((n_words, n + 1), np.uint64), np.empty(n_words, np.int64)
        sweep_active_wide(ones, zeros, masks, active, order, log_odds, step, miss, above, tops, stream)
