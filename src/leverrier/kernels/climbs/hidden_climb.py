"""Structural EM with one hidden variable: fit, search, fit again, until the score no longer rises.

The climb ends before its time where a family's score is missing: whoever called looks it up and calls again.

sizes:  hidden states, stride, most parents, most cells, rounds, room for a table, most evaluations of a fit
state:  phase, rounds done, score reached, evaluations, rows looked at, graphs seen, missing
"""

import numpy as np
from numba import njit

from leverrier.kernels.climbs.hidden_fit import EXPECTED, fit_open
from leverrier.kernels.climbs.hidden_moves import search_round
from leverrier.kernels.climbs.known_families import known_score
from leverrier.kernels.climbs.move_gains import lacks

DONE, LIMIT, MISSING, TOO_FEW_NUMBERS, PAUSED = 0, 1, 2, 3, 4
PHASE, ROUND, WORTH, EVALUATIONS, LOOKED_AT, SEEN, LACKING = 0, 1, 2, 3, 4, 5, 6
SMALLEST_GAIN = 1e-3
PATIENCE = 2e7  # rows looked at before whoever called may have another look at the clock
MIX = np.int64(-7046029254386353131)


@njit(cache=True, nogil=True)
def arc_number(parent, child):
    """A number that stands for an arc: a graph's is those of its arcs, XORed."""
    h = (np.int64(parent) * np.int64(1_000_003) + np.int64(child) + np.int64(1)) * MIX
    h ^= (h >> 31) & 0x1FFFFFFFF
    h *= np.int64(-4658895280553007687)
    h ^= (h >> 29) & 0x7FFFFFFFF
    return h


@njit(cache=True, nogil=True)
def graph_number(parents, inside, places):
    """Of the arcs into these nodes."""
    total = np.int64(0)
    for c in range(parents.size):
        if inside >> c & 1:
            for p in range(parents.size):
                if parents[c] >> p & 1:
                    total ^= arc_number(places[p], places[c])
    return total


@njit(cache=True, nogil=True)
def closed_score(parents, h, inside, places, slots, keys, scores, full, missing, state):
    """What the families without the hidden variable score; those that are not known are noted."""
    key = np.empty(keys.shape[1], dtype=np.int64)
    total = 0.0
    count = np.int64(0)
    for c in range(h):
        if inside >> c & 1 and not parents[c] >> h & 1:
            value = known_score(c, parents[c], places, slots, keys, scores, full, key)
            if np.isnan(value):
                count = lacks(c, parents[c], np.int64(0), places, slots, keys, scores, full, key, missing, count)
            total += value
    state[LACKING] = count
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def climb_hidden(
    codes,
    weights,
    states,
    parents,
    allowed,
    required,
    outside,
    inside,
    order,
    places,
    slots,
    keys,
    scores,
    full,
    prior,
    sizes,
    tolerances,
    streams,
    n_starts,
    kind,
    posterior,
    seen,
    state,
    missing,
    new,
    gains,
    waiting,
):
    """Parents and posteriors become those of the best graph found; says why it ended, or what it waits for. A round
    that waits is kept in new, gains and waiting."""
    h = codes.shape[0]
    room = np.empty(weights.size * max(states[:h].max(), 1), dtype=np.int64)
    if state[PHASE] == 0.0:
        closed = closed_score(parents, h, inside, places, slots, keys, scores, full, missing, state)
        if state[LACKING] > 0.0:
            return MISSING
        opened = fit_open(
            codes,
            weights,
            states,
            parents,
            order,
            sizes,
            prior,
            tolerances,
            streams,
            n_starts,
            kind,
            room,
            posterior,
            state,
        )
        if opened == np.inf:
            return TOO_FEW_NUMBERS
        state[WORTH] = opened + closed
        state[PHASE] = 1.0
    one, expected = np.int64(1), np.int64(EXPECTED)  # (as literals they would be compiled for apart)
    other = np.empty_like(posterior)
    paused = state[LOOKED_AT]
    while state[ROUND] < sizes[4]:
        if state[LOOKED_AT] - paused > PATIENCE:
            return PAUSED
        lacking = search_round(
            codes,
            weights,
            states,
            parents,
            allowed,
            required,
            outside,
            places,
            slots,
            keys,
            scores,
            full,
            prior,
            sizes,
            room,
            posterior,
            missing,
            new,
            gains,
            waiting,
        )
        if lacking > 0:
            state[LACKING] = lacking
            return MISSING
        same = True
        for c in range(h + 1):
            same = same and new[c] == parents[c]
        if same:
            return DONE
        if seen.size > 0:
            number = seen[0] ^ graph_number(new, inside, places)
            for m in range(1, int(state[SEEN]) + 1):
                if seen[m] == number:
                    return DONE
            if state[SEEN] + 1 < seen.size:
                state[SEEN] += 1
                seen[int(state[SEEN])] = number
        for i in range(weights.size):
            for u in range(posterior.shape[1]):
                other[i, u] = posterior[i, u]
        closed = closed_score(new, h, inside, places, slots, keys, scores, full, missing, state)
        opened = fit_open(
            codes, weights, states, new, order, sizes, prior, tolerances, streams, one, expected, room, other, state
        )
        if not opened + closed > state[WORTH] + SMALLEST_GAIN:
            return DONE
        state[WORTH] = opened + closed
        state[ROUND] += 1.0
        for c in range(h + 1):
            parents[c] = new[c]
        for i in range(weights.size):
            for u in range(posterior.shape[1]):
                posterior[i, u] = other[i, u]
    return LIMIT
