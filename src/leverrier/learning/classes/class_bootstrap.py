"""Resampling for latent classes: is one class more needed, and how sure are the profiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.learning.em.fit import FitResult, fit
from leverrier.learning.em.state_order import reordered
from leverrier.models.network import Network


def bootstrap_p(
    smaller: FitResult,
    larger: FitResult,
    table: Table,
    draws: int,
    seed: int,
    refit: Callable[[Table, int, int], float],
) -> float:
    """How often data drawn from the smaller model gain as much log-likelihood as the real ones: (1 + m) / (1 + draws).

    Drawn tables have as many rows as the real one counts, and holes in the same cells.
    """
    k = smaller.network.cardinality(smaller.hidden[0])
    gain = larger.log_likelihood - smaller.log_likelihood
    as_large = 0
    for i, rng in enumerate(np.random.default_rng(seed).spawn(draws)):
        drawn = drawn_like(table, smaller.network, rng)
        as_large += refit(drawn, k + 1, seed + i) - refit(drawn, k, seed + i) >= gain
    return (1 + as_large) / (1 + draws)


def drawn_like(table: Table, network: Network, rng: np.random.Generator) -> Table:
    """Rows drawn from the network, with the table's columns, number of rows and pattern of holes."""
    n = round(table.total)
    rows = np.arange(table.n_rows)
    if table.weights is not None:
        rows = rng.choice(rows, size=n, p=table.weights / table.weights.sum())
    drawn = network.sample(n, seed=rng).select(table.variables)
    codes = drawn.codes.astype(table.codes.dtype)
    codes[codes == drawn.missing] = table.missing
    codes[table.codes[:, rows] == table.missing] = table.missing
    return Table(table.columns, codes)


def bootstrap_errors(
    fitted: FitResult, name: str, draws: int, seed: int, *, tolerance: float, jobs: int | None
) -> dict[str, Floats]:
    """Standard deviations of every table over resamples of the rows, each begun at the fit and aligned to it."""
    table, network = fitted.table, fitted.network
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    n = round(table.total)
    found: dict[str, list[Floats]] = {node: [] for node in network.variables}
    for rng in np.random.default_rng(seed).spawn(draws):
        resampled = replace(table, weights=rng.multinomial(n, weights / weights.sum()).astype(np.float64))
        again = fit(network, resampled, initial=smoothed(network), tolerance=tolerance, jobs=jobs).network
        order = {name: aligned_states(network, again, name)}
        for node, values in reordered(network.graph, again.tables, order).items():
            found[node].append(values)
    return {node: np.std(values, axis=0, ddof=min(1, draws - 1)) for node, values in found.items()}


def smoothed(network: Network, share: float = 1e-3) -> Network:
    """The network with a little of the uniform distribution mixed in: EM can leave every point of it."""
    return network.with_tables(
        {node: (1 - share) * network.cpt(node) + share / network.cardinality(node) for node in network.variables}
    )


def aligned_states(reference: Network, other: Network, name: str) -> NDArray[np.int64]:
    """Which state of `other`'s variable stands for each of the reference's: least total distance of the profiles."""
    from scipy.optimize import linear_sum_assignment  # (late: it loads for a tenth of a second)

    states = reference.cardinality(name)
    distance = np.zeros((states, states))
    for child in reference.children(name):
        axis = reference.parents(child).index(name)
        ours = np.moveaxis(reference.cpt(child), axis, 0).reshape(states, -1)
        theirs = np.moveaxis(other.cpt(child), axis, 0).reshape(states, -1)
        distance += np.abs(ours[:, None, :] - theirs[None, :, :]).sum(axis=-1)
    return linear_sum_assignment(distance)[1].astype(np.int64)
