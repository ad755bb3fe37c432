"""How many states a hidden variable has, by EM: from 1 upwards, until more states have stopped paying.

Each number of states is tried from the assignment on the merge path and from random starts; the best end is then
merged downwards, pair by pair, with EM after each merge, as long as that improves the smaller models. EM with a state
too many finds good ends that EM with the right number misses, and a merge carries them down.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from math import lgamma

import numpy as np

from leverrier.arrays import Integers
from leverrier.discovery.states.agglomeration import Agglomeration
from leverrier.discovery.states.em_trial import Setting, Trial, merged_start
from leverrier.discovery.states.first_states import FirstStates
from leverrier.discovery.states.surroundings import Surroundings
from leverrier.learning.structure.score import Score
from leverrier.run.event import Event
from leverrier.run.run import UNBOUNDED, Run
from leverrier.status import Status

AHEAD = 2
"""Numbers of states tried beyond the best."""
ALWAYS = 6
"""Up to this many the path's own choice, and one more, are tried whatever smaller numbers say."""
POSITIVE, STRONG = 1.0, 3.0
"""Nats of evidence for one state more, and for two states rather than none (odds of 3 and of 20 to one, after Kass and
Raftery 1995)."""
BRIEF = 40
"""Steps of EM that tell numbers of states apart when they begin at merged states."""
WORTH = 0.01
"""Nats by which a merged start must improve a smaller model to be carried further down."""


@dataclass(frozen=True, eq=False)
class Level:
    """What EM found with so many states: Cheeseman–Stutz scores by kind of start, and the best end."""

    states: int
    path: float = -np.inf
    random: float = -np.inf
    merged: float = -np.inf
    best: Trial | None = field(default=None, repr=False)
    correction: float | None = None
    """The missing information at the best end (None: not computed)."""

    @property
    def bound(self) -> float:
        return max(self.path, self.random, self.merged)


@dataclass(frozen=True, eq=False)
class RefinementRule:
    """How much is tried."""

    starts: int = 5
    most: int | None = None
    seed: int = 0
    brief: bool = False
    """A few steps of EM from the merge path's assignments alone: no random starts, nothing carried down."""
    run: Run = UNBOUNDED
    threads: Executor | None = None
    """Among which the starts are shared out."""

    def rng(self, *key: int) -> np.random.Generator:
        """A generator of its own for each number of states and start: answers do not depend on who runs first."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

    @property
    def steps(self) -> int | None:
        """Of one run of EM, at most."""
        return BRIEF if self.brief else None


def distinguishable(first: FirstStates) -> float:
    """How many states could ever be told apart. With one child, one for each configuration of the parents says all."""
    if not first.children:
        return 1.0
    return first.own_rows if len(first.children) == 1 else np.inf


class Refinement:
    """EM over numbers of states of one hidden variable: all else that is hidden has been given a state."""

    def __init__(self, around: Surroundings, name: str, score: Score, rule: RefinementRule) -> None:
        self.around, self.name, self.score, self.rule = around, name, score, rule
        self.levels: dict[int, Level] = {}
        self.status = Status.CONVERGED
        self._settings: dict[int, Setting] = {}

    def setting(self, k: int) -> Setting:
        if k not in self._settings:
            self._settings[k] = Setting(self.around, {self.name: k}, self.score)
        return self._settings[k]

    def search(self, path: Agglomeration) -> Refinement:
        """Try 1, 2, 3… states, until the best is two behind and the path's own choice has been passed."""
        last = min(path.n_first, distinguishable(path.first), self.rule.most or np.inf)
        passed = min(path.best(self.rule.most) + 1, ALWAYS)
        k = 0
        ahead = 1 if self.rule.brief else AHEAD
        while k < last and (k < 2 or k < max(self.chosen + ahead, passed)):
            k += 1
            self._try(k, path)
            if self.status is Status.INTERRUPTED:
                break
            if self.rule.run.late:
                self.status = Status.BUDGET
                break
        return self

    def _try(self, k: int, path: Agglomeration) -> None:
        setting, rule = self.setting(k), self.rule
        labels = self.around.by_configuration(path.assignment(k))
        points = [setting.at_states({self.name: labels}, rule.rng(k, 0))]
        further = 0 if rule.brief or k == 1 else rule.starts
        points += [setting.at_random(rule.rng(k, 1 + i)) for i in range(further)]
        spread = map if rule.threads is None else rule.threads.map
        ends = list(spread(lambda point: setting.run(point, rule.run, rule.steps), points))
        self._keep(k, "path", ends[:1])
        self._keep(k, "random", ends[1:])
        if not rule.brief:
            self._carry_down(k)
        rule.run.tell(Event.STATES_OF, np.nan, self.name, k, said=f"log evidence {self.evidence(k):.2f}")

    def _keep(self, k: int, kind: str, ends: list[Trial]) -> bool:
        """Remember these ends; whether one of them is the best so far, by more than a hair."""
        level = self.levels.get(k, Level(k))
        improved = False
        for end in ends:
            if end.status is Status.INTERRUPTED:
                self.status = Status.INTERRUPTED
            if level.best is None or end.bound > level.best.bound:
                improved = improved or level.best is None or end.bound > level.best.bound + WORTH
                level = replace(level, best=end, correction=None)
            level = replace(level, **{kind: max(getattr(level, kind), end.bound)})
        if level.best is not None and level.correction is None and not self.rule.brief:
            level = replace(level, correction=self.setting(k).missing_information(level.best))
        self.levels[k] = level
        return improved

    def _carry_down(self, k: int) -> None:
        """Merge the best end with k states, and go on from there while that improves the smaller models."""
        while k > 2 and not self.rule.run.late and self.status is not Status.INTERRUPTED:
            level = self.levels[k]
            assert level.best is not None
            start = merged_start(self.setting(k - 1), level.best, self.name)
            if not self._keep(k - 1, "merged", [self.setting(k - 1).run(start, self.rule.run)]):
                return
            k -= 1

    @property
    def corrected(self) -> bool:
        """Whether the missing information is known at every level, so that evidences can be compared."""
        return all(level.correction is not None for level in self.levels.values())

    def evidence(self, k: int) -> float:
        """Log evidence of k states, approximately: bound, missing information, and the k! ways to name states."""
        level = self.levels[k]
        correction = level.correction if self.corrected and level.correction is not None else 0.0
        return level.bound + correction + lgamma(k + 1)

    @property
    def chosen(self) -> int:
        """The number of states to report: that of the best bound, raised while the evidence for more is clear.

        The bound is safe but hard on states that overlap; the evidence puts that right, but where states are too many
        for the data it may err upwards. So more states are taken one at a time from what is held already, and only if
        they are better by a clear margin: positive evidence for one more, strong evidence for a variable at all.
        """
        k = max(self.levels, key=lambda k: (self.levels[k].bound, -k))
        while k + 1 in self.levels:
            margin = POSITIVE if k > 1 else STRONG
            if not self.evidence(k + 1) > self.evidence(k) + margin:
                break
            k += 1
        return k

    def labels(self, k: int) -> Integers:
        """The most probable state of each row of the data at the best end with k states."""
        level = self.levels[k]
        assert level.best is not None
        return self.setting(k).posterior(level.best, self.name).argmax(axis=1)[self.around.index]
