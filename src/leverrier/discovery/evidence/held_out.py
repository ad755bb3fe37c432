"""What a hidden variable adds on rows that were not learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from leverrier.data.table import Table
from leverrier.discovery.evidence.whole_groups import folds_of_groups
from leverrier.discovery.plan import Plan
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.kind_scores import said_again
from leverrier.learning.structure.score import Score
from leverrier.models.network import Network
from leverrier.run.run import UNBOUNDED, Run

FOLDS = 5


def held_out_gain(
    with_it: Network,
    without: Network,
    table: Table,
    score: Score,
    plan: Plan,
    folds: int = FOLDS,
    run: Run = UNBOUNDED,
    groups: NDArray[np.int64] | None = None,
) -> tuple[float, tuple[float, float]] | None:
    """Log-likelihood a row with the hidden variable less without it, with a 95 % interval; None if time ran out.

    Parameters are learned on the other folds. The two graphs are those found on all rows, so the gain is a little
    flattered; it is information, the null test is the gate.
    """
    if groups is not None:
        return _by_groups(with_it, without, table, score, plan, folds, run, groups)
    gains, weights = [], []
    for train, test in _folded(table, folds, np.random.default_rng([plan.seed, 11])):
        if run.spent:
            return None
        ours, plain = (learned_again(network, train, score) for network in (with_it, without))
        gains.append(ours.row_log_likelihood(test) - plain.row_log_likelihood(test))
        weights.append(np.ones(test.n_rows) if test.weights is None else test.weights)
    return _mean_and_interval(np.concatenate(gains), np.concatenate(weights))


def _by_groups(
    with_it: Network,
    without: Network,
    table: Table,
    score: Score,
    plan: Plan,
    folds: int,
    run: Run,
    groups: NDArray[np.int64],
) -> tuple[float, tuple[float, float]] | None:
    """The same with whole groups held out; the interval is that of a mean over groups."""
    fold = folds_of_groups(groups, folds, np.random.default_rng([plan.seed, 11]))
    gains = np.zeros(table.n_rows)
    for k in np.unique(fold):
        if run.spent:
            return None
        train, test = table.take(fold != k), table.take(fold == k)
        ours, plain = (learned_again(network, train, score) for network in (with_it, without))
        gains[fold == k] = ours.row_log_likelihood(test) - plain.row_log_likelihood(test)
    mean = float(gains.mean())
    left = np.bincount(groups, gains - mean)
    half = float(ndtri(0.975)) * float(np.sqrt((left**2).sum())) / table.n_rows
    return mean, (mean - half, mean + half)


def _folded(table: Table, folds: int, rng: np.random.Generator) -> Iterator[tuple[Table, Table]]:
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


def _mean_and_interval(gains: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, tuple[float, float]]:
    mean = float(np.average(gains, weights=weights))
    spread = float(np.sqrt(np.average((gains - mean) ** 2, weights=weights) / weights.sum()))
    half = float(ndtri(0.975)) * spread
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
    return said_again(learned, network, table, score)
