"""Exact inference the long way: write down the whole joint table and look. The twin of the junction tree.

Variables are 0…V−1 with cardinalities; a factor is anything with `scope` (variables) and `values` (axes in scope
order). Evidence has shape (V, rows), −1 where a cell is a hole. Only for a handful of variables.
"""

import itertools

import numpy as np


def joint_table(cardinalities, factors):
    """The product of all factors, one axis for each variable."""
    table = np.ones(tuple(cardinalities))
    for factor in factors:
        ascending = np.asarray(factor.values).transpose(np.argsort(factor.scope))
        shape = [size if variable in factor.scope else 1 for variable, size in enumerate(cardinalities)]
        table = table * ascending.reshape(shape)
    return table


def consistent(table, row):
    """The joint with everything that contradicts the row set to zero."""
    kept = np.zeros_like(table)
    where = tuple(slice(None) if state < 0 else slice(state, state + 1) for state in row)
    kept[where] = table[where]
    return kept


def log_evidence(cardinalities, factors, evidence):
    """log P(evidence) for each row, −∞ where it cannot happen."""
    table = joint_table(cardinalities, factors)
    totals = np.array([consistent(table, row).sum() for row in evidence.T])
    with np.errstate(divide="ignore"):
        return np.log(totals)


def posterior(cardinalities, factors, evidence, variables):
    """P(variables | evidence), (rows, states…); all zero where the evidence cannot happen."""
    table = joint_table(cardinalities, factors)
    others = tuple(v for v in range(len(cardinalities)) if v not in variables)
    order = np.argsort(np.argsort(variables)) if len(variables) else []
    answers = []
    for row in evidence.T:
        kept = consistent(table, row)
        total = kept.sum()
        answers.append(kept.sum(axis=others).transpose(order) / (total if total > 0 else 1.0))
    return np.array(answers)


def most_probable(cardinalities, factors, evidence):
    """A most probable completion of each row (V, rows) and its log-probability; holes stay where there is none."""
    table = joint_table(cardinalities, factors)
    codes = np.array(evidence)
    best = np.full(evidence.shape[1], -np.inf)
    for i, row in enumerate(evidence.T):
        kept = consistent(table, row)
        if kept.max() > 0:
            best[i] = np.log(kept.max())
            codes[:, i] = np.unravel_index(kept.argmax(), kept.shape)
    return codes, best


def all_completions(cardinalities, row):
    """Every way to fill the holes of a row."""
    choices = [range(c) if state < 0 else [state] for c, state in zip(cardinalities, row, strict=True)]
    return np.array(list(itertools.product(*choices))).T
