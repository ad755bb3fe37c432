"""Slow, readable twins of the kernels for mixed columns."""

import numpy as np


def squares_left(gram, inside):
    """What least squares on the columns inside leaves of the last column."""
    k = len(gram) - 1
    chosen = [j for j in range(k) if inside[j]]
    beta = np.linalg.solve(gram[np.ix_(chosen, chosen)], gram[chosen, k])
    return gram[k, k] - gram[chosen, k] @ beta, dict(zip(chosen, beta, strict=True))


def choose_columns(gram, forced, costs, n, most, added, floor):
    """Forward by what gains most, then backward while a column does not pay."""
    k = len(gram) - 1
    inside = [j == 0 or bool(forced[j]) for j in range(k)]

    def value(which):
        return -0.5 * (n + added) * np.log(squares_left(gram, which)[0] + added * floor)

    def flipped(j):
        return [not each if i == j else each for i, each in enumerate(inside)]

    for _ in range(most):
        gains = {j: value(flipped(j)) - value(inside) - costs[j] for j in range(k) if not inside[j]}
        if not gains or max(gains.values()) <= 0:
            break
        inside = flipped(max(gains, key=gains.get))
    while True:
        losses = {j: value(inside) - value(flipped(j)) - costs[j] for j in range(1, k) if inside[j]}
        if not losses or min(losses.values()) >= 0:
            return inside, *squares_left(gram, inside)
        inside = flipped(min(losses, key=losses.get))


def side_log_likelihood(x, y, added, floor):
    beta = np.linalg.lstsq(x.T, y, rcond=None)[0]
    rest = ((y - beta @ x) ** 2).sum()
    s2 = (rest + added * floor) / (len(y) + added)
    return -0.5 * len(y) * np.log(2 * np.pi * s2) - 0.5 * rest / s2


def best_linear_split(x, codes, n_codes, ordered, least, added, floor):
    """Every split of all rows, one after the other."""
    best = (-np.inf, -1, -1)
    own = side_log_likelihood(x[:-1], x[-1], added, floor)
    for f in range(len(codes)):
        for c in range(n_codes[f]):
            left = codes[f] <= c if ordered[f] else codes[f] == c
            if left.sum() < least or (~left).sum() < least:
                continue
            gain = sum(side_log_likelihood(x[:-1, s], x[-1, s], added, floor) for s in (left, ~left)) - own
            if gain > best[0]:
                best = (gain, f, c)
    return *best, own


def mixture_logs(e, weights, means, deviations):
    dense = np.exp(-0.5 * ((e[:, None] - means) / deviations) ** 2) / (deviations * np.sqrt(2 * np.pi))
    return np.log(dense @ weights)


def em_step(centres, counts, weights, means, deviations, least):
    """One step of EM on a histogram."""
    dense = weights * np.exp(-0.5 * ((centres[:, None] - means) / deviations) ** 2) / deviations
    shares = counts[:, None] * dense / dense.sum(axis=1, keepdims=True)
    mass = shares.sum(axis=0)
    new = (shares * centres[:, None]).sum(axis=0) / mass
    spread = np.sqrt(np.maximum((shares * (centres[:, None] - new) ** 2).sum(axis=0) / mass, least**2))
    return mass / counts.sum(), new, spread
