"""Overlapping causes, slowly: every probability from its definition, no summing trick, no packing.

Columns are (z, y) pairs in a list. `cells` (observed, trials) is 0, 1 or 2 (a hole).
"""

from __future__ import annotations

import itertools
import math

import numpy as np


def log_likelihood(cells, columns, epsilon, lam):
    """log P(X | Z, Y), cell by cell."""
    total = 0.0
    for i, t in np.ndindex(*cells.shape):
        off = 1 - epsilon
        for z, y in columns:
            if z[i] and y[t]:
                off *= 1 - lam
        if cells[i, t] < 2:
            total += math.log(1 - off if cells[i, t] == 1 else off)
    return total


def log_joint(cells, columns, epsilon, lam, p):
    """log P(X, Y | Z)."""
    on = sum(int(y.sum()) for _, y in columns)
    cells_of_y = len(columns) * cells.shape[1]
    return log_likelihood(cells, columns, epsilon, lam) + on * math.log(p) + (cells_of_y - on) * math.log(1 - p)


def log_evidence(cells, columns, summed, epsilon, lam, p):
    """log of the joint with the y of some columns summed out, over every assignment of each trial."""
    kept = [c for c in columns if not any(c is s for s in summed)]
    total = 0.0
    for t in range(cells.shape[1]):
        one_trial = [(z, y[t : t + 1]) for z, y in kept]
        terms = []
        for bits in itertools.product((0, 1), repeat=len(summed)):
            tried = [(z, np.array([bit])) for (z, _), bit in zip(summed, bits, strict=True)]
            terms.append(log_joint(cells[:, t : t + 1], one_trial + tried, epsilon, lam, p))
        total += float(np.logaddexp.reduce(terms))
    return total


def coin(rng, log_one, log_zero):
    return int(math.log(rng.random()) < log_one - np.logaddexp(log_one, log_zero))


def draw_y(rng, cells, columns, epsilon, lam, p):
    """Every y given the rest, columns in random order."""
    for k in rng.permutation(len(columns)):
        for t in range(cells.shape[1]):
            logs = []
            for value in (0, 1):
                columns[k][1][t] = value
                logs.append(log_joint(cells[:, t : t + 1], [(z, y[t : t + 1]) for z, y in columns], epsilon, lam, p))
            columns[k][1][t] = coin(rng, logs[1], logs[0])


def flip(rng, cells, columns, k, i, chance, epsilon, lam):
    """z[i, k] given the rest, with this prior chance of a link."""
    logs = []
    for value in (0, 1):
        columns[k][0][i] = value
        logs.append(log_likelihood(cells, columns, epsilon, lam) + math.log(chance if value else 1 - chance))
    columns[k][0][i] = coin(rng, logs[1], logs[0])


def gibbs_sweep(rng, cells, columns, *, epsilon, lam, p, alpha, most=6):
    """Algorithm 2, with rows and columns in random order and new causes drawn with their y summed out."""
    n_observed, n_trials = cells.shape
    for i in rng.permutation(n_observed):
        for k in rng.permutation(len(columns)):
            others = int(columns[k][0].sum()) - columns[k][0][i]
            if others:
                flip(rng, cells, columns, k, i, others / n_observed, epsilon, lam)
        columns[:] = [c for c in columns if c[0].sum() - c[0][i]]
        rate = alpha / n_observed
        logs = []
        for n in range(most + 1):
            new = [(np.eye(n_observed, dtype=int)[i], np.zeros(n_trials, int)) for _ in range(n)]
            evidence = log_evidence(cells, columns + new, new, epsilon, lam, p)
            logs.append(n * math.log(rate) - math.lgamma(n + 1) + evidence)
        chances = np.exp(np.array(logs) - max(logs))
        n_new = int(rng.choice(most + 1, p=chances / chances.sum()))
        new = [(np.eye(n_observed, dtype=int)[i], np.zeros(n_trials, int)) for _ in range(n_new)]
        columns += new
        draw_together(rng, cells, columns, new, epsilon, lam, p)
    draw_y(rng, cells, columns, epsilon, lam, p)


def draw_together(rng, cells, columns, new, epsilon, lam, p):
    """The y of several columns at once, trial by trial, by enumeration."""
    for t in range(cells.shape[1]):
        options = list(itertools.product((0, 1), repeat=len(new)))
        logs = []
        for bits in options:
            for (_, y), bit in zip(new, bits, strict=True):
                y[t] = bit
            logs.append(log_joint(cells[:, t : t + 1], [(z, y[t : t + 1]) for z, y in columns], epsilon, lam, p))
        chances = np.exp(np.array(logs) - max(logs))
        bits = options[int(rng.choice(len(options), p=chances / chances.sum()))]
        for (_, y), bit in zip(new, bits, strict=True):
            y[t] = bit
