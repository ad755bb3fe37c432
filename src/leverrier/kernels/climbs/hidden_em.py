"""EM for one hidden variable: the same steps as kernels/em/iteration.py takes, on θ with the hidden states last.

spans: by open family, its begin in θ, the rows that precede the child's states, and the child's states (for the hidden
variable's own family 0: there each row of hidden states is a distribution).
"""

import math

import numpy as np
from numba import njit, uint64

FIRST, SECOND, PROPOSAL = 0, 1, 2
TINY = 1e-150
EDGE = 1e-30
STUCK, BACK, MOST_BROUGHT = 1e-6, 1e-4, 20
PLAIN_STEPS = 6
ROUNDING, RELATIVE = 1e-14, 1e-11
ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)


@njit(cache=True, nogil=True, error_model="numpy")
def _by_logs(at, bases, n_open, theta, posterior):
    """A row's product where it is too small for a float, divided by its largest entry, whose logarithm is given."""
    peak = -np.inf
    for u in range(posterior.size):
        total = 0.0
        for f in range(n_open):
            value = theta[bases[at + f] + u]
            total += math.log(value) if value > 0.0 else -np.inf
        posterior[u] = total
        peak = max(peak, total)
    for u in range(posterior.size):
        posterior[u] = math.exp(posterior[u] - peak) if peak > -np.inf else 0.0
    return peak


@njit(cache=True, nogil=True, error_model="numpy")
def posteriors_of(bases, n_open, totals, count, stride, theta, out):
    """Each distinct row's posterior of the hidden variable; gives back the log-likelihood."""
    value = 0.0
    for b in range(count):
        posterior = out[b]
        for u in range(stride):
            product = 1.0
            for f in range(n_open):
                product *= theta[bases[b * n_open + f] + u]
            posterior[u] = product
        total = 0.0
        for u in range(stride):
            total += posterior[u]
        if total < TINY:
            value += totals[b] * _by_logs(b * n_open, bases, n_open, theta, posterior)
            total = 0.0
            for u in range(stride):
                total += posterior[u]
        value += totals[b] * math.log(total)
        for u in range(stride):
            posterior[u] /= total
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def e_step(bases, n_open, totals, count, stride, theta, counts, scratch):
    """Expected counts of the open families at θ; gives back the log-likelihood."""
    for k in range(counts.size):
        counts[k] = 0.0
    if stride == 4:
        return _e_step_of_four(bases, n_open, totals, count, theta, counts, scratch)
    value = 0.0
    for b in range(count):
        at = b * n_open
        for u in range(stride):
            scratch[u] = 1.0
        for f in range(n_open):
            t = uint64(bases[at + f])
            for u in range(stride):
                scratch[u] *= theta[t + uint64(u)]
        total = 0.0
        for u in range(stride):
            total += scratch[u]
        if total < TINY:
            value += totals[b] * _by_logs(at, bases, n_open, theta, scratch)
            total = 0.0
            for u in range(stride):
                total += scratch[u]
        value += totals[b] * math.log(total)
        share = totals[b] / total
        for u in range(stride):
            scratch[u] *= share
        for f in range(n_open):
            t = uint64(bases[at + f])
            for u in range(stride):
                counts[t + uint64(u)] += scratch[u]
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _e_step_of_four(bases, n_open, totals, count, theta, counts, scratch):
    value = 0.0
    for b in range(count):
        at = uint64(b * n_open)
        p = q = r = s = 1.0
        for f in range(n_open):
            t = uint64(bases[at + uint64(f)])
            p *= theta[t]
            q *= theta[t + ONE]
            r *= theta[t + TWO]
            s *= theta[t + THREE]
        total = (p + q) + (r + s)
        if total < TINY:
            value += totals[b] * _by_logs(b * n_open, bases, n_open, theta, scratch)
            p, q, r, s = scratch[0], scratch[1], scratch[2], scratch[3]
            total = (p + q) + (r + s)
        value += totals[b] * math.log(total)
        share = totals[b] / total
        p *= share
        q *= share
        r *= share
        s *= share
        for f in range(n_open):
            t = uint64(bases[at + uint64(f)])
            counts[t] += p
            counts[t + ONE] += q
            counts[t + TWO] += r
            counts[t + THREE] += s
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def m_step(spans, n_hidden, stride, counts, theta):
    """Normalised counts; a distribution that nothing supports becomes uniform. Padding stays zero."""
    for f in range(spans.shape[0]):
        begin, rows, r = spans[f, 0], spans[f, 1], spans[f, 2]
        for j in range(rows):
            if r == 0:
                first = begin + j * stride
                total = 0.0
                for u in range(n_hidden):
                    total += counts[first + u]
                for u in range(n_hidden):
                    theta[first + u] = counts[first + u] / total if total > 0.0 else 1.0 / n_hidden
                continue
            first = begin + j * r * stride
            for u in range(n_hidden):
                total = 0.0
                for k in range(first + u, first + u + r * stride, stride):
                    total += counts[k]
                if total > TINY:
                    share = 1.0 / total
                    for k in range(first + u, first + u + r * stride, stride):
                        theta[k] = counts[k] * share
                else:  # (a number so small has no inverse)
                    for k in range(first + u, first + u + r * stride, stride):
                        theta[k] = counts[k] / total if total > 0.0 else 1.0 / r


