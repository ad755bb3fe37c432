"""The exact log evidence of a hidden variable with k states: every way to share the rows out among them, summed."""

from itertools import product
from math import exp, lgamma, log


def compositions(total, parts):
    """Every way to write a whole number as an ordered sum of so many whole numbers."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def log_evidence(configurations, weights, children, k, alpha):
    """ln P(D) for H → each child with a Dirichlet(α) prior on every row; all rows complete, H never seen.

    `configurations[m]` are the children's states, weights[m] how many rows have them, and `children` how many states
    each child has. Rows with equal configuration are exchangeable, so only how many of them go to each state
    matters, times the ways to choose them.
    """
    ways = [list(compositions(weight, k)) for weight in weights]
    terms = [_log_term(configurations, weights, children, k, alpha, shares) for shares in product(*ways)]
    peak = max(terms)
    return peak + log(sum(exp(term - peak) for term in terms))


def _log_term(configurations, weights, children, k, alpha, shares):
    term = 0.0
    by_state = [0] * k
    cells = {}
    for configuration, weight, share in zip(configurations, weights, shares, strict=True):
        term += lgamma(weight + 1) - sum(lgamma(n + 1) for n in share)
        for h, n in enumerate(share):
            by_state[h] += n
            for child, state in enumerate(configuration):
                cells[child, h, state] = cells.get((child, h, state), 0) + n
    term += lgamma(k * alpha) - lgamma(k * alpha + sum(by_state))
    term += sum(lgamma(alpha + n) - lgamma(alpha) for n in by_state)
    for r in children:
        term += sum(lgamma(r * alpha) - lgamma(r * alpha + n) for n in by_state)
    return term + sum(lgamma(alpha + n) - lgamma(alpha) for n in cells.values())
