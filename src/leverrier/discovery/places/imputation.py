"""Holes filled for the search, by draws from a network without hidden variables.

Searching for a hidden variable asks for thousands of families, and complete rows answer in no time. Filling holes from
a model in which nothing is hidden adds no sign of one: gains measured on the filled table are cautious. The final fit
and everything said of rows use the table as it came.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.discovery.plan import Plan
from leverrier.learning.em.maximise import network_from_counts
from leverrier.learning.structure.learn_structure import learn_structure
from leverrier.learning.structure.score import Score
from leverrier.models.network import Network
from leverrier.run.run import UNBOUNDED, Run

SWEEPS = 10
ROUNDS = 3
"""The filled table gives a better network, which fills better."""


def filled(table: Table, score: Score, max_cells: int, plan: Plan, run: Run = UNBOUNDED) -> Table:
    """The table with every hole filled; itself if it has none."""
    if not table.n_missing:
        return table
    rng = np.random.default_rng([plan.seed, 17])
    graph = learn_structure(
        table, score, method="auto", holes="available", max_cells=max_cells, jobs=1, budget=run.seconds_left()
    ).network
    full = _drawn(graph, table, _from_column(table, rng), rng)
    for _ in range(ROUNDS):
        if run.spent:
            break
        counts = ObservedCounts(full, threads=1)
        learned = learn_structure(
            full, score, method="auto", max_cells=max_cells, jobs=1, budget=run.seconds_left()
        ).network.graph
        full = _drawn(network_from_counts(learned, full.states, counts, score), table, full, rng)
    return full


def _from_column(table: Table, rng: np.random.Generator) -> Table:
    """Each hole takes the value of another row of its column."""
    codes = table.codes.copy()
    for v, column in enumerate(codes):
        holes = column == table.missing
        seen = column[~holes]
        column[holes] = rng.choice(seen, int(holes.sum())) if len(seen) else 0
        codes[v] = column
    return Table(table.columns, codes, table.weights)


def _drawn(network: Network, table: Table, full: Table, rng: np.random.Generator) -> Table:
    """Gibbs sweeps: each hole drawn from its posterior given the rest of the row as it stands."""
    codes = full.codes.copy()
    place = {name: v for v, name in enumerate(table.variables)}
    holes = {name: np.flatnonzero(table.column(name) == table.missing) for name in table.variables}
    for _ in range(SWEEPS):
        for name, rows in holes.items():
            if len(rows):
                codes[place[name], rows] = _draw(_conditional(network, name, codes[:, rows], place), rng)
    return Table(table.columns, codes, table.weights)


def _conditional(
    network: Network, name: str, codes: NDArray[np.unsignedinteger], place: dict[str, int]
) -> NDArray[np.float64]:
    """ln P(name | the rest of the row), (rows, states), up to a constant: the families it is in."""
    states = np.arange(network.cardinality(name))
    total = np.zeros((codes.shape[1], len(states)))
    for child in (name, *network.children(name)):
        with np.errstate(divide="ignore"):
            table = np.log(network.cpt(child))
        at = tuple(states[None, :] if v == name else codes[place[v]][:, None] for v in (*network.parents(child), child))
        total += table[at]
    return total


def _draw(logs: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """A state for each row (the largest of ln p + Gumbel noise)."""
    return (logs + rng.gumbel(size=logs.shape)).argmax(axis=1)
