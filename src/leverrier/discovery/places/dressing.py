"""A hidden variable in its place, its families said by the kinds that say them best: as the rival's are.

The search places it with tables alone, which is quick. A child with many states then costs a table, where the rival
says the same child by a few numbers: the gain would be that of one kind of description over another, not that of the
variable. So where the rival may use any kind, so may what is compared with it: kinds are chosen on expected counts, EM
and structural EM go on with them, and what that ends with is what is compared.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from leverrier.arrays import Floats
from leverrier.discovery.places.cutout import Cutout
from leverrier.discovery.places.deepening import Found, Screening, enough_neighbours, found_once, replaced
from leverrier.discovery.places.region import Ground, Tried, cut_out
from leverrier.learning.hidden_families.completed_rows import CompletedRows
from leverrier.learning.hidden_families.families_em import MOST_COMPLETED, FamiliesClimb, Standing
from leverrier.learning.hidden_families.structural_rounds import StructuralRounds
from leverrier.learning.structure.constraints import make_problem
from leverrier.learning.structure.kind_scores import KindScores
from leverrier.learning.structure.known_scores import Renumbered
from leverrier.learning.structure.problem import Problem
from leverrier.models.graph import Graph

ROUNDS = 12
"""Of structural EM with kinds."""
MOVES = 2
"""Arcs changed before the posteriors are renewed: see learning/structure/structural_task.py."""


def dressed_once(screening: Screening, one: Found) -> Found:
    """The same hidden variables with families of any kind, or as that came out before."""
    if not dresses(screening):
        return one
    one = one.undressed
    better = found_once(screening, "dressed", one, lambda where, given: replaced(where, given, dressed(where, given)))
    return replace(better, bare=one.tried)


def dresses(screening: Screening) -> bool:
    return screening.plan.kinds and isinstance(screening.ground.scores, KindScores)


def dressed(screening: Screening, one: Found) -> Tried:
    """The best that families of any kind make of it: never worse than with tables."""
    region = region_of(screening.ground, one)
    if region is None:
        return one.tried
    rounds = 0 if screening.plan.method == "fixed" else ROUNDS
    tried = region.tried(region.climbed(region.cut.sub, region.posterior, rounds)[-1])
    return tried if tried.score > one.tried.score else one.tried


def region_of(ground: Ground, one: Found, kinds: bool = True) -> Region | None:
    """The neighbourhood of the hidden variables; None where completed rows would be too many."""
    graph, names = one.tried.graph, list(one.sizes)
    near = {v for name in names for v in (*graph.blanket(name), *graph.neighbours(name))}
    cut = cut_out(ground, graph, one.sizes, near | {p for v in near for p in graph.parents(v)})
    rows = ground.counts(cut.columns).table
    completed = CompletedRows(rows, cut.hidden)
    if rows.n_rows * completed.joint > MOST_COMPLETED:
        return None
    observed = Renumbered(ground.scores, [ground.places[v] for v in cut.columns])
    climb = FamiliesClimb(completed, ground.scores.score, ground.scores.table_cells, observed, kinds, ground.run)
    return Region(ground, cut, climb, _posterior(ground, cut, one, completed.joint))


class Region(StructuralRounds):
    """The neighbourhood of the hidden variables, cut out, with the posteriors they were found with."""

    least = 0.05

    def __init__(self, ground: Ground, cut: Cutout, climb: FamiliesClimb, posterior: Floats) -> None:
        super().__init__(climb, MOVES)
        self.ground, self.cut, self.posterior = ground, cut, posterior

    def worth(self, standing: Standing) -> float:
        shown = [v for v in self.cut.inside if v not in standing.families]
        return (
            standing.score
            + self.cut.left_outside(self.ground)
            + sum(self.ground.family(standing.graph, v) for v in shown)
        )

    def sound(self, graph: Graph) -> bool:
        return all(enough_neighbours(graph, name) for name in self.cut.hidden)

    def problem(self, best: Standing) -> Problem:
        scores = self.climb.scores(best.posterior)
        changing = (*self.cut.inside, *self.cut.hidden)
        problem = make_problem(scores, best.graph, (), (), changing, self.ground.max_parents, None)
        scores.candidates = problem.allowed
        place = {name: v for v, name in enumerate(scores.names)}
        above = [sum(1 << place[p] for p in self.cut.above.get(name, ())) for name in scores.names]
        return replace(problem, above=above)

    def tried(self, standing: Standing) -> Tried:
        changing = (*self.cut.inside, *self.cut.hidden)
        whole = self.cut.graph.with_parents({v: standing.graph.parents(v) for v in changing})
        return Tried(whole, self.worth(standing), self.climb.network(standing), self.cut.columns)


def _posterior(ground: Ground, cut: Cutout, one: Found, joint: int) -> Floats:
    """(rows of the region, joint states), as the search left them; each variable's states by falling frequency."""
    before = ground.counts(one.tried.columns).table
    inner = one.tried.network.posterior(before, list(one.sizes)).reshape(before.n_rows, *one.sizes.values())
    weights = np.ones(before.n_rows) if before.weights is None else before.weights
    for axis in range(1, inner.ndim):
        often = weights @ np.moveaxis(inner, axis, 1).reshape(before.n_rows, inner.shape[axis], -1).sum(axis=2)
        inner = np.take(inner, np.argsort(-often, kind="stable"), axis=axis)
    inner = inner.reshape(before.n_rows, joint)
    index = ground.table.project(cut.columns).index
    first = np.zeros(index.max(initial=0) + 1, dtype=np.int64)
    first[index[::-1]] = np.arange(len(index))[::-1]
    return inner[ground.table.project(one.tried.columns).index[first]]
