"""Fit the open families of a graph by EM from several starts, and judge the best by the Cheeseman–Stutz score."""

import math

import numpy as np
from numba import njit

from leverrier.kernels.climbs.blanket_rows import blanket_of, distinct_on, find_bases, lay_out
from leverrier.kernels.climbs.hidden_em import climb_parameters, m_step, posteriors_of
from leverrier.kernels.climbs.soft_scores import alpha_of_cell, score_child, score_own

SMOOTHING = 0.1  # in each cell of an assignment's counts: EM never leaves a zero
LEAST = 1e-12
NOTHING, ASSIGNED, EXPECTED = 0, 1, 2  # what the posteriors given are: none, a state of each row, expectations


@njit(cache=True, nogil=True)
def fill_spans(nodes, begins, n_open, states, h, stride, spans):
    """See hidden_em.py."""
    for f in range(n_open):
        v = nodes[f]
        r = states[v] if v < h else 1
        spans[f, 0] = begins[f]
        spans[f, 1] = (begins[f + 1] - begins[f]) // (r * stride)
        spans[f, 2] = r if v < h else 0


@njit(cache=True, nogil=True, error_model="numpy")
def random_start(order, nodes, spans, n_hidden, stride, stream, theta):
    """Tables drawn evenly from all distributions: exponential numbers in the order of the nodes given, each family's
    with its rows first, then the hidden states, then the child's. False if there are too few numbers."""
    at = 0
    for v in order:
        for f in range(spans.shape[0]):
            if nodes[f] != v:
                continue
            begin, rows, r = spans[f, 0], spans[f, 1], max(spans[f, 2], 1)
            if at + rows * n_hidden * r > stream.size:
                return False
            for j in range(rows):
                for u in range(n_hidden):
                    for k in range(r):
                        theta[begin + (j * r + k) * stride + u] = stream[at] + LEAST
                        at += 1
    m_step(spans, n_hidden, stride, theta, theta)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def start_from(posterior, kind, ids, weights, count, bases, spans, n_hidden, stride, prior, theta):
    """Tables from the rows' posteriors and a pseudo-count."""
    n_open = spans.shape[0]
    shares = np.zeros((count, stride))
    for i in range(ids.size):
        for u in range(n_hidden):
            shares[ids[i], u] += weights[i] * posterior[i, u]
    for f in range(n_open):
        begin, rows, r = spans[f, 0], spans[f, 1], spans[f, 2]
        own = r == 0
        pseudo = SMOOTHING
        if kind == EXPECTED:
            pseudo = alpha_of_cell(prior, n_hidden, rows) if own else alpha_of_cell(prior, r, rows * n_hidden)
        for k in range(begin, begin + rows * max(r, 1) * stride, stride):
            for u in range(n_hidden):
                theta[k + u] = pseudo
    for b in range(count):
        for f in range(n_open):
            t = bases[b * n_open + f]
            for u in range(n_hidden):
                theta[t + u] += shares[b, u]
    m_step(spans, n_hidden, stride, theta, theta)


@njit(cache=True, nogil=True, error_model="numpy")
def open_worth(explained, spans, n_hidden, stride, prior, theta, counts):
    """The open families' scores on their expected counts, and the entropy of the posteriors."""
    worth = explained
    for k in range(counts.size):
        if counts[k] > 0.0:
            worth -= counts[k] * math.log(theta[k])
    for f in range(spans.shape[0]):
        begin, rows, r = spans[f, 0], spans[f, 1], spans[f, 2]
        if r == 0:
            worth += score_own(counts[begin:], rows, n_hidden, stride, prior)
        else:
            worth += score_child(counts[begin:], rows, r, stride, rows * n_hidden, prior)
    return worth


@njit(cache=True, nogil=True, error_model="numpy")
def fit_open(
    codes, weights, states, parents, order, sizes, prior, tolerances, streams, n_starts, kind, slots, posterior, state
):
    """The best of so many starts: the first from the posteriors given, if any are, the others at random. The posteriors
    become those of the best. Gives its score without the closed families; ∞ if random numbers ran out."""
    h = codes.shape[0]
    n_hidden, stride, most = sizes[0], sizes[1], sizes[6]
    nodes, begins = np.empty(h + 1, dtype=np.int64), np.empty(h + 2, dtype=np.int64)
    steps = np.empty((h + 1, h), dtype=np.int64)
    n_open = lay_out(parents, h, states, stride, nodes, begins, steps)
    rows = weights.size
    ids, example, totals = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64), np.empty(rows)
    count = distinct_on(blanket_of(parents, h), codes, states, weights, slots, ids, example, totals)
    bases = np.empty(count * n_open, dtype=np.int64)
    find_bases(codes, example, count, n_open, begins, steps, bases)
    spans = np.empty((n_open, 3), dtype=np.int64)
    fill_spans(nodes, begins, n_open, states, h, stride, spans)
    best, best_counts, best_value = np.zeros(begins[n_open]), np.zeros(begins[n_open]), -np.inf
    for start in range(n_starts):
        theta, counts = np.zeros(begins[n_open]), np.zeros(begins[n_open])
        if start == 0 and kind != NOTHING:
            start_from(posterior, kind, ids, weights, count, bases, spans, n_hidden, stride, prior, theta)
        elif not random_start(order, nodes, spans, n_hidden, stride, streams[start], theta):
            return np.inf
        value, done = climb_parameters(
            bases, totals, count, spans, n_hidden, stride, tolerances[1], tolerances[0], most, theta, counts
        )
        state[3] += done
        state[4] += done * count
        if value > best_value:
            best, best_counts, best_value = theta, counts, value
    found = np.empty((count, stride))
    posteriors_of(bases, n_open, totals, count, stride, best, found)
    for i in range(rows):
        for u in range(stride):
            posterior[i, u] = found[ids[i], u]
    return open_worth(best_value, spans, n_hidden, stride, prior, best, best_counts)
