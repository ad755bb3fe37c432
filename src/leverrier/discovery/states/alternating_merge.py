"""Several hidden variables: merge the states of one while the others keep theirs, in turn, until nothing changes.

All begin with one state, so that each is first trained on its observed neighbours; later rounds see the others' states
too. A variable is looked at again only when something in its blanket has changed [elidan2001 section 4].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from leverrier.arrays import Integers
from leverrier.counts.assigned_counts import AssignedCounts
from leverrier.counts.family import Family
from leverrier.data.table import Table
from leverrier.discovery.states.agglomeration import Agglomeration, agglomerate
from leverrier.discovery.states.first_states import first_states
from leverrier.discovery.states.refinement import RefinementRule
from leverrier.learning.structure.score import Score, family_score
from leverrier.models.graph import Graph
from leverrier.run.event import Event
from leverrier.status import Status


@dataclass(frozen=True, eq=False)
class RoundRobin:
    """Where the rounds ended: a state by row for each variable."""

    assigned: Mapping[str, Integers] = field(repr=False)
    agglomerations: Mapping[str, Agglomeration] = field(repr=False)
    """The last look at each variable."""
    trace: tuple[tuple[str, int, float], ...]
    """(variable, its states, score of the completed data) after each look; the score never falls."""
    status: Status

    @property
    def states(self) -> dict[str, int]:
        return {name: int(labels.max(initial=0)) + 1 for name, labels in self.assigned.items()}


def round_robin(graph: Graph, table: Table, hidden: Sequence[str], score: Score, rule: RefinementRule) -> RoundRobin:
    """Agglomerate each in turn, given the others' states. Every change raises the completed score, so it must stop."""
    around = {other for name in hidden for other in graph.blanket(name)}
    table = table.select(name for name in table.variables if name in around)
    assigned = {name: np.zeros(table.n_rows, dtype=np.int64) for name in hidden}
    looks: dict[str, Agglomeration] = {}
    waiting = list(hidden)
    value = completed_score(graph, table, assigned, score)
    trace = []
    status = Status.CONVERGED
    while waiting:
        if rule.run.late and len(looks) == len(assigned):
            status = Status.BUDGET
            break
        name = waiting.pop(0)
        others = {other: labels for other, labels in assigned.items() if other != name}
        look = agglomerate(first_states(graph, AssignedCounts(table, others).table, name), score)
        looks[name] = look
        labels = look.assignment(look.best(rule.most))
        new = completed_score(graph, table, {**others, name: labels}, score)
        if new > value + 1e-9 * abs(value):
            assigned[name], value = labels, new
            blanket = graph.blanket(name)
            waiting += [other for other in hidden if other in blanket and other not in waiting]
        trace.append((name, int(assigned[name].max(initial=0)) + 1, value))
        rule.run.tell(Event.STATES_FOR_NOW, np.nan, name, trace[-1][1])
    return RoundRobin(assigned, looks, tuple(trace), status)


def completed_score(graph: Graph, table: Table, assigned: Mapping[str, Integers], score: Score) -> float:
    """The score of the families that hold a hidden variable, with every row's states as assigned."""
    counts = AssignedCounts(table, assigned)
    families = [
        Family(node, graph.parents(node)) for node in graph if not {node, *graph.parents(node)}.isdisjoint(assigned)
    ]
    return sum(family_score(score, each, counts.total) for each in counts.tables(families))
