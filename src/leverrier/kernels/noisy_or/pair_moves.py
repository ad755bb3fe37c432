"""Two causes a and b with their y summed out: four terms a trial.

`weights[s, t]` is P(y_a, y_b | the rows taken in so far) at trial t, s = y_a + 2 y_b, summing to one over s.
Because P(x = 0) is a product, a row whose other causes give P(x = 0) = off has P(x = 0) = off times the mean over s
of what a and b let through: 1 − λ of each that is linked and active.
"""

import math

import numpy as np
from numba import njit

from leverrier.kernels.noisy_or.bit_levels import fill_log_odds
from leverrier.kernels.noisy_or.random_stream import uniform


@njit(cache=True, nogil=True)
def start_pair(weights, p_a, p_b):
    """Nothing taken in yet: the prior [wood2006 eq. 4]."""
    for t in range(weights.shape[1]):
        weights[0, t] = (1.0 - p_a) * (1.0 - p_b)
        weights[1, t] = p_a * (1.0 - p_b)
        weights[2, t] = (1.0 - p_a) * p_b
        weights[3, t] = p_a * p_b


@njit(cache=True, nogil=True)
def score_two(cells, off, weights, a, scores):
    """log P(row | the rows taken in) when it is linked to neither cause, and when to a, which lets `a` through."""
    total_0 = total_a = 0.0
    one_0 = one_a = 1.0
    for t in range(cells.size):
        off_0 = off[t]
        off_a = off_0 * (weights[0, t] + weights[2, t] + a * (weights[1, t] + weights[3, t]))
        if cells[t] == 0:
            one_0 *= off_0
            one_a *= off_a
        elif cells[t] == 1:
            one_0 *= 1.0 - off_0
            one_a *= 1.0 - off_a
        if t & 7 == 7 and min(one_0, one_a) < 1e-100:  # eight more factors cannot underflow
            total_0 += math.log(one_0)
            total_a += math.log(one_a)
            one_0 = one_a = 1.0
    scores[0] = total_0 + math.log(one_0)
    scores[1] = total_a + math.log(one_a)


@njit(cache=True, nogil=True)
def score_four(cells, off, weights, a, b, scores):
    """The same for neither, a, b and both linked; b lets `b` through."""
    total_0 = total_a = total_b = total_ab = 0.0
    one_0 = one_a = one_b = one_ab = 1.0
    for t in range(cells.size):
        none = weights[0, t]
        only_a = weights[1, t]
        only_b = weights[2, t]
        both = weights[3, t]
        off_0 = off[t]
        off_a = off_0 * (none + only_b + a * (only_a + both))
        off_b = off_0 * (none + only_a + b * (only_b + both))
        off_ab = off_0 * (none + a * only_a + b * (only_b + a * both))
        if cells[t] == 0:
            one_0 *= off_0
            one_a *= off_a
            one_b *= off_b
            one_ab *= off_ab
        elif cells[t] == 1:
            one_0 *= 1.0 - off_0
            one_a *= 1.0 - off_a
            one_b *= 1.0 - off_b
            one_ab *= 1.0 - off_ab
        if t & 7 == 7 and min(min(one_0, one_a), min(one_b, one_ab)) < 1e-100:
            total_0 += math.log(one_0)
            total_a += math.log(one_a)
            total_b += math.log(one_b)
            total_ab += math.log(one_ab)
            one_0 = one_a = one_b = one_ab = 1.0
    scores[0] = total_0 + math.log(one_0)
    scores[1] = total_a + math.log(one_a)
    scores[2] = total_b + math.log(one_b)
    scores[3] = total_ab + math.log(one_ab)


@njit(cache=True, nogil=True, error_model="numpy")  # so that the divisions vectorise
def take_in(cells, off, weights, a, b, out):
    """Multiply the row's likelihood into the weights, or divide it `out` again."""
    none = weights[0]
    only_a = weights[1]
    only_b = weights[2]
    both = weights[3]
    for t in range(cells.size):
        x = cells[t]
        sign = 1.0 if x == 0 else (-1.0 if x == 1 else 0.0)
        start = 0.0 if x == 0 else 1.0
        chance_0 = start + sign * off[t]  # P(x) is off, 1 − off, or 1 for a hole
        chance_a = start + sign * off[t] * a
        chance_b = start + sign * off[t] * b
        chance_ab = start + sign * off[t] * a * b
        if out:
            chance_0 = 1.0 / chance_0
            chance_a = 1.0 / chance_a
            chance_b = 1.0 / chance_b
            chance_ab = 1.0 / chance_ab
        chance_0 *= none[t]
        chance_a *= only_a[t]
        chance_b *= only_b[t]
        chance_ab *= both[t]
        scale = 1.0 / (chance_0 + chance_a + chance_b + chance_ab)
        none[t] = chance_0 * scale
        only_a[t] = chance_a * scale
        only_b[t] = chance_b * scale
        both[t] = chance_ab * scale


