"""Births and deaths of single causes: with one link attached, and the source's with none."""

from __future__ import annotations

import math

import numpy as np

from leverrier.kernels.noisy_or.dense_moves import draw_solo, row_off, solo_gain
from leverrier.noisy_or.moves.link_prior import log_structure
from leverrier.noisy_or.observations import Observations, Words, pack
from leverrier.noisy_or.sampler_state import Columns, Settings


def solo_birth_or_death(
    columns: Columns, observations: Observations, settings: Settings, i: int, rng: np.random.Generator, stream: Words
) -> bool:
    """Propose a cause of variable i alone, or to remove one, its y summed out [wood2006 section 7's wish].

    Forward: one of K+1 places. Back: one of row i's n + 1 own causes.
    """
    n, size = observations.n_observed, columns.size
    old = columns.degree[:size]
    own = np.flatnonzero((old == 1) & (columns.links[:size, i] == 1))
    off = np.empty(observations.n_trials)
    birth = rng.random() < 0.5
    if birth:
        k = -1
        lam, p = columns.new_numbers(rng)
        fewer, more, n_own = old, np.append(old, 1), len(own)
    else:
        if len(own) == 0:
            return False
        k = int(rng.choice(own))
        lam, p = columns.lam[k], columns.p[k]
        fewer, more, n_own = np.delete(old, k), old, len(own) - 1
    row_off(columns.links, columns.active, 1 - columns.lam[:size], size, i, columns.epsilon, k, -1, off)
    log_ratio = solo_gain(observations.cells[i], off, lam, p)
    log_ratio += log_structure(more, n, columns.alpha, settings) - log_structure(fewer, n, columns.alpha, settings)
    log_ratio += math.log(len(more)) - math.log(n_own + 1)
    if math.log(1 - rng.random()) >= (log_ratio if birth else -log_ratio):
        return False
    if birth:
        links = np.zeros(n, np.uint8)
        links[i] = 1
        k = columns.insert(links, np.zeros(observations.n_words, np.uint64), lam, p, rng)
        draw_solo(observations.cells[i], off, lam, p, columns.active[k], stream)
    else:
        columns.remove(k)
    return True


def empty_birth_or_death(
    columns: Columns, observations: Observations, settings: Settings, rng: np.random.Generator
) -> bool:
    """The source's move: pick a column; if it has links propose a new empty cause, else to remove it [eqs. 6–9].

    The choice is on the column's number of links m_k (section 4.1; algorithm 1 prints m_{i,k}). Eqs. 8 and 9
    leave out the K+1 places a new column may take: with eq. 5, which is of columns in order, they would sample
    P(K)/K! instead of P(K). Ours count them; enumeration tells the two apart.
    """
    n, size = observations.n_observed, columns.size
    old = columns.degree[:size]
    n_linked = int(np.count_nonzero(old))
    k = int(rng.integers(size))
    structure = log_structure(old, n, columns.alpha, settings)
    if old[k] > 0:
        new = np.append(old, 0)
        log_ratio = log_structure(new, n, columns.alpha, settings) - structure
        log_ratio += math.log(size) - math.log(n_linked)
        if math.log(1 - rng.random()) >= log_ratio:
            return False
        lam, p = columns.new_numbers(rng)
        active = pack(rng.random((1, observations.n_trials)) < p)[0]
        columns.insert(np.zeros(n, np.uint8), active, lam, p, rng)
        return True
    if size == 1 or n_linked == 0:
        return False
    log_ratio = log_structure(np.delete(old, k), n, columns.alpha, settings) - structure
    log_ratio += math.log(n_linked) - math.log(size - 1)
    if math.log(1 - rng.random()) >= log_ratio:
        return False
    columns.remove(k)
    return True
