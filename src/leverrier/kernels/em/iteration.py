"""EM iterations without leaving the kernel: expected counts, new parameters, trace and stop test.

runs: first parameter, rows, child's states       (one row a family; a row of a table is a contiguous run)
state: see the names of its entries below
"""

import math

import numpy as np
from numba import njit

from leverrier.kernels.em.expectation import absorb_groups, fill_packs, scatter_packs
from leverrier.kernels.search.one_more_parent import log_gamma

RUNNING, CONVERGED, FELL, REFUSED_PROPOSAL = 0, 1, 2, 3
MAXIMUM, VARIATIONAL = 0, 1
FIRST, SECOND, PROPOSAL = 0, 1, 2  # what θ is: a free point, an EM step from the last, an extrapolation
VALUE, GAIN, PHASE, PLAIN, CHECK_BELOW, LONGEST, STEP, REFUSED, BROUGHT = 0, 1, 2, 3, 4, 5, 6, 7, 8
MOST_BROUGHT = 20
EDGE = 1e-30  # below this only EM itself goes
STUCK = 1e-6  # smaller entries that EM would let grow are brought back in
BACK = 1e-4
PLAIN_STEPS = 6
ROUNDING = 1e-14
LEAST = -700.0  # of E[ln θ]: a prior's thousandth of a count has less, and a zero would make its rows impossible
RELATIVE = 1e-11  # of the objective's size, added to the tolerance: a sum over a million rows is not known better


@njit(cache=True, nogil=True, error_model="numpy")
def digamma(x):
    """ψ(x) for x > 0: recurrence up to 8, then the asymptotic series (absolute error below 1e-13)."""
    value = 0.0
    while x < 8.0:
        value -= 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse * (1 / 132)))))
    return value + math.log(x) - 0.5 / x - series


@njit(cache=True, nogil=True, error_model="numpy")
def maximise(runs, counts, theta, mode):
    """New parameters from counts that include the prior's: the mode's normalised counts, or exp E[ln θ].

    A row that nothing supports says nothing about its distribution: it becomes uniform.
    """
    for j in range(runs.shape[0]):
        start, rows, states = runs[j, 0], runs[j, 1], runs[j, 2]
        for first in range(start, start + rows * states, states):
            total = 0.0
            for k in range(first, first + states):
                total += counts[k]
            if total <= 0.0:
                for k in range(first, first + states):
                    theta[k] = 1.0 / states
            elif mode == MAXIMUM:
                for k in range(first, first + states):
                    theta[k] = counts[k] / total
            else:
                whole = digamma(total)
                for k in range(first, first + states):
                    theta[k] = math.exp(max(digamma(counts[k]) - whole, LEAST))


