"""Counting and scoring the slow way: one row, one cell, one log-gamma at a time."""

from itertools import product
from math import lgamma, log


def count_table(rows, weights, child, parents, states):
    """{(parent states…, child state): weight} over rows in which none of them is missing (None)."""
    cells = dict.fromkeys(product(*(range(states[v]) for v in (*parents, child))), 0.0)
    for row, weight in zip(rows, weights, strict=True):
        cell = tuple(row[v] for v in (*parents, child))
        if None not in cell:
            cells[cell] += weight
    return cells


def dirichlet_score(cells, child_states, alpha):
    """Σ_j [ln Γ(rα) − ln Γ(rα + N_j) + Σ_k ln Γ(α + N_jk) − ln Γ(α)]."""
    total = 0.0
    for parents in {cell[:-1] for cell in cells}:
        row = [cells[(*parents, k)] for k in range(child_states)]
        total += lgamma(child_states * alpha) - lgamma(child_states * alpha + sum(row))
        total += sum(lgamma(alpha + n) - lgamma(alpha) for n in row)
    return total


def log_likelihood(cells, child_states):
    """Σ_jk N_jk ln(N_jk / N_j), 0 ln 0 = 0."""
    total = 0.0
    for parents in {cell[:-1] for cell in cells}:
        row = [cells[(*parents, k)] for k in range(child_states)]
        total += sum(n * log(n / sum(row)) for n in row if n > 0)
    return total
