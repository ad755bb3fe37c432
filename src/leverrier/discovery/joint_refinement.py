"""Several hidden variables that hang together: refine each in turn, then all of them in one EM.

A look at one variable takes the others' most probable states as if they were columns: then its surroundings are small
and it is refined as if it were alone. When no look changes anything, EM runs over all of them together, where no state
is taken for certain, and one state less or more of each is tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Table
from leverrier.discovery.agglomeration import Agglomeration, agglomerate
from leverrier.discovery.first_states import first_states
from leverrier.discovery.refinement import POSITIVE, STRONG, Effort, Refinement
from leverrier.discovery.surroundings import Surroundings, cut_out
from leverrier.discovery.trial import Setting, Trial, merged_start
from leverrier.learning.score import Score
from leverrier.model.graph import Graph
from leverrier.statistics.assigned import completed
from leverrier.status import Status

Integers = NDArray[np.int64]

MOST_LOOKS = 6
"""At each variable: hard states may go back and forth between two equally good answers."""
SAME = 0.99
"""Two assignments of which so much agrees, state by state, are the same."""
DECIDED = 100.0
"""Nats of the bound beyond which the missing information cannot turn the answer."""


@dataclass(frozen=True, eq=False)
class Look:
    """One variable refined, the others' states given."""

    agglomeration: Agglomeration
    refinement: Refinement
    states: int
    labels: Integers = field(repr=False)


@dataclass(frozen=True, eq=False)
class Joint:
    """Where all of them ended together."""

    around: Surroundings
    setting: Setting
    trial: Trial
    looks: Mapping[str, Look]
    status: Status

    @property
    def states(self) -> dict[str, int]:
        return dict(self.trial.states)


def refine_together(graph: Graph, table: Table, hidden: Sequence[str], score: Score, effort: Effort) -> Joint:
    """Rounds of looks from one state each, then EM over all, then one state less or more where that pays."""
    looks, status = _rounds(graph, table, hidden, score, effort)
    around = cut_out(graph, table, hidden)
    labels = {name: around.by_configuration(look.labels) for name, look in looks.items()}
    states = {name: look.states for name, look in looks.items()}
    setting = Setting(around, states, score)
    trial = setting.run(setting.at_states(labels, effort.rng(0)), effort.deadline)
    while not effort.spent:
        step = _best_step(setting, trial, looks, labels, effort)
        if step is None:
            return Joint(around, setting, trial, looks, status)
        setting, trial = step
        if effort.progress is not None:
            effort.progress(f"together: {_in_words(trial.states)}", trial.bound)
    return Joint(around, setting, trial, looks, Status.BUDGET)


def _rounds(
    graph: Graph, table: Table, hidden: Sequence[str], score: Score, effort: Effort
) -> tuple[dict[str, Look], Status]:
    """Look at each variable, again whenever something in its blanket has changed [elidan2001 section 4]."""
    assigned = {name: np.zeros(table.n_rows, dtype=np.int64) for name in hidden}
    looks: dict[str, Look] = {}
    times = dict.fromkeys(hidden, 0)
    waiting = list(hidden)
    while waiting:
        if effort.spent and len(looks) == len(hidden):
            return looks, Status.BUDGET
        name = waiting.pop(0)
        times[name] += 1
        others = completed(table, {other: labels for other, labels in assigned.items() if other != name})
        path = agglomerate(first_states(graph, others, name), score)
        refined = Refinement(cut_out(graph, others, [name]), name, score, effort).search(path)
        k = refined.chosen
        looks[name] = Look(path, refined, k, refined.labels(k))
        if not same_assignment(assigned[name], looks[name].labels):
            assigned[name] = looks[name].labels
            blanket = graph.blanket(name)
            waiting += [o for o in hidden if o in blanket and o not in waiting and times[o] < MOST_LOOKS]
    return looks, Status.CONVERGED


def same_assignment(one: Integers, other: Integers) -> bool:
    """Whether two assignments agree up to the names of the states, nearly everywhere."""
    if one.max(initial=0) != other.max(initial=0):
        return False
    together = np.zeros((int(one.max(initial=0)) + 1, int(other.max(initial=0)) + 1))
    np.add.at(together, (one, other), 1.0)
    return float(together.max(axis=1).sum()) >= SAME * len(one) and float(together.max(axis=0).sum()) >= SAME * len(one)


def _best_step(
    setting: Setting, trial: Trial, looks: Mapping[str, Look], labels: Mapping[str, Integers], effort: Effort
) -> tuple[Setting, Trial] | None:
    """The best change of one variable by one state, or None if none pays its margin."""
    best, chosen = 0.0, None
    known = _Evidence(setting, trial)
    for name, k in trial.states.items():
        for new in (k - 1, k + 1):
            if new < 1 or (effort.most is not None and new > effort.most) or effort.spent:
                continue
            other = Setting(setting.around, {**trial.states, name: new}, setting.score)
            if new < k:
                start = merged_start(other, trial, name)
            elif new in looks[name].refinement.levels:
                finer = setting.around.by_configuration(looks[name].refinement.labels(new))
                start = other.at_states({**labels, name: finer}, effort.rng(1))
            else:
                continue
            end = other.run(start, effort.deadline)
            margin = STRONG if min(k, new) == 1 else POSITIVE
            gain = known.gain(_Evidence(other, end)) + (margin if new < k else -margin)
            if gain > best:
                best, chosen = gain, (other, end)
    return chosen


class _Evidence:
    """A trial's log evidence; the missing information is worked out only if it could matter."""

    def __init__(self, setting: Setting, trial: Trial) -> None:
        self.setting, self.trial = setting, trial

    @cached_property
    def missing(self) -> float | None:
        return self.setting.missing_information(self.trial)

    @property
    def bound(self) -> float:
        return self.trial.bound + sum(lgamma(k + 1) for k in self.trial.states.values())

    def gain(self, other: _Evidence) -> float:
        """How much more the other has."""
        bounds = other.bound - self.bound
        if abs(bounds) > DECIDED or self.missing is None or other.missing is None:
            return bounds
        return bounds + other.missing - self.missing


def _in_words(states: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {k}" for name, k in states.items())
