"""What a search would have missed: hidden variables of known strength, planted and looked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.discovery.places.baseline import MOST_CELLS, hidden_name
from leverrier.discovery.places.region import Ground, try_region
from leverrier.discovery.plan import Plan
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.learn_structure import learn_structure
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.run import UNBOUNDED, Run
from leverrier.words_of import words_of

CHILDREN = 6
STRENGTHS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
REPEATS = 6
CLEAR = 20.0
"""Nats by which a planted variable counts as found: simulated tables of such a network seldom gain as much."""


@dataclass(frozen=True)
class Power:
    """By strength, how often a planted variable would have been accepted."""

    rows: int
    children: int
    shares: dict[float, float]

    @property
    def detectable(self) -> float | None:
        """The weakest strength from which at least four of five are found; None if even the strongest is missed."""
        found: float | None = None
        for strength in sorted(self.shares, reverse=True):
            if self.shares[strength] < 0.8:
                break
            found = strength
        return found

    def __str__(self) -> str:
        return words_of("done_words.power_words", self)


def power(network: Network, rows: int, score: Score, plan: Plan, run: Run = UNBOUNDED) -> Power | None:
    """Plant a two-state variable behind random columns of the network, strong and weak, and score the true place."""
    columns = [name for name in network.variables if network.cardinality(name) > 1]
    if len(columns) < 3:
        return None
    count = min(CHILDREN, len(columns))
    seeds = np.random.SeedSequence([plan.seed, 23]).spawn(REPEATS)
    calls = [(network, columns, count, rows, score, each) for each in seeds]
    keys = [("planted", *each.spawn_key) for each in seeds]
    runs = run.map(_plantings, calls, keys, lambda found: list(found.items()), dict)
    if len(runs) < REPEATS:
        return None  # time ran out
    shares = {strength: float(np.mean([found[strength] for found in runs])) for strength in STRENGTHS}
    return Power(rows, count, shares)


def _plantings(
    network: Network, columns: list[str], count: int, rows: int, score: Score, seed: np.random.SeedSequence
) -> dict[float, bool]:
    """Whether the variable would have been accepted, by strength; once found, stronger ones are too."""
    rng = np.random.default_rng(seed)
    children = [columns[i] for i in rng.permutation(len(columns))[:count]]
    drawn = network.sample(rows, seed=rng)
    state = rng.integers(0, 2, rows)
    found: dict[float, bool] = {}
    for strength in STRENGTHS:
        if any(found.values()):
            found[strength] = True
            continue
        found[strength] = _gain(_planted(drawn, children, state, strength, rng), children, score) > CLEAR
    return found


def _planted(
    table: Table, children: list[str], state: NDArray[np.int64], strength: float, rng: np.random.Generator
) -> Table:
    """In a share of the rows, each child's value is set by the state: its first value or its second."""
    codes = table.codes.copy()
    for child in children:
        taken = rng.random(table.n_rows) < strength
        codes[table.index(child), taken] = state[taken]
    return Table(table.columns, codes)


def _gain(table: Table, children: list[str], score: Score) -> float:
    """Of the variable in its true place over the best network without it."""
    plain = learn_structure(table, score, max_cells=MOST_CELLS, jobs=1)
    graph = plain.network.graph
    name = hidden_name(graph, 0)
    inside = set(children)
    parents = {v: tuple(p for p in graph.parents(v) if not {v, p} <= inside) for v in graph}
    placed = Graph.from_parents({**{v: (*parents[v], *([name] if v in inside else [])) for v in graph}, name: ()})
    ground = Ground(table, FamilyScores(ObservedCounts(table, threads=1), score, MOST_CELLS))
    tried = try_region(ground, placed, {name: 2}, children, merged=name, starts=2, max_rounds=0, tolerance=0.1)
    return tried.score - plain.score
