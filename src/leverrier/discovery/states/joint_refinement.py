"""Several hidden variables that hang together: a look at each, then EM over all of them.

The first look at a variable takes the most probable states of those before it as if they were columns, and the
others as having one state: then its surroundings are small and it is refined as if it were alone. Further looks of that
kind would feed on each other (states taken for certain are explained by more states, without end). So from there on
everything is in one EM, where no state is certain, and one state less or more of each variable is tried as long as
that pays; again only where something in the blanket has changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import lgamma

import numpy as np

from leverrier.arrays import Integers
from leverrier.counts.assigned_counts import completed
from leverrier.data.table import Table
from leverrier.discovery.states.agglomeration import Agglomeration, agglomerate
from leverrier.discovery.states.em_trial import Setting, Trial, merged_start
from leverrier.discovery.states.first_states import first_states
from leverrier.discovery.states.refinement import POSITIVE, STRONG, Refinement, RefinementRule
from leverrier.discovery.states.surroundings import Surroundings, cut_out
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.run.event import Event
from leverrier.status import Status

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
    tried: Mapping[str, Mapping[int, float]]
    """By variable: the log evidence with one state less or more, relative to the answer, the others as they are."""
    status: Status

    @property
    def states(self) -> dict[str, int]:
        return dict(self.trial.states)


def refine_together(graph: Graph, table: Table, hidden: Sequence[str], score: Score, rule: RefinementRule) -> Joint:
    """A look at each from one state, then EM over all, then one state less or more where that pays."""
    looks = _look_at_each(graph, table, hidden, score, rule)
    around = cut_out(graph, table, hidden)
    labels = {name: around.by_configuration(look.labels) for name, look in looks.items()}
    setting = Setting(around, {name: look.states for name, look in looks.items()}, score)
    trial = setting.run(setting.at_states(labels, rule.rng(0)), rule.run)
    status = Status.CONVERGED
    stale = set(hidden)
    tried: dict[str, dict[int, float]] = {}
    while status.converged:
        for name in stale:
            tried[name] = {trial.states[name]: 0.0}
        step = _best_step(setting, trial, looks, labels, sorted(stale, key=hidden.index), tried, rule)
        if step is None:
            break
        changed, setting, trial = step
        stale = {changed, *(name for name in hidden if name in graph.blanket(changed))}
        together = ", ".join(f"{name} {k}" for name, k in trial.states.items())
        rule.run.tell(Event.STATES_TOGETHER, np.nan, together)
        status = trial.status if trial.status is Status.INTERRUPTED else status
    if status.converged and rule.run.late:
        status = Status.BUDGET
    return Joint(around, setting, trial, looks, tried, status)


def _look_at_each(
    graph: Graph, table: Table, hidden: Sequence[str], score: Score, rule: RefinementRule
) -> dict[str, Look]:
    """One look at each, given the states of those before it [elidan2001 section 4, the first round]."""
    assigned = {name: np.zeros(table.n_rows, dtype=np.int64) for name in hidden}
    looks: dict[str, Look] = {}
    for name in hidden:
        others = completed(table, {other: labels for other, labels in assigned.items() if other != name})
        path = agglomerate(first_states(graph, others, name), score)
        refined = Refinement(cut_out(graph, others, [name]), name, score, rule).search(path)
        if refined.status is Status.INTERRUPTED:
            raise KeyboardInterrupt  # some variable may not have been looked at: there is no answer to give
        k = refined.chosen
        looks[name] = Look(path, refined, k, refined.labels(k))
        assigned[name] = looks[name].labels
    return looks


def _best_step(
    setting: Setting,
    trial: Trial,
    looks: Mapping[str, Look],
    labels: Mapping[str, Integers],
    names: Sequence[str],
    tried: dict[str, dict[int, float]],
    rule: RefinementRule,
) -> tuple[str, Setting, Trial] | None:
    """The best change of one of these variables by one state, or None if none pays its margin.

    What each change would gain is written to `tried`.
    """
    best, chosen = 0.0, None
    known = _Evidence(setting, trial)
    for name in names:
        k = trial.states[name]
        for new in (k - 1, k + 1):
            if new < 1 or (rule.most is not None and new > rule.most) or rule.run.late:
                continue
            other = Setting(setting.around, {**trial.states, name: new}, setting.score)
            if new < k:
                start = merged_start(other, trial, name)
            elif new in looks[name].refinement.levels:
                finer = setting.around.by_configuration(looks[name].refinement.labels(new))
                start = other.at_states({**_fitting(labels, trial), name: finer}, rule.rng(1))
            else:
                continue
            end = other.run(start, rule.run)
            margin = STRONG if min(k, new) == 1 else POSITIVE
            tried[name][new] = gain = known.gain(_Evidence(other, end))
            paid = gain + (margin if new < k else -margin)
            if paid > best:
                best, chosen = paid, (name, other, end)
    return chosen


def _fitting(labels: Mapping[str, Integers], trial: Trial) -> dict[str, Integers]:
    """Those first labels that still have as many states as the trial."""
    return {name: given for name, given in labels.items() if int(given.max(initial=0)) + 1 == trial.states[name]}


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