@njit(cache=True, nogil=True, error_model="numpy")
def constant_part(runs, fixed, prior, counts, theta, mode):
    """What the objective gets from cells that no group touches. In variational EM `theta` was made of `counts`.

    Maximum: Σ (N₀ + α) ln θ. Variational: Σ N₀ ln θ̃ − KL of the parameters' Dirichlet posterior from the prior.
    """
    total = 0.0
    for j in range(runs.shape[0]):
        start, rows, states = runs[j, 0], runs[j, 1], runs[j, 2]
        for first in range(start, start + rows * states, states):
            whole = 0.0
            before = 0.0
            for k in range(first, first + states):
                if mode == MAXIMUM:
                    if fixed[k] > 0.0:
                        total += fixed[k] * math.log(theta[k]) if theta[k] > 0.0 else -np.inf
                else:
                    gained = counts[k] - prior[k]
                    left = fixed[k] - prior[k] - gained
                    if left != 0.0:
                        total += left * math.log(theta[k]) if theta[k] > 0.0 else -np.inf
                    if gained > 0.0:
                        total += log_gamma(counts[k]) - log_gamma(prior[k])
                    whole += counts[k]
                    before += prior[k]
            if mode == VARIATIONAL and whole > before:
                total -= log_gamma(whole) - log_gamma(before)
    return total


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def extrapolate(runs, prior, mode, saved, point, longest):
    """Squared extrapolation [varadhan2008 SQUAREM, scheme S3] from three iterates: x₀ and x₁ in `saved`, x₂ in `point`.

    x₂ is kept in saved[2]; the proposal never takes an entry below a hundredth of x₂'s (above the prior's count, if
    the points are counts). Gives the step's length.
    """
    change = bend = 0.0
    n = runs[-1, 0] + runs[-1, 1] * runs[-1, 2]
    for k in range(n):
        saved[2, k] = point[k]
        r = saved[1, k] - saved[0, k]
        v = point[k] - saved[1, k] - r
        change += r * r
        bend += v * v
    step = min(math.sqrt(change / bend), longest) if bend > 0.0 else 1.0
    if not step > 1.0:
        return 1.0
    for j in range(runs.shape[0]):
        start, rows, states = runs[j, 0], runs[j, 1], runs[j, 2]
        for first in range(start, start + rows * states, states):
            total = 0.0
            for k in range(first, first + states):
                r = saved[1, k] - saved[0, k]
                v = point[k] - saved[1, k] - r
                if mode == MAXIMUM:
                    least = max(0.01 * point[k], min(point[k], EDGE))
                else:
                    least = prior[k] + 0.01 * (point[k] - prior[k])
                point[k] = max(saved[0, k] + 2.0 * step * r + step * step * v, least)
                total += point[k]
            if mode == MAXIMUM:
                for k in range(first, first + states):
                    point[k] /= total
    return step


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def bring_back(runs, counts, theta, saved):
    """Whether entries near zero would grow under EM: extrapolation took them too close to the edge.

    A point with such an entry is no maximum, only a place that EM leaves very slowly. They are set to a small
    share; the EM step is kept in saved[2], should this be no improvement.
    """
    found = False
    for j in range(runs.shape[0]):
        start, rows, states = runs[j, 0], runs[j, 1], runs[j, 2]
        for first in range(start, start + rows * states, states):
            total = 0.0
            for k in range(first, first + states):
                total += counts[k]
            whole = 0.0
            for k in range(first, first + states):
                saved[2, k] = counts[k] / total if total > 0.0 else theta[k]
                if theta[k] < STUCK and saved[2, k] > 1.001 * theta[k]:
                    theta[k] = BACK
                    found = True
                whole += theta[k]
            for k in range(first, first + states):
                theta[k] /= whole
    return found


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _settled(gain, tolerance, state):
    """Whether what is still to come is below the tolerance; the state remembers gains of plain steps in a row.

    Near the end gains fall geometrically, so gain·ρ/(1−ρ) is still to come (Aitken). Extrapolation stirs up
    quickly falling errors that hide a slow one: so the rate is taken after several plain steps.
    """
    limit = tolerance + RELATIVE * abs(state[VALUE])
    if state[PLAIN] == 0.0 and not gain < state[CHECK_BELOW] * limit:
        state[GAIN] = gain
        return False
    ratio = gain / state[GAIN] if state[GAIN] > 0.0 else 0.0
    state[GAIN] = gain
    state[PLAIN] += 1.0
    if state[PLAIN] < PLAIN_STEPS:
        return False
    if gain <= ROUNDING * abs(state[VALUE]) or (ratio < 1.0 and gain * ratio < limit * (1.0 - ratio)):
        return True
    state[PLAIN] = 0.0
    state[CHECK_BELOW] = min(state[CHECK_BELOW], gain / limit) / 4.0  # (a check costs steps: not again too soon)
    return False


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def follow(runs, counts, mode, theta, point):
    """One EM step: the point becomes what the expected counts say."""
    if mode == VARIATIONAL:
        for k in range(counts.size):
            point[k] = counts[k]
    maximise(runs, counts, theta, mode)


