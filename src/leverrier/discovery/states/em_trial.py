"""EM with a given number of states for each hidden variable, from many starting points on one plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.counts.expected_counts import ExpectedCounts
from leverrier.counts.observation import observe
from leverrier.discovery.states.missing_information import missing_information
from leverrier.discovery.states.surroundings import Surroundings
from leverrier.inference.exact.groups import Plan
from leverrier.learning.em.cheeseman_stutz import completed_score
from leverrier.learning.em.climb import climb
from leverrier.learning.em.fit_task import Task, make_task, pseudo_count
from leverrier.learning.em.maximise import table_from_counts
from leverrier.learning.em.network_em import ParameterClimb
from leverrier.learning.em.starting_points import assigned_start, random_start
from leverrier.learning.structure.score import Score
from leverrier.models.network import Network
from leverrier.run.run import UNBOUNDED, Run
from leverrier.status import Status

TOLERANCE = 1e-3
"""Nats still to be gained when EM stops: far less than decides between numbers of states."""
MOST_ITERATIONS = 5000
MOST_WORK = 2e10
"""Roughly the nanoseconds that one run of EM may take, if the E-step is long."""


@dataclass(frozen=True, eq=False)
class Trial:
    """The end of one EM run."""

    states: Mapping[str, int]
    bound: float
    """Cheeseman–Stutz score of the families that hold something unobserved: a lower bound of the log evidence."""
    counts: Mapping[str, Floats] = field(repr=False)
    """Expected counts of those families."""
    theta: Floats = field(repr=False)
    status: Status
    iterations: int


class Setting:
    """The surroundings with a number of states for each hidden variable, ready for EM."""

    def __init__(self, around: Surroundings, states: Mapping[str, int], score: Score) -> None:
        self.around = around
        self.cardinalities = dict(states)
        self.score = score
        self.seen = observe(around.graph, around.states(states), around.table, around.counts)
        self.task: Task = make_task(self.seen, score, variational=False)
        self.plan: Plan = self.seen.plan(prune=False)
        self._observed = self.seen.observed_tables(self.seen.open_nodes)
        self._roots = around.roots_score(score)

    def at_random(self, rng: np.random.Generator) -> Floats:
        return random_start(self.seen, self._observed, rng, first=False)

    def at_states(self, labels: Mapping[str, Integers], rng: np.random.Generator) -> Floats:
        """From a state by row of the surroundings' table, for each hidden variable or for some."""
        return assigned_start(self.seen, self._observed, labels, rng)

    def at_counts(self, counts: Mapping[str, Floats]) -> Floats:
        """From counts of each family, the prior's added."""
        given = [counts[node] for node in self.seen.open_nodes]
        return self.seen.layout.pack([table_from_counts(n, pseudo_count(self.score, n.shape)) for n in given])

    def value(self, theta: Floats) -> float:
        """The log posterior of parameters, up to what does not depend on them."""
        return ParameterClimb(self.task.objective, theta, tolerance=TOLERANCE).evaluate()

    def run(self, start: Floats, run: Run = UNBOUNDED, steps: int | None = None) -> Trial:
        """EM to the end from these parameters, or at most so many steps."""
        climber = ParameterClimb(self.task.objective, start, tolerance=TOLERANCE)
        limit = steps or int(np.clip(MOST_WORK / max(self.plan.work, 1.0), 50, MOST_ITERATIONS))
        found = climb(climber, max_iterations=limit, run=run)
        bound, counts = completed_score(self.seen, self.plan, climber.theta, self.score)
        return Trial(
            states=self.cardinalities,
            bound=bound - self._roots,
            counts=dict(zip(self.seen.open_nodes, self.seen.layout.unpack(counts), strict=True)),
            theta=climber.theta,
            status=found.status,
            iterations=found.iterations,
        )

    def missing_information(self, trial: Trial) -> float | None:
        """How much the bound falls short of the evidence by taking the states as if they had been seen."""
        prior = self.task.objective.prior
        return missing_information(self.plan, trial.theta, self.seen.layout.pack([*trial.counts.values()]), prior)

    def network(self, trial: Trial) -> Network:
        """The small graph with the trial's parameters; roots, which say nothing, are uniform."""
        opened = dict(zip(self.seen.open_nodes, self.seen.layout.unpack(trial.theta), strict=True))
        states = self.seen.states
        uniform = {node: np.full(len(states[node]), 1 / len(states[node])) for node in self.around.roots}
        return Network.build(self.around.graph, states, {**uniform, **opened})

    def posterior(self, trial: Trial, name: str) -> Floats:
        """(rows of the surroundings' table, states)."""
        return ExpectedCounts(self.network(trial), self.around.table).posterior(name)


def merged_start(smaller: Setting, end: Trial, name: str) -> Floats:
    """Parameters with one state of the variable fewer: of all pairs, the one whose merging leaves the best value."""
    pairs = combinations(range(end.states[name]), 2)
    starts = [smaller.at_counts(_merged_counts(smaller.around, end, name, i, j)) for i, j in pairs]
    return max(starts, key=smaller.value)


def _merged_counts(around: Surroundings, end: Trial, name: str, i: int, j: int) -> dict[str, Floats]:
    """States i and j of the variable as one: count vectors are added, here too."""
    merged = {}
    for node, counts in end.counts.items():
        scope = (*around.graph.parents(node), node)
        if name in scope:
            by_state = np.moveaxis(counts, scope.index(name), 0).copy()
            by_state[i] += by_state[j]
            merged[node] = np.moveaxis(np.delete(by_state, j, axis=0), 0, scope.index(name))
        else:
            merged[node] = counts
    return merged
