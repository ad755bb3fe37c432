"""EM the slow way: every row's every completion, one at a time. The twin of the E-step and of the expected counts."""

import itertools
import math

import numpy as np


def completions(network, row):
    """(assignment, probability) of every way to fill the holes (−1) of a row: the network's variables, in order."""
    names = network.variables
    choices = [range(network.cardinality(n)) if state < 0 else [state] for n, state in zip(names, row, strict=True)]
    for states in itertools.product(*choices):
        at = dict(zip(names, states, strict=True))
        yield (
            states,
            math.prod(
                network.cpt(name)[tuple(at[other] for other in (*network.parents(name), name))] for name in names
            ),
        )


def expected_table(network, codes, weights, child, parents):
    """Expected counts of a family: axes are the parents in order, then the child."""
    place = [network.variables.index(name) for name in (*parents, child)]
    table = np.zeros([network.cardinality(network.variables[v]) for v in place])
    for row, weight in zip(np.asarray(codes).T, weights, strict=True):
        filled = list(completions(network, row))
        total = math.fsum(p for _, p in filled)
        for states, p in filled:
            table[tuple(states[v] for v in place)] += weight * p / total
    return table


def log_likelihood(network, codes, weights):
    """Σ weight · ln P(observed cells)."""
    return math.fsum(
        weight * math.log(math.fsum(p for _, p in completions(network, row)))
        for row, weight in zip(np.asarray(codes).T, weights, strict=True)
    )


def barren(network, row):
    """Variables of which neither they nor a descendant are observed in this row."""
    seen = {name for name, state in zip(network.variables, row, strict=True) if state >= 0}
    for name in reversed(network.graph.order):
        if name not in seen and any(child in seen for child in network.children(name)):
            seen.add(name)
    return set(network.variables) - seen


def em_step(network, codes, weights, prior=0.0, prune=True):
    """The network after one iteration: normalised expected counts; uniform where nothing is expected.

    With `prune`, a row is no case of a family whose child is barren there: what says nothing is not completed.
    """
    codes, weights = np.asarray(codes), np.asarray(weights)
    absent = [barren(network, row) if prune else () for row in codes.T]
    tables = {}
    for name in network.variables:
        rows = np.array([name not in gone for gone in absent], dtype=bool)
        counts = expected_table(network, codes[:, rows], weights[rows], name, network.parents(name)) + prior
        total = counts.sum(axis=-1, keepdims=True)
        tables[name] = np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / counts.shape[-1])
    return network.with_tables(tables)


def log_evidence(graph, states, codes, score_of):
    """ln Σ over all completions of the whole table of exp(score): the evidence that Cheeseman–Stutz bounds.

    `score_of(filled codes)` is the complete-data log marginal likelihood. Only for a handful of holes.
    """
    names = list(graph)
    codes = np.array(codes)
    holes = np.argwhere(codes < 0)
    totals = []
    for values in itertools.product(*(range(len(states[names[v]])) for v, _ in holes)):
        filled = codes.copy()
        for (v, i), value in zip(holes, values, strict=True):
            filled[v, i] = value
        totals.append(score_of(filled))
    peak = max(totals)
    return peak + math.log(math.fsum(math.exp(total - peak) for total in totals))