@njit(cache=True, nogil=True)
def allocate(cells, off, rows, prior, kinds, forced, fail_a, fail_b, p_a, p_b, weights, stream):
    """Link each row to neither cause, to a, to b or to both, one after another by how well that explains it.

    Returns (log q, log evidence). `kinds[i]` is 0, 1, 2 or 3; `prior[i]` holds the chances before the row is looked
    at, and with two of them the row goes to neither or to a. When `forced`, the kinds are given and log q is what
    choosing them would have had.
    """
    start_pair(weights, p_a, p_b)
    n_kinds = prior.shape[1]
    scores = np.empty(4)
    chances = np.empty(4)
    log_q = 0.0
    log_evidence = 0.0
    for r in range(rows.size):
        i = rows[r]
        if n_kinds == 4:
            score_four(cells[i], off[i], weights, fail_a, fail_b, scores)
        else:
            score_two(cells[i], off[i], weights, fail_a, scores)
        peak = -np.inf
        for kind in range(n_kinds):
            peak = max(peak, scores[kind])
        total = 0.0
        for kind in range(n_kinds):
            chances[kind] = prior[i, kind] * math.exp(scores[kind] - peak)
            total += chances[kind]
        if not forced:
            kinds[i] = pick(chances[:n_kinds], total, stream)
        kind = kinds[i]
        log_evidence += scores[kind]
        log_q += scores[kind] - peak + math.log(prior[i, kind] / total)
        take_in(cells[i], off[i], weights, fail_a if kind & 1 else 1.0, fail_b if kind & 2 else 1.0, False)
    return log_q, log_evidence


@njit(cache=True, nogil=True)
def pick(chances, total, stream):
    """An index with these chances."""
    u = uniform(stream) * total
    last = 0
    for kind in range(chances.size):
        if chances[kind] > 0.0:
            last = kind
            if u < chances[kind]:
                break
            u -= chances[kind]
    return last


@njit(cache=True, nogil=True)
def draw_pair(weights, active_a, active_b, stream):
    """Draw y_a and y_b from the weights."""
    for w in range(active_a.size):
        active_a[w] = 0
        active_b[w] = 0
    for t in range(weights.shape[1]):
        u = uniform(stream)
        bit = np.uint64(1) << np.uint64(t & 63)
        if u >= weights[0, t]:
            u -= weights[0, t]
            if u < weights[1, t]:
                active_a[t >> 6] |= bit
            elif u < weights[1, t] + weights[2, t]:
                active_b[t >> 6] |= bit
            else:
                active_a[t >> 6] |= bit
                active_b[t >> 6] |= bit


@njit(cache=True, nogil=True)
def redraw_links(
    cells, off, rows, links_a, links_b, degrees, unbounded, pseudo, fail_a, fail_b, p_a, p_b, weights, stream
):
    """Draw (z[i, a], z[i, b]) for the rows in turn, y_a and y_b summed out.

    `off` is of all variables, `degrees` both columns' numbers of links. In the unbounded model a last link stays.
    """
    start_pair(weights, p_a, p_b)
    for i in range(links_a.size):
        if links_a[i] or links_b[i]:
            take_in(cells[i], off[i], weights, fail_a if links_a[i] else 1.0, fail_b if links_b[i] else 1.0, False)
    log_odds = np.empty(links_a.size)
    fill_log_odds(pseudo, log_odds)
    scores = np.empty(4)
    for r in range(rows.size):
        i = rows[r]
        others_a = degrees[0] - links_a[i]
        others_b = degrees[1] - links_b[i]
        fixed_a = unbounded and others_a == 0
        fixed_b = unbounded and others_b == 0
        take_in(cells[i], off[i], weights, fail_a if links_a[i] else 1.0, fail_b if links_b[i] else 1.0, True)
        score_four(cells[i], off[i], weights, fail_a, fail_b, scores)
        peak = -np.inf
        for kind in range(4):
            a = kind & 1
            b = kind >> 1
            if (fixed_a and a != links_a[i]) or (fixed_b and b != links_b[i]):
                scores[kind] = -np.inf
                continue
            if a and not fixed_a:
                scores[kind] += log_odds[others_a]
            if b and not fixed_b:
                scores[kind] += log_odds[others_b]
            peak = max(peak, scores[kind])
        total = 0.0
        for kind in range(4):
            scores[kind] = math.exp(scores[kind] - peak)
            total += scores[kind]
        chosen = pick(scores, total, stream)
        links_a[i] = chosen & 1
        links_b[i] = chosen >> 1
        degrees[0] = others_a + links_a[i]
        degrees[1] = others_b + links_b[i]
        take_in(cells[i], off[i], weights, fail_a if links_a[i] else 1.0, fail_b if links_b[i] else 1.0, False)
