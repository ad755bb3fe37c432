"""Moves on two causes at once with both their y summed out, drawn again exactly afterwards.

Plain flips cannot leave a structure in which two causes stand for one or one for two: every step between would
have to explain the same trials worse. With y summed out the trials sort themselves.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.noisy_or.dense_moves import rows_off
from leverrier.kernels.noisy_or.pair_moves import allocate, draw_pair, redraw_links
from leverrier.noisy_or.moves.link_prior import log_structure, pseudo_links
from leverrier.noisy_or.observations import Observations, Words
from leverrier.noisy_or.sampler_state import Columns, Settings

NOBODY = -1
SPLIT = np.array([[0.85, 0.05, 0.05, 0.05], [0.1, 0.2, 0.2, 0.5]])
"""Chances of neither, a, b, both before looking: for a row not linked to the cause to be split, and for one linked."""
MERGE = np.array([[0.95, 0.05], [0.2, 0.8]])
"""The same for a row linked to neither of the two to be merged, and for one linked."""


def off_without(
    columns: Columns, observations: Observations, rows: NDArray[np.int64], a: int, b: int
) -> NDArray[np.float64]:
    """P(x = 0) of these rows, (rows, trials), as if causes a and b were not there."""
    off = np.empty((len(rows), observations.n_trials))
    rows_off(columns.links, columns.active, columns.lam[: columns.size], columns.size, rows, columns.epsilon, a, b, off)
    return off


def split_or_merge(
    columns: Columns, observations: Observations, settings: Settings, rng: np.random.Generator, stream: Words
) -> bool:
    """One proposal: half the time to split a cause, half the time to merge two. Returns whether it was taken.

    Both link all rows anew, one after another by their evidence: a merge must be able to drop a child that only one of
    the two wanted. The rows' order is random, those now linked first; the order that the way back would have used is
    drawn too, so both cancel.
    """
    linked = columns.degree[: columns.size].nonzero()[0]
    n = len(linked)
    first = int(rng.random() * n)
    if rng.random() < 0.5:
        return n > 0 and _split(columns, observations, settings, rng, stream, int(linked[first]), n)
    second = (first + 1 + int(rng.random() * (n - 1))) % max(n, 1)
    return n > 1 and _merge(columns, observations, settings, rng, stream, int(linked[first]), int(linked[second]), n)


def _order(linked: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """Random, linked rows first."""
    return np.argsort(rng.random(len(linked)) - linked)


def _split(
    columns: Columns,
    observations: Observations,
    settings: Settings,
    rng: np.random.Generator,
    stream: Words,
    a: int,
    n_linked: int,
) -> bool:
    """Share cause a's work between a and a new cause b."""
    cells, n = observations.cells, observations.n_observed
    lam_b, p_b = columns.new_numbers(rng)
    fail_a, p_a = 1 - columns.lam[a], columns.p[a]
    off = off_without(columns, observations, np.arange(n), a, NOBODY)
    one, two = np.empty((2, 4, observations.n_trials))
    united = columns.links[a].astype(np.int64)
    kinds = np.empty(n, np.int64)
    way = allocate(
        cells, off, _order(united > 0, rng), SPLIT[united], kinds, False, fail_a, 1 - lam_b, p_a, p_b, two, stream
    )
    back = allocate(
        cells,
        off,
        _order(kinds > 0, rng),
        MERGE[(kinds > 0).view(np.int8)],
        united,
        True,
        fail_a,
        1 - lam_b,
        p_a,
        p_b,
        one,
        stream,
    )
    size_a, size_b = int(np.count_nonzero(kinds & 1)), int(np.count_nonzero(kinds & 2))
    old = columns.degree[: columns.size]
    taken = size_a > 0 and size_b > 0
    if taken:
        new = np.append(old, size_b)
        new[a] = size_a
        log_ratio = way[1] - back[1] + back[0] - way[0]
        log_ratio += _move_ratio(old, new, n_linked, observations, columns.alpha, settings)
        taken = math.log(1 - rng.random()) < float(log_ratio)
    active_b = np.empty(observations.n_words, np.uint64)
    draw_pair(two if taken else one, columns.active[a], active_b, stream)
    if taken:
        columns.links[a], columns.degree[a] = kinds & 1, size_a
        columns.insert((kinds >> 1).astype(np.uint8), active_b, lam_b, p_b, rng)
    return taken


def _merge(
    columns: Columns,
    observations: Observations,
    settings: Settings,
    rng: np.random.Generator,
    stream: Words,
    a: int,
    b: int,
    n_linked: int,
) -> bool:
    """Give all the work of a and b to a, and remove b."""
    cells, n = observations.cells, observations.n_observed
    off = off_without(columns, observations, np.arange(n), a, b)
    fail_a, fail_b, p_a, p_b = 1 - columns.lam[a], 1 - columns.lam[b], columns.p[a], columns.p[b]
    one, two = np.empty((2, 4, observations.n_trials))
    kinds = columns.links[a] + 2 * columns.links[b].astype(np.int64)
    united = np.empty(n, np.int64)
    way = allocate(
        cells,
        off,
        _order(kinds > 0, rng),
        MERGE[(kinds > 0).view(np.int8)],
        united,
        False,
        fail_a,
        fail_b,
        p_a,
        p_b,
        one,
        stream,
    )
    back = allocate(
        cells, off, _order(united > 0, rng), SPLIT[united], kinds, True, fail_a, fail_b, p_a, p_b, two, stream
    )
    size = int(np.count_nonzero(united))
    taken = size > 0
    if taken:
        old = columns.degree[: columns.size]
        new = np.delete(old, b)
        new[a - (a > b)] = size
        log_ratio = way[1] - back[1] + back[0] - way[0]
        log_ratio -= _move_ratio(new, old, n_linked - 1, observations, columns.alpha, settings)
        taken = math.log(1 - rng.random()) < float(log_ratio)
    draw_pair(one if taken else two, columns.active[a], columns.active[b], stream)
    if taken:
        columns.links[a] = united
        columns.degree[a] = size
        columns.remove(b)
    return taken


def _move_ratio(
    one: NDArray[np.int64],
    two: NDArray[np.int64],
    n_linked: int,
    observations: Observations,
    alpha: float,
    settings: Settings,
) -> float:
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
    pseudo = pseudo_links(n, columns.alpha, settings)
    redraw_links(
        observations.cells,
        off,
        rng.permutation(n_observed),
        columns.links[a],
        columns.links[b],
        degrees,
        settings.unbounded,
        pseudo,
        1 - columns.lam[a],
        1 - columns.lam[b],
        columns.p[a],
        columns.p[b],
        weights,
        stream,
    )
    columns.degree[[a, b]] = degrees
    draw_pair(weights, columns.active[a], columns.active[b], stream)
