"""Every structure of a tiny problem, summed: the posterior that both samplers must agree with.

A structure is how often each non-empty column occurs (columns in any order), plus the number of columns for the
finite model. P(X | structure) sums over how many copies of each column are active, trial by trial.
"""

from __future__ import annotations

import itertools
import math

import numpy as np


def column_types(n_observed):
    return [np.array(bits) for bits in itertools.product((0, 1), repeat=n_observed) if any(bits)]


def counts_up_to(n_types, most):
    """Every way to have at most `most` columns in all."""
    if n_types == 0:
        yield ()
        return
    for first in range(most + 1):
        for rest in counts_up_to(n_types - 1, most - first):
            yield (first, *rest)


def log_likelihood(cells, types, counts, epsilon, lam, p):
    """log P(X | Z), cells (observed, trials) of 0, 1, 2; binomial numbers of active copies of each column."""
    used = [(t, c) for t, c in zip(types, counts, strict=True) if c]
    total = 0.0
    combos = list(itertools.product(*(range(c + 1) for _, c in used)))
    weight = np.array([
        math.prod(math.comb(c, a) * p**a * (1 - p) ** (c - a) for (_, c), a in zip(used, active, strict=True))
        for active in combos
    ])
    reach = np.array([sum((a * t for (t, _), a in zip(used, active, strict=True)), np.zeros(len(cells)))
                      for active in combos])
    off = (1 - epsilon) * (1 - lam) ** reach
    for column in cells.T:
        chance = np.where(column == 1, 1 - off, np.where(column == 0, off, 1.0)).prod(axis=1)
        total += math.log(weight @ chance)
    return total


def log_buffet(types, counts, n_observed, alpha):
    harmonic = sum(1 / i for i in range(1, n_observed + 1))
    total = sum(counts) * math.log(alpha) - alpha * harmonic
    for t, c in zip(types, counts, strict=True):
        m = int(t.sum())
        g = math.lgamma(n_observed - m + 1) + math.lgamma(m) - math.lgamma(n_observed + 1)
        total += c * g - math.lgamma(c + 1)
    return total


def log_finite(types, counts, n_observed, alpha, decay, most):
    """log Σ_K P(K) P(structure | K): K columns in order, of which the rest are empty."""
    linked = sum(counts)
    terms = []
    for n_causes in range(max(1, linked), most + 1):
        a = alpha / n_causes
        empty = n_causes - linked
        term = math.log(1 - decay) + (n_causes - 1) * math.log(decay)
        term += math.lgamma(n_causes + 1) - math.lgamma(empty + 1) - sum(math.lgamma(c + 1) for c in counts)
        for m, c in [*((int(t.sum()), c) for t, c in zip(types, counts, strict=True)), (0, empty)]:
            term += c * (math.log(a) + math.lgamma(m + a) + math.lgamma(n_observed - m + 1)
                         - math.lgamma(n_observed + 1 + a))
        terms.append(term)
    return float(np.logaddexp.reduce(terms))


def posterior(cells, *, epsilon, lam, p, alpha, method="gibbs", decay=0.9, most=12, most_columns=200):
    """Moments by name under the exact posterior: the count, links, shared causes, and chances of each count."""
    n_observed = len(cells)
    types = column_types(n_observed)
    logs, rows = [], []
    for counts in counts_up_to(len(types), most):
        prior = (log_buffet(types, counts, n_observed, alpha) if method == "gibbs"
                 else log_finite(types, counts, n_observed, alpha, decay, most_columns))
        logs.append(prior + log_likelihood(cells, types, counts, epsilon, lam, p))
        z = np.array([t for t, c in zip(types, counts, strict=True) for _ in range(c)]).reshape(-1, n_observed)
        rows.append(moments(z))
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    return dict(zip(moment_names(n_observed), weights @ np.array(rows), strict=True))


def moment_names(n_observed):
    pairs = [f"shared {i} {j}" for i in range(n_observed) for j in range(i, n_observed)]
    reached = [f"any {i}" for i in range(n_observed)]
    return ["count", "links", "count squared", "no cause", "one cause", *pairs, *reached]


def moments(z):
    """The same moments of one sample; z (causes, observed), empty causes allowed."""
    z = z[z.any(axis=1)].astype(float)
    shared = z.T @ z
    n_observed = z.shape[1]
    k = len(z)
    return [k, z.sum(), k * k, k == 0, k == 1, *(shared[i, j] for i in range(n_observed) for j in range(i, n_observed)),
            *(z.any(axis=0))]


def standardised(samples, exact, batches=50):
    """(mean of samples − exact) in standard errors from batch means; moments that hardly vary are left out."""
    size = len(samples) // batches
    means = samples[: size * batches].reshape(batches, size, -1).mean(axis=1)
    error = means.std(axis=0, ddof=1) / batches**0.5
    difference = samples.mean(axis=0) - np.array(list(exact.values()))
    rare = samples.std(axis=0) < 0.1  # an event of less than a hundredth: its batch means are no normal sample
    return {name: d / e for name, d, e, skip in zip(exact, difference, error, rare, strict=True) if not skip}
