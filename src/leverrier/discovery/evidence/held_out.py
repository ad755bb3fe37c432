"""What a model adds on held-out rows, its graph given; searched_folds.py does it for the whole procedure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from leverrier.data.table import Table
from leverrier.discovery.plan import Plan
from leverrier.learning.em.fit import fit
from leverrier.learning.hidden_families.said_behind import said_behind
from leverrier.learning.structure.kind_scores import said_again
from leverrier.learning.structure.score import Score
from leverrier.models.network import Network
from leverrier.run.run import UNBOUNDED, Run

FOLDS = 5

Gained = tuple[float, tuple[float, float]]
"""Nats a row, and their 95 % interval."""


def held_out_gain(
    with_it: Network, without: Network, table: Table, score: Score, plan: Plan, folds: int = FOLDS, run: Run = UNBOUNDED
) -> Gained | None:
    """Log-likelihood a row with one class behind all columns less that of the best network; None if time ran out.

    Parameters are learned on the other folds. The graphs are given: of the classes there is nothing to search for but
    their number, and the network's arcs are those found on all rows, which flatters the rival.
    """
    gains, weights = [], []
    for train, test in folded(table, folds, np.random.default_rng([plan.seed, 11])):
        if run.spent:
            return None
        ours, plain = (learned_again(network, train, score) for network in (with_it, without))
        gains.append(ours.row_log_likelihood(test) - plain.row_log_likelihood(test))
        weights.append(np.ones(test.n_rows) if test.weights is None else test.weights)
    return mean_and_interval(np.concatenate(gains), np.concatenate(weights))


def folded(table: Table, folds: int, rng: np.random.Generator) -> Iterator[tuple[Table, Table]]:
    """What is learned from and what is held out, each row held out once; of rows that were counted, some of them."""
    if table.weights is None or not table.counted:
        fold = rng.permutation(table.n_rows) % folds
        for k in range(folds):
            yield table.take(fold != k), table.take(fold == k)
        return
    held = rng.multinomial(table.weights.astype(np.int64), np.full(folds, 1 / folds)).astype(np.float64)
    for k in range(folds):
        yield reweighted(table, table.weights - held[:, k]), reweighted(table, held[:, k])


def reweighted(table: Table, weights: NDArray[np.float64]) -> Table:
    """The rows that still count, with these weights."""
    return replace(table, weights=weights).take(weights > 0)


def mean_and_interval(gains: NDArray[np.float64], weights: NDArray[np.float64]) -> Gained:
    mean = float(np.average(gains, weights=weights))
    spread = float(np.sqrt(np.average((gains - mean) ** 2, weights=weights) / weights.sum()))
    half = float(ndtri(0.975)) * spread
    return mean, (mean - half, mean + half)


def mean_and_interval_of_groups(gains: NDArray[np.float64], groups: NDArray[np.int64]) -> Gained:
    """The same where whole groups of rows were held out: the interval is that of a mean over groups."""
    mean = float(gains.mean())
    left = np.bincount(groups, gains - mean)
    half = float(ndtri(0.975)) * float(np.sqrt((left**2).sum())) / len(gains)
    return mean, (mean - half, mean + half)


def learned_again(network: Network, table: Table, score: Score) -> Network:
    """The network's graph with parameters from these rows; hidden states keep their meaning, and families that were
    said by something shorter than a table are so again."""
    hidden = {name: network.cardinality(name) for name in network.variables if name not in table.variables}
    if not hidden and not table.n_missing:
        learned = fit(network, table, prior=score, accelerate=False, jobs=1).network
    else:
        learned = fit(
            network,
            table,
            hidden=hidden,
            initial=network,
            starts=1,
            prior=score,
            accelerate=False,
            tolerance=1e-3,
            jobs=1,
        ).network
    return said_behind(said_again(learned, network, table, score), network, table, score)
