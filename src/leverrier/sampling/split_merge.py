"""Moves on two causes at once with both their y summed out, drawn again exactly afterwards.

Plain flips cannot leave a structure in which two causes stand for one or one for two: every step between would
have to explain the same trials worse. With y summed out the trials sort themselves.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.noisy_or_dense import rows_off
from leverrier.kernels.noisy_or_pair import allocate, draw_pair, redraw_links, together
from leverrier.sampling.observations import Observations, Words
from leverrier.sampling.state import Columns, Settings
from leverrier.sampling.structure import link_log_odds, log_structure

NOBODY = -1


def off_without(
    columns: Columns, observations: Observations, rows: NDArray[np.int64], a: int, b: int
) -> NDArray[np.float64]:
    """P(x = 0) of these rows, (rows, trials), as if causes a and b were not there."""
    off = np.empty((len(rows), observations.n_trials))
    rows_off(columns.links, columns.active, columns.lam, columns.size, rows, columns.epsilon, a, b, off)
    return off


def split_or_merge(
    columns: Columns, observations: Observations, settings: Settings, rng: np.random.Generator, stream: Words
) -> bool:
    """One proposal: half the time to split a cause, half the time to merge two. Returns whether it was taken."""
    linked = columns.degree[: columns.size].nonzero()[0]
    n = len(linked)
    first = int(rng.random() * n)
    if rng.random() < 0.5:
        return n > 0 and _split(columns, observations, settings, rng, stream, int(linked[first]), n)
    second = (first + 1 + int(rng.random() * (n - 1))) % max(n, 1)
    return n > 1 and _merge(
        columns, observations, settings, rng, stream, int(linked[first]), int(linked[second]), n
    )  # fmt: skip


def _split(
    columns: Columns, observations: Observations, settings: Settings, rng: np.random.Generator, stream: Words, a: int,
    n_linked: int,
) -> bool:  # fmt: skip
    """Send each of a's children to a, to a new cause b, or to both."""
    cells = observations.cells
    lam_b, p_b = columns.new_numbers(rng)
    lam_a, p_a = columns.lam[a], columns.p[a]
    rows = rng.permutation(columns.links[a].nonzero()[0])
    off = off_without(columns, observations, rows, a, NOBODY)
    one, two = np.empty((2, 4, observations.n_trials))
    before = together(cells, off, rows, 1 - lam_a, p_a, p_b, one)
    kinds = np.empty(len(rows), np.int64)
    log_q, after = allocate(cells, off, rows, kinds, False, 1 - lam_a, 1 - lam_b, p_a, p_b, two, stream)
    size_a, size_b = np.count_nonzero(kinds & 1), np.count_nonzero(kinds & 2)
    old = columns.degree[: columns.size]
    taken = size_a > 0 and size_b > 0
    if taken:
        new = np.append(old, size_b)
        new[a] = size_a
        log_ratio = after - before - log_q + _move_ratio(old, new, n_linked, observations, columns.alpha, settings)
        taken = math.log(1 - rng.random()) < log_ratio
    empty = np.zeros(observations.n_observed, np.uint8)
    b = columns.append(empty, np.zeros(observations.n_words, np.uint64), lam_b, p_b)
    if taken:
        columns.links[a, rows], columns.links[b, rows] = kinds & 1, kinds >> 1
        columns.degree[a], columns.degree[b] = size_a, size_b
    draw_pair(two if taken else one, columns.active[a], columns.active[b], stream)
    if not taken:
        columns.remove(b)
    return taken


def _merge(
    columns: Columns, observations: Observations, settings: Settings, rng: np.random.Generator, stream: Words, a: int,
    b: int, n_linked: int,
) -> bool:  # fmt: skip
    """Give a the children of both and remove b."""
    cells = observations.cells
    union = columns.links[a] | columns.links[b]
    rows = rng.permutation(union.nonzero()[0])
    off = off_without(columns, observations, rows, a, b)
    fail_a, fail_b, p_a, p_b = 1 - columns.lam[a], 1 - columns.lam[b], columns.p[a], columns.p[b]
    one, two = np.empty((2, 4, observations.n_trials))
    after = together(cells, off, rows, fail_a, p_a, p_b, one)
    kinds = columns.links[a, rows] + 2 * columns.links[b, rows].astype(np.int64)
    log_q, before = allocate(cells, off, rows, kinds, True, fail_a, fail_b, p_a, p_b, two, stream)
    old = columns.degree[: columns.size]
    new = np.delete(old, b)
    new[a - (a > b)] = len(rows)
    log_ratio = after - before + log_q - _move_ratio(new, old, n_linked - 1, observations, columns.alpha, settings)
    taken = math.log(1 - rng.random()) < log_ratio
    draw_pair(one if taken else two, columns.active[a], columns.active[b], stream)
    if taken:
        columns.links[a] = union
        columns.degree[a] = len(rows)
        columns.remove(b)
    return taken


def _move_ratio(
    one: NDArray[np.int64], two: NDArray[np.int64], n_linked: int, observations: Observations, alpha: float,
    settings: Settings,
) -> float:  # fmt: skip
    """Prior and choice part of a split's log acceptance; `one` are the degrees before it, `two` those after.

    Forward: one of K₊ causes, one of K+1 places. Back: an ordered pair of the K₊+1 causes, the first keeps its place.
    """
    n = observations.n_observed
    prior = log_structure(two, n, alpha, settings) - log_structure(one, n, alpha, settings)
    return prior + math.log(len(one) + 1) - math.log(n_linked + 1)


def redraw_pair(
    columns: Columns, observations: Observations, settings: Settings, rng: np.random.Generator, stream: Words
) -> None:
    """Draw the links of two causes again, row by row with both their y summed out, then their y."""
    n, n_observed = columns.size, observations.n_observed
    if n < 2:
        return
    a = int(rng.random() * n)
    b = (a + 1 + int(rng.random() * (n - 1))) % n
    off = off_without(columns, observations, np.arange(n_observed), a, b)
    weights = np.empty((4, observations.n_trials))
    degrees = columns.degree[[a, b]]
    log_odds = link_log_odds(n_observed, n, columns.alpha, settings)
    redraw_links(
        observations.cells, off, rng.permutation(n_observed), columns.links[a], columns.links[b], degrees,
        settings.unbounded, log_odds, 1 - columns.lam[a], 1 - columns.lam[b], columns.p[a], columns.p[b], weights, stream,
    )  # fmt: skip
    columns.degree[[a, b]] = degrees
    draw_pair(weights, columns.active[a], columns.active[b], stream)
