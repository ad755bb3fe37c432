"""Every structure of a tiny problem, summed: the posterior that both samplers must agree with.

A structure is how often each non-empty column occurs (columns in any order), plus the number of columns for the
finite model. P(X | structure) sums over how many copies of each column are active, trial by trial.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.special import gammaln, roots_genlaguerre


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
    weight = np.array(
        [
            math.prod(math.comb(c, a) * p**a * (1 - p) ** (c - a) for (_, c), a in zip(used, active, strict=True))
            for active in combos
        ]
    )
    reach = np.array(
        [sum((a * t for (t, _), a in zip(used, active, strict=True)), np.zeros(len(cells))) for active in combos]
    )
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
            term += c * (
                math.log(a) + math.lgamma(m + a) + math.lgamma(n_observed - m + 1) - math.lgamma(n_observed + 1 + a)
            )
        terms.append(term)
    return float(np.logaddexp.reduce(terms))


def posterior(cells, *, epsilon, lam, p, alpha, method="gibbs", decay=0.9, most=12, most_columns=200):
    """Moments by name under the exact posterior: the count, links, shared causes, and chances of each count."""
    n_observed = len(cells)
    types = column_types(n_observed)
    logs, rows = [], []
    for counts in counts_up_to(len(types), most):
        prior = (
            log_buffet(types, counts, n_observed, alpha)
            if method == "gibbs"
            else log_finite(types, counts, n_observed, alpha, decay, most_columns)
        )
        logs.append(prior + log_likelihood(cells, types, counts, epsilon, lam, p))
        z = np.array([t for t, c in zip(types, counts, strict=True) for _ in range(c)]).reshape(-1, n_observed)
        rows.append(moments(z))
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    return dict(zip(moment_names(n_observed), weights @ np.array(rows), strict=True))


def unit_nodes(prior, n):
    """Nodes in (0, 1) and weights of a Beta prior: exact for polynomials times it of degree below 2n."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    nodes, weights = (nodes + 1) / 2, weights / 2
    weights = weights * nodes ** (prior.a - 1) * (1 - nodes) ** (prior.b - 1)
    return nodes, weights / weights.sum()


def unit_evidence(cells, types, counts, epsilon, lam, p):
    """P(X | Z, numbers) at every node: (p, lam, epsilon)."""
    used = [(t, c) for t, c in zip(types, counts, strict=True) if c]
    combos = list(itertools.product(*(range(c + 1) for _, c in used)))
    weight = np.array(
        [
            np.prod(
                [math.comb(c, a) * p**a * (1 - p) ** (c - a) for (_, c), a in zip(used, active, strict=True)], axis=0
            )
            * np.ones(len(p))
            for active in combos
        ]
    )
    reach = np.array(
        [sum((a * t for (t, _), a in zip(used, active, strict=True)), np.zeros(len(cells))) for active in combos]
    )
    off = (1 - epsilon) * (1 - lam)[:, None] ** reach[:, :, None, None]  # (combos, observed, lam, epsilon)
    total = np.ones((len(p), len(lam), len(epsilon)))
    for column in cells.T:
        x = column[None, :, None, None]
        chance = np.where(x == 1, 1 - off, np.where(x == 0, off, 1.0)).prod(axis=1)
        total *= np.einsum("cp,cle->ple", weight, chance)
    return total


def finite_at(types, counts, n_observed, alphas, decay, most):
    """log Σ_K P(K) P(structure | K, α) at each α."""
    linked = sum(counts)
    k = np.arange(max(1, linked), most + 1)[:, None]
    a = alphas / k
    terms = math.log(1 - decay) + (k - 1) * math.log(decay) + gammaln(k + 1) - gammaln(k - linked + 1)
    terms = terms - sum(math.lgamma(c + 1) for c in counts)
    for m, c in [*((int(t.sum()), c) for t, c in zip(types, counts, strict=True)), (0, k - linked)]:
        terms = terms + c * (np.log(a) + gammaln(m + a) + gammaln(n_observed - m + 1) - gammaln(n_observed + 1 + a))
    return np.logaddexp.reduce(terms, axis=0)


def posterior_with_numbers(cells, *, epsilon, lam, p, alpha, method="gibbs", decay=0.9, most=12, most_columns=60):
    """The same moments and the four numbers' means, each number with a prior of whole parameters, by quadrature."""
    n_observed = len(cells)
    types = column_types(n_observed)
    harmonic = sum(1 / i for i in range(1, n_observed + 1))
    (e, e_weight), (l, l_weight), (q, q_weight) = (unit_nodes(b, n) for b, n in ((epsilon, 8), (lam, 28), (p, 24)))
    weight = q_weight[:, None, None] * l_weight[:, None] * e_weight
    a, a_weight = roots_genlaguerre(40, alpha.shape - 1)
    a, a_weight = a / alpha.rate, a_weight / a_weight.sum()
    totals, rows = [], []
    for counts in counts_up_to(len(types), most):
        linked = sum(counts)
        if method == "gibbs":  # α is conjugate: Gamma(shape + K, rate + H)
            prior = math.exp(
                log_buffet(types, counts, n_observed, 1.0)
                + harmonic
                + math.lgamma(alpha.shape + linked)
                - math.lgamma(alpha.shape)
                + alpha.shape * math.log(alpha.rate)
                - (alpha.shape + linked) * math.log(alpha.rate + harmonic)
            )
            mean_alpha = (alpha.shape + linked) / (alpha.rate + harmonic)
        else:
            at = a_weight * np.exp(finite_at(types, counts, n_observed, a, decay, most_columns))
            prior, mean_alpha = at.sum(), at @ a / at.sum()
        evidence = weight * unit_evidence(cells, types, counts, e, l, q)
        total = evidence.sum()
        means = [
            evidence.sum(axis=(0, 1)) @ e / total,
            evidence.sum(axis=(0, 2)) @ l / total,
            evidence.sum(axis=(1, 2)) @ q / total,
            mean_alpha,
        ]
        z = np.array([t for t, c in zip(types, counts, strict=True) for _ in range(c)]).reshape(-1, n_observed)
        totals.append(prior * total)
        rows.append([*moments(z), *means])
    weights = np.array(totals) / sum(totals)
    names = [*moment_names(n_observed), "epsilon", "lambda", "p", "alpha"]
    return dict(zip(names, weights @ np.array(rows), strict=True))


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
    return [
        k,
        z.sum(),
        k * k,
        k == 0,
        k == 1,
        *(shared[i, j] for i in range(n_observed) for j in range(i, n_observed)),
        *(z.any(axis=0)),
    ]


def standardised(samples, exact, batches=50):
    """(mean of samples − exact) in standard errors from batch means; moments that hardly vary are left out."""
    size = len(samples) // batches
    means = samples[: size * batches].reshape(batches, size, -1).mean(axis=1)
    error = means.std(axis=0, ddof=1) / batches**0.5
    difference = samples.mean(axis=0) - np.array(list(exact.values()))
    rare = samples.std(axis=0) < 0.1  # an event of less than a hundredth: its batch means are no normal sample
    return {name: d / e for name, d, e, skip in zip(exact, difference, error, rare, strict=True) if not skip}
