"""A table as a round of the search sees it: complete, columns in the order of their names, with the best network of
them; hidden variables that were accepted before are columns of states drawn from their posteriors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.counts.parted_counts import counts_of
from leverrier.data.table import Table
from leverrier.discovery.findings import Baseline
from leverrier.discovery.many.links import linked
from leverrier.discovery.many.sibling_groups import Pairs
from leverrier.discovery.network_codecs import network_once
from leverrier.discovery.places.baseline import MOST_CELLS, VERY_WIDE, learn_baseline
from leverrier.discovery.places.region import Ground
from leverrier.discovery.plan import Plan
from leverrier.learning.em.maximise import network_from_counts
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.learn_structure import learn_from_scores
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.run import Run

ALL_PAIRS = 150
"""Up to so many columns every arc may be asked for; of more, those that pairs speak for."""


@dataclass(frozen=True, eq=False)
class Scene:
    """The rows, what pairs of columns share, and the best network to be beaten."""

    ground: Ground
    baseline: Baseline
    hidden: Mapping[str, int] = field(default_factory=dict)
    """Columns that are drawn states of hidden variables, with their number of states."""
    levels: Mapping[str, int] = field(default_factory=dict)
    """Their layers."""
    counted: Pairs | None = None
    """What pairs share, where that was asked for before."""

    @cached_property
    def pairs(self) -> Pairs:
        return self.counted or Pairs.of(self.table)

    @property
    def graph(self) -> Graph:
        return self.baseline.graph

    @property
    def table(self) -> Table:
        return self.ground.table


@dataclass(frozen=True, eq=False)
class Known:
    """Hidden variables that were accepted: the network with them; none at first."""

    network: Network
    hidden: Mapping[str, int]
    levels: Mapping[str, int]
    """The layer of each: 1 for those behind columns alone, and one more than what they are behind for others."""


def in_order(table: Table) -> Table:
    """Columns in the order of their names: no answer hangs on another one."""
    return table.select(sorted(table.variables))


def scene_of(
    table: Table,
    known: Known | None,
    score: Score,
    plan: Plan,
    run: Run,
    *,
    strong: bool,
    seed: int,
    within: bool = False,
) -> Scene:
    """The complete table, and the best network of it: `strong`ly searched for the data, quickly for simulated tables.
    With hidden variables that are known, their states are drawn and their network gets the arcs that these show:
    `within` them alone, or to columns too."""
    hidden, levels = ({}, {}) if known is None else (known.hidden, known.levels)
    whole = table if known is None else with_states(table, known, np.random.default_rng([seed, 61]))
    pairs = Pairs.of(whole) if known is not None or len(whole.variables) > ALL_PAIRS else None
    possible = pairs.possible if pairs is not None and len(whole.variables) > ALL_PAIRS else None
    ground = Ground(
        whole, FamilyScores(counts_of(whole), score, MOST_CELLS, possible), plan.max_parents, run=run.untold()
    )
    if known is not None and pairs is not None:
        graph = linked(known.network.graph, ground, levels, pairs, within)
        network = network_from_counts(graph, whole.states, ground.scores.statistics, score)
        return Scene(ground, Baseline(network, ground.total(graph), 0.0), hidden, levels, pairs)
    scores = ground.scores
    if pairs is not None:
        return Scene(ground, _by_parts(ground, pairs, plan, run), counted=pairs)
    if strong:
        return Scene(ground, learn_baseline(whole, scores, plan, run))
    found = learn_from_scores(
        whole,
        scores,
        method="auto" if len(whole.variables) > VERY_WIDE else "best",
        rounds=1,
        max_parents=plan.max_parents,
        start=None,
        seed=plan.seed,
        budget=run.seconds_left(),
    )
    return Scene(ground, Baseline(found.network, found.score, 0.0))


def bare_scene(table: Table, score: Score, plan: Plan, run: Run) -> Scene:
    """The complete table without a search: for those who look at pairs and groups alone."""
    ground = Ground(table, FamilyScores(counts_of(table), score, MOST_CELLS), plan.max_parents, run=run.untold())
    graph = Graph.from_edges(table.variables, ())
    network = network_from_counts(graph, table.states, ground.scores.statistics, score)
    return Scene(ground, Baseline(network, ground.total(graph), 0.0))


def glanced_scene(table: Table, score: Score, plan: Plan, run: Run) -> Scene:
    """The complete table with the network of one greedy search over classes of equivalence: no better than the best, so
    that what is tried against it gains rather more than against that one."""
    bare = bare_scene(table, score, plan, run)
    found = learn_from_scores(
        table,
        bare.ground.scores,
        method="ges",
        rounds=0,
        max_parents=plan.max_parents,
        start=None,
        seed=plan.seed,
        budget=run.seconds_left(),
    )
    return replace(bare, baseline=Baseline(found.network, found.score, 0.0))


def _by_parts(ground: Ground, pairs: Pairs, plan: Plan, run: Run) -> Baseline:
    """The best network of a very wide table, part by part: columns of different parts share no more than chance."""
    table, score = ground.table, ground.scores.score

    def learned() -> Network:
        parents: dict[str, tuple[str, ...]] = dict.fromkeys(table.variables, ())
        for names in pairs.parts():
            if run.spent:
                break
            part = table.select(names)
            scores = FamilyScores(counts_of(part), score, MOST_CELLS)
            found = learn_from_scores(
                part,
                scores,
                method="auto" if len(names) > VERY_WIDE else "best",
                rounds=1,
                max_parents=plan.max_parents,
                start=None,
                seed=plan.seed,
                budget=run.seconds_left(),
            )
            parents |= {name: found.network.parents(name) for name in names}
        graph = Graph.from_parents(parents)
        return network_from_counts(graph, table.states, ground.scores.statistics, score)

    network = network_once(run, ("baseline by parts",), learned, table.states)
    return Baseline(network, ground.total(network.graph), 0.0)


def with_states(table: Table, known: Known, rng: np.random.Generator) -> Table:
    """A column more for each hidden variable: its state in every row, drawn from its posterior given the row and the
    states drawn before. Drawn apart from each other, linked ones would seem nearly independent of each other where
    their columns tell them badly."""
    whole = table
    for name in sorted(known.hidden):
        drawn = drawn_states(known.network.posterior(whole, name), rng)
        states = {**whole.states, name: known.network.states[name]}
        whole = Table.from_codes(states, np.concatenate([whole.codes.astype(np.int64), drawn[None]]), table.weights)
    return in_order(whole)


def drawn_states(shares: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """A state for each row, from (rows, states)."""
    cumulative = np.cumsum(shares, axis=1)
    below = rng.random(len(shares))[:, None] * cumulative[:, -1:] >= cumulative[:, :-1]
    return below.sum(axis=1).astype(np.int64)