@njit(cache=True, nogil=True, error_model="numpy")
def advance(runs, prior, value, counts, mode, below, tolerance, theta, point, saved, state):
    """Take in the objective at θ and its expected counts; replace θ by the next one to evaluate. Says whether to go on.

    The climbing point is θ itself; in variational EM it is the Dirichlet posterior's counts, of which θ is made. θ
    stays as it is when the run has ended, so that the last value is the value of the parameters given back. Steps are
    extrapolated where plain ones gain less than `below`.
    """
    n = runs[-1, 0] + runs[-1, 1] * runs[-1, 2] if runs.shape[0] > 0 else 0
    if state[PHASE] == PROPOSAL and not value >= state[VALUE]:
        for k in range(n):
            point[k] = saved[2, k]
        if mode == VARIATIONAL:
            maximise(runs, point, theta, mode)
        state[PHASE] = FIRST
        state[REFUSED] += 1.0
        state[LONGEST] = max(2.0, state[STEP] / 4.0)
        return REFUSED_PROPOSAL
    if not value > -np.inf:
        return FELL
    gain = value - state[VALUE]
    if not gain >= -(1e-9 + 1e-12 * abs(value)):
        return FELL
    state[VALUE] = value
    plain_step = state[PHASE] == SECOND
    if plain_step and _settled(gain, tolerance, state):
        again = below > 0.0 and mode == MAXIMUM and state[BROUGHT] < MOST_BROUGHT
        if not (again and bring_back(runs, counts, theta, saved)):
            return CONVERGED
        state[BROUGHT] += 1.0
        state[PLAIN] = 0.0
        state[STEP] = state[LONGEST]
        state[PHASE] = PROPOSAL
        return RUNNING
    speeding = gain < below and state[PLAIN] == 0.0 and plain_step and n > 0
    for k in range(n):
        saved[1 if speeding else 0, k] = point[k]
    follow(runs, counts, mode, theta, point)
    state[PHASE] = SECOND
    if not speeding:
        return RUNNING
    state[STEP] = extrapolate(runs, prior, mode, saved, point, state[LONGEST])
    if state[STEP] > 1.0:
        if mode == VARIATIONAL:
            maximise(runs, point, theta, mode)
        state[PHASE] = PROPOSAL
        if state[STEP] >= state[LONGEST]:
            state[LONGEST] *= 4.0
    else:  # x₂ itself: an EM step from x₁
        for k in range(n):
            saved[0, k] = saved[1, k]
    return RUNNING


@njit(cache=True, nogil=True, error_model="numpy")
def iterate(
    groups,
    packs,
    bases,
    offsets,
    ids,
    weights,
    pack_weights,
    runs,
    fixed,
    prior,
    mode,
    below,
    tolerance,
    theta,
    point,
    counts,
    cells,
    sums,
    saved,
    trace,
    state,
):
    """As many evaluations as `trace` holds, or fewer: how many, how many of them to keep, and why they ended."""
    kept = 0
    status = RUNNING
    for done in range(trace.size):
        value = constant_part(runs, fixed, prior, point, theta, mode)
        value += fill_packs(groups, packs, bases, offsets, theta, pack_weights, cells)
        for k in range(sums.size):  # (a loop: Numba needs seconds to compile an assignment to a whole slice)
            sums[k] = 0.0
        value += absorb_groups(groups, packs, ids, weights, weights.size, cells, sums)
        for k in range(counts.size):
            counts[k] = fixed[k]
        scatter_packs(groups, packs, bases, offsets, sums, counts)
        status = advance(runs, prior, value, counts, mode, below, tolerance, theta, point, saved, state)
        if status == REFUSED_PROPOSAL:
            continue
        trace[kept] = value
        kept += 1
        if status != RUNNING:
            return done + 1, kept, status
    return trace.size, kept, RUNNING
