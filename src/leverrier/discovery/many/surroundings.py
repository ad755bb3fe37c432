"""A hidden variable of columns in its own surroundings, against the best network of the same columns: both may say
their families by any kind.

The rounds compare tables with tables, which is quick. What tables say only at length (the worst of several causes, a
band of a sum, grades) then looks hidden, and simulated tables share that misfit. Here the question is asked again of
each variable by itself, where columns are few and every kind of family can be tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from leverrier.arrays import Floats
from leverrier.counts.parted_counts import counts_of
from leverrier.data.table import Table
from leverrier.discovery.evidence.evidence import KINDS_WORTH
from leverrier.discovery.findings import Baseline, HiddenVariable
from leverrier.discovery.places.baseline import MOST_CELLS
from leverrier.discovery.places.candidate import Candidate
from leverrier.discovery.places.deepening import Found, Screening
from leverrier.discovery.places.dressing import dressed
from leverrier.discovery.places.region import Ground, Tried
from leverrier.discovery.plan import Plan
from leverrier.learning.em.fit import fit
from leverrier.learning.hidden_families.said_behind import with_hidden_families
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.kind_scores import said_by_kinds, scores_of
from leverrier.learning.structure.learn_structure import Method, learn_from_scores, learn_structure
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.run import Run

CLEAR, FAR = 20.0, -100.0
"""Nats over a network of every kind: a variable that gains less is tried with other numbers of states too, unless it is
so far behind that no other number helps."""
STATES, STARTS = (2, 3, 4, 5), 2
"""Those tried, and from how many starts. Tables choose few states where columns have many; other kinds ask less."""
ROUNDS = 20
"""How often that search wanders off."""


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A hidden variable, the columns next to it and those that drive them, cut out; its rival there knows no hidden
    one."""

    table: Table
    network: Network
    score: float
    """Families by whatever kind says them best; minus infinity where its rows are too many for that."""
    rival: Network
    over: float
    """The rival's."""
    states: int

    @property
    def gain(self) -> float | None:
        return self.score - self.over if np.isfinite(self.score) else None

    def against(self, rival: Baseline) -> Surroundings:
        return replace(self, rival=rival.network, over=rival.score)

    def posterior(self, name: str) -> Floats:
        return self.network.posterior(self.table, name)


def surroundings(
    graph: Graph,
    posterior: Floats,
    each: HiddenVariable,
    table: Table,
    before: Graph,
    score: Score,
    plan: Plan,
    run: Run,
    *,
    brief: bool = False,
) -> Surroundings:
    """It with the columns next to it and the columns that drive those, with it or in the network `before` it was found.
    What those further columns share among themselves is the same for both; other hidden variables are left out.
    `brief`: its rival is not searched for at length where it is ahead."""
    name = each.name
    near = [v for v in sorted(each.neighbours) if v in table.variables]
    above = {p for v in near for p in (*graph.parents(v), *before.parents(v)) if p in table.variables}
    columns = sorted({*near, *above})
    there = _Place(table.select(columns), name, frozenset(near), score, plan, run)
    told = Graph.from_parents({v: [p for p in before.parents(v) if p in columns] for v in columns})
    rival = there.without(told, "ges")
    begun = {v: [p for p in graph.parents(v) if p in {*columns, name}] for v in (*near, name)}
    best = there.dressed(there.among(begun, "ges"), rival, posterior)
    if best.gain is None or best.gain <= FAR or run.spent:
        return best
    rival = there.without(rival.graph, "auto")
    best = best.against(rival)
    if best.score - rival.score <= CLEAR:  # (the further columns are said as well as the rival says them)
        again = there.dressed(there.among(begun, "auto"), rival, posterior)
        best = max(best, again, key=lambda one: one.score)
    bare = dict.fromkeys(near, (name,))
    for states in STATES if FAR < best.score - rival.score <= CLEAR else ():
        if not run.spent:
            best = max(best, there.dressed(there.among(bare, "auto"), rival, states), key=lambda one: one.score)
    if best.score - rival.score > KINDS_WORTH and not brief and not run.spent:
        best = best.against(there.without(rival.graph, "best"))
    return best


@dataclass(frozen=True, eq=False)
class _Place:
    table: Table
    name: str
    near: frozenset[str]
    score: Score
    plan: Plan
    run: Run
    _between: dict[Method, Graph] = field(default_factory=dict)

    @cached_property
    def scores(self) -> FamilyScores:
        return scores_of(counts_of(self.table), self.score, MOST_CELLS, kinds=True)

    def without(self, start: Graph, method: Method) -> Baseline:
        """The best network of the columns with families of any kind, from where the search began or has come to."""
        found = learn_from_scores(
            self.table,
            self.scores,
            method=method,
            rounds=ROUNDS,
            max_parents=None,
            start=start,
            seed=0,
            budget=self.run.seconds_left(),
        )
        return Baseline(found.network, found.score, 0.0)

    def among(self, parents: Mapping[str, Sequence[str]], method: Method) -> Graph:
        """The hidden variable and the columns next to it with these parents, among the further columns with the best
        network that they have by themselves."""
        far = [v for v in self.table.variables if v not in self.near]
        if far and method not in self._between:
            self._between[method] = learn_structure(
                self.table.select(far), self.score, method=method, families="auto", jobs=1
            ).network.graph
        own = {v: self._between[method].parents(v) for v in far}
        return Graph.from_parents({v: {**own, **parents}.get(v, ()) for v in (*self.table.variables, self.name)})

    def dressed(self, graph: Graph, rival: Baseline, begun: Floats | int) -> Surroundings:
        """Structural EM with families of any kind from this graph, and from posteriors or a number of states."""
        name, table = self.name, self.table
        plain = self._fitted(graph, begun)
        states = plain.cardinality(name)
        start = Tried(graph, -np.inf, plain, table.variables)
        found = Found(name, start, {name: states}, 0.0, Candidate(self.near, ""), "")
        ground = Ground(table, self.scores, self.plan.max_parents, run=self.run.untold())
        there = Screening(ground, replace(self.plan, kinds=True), self.run, rival.graph, rival.score, {}, name)
        end = dressed(there, found)
        if end is start:
            return Surroundings(table, plain, -np.inf, rival.network, rival.score, states)
        again = self._fitted(end.graph, plain.posterior(table, name))
        ours = said_by_kinds(with_hidden_families(again, end.network, [name]), self.scores)
        return Surroundings(table, ours, end.score, rival.network, rival.score, states)

    def _fitted(self, graph: Graph, begun: Floats | int) -> Network:
        given = not isinstance(begun, int)
        return fit(
            graph,
            self.table,
            hidden={self.name: begun.shape[1] if given else begun},
            initial={self.name: begun} if given else None,
            starts=1 if given else STARTS,
            prior=self.score,
            accelerate=1.0,
            tolerance=1e-2,
            seed=self.plan.seed,
            jobs=1,
        ).network
