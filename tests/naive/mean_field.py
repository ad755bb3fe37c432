"""Mean field on one row, written out: the product of single posteriors with the largest bound, and that bound."""

import itertools

import numpy as np


def mean_field(network, row, unseen, sweeps=300):
    """{variable: posterior} and E_q[ln p(row, unseen)] + H(q), from uniform posteriors in the order of `unseen`."""
    q = {v: np.full(network.cardinality(v), 1 / network.cardinality(v)) for v in unseen}
    completions = list(itertools.product(*[range(network.cardinality(v)) for v in unseen]))
    logs = np.array([log_joint(network, {**row, **dict(zip(unseen, c, strict=True))}) for c in completions])
    for _ in range(sweeps):
        for place, v in enumerate(unseen):
            field = np.zeros(len(q[v]))
            for completion, value in zip(completions, logs, strict=True):
                others = [q[u][s] for u, s in zip(unseen, completion, strict=True) if u != v]
                field[completion[place]] += np.prod(others) * value
            q[v] = np.exp(field - field.max())
            q[v] /= q[v].sum()
    weights = np.array([np.prod([q[u][s] for u, s in zip(unseen, c, strict=True)]) for c in completions])
    entropy = -sum(float(p @ np.log(p)) for p in q.values())
    return q, float(weights @ logs) + entropy


def log_joint(network, assignment):
    total = 0.0
    for v in network.variables:
        place = tuple(assignment[p] for p in network.parents(v))
        total += float(np.log(network.cpt(v)[(*place, assignment[v])]))
    return total