@njit(cache=True, nogil=True, error_model="numpy")
def _extrapolate(spans, n_hidden, stride, saved, theta, longest):
    """Squared extrapolation [varadhan2008 SQUAREM, scheme S3] from x₀ and x₁ in `saved`, x₂ in θ; gives the step."""
    change = bend = 0.0
    for k in range(theta.size):
        saved[2, k] = theta[k]
        r = saved[1, k] - saved[0, k]
        v = theta[k] - saved[1, k] - r
        change += r * r
        bend += v * v
    step = min(math.sqrt(change / bend), longest) if bend > 0.0 else 1.0
    if not step > 1.0:
        return 1.0
    for k in range(theta.size):
        r = saved[1, k] - saved[0, k]
        v = theta[k] - saved[1, k] - r
        least = max(0.01 * theta[k], min(theta[k], EDGE))
        theta[k] = max(saved[0, k] + 2.0 * step * r + step * step * v, least)
    m_step(spans, n_hidden, stride, theta, theta)
    return step


@njit(cache=True, nogil=True, error_model="numpy")
def _bring_back(spans, n_hidden, stride, counts, saved, theta):
    """Whether entries near zero would grow under EM; they are set to a small share. The EM step is kept in saved[2]."""
    m_step(spans, n_hidden, stride, counts, saved[2])
    found = False
    for k in range(theta.size):
        if theta[k] < STUCK and saved[2, k] > 1.001 * theta[k]:
            theta[k] = BACK
            found = True
    m_step(spans, n_hidden, stride, theta, theta)
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def climb_parameters(bases, totals, count, spans, n_hidden, stride, below, tolerance, most, theta, counts):
    """θ climbs until what is still to be gained is estimated below the tolerance, or `most` evaluations are done.

    Gives the log-likelihood at θ, to which `counts` belong, and the evaluations. Steps that gain less than `below` are
    extrapolated, and taken back where that is no improvement (see kernels/em/iteration.py: advance).
    """
    n_open = spans.shape[0]
    saved = np.zeros((3, theta.size))
    scratch = np.zeros(stride)
    value, last_gain, check_below, longest, step = -np.inf, 0.0, 1.0, 4.0, 1.0
    phase, plain, brought = FIRST, 0, 0
    done = 0
    while True:
        new = e_step(bases, n_open, totals, count, stride, theta, counts, scratch)
        done += 1
        if phase == PROPOSAL and not new >= value:
            for k in range(theta.size):
                theta[k] = saved[2, k]
            phase = FIRST
            longest = max(2.0, step / 4.0)
            continue
        gain = new - value
        value = new
        if done >= most:
            return value, done
        plain_step = phase == SECOND
        if plain_step:
            limit = tolerance + RELATIVE * abs(value)
            if plain == 0 and not gain < check_below * limit:
                last_gain = gain
            else:  # what is to come is gain·ρ/(1−ρ), judged after several plain steps
                ratio = gain / last_gain if last_gain > 0.0 else 0.0
                last_gain = gain
                plain += 1
                if plain >= PLAIN_STEPS:
                    if gain <= ROUNDING * abs(value) or (ratio < 1.0 and gain * ratio < limit * (1.0 - ratio)):
                        if brought >= MOST_BROUGHT or not _bring_back(spans, n_hidden, stride, counts, saved, theta):
                            return value, done
                        brought += 1
                        plain = 0
                        step = longest
                        phase = PROPOSAL
                        continue
                    plain = 0
                    check_below = min(check_below, gain / limit) / 4.0
        speeding = gain < below and plain == 0 and plain_step
        for k in range(theta.size):
            saved[1 if speeding else 0, k] = theta[k]
        m_step(spans, n_hidden, stride, counts, theta)
        phase = SECOND
        if not speeding:
            continue
        step = _extrapolate(spans, n_hidden, stride, saved, theta, longest)
        if step > 1.0:
            phase = PROPOSAL
            if step >= longest:
                longest *= 4.0
        else:
            for k in range(theta.size):
                saved[0, k] = saved[1, k]
