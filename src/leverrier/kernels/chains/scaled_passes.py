"""Forward–backward and Viterbi over one joint hidden state, scaled; the inner loops run along rows of the matrices.

Sums may be taken in any order (fastmath), which lets processors add several terms at once. States never possible
are zeros throughout, and nothing is infinite but in `viterbi`, which keeps the plain rules.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def forward(transitions, emissions, which, symbol, raw, totals):
    """raw[t] / totals[t] = P(state | slices up to t); totals[t] = P(slice t | slices before).

    which[t] is slice t's transition matrix, −1 where a sequence begins; symbol[t] its row of `emissions`. A slice is
    divided by its sum only in the next one, where the division does not hold up the product.
    """
    n = emissions.shape[1]
    whole = n - n % 4
    row = np.zeros(n)
    before = 1.0
    for t in range(len(symbol)):
        m, e = which[t], symbol[t]
        scale = 1.0
        if m < 0:
            for j in range(n):
                row[j] = 1.0
        else:
            scale = 1.0 / before if before > 0.0 else 0.0
            for j in range(n):
                row[j] = 0.0
            for i in range(0, whole, 4):  # four rows together: `row` is touched less often
                a, b, c, d = raw[t - 1, i], raw[t - 1, i + 1], raw[t - 1, i + 2], raw[t - 1, i + 3]
                for j in range(n):
                    row[j] += (
                        a * transitions[m, i, j]
                        + b * transitions[m, i + 1, j]
                        + c * transitions[m, i + 2, j]
                        + d * transitions[m, i + 3, j]
                    )
            for i in range(whole, n):
                a = raw[t - 1, i]
                for j in range(n):
                    row[j] += a * transitions[m, i, j]
        before = 0.0
        for j in range(n):
            value = row[j] * emissions[e, j] * scale
            raw[t, j] = value
            before += value
        totals[t] = before


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def backward(turned, emissions, which, symbol, beta):
    """beta[t] ∝ P(later slices | state). `turned` are the transposed transition matrices."""
    n = emissions.shape[1]
    whole = n - n % 4
    row, later = np.zeros(n), np.zeros(n)
    for j in range(n):
        beta[len(symbol) - 1, j] = 1.0
    for t in range(len(symbol) - 1, 0, -1):
        m, e = which[t], symbol[t]
        if m < 0:
            for j in range(n):
                beta[t - 1, j] = 1.0
            continue
        total = 0.0
        for j in range(n):
            later[j] = emissions[e, j] * beta[t, j]
            total += later[j]
            row[j] = 0.0
        scale = 1.0 / total if total > 0.0 else 0.0
        for i in range(0, whole, 4):
            a, b, c, d = later[i], later[i + 1], later[i + 2], later[i + 3]
            for j in range(n):
                row[j] += (
                    a * turned[m, i, j] + b * turned[m, i + 1, j] + c * turned[m, i + 2, j] + d * turned[m, i + 3, j]
                )
        for i in range(whole, n):
            a = later[i]
            for j in range(n):
                row[j] += a * turned[m, i, j]
        for j in range(n):
            beta[t - 1, j] = row[j] * scale


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def combine(begin, end, emissions, which, symbol, raw, totals, beta, weights, shown):
    """For slices begin…end: raw[t] becomes P(state | slices up to t) and beta[t] P(state | whole sequence).

    The latter is added up by symbol. weights[t − begin], zero where a sequence begins, is such that P(state i before,
    state j now | whole sequence) = raw[t − 1, i] · transition[i, j] · weights[t − begin, j].
    """
    n = emissions.shape[1]
    for t in range(begin, end):
        e = symbol[t]
        total = 0.0
        for j in range(n):
            total += raw[t, j] * beta[t, j]
        inverse = 1.0 / total if total > 0.0 else 0.0
        own = 1.0 / totals[t] if totals[t] > 0.0 else 0.0
        joined = 0.0 if which[t] < 0 else inverse
        for j in range(n):
            weights[t - begin, j] = emissions[e, j] * beta[t, j] * joined
            value = raw[t, j] * beta[t, j] * inverse
            beta[t, j] = value
            raw[t, j] *= own
            shown[e, j] += value


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def backward_counts(turned, emissions, which, symbol, raw, totals, posterior, shown, joint):
    """Backward and all that `combine` and `add_joint` do, in one pass: for few states, where each slice's sums are so
    short that there is time for the rest while they are waited for. raw stays as it is."""
    n = emissions.shape[1]
    whole = n - n % 4
    beta, later, row = np.ones(n), np.zeros(n), np.zeros(n)
    for t in range(len(symbol) - 1, -1, -1):
        m, e = which[t], symbol[t]
        total = 0.0
        for j in range(n):
            later[j] = emissions[e, j] * beta[j]
            row[j] = 0.0
            total += raw[t, j] * beta[j]
        inverse = 1.0 / total if total > 0.0 else 0.0
        for j in range(n):
            value = raw[t, j] * beta[j] * inverse
            posterior[t, j] = value
            shown[e, j] += value
        if m < 0:
            for j in range(n):
                beta[j] = 1.0
            continue
        for i in range(0, whole, 4):
            a, b, c, d = later[i], later[i + 1], later[i + 2], later[i + 3]
            for j in range(n):
                row[j] += (
                    a * turned[m, i, j] + b * turned[m, i + 1, j] + c * turned[m, i + 2, j] + d * turned[m, i + 3, j]
                )
        for i in range(whole, n):
            a = later[i]
            for j in range(n):
                row[j] += a * turned[m, i, j]
        before = inverse / totals[t - 1] if totals[t - 1] > 0.0 else 0.0
        for i in range(n):
            a = raw[t - 1, i] * before
            for j in range(n):
                joint[m, i, j] += a * later[j]
        for j in range(n):
            beta[j] = row[j] * inverse


@njit(cache=True, nogil=True)
def add_joint(begin, end, which, raw, weights, joint):
    """joint[which[t], i, j] += raw[t − 1, i] · weights[t − begin, j], four slices of one matrix at a time."""
    n = raw.shape[1]
    t = begin
    while t < end:
        m = which[t]
        if m < 0:
            t += 1
            continue
        s = t - begin
        if t + 3 < end and which[t + 1] == m and which[t + 2] == m and which[t + 3] == m:
            for i in range(n):
                a, b, c, d = raw[t - 1, i], raw[t, i], raw[t + 1, i], raw[t + 2, i]
                for j in range(n):
                    joint[m, i, j] += (
                        a * weights[s, j] + b * weights[s + 1, j] + c * weights[s + 2, j] + d * weights[s + 3, j]
                    )
            t += 4
        else:
            for i in range(n):
                a = raw[t - 1, i]
                for j in range(n):
                    joint[m, i, j] += a * weights[s, j]
            t += 1


@njit(cache=True, nogil=True)
def add_rows(index, rows, into):
    """into[index[t]] += rows[t]."""
    for t in range(len(index)):
        for j in range(rows.shape[1]):
            into[index[t], j] += rows[t, j]


@njit(cache=True, nogil=True)
def viterbi(transitions, emissions, which, symbol, back, path):
    """The most probable states of each sequence; all given as logarithms. back[t, j]: the best state before j."""
    n = emissions.shape[1]
    best = np.zeros(n)
    now = np.zeros(n)
    for t in range(len(symbol)):
        shown = emissions[symbol[t]]
        if which[t] < 0:
            for j in range(n):
                best[j] = shown[j]
        else:
            matrix = transitions[which[t]]
            for j in range(n):
                now[j] = -np.inf
                back[t, j] = 0
            for i in range(n):
                for j in range(n):
                    value = best[i] + matrix[i, j]
                    if value > now[j]:
                        now[j] = value
                        back[t, j] = i
            for j in range(n):
                best[j] = now[j] + shown[j]
        if t + 1 == len(symbol) or which[t + 1] < 0:
            path[t] = np.argmax(best)
    for t in range(len(symbol) - 1, -1, -1):
        if t + 1 < len(symbol) and which[t + 1] >= 0:
            path[t] = back[t + 1, path[t + 1]]
