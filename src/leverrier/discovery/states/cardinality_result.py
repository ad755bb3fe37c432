"""What `cardinality` gives back: the answer, the whole path to it, and the words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from leverrier.chart_of import chart_of
from leverrier.data.card import card
from leverrier.data.paper_table import Papers
from leverrier.discovery.states.agglomeration import Agglomeration, Merge
from leverrier.discovery.states.refinement import Refinement
from leverrier.models.network import Network
from leverrier.status import Status
from leverrier.words_of import Note, words_of

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True)
class ColumnAsked(Note):
    """A column of the data that is what is asked for: it was set aside."""

    column: str


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of one number of states, in nats; nan where that was not tried, which equals another nan.

    All are of the families that hold the hidden variable: the rest of the network adds the same to each.
    """

    states: int
    agglomeration: float
    """Of the completed data, at this level of the merge path."""
    path: float = nan
    """Cheeseman–Stutz after EM from the path's assignment."""
    random: float = nan
    """Cheeseman–Stutz after EM from the best of the random starts."""
    merged: float = nan
    """Cheeseman–Stutz after EM from a larger model with two states merged."""
    bound: float = nan
    """The best of those three: a lower bound of the log evidence."""
    evidence: float = nan
    """The bound with the missing information and the ways to name states put back: what decides."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scores) and self._tried() == other._tried()

    def __hash__(self) -> int:
        return hash(self._tried())

    def _tried(self) -> tuple[float | None, ...]:
        """From Python 3.13 on a dataclass compares field by field, and no nan equals itself."""
        return tuple(None if isnan(each) else each for each in astuple(self))


@dataclass(frozen=True, eq=False)
class Cardinality(Papers):
    """How many states one hidden variable has. `print` it for the answer in words."""

    hidden: str
    states: int
    agglomeration: Agglomeration = field(repr=False)
    refinement: Refinement | None = field(repr=False)
    """None without refinement."""
    status: Status
    together: Mapping[int, float] | None = None
    """If it was counted together with others: log evidence by number of states, relative to the answer's, the others
    as they are. The scores are then those of the first look, before the others were known."""
    notes: tuple[str, ...] = ()
    _network: Callable[[], Network] | None = field(default=None, repr=False)

    @property
    def path(self) -> tuple[tuple[int, float], ...]:
        """(states, score of the completed data) from the first states to 1."""
        return self.agglomeration.path

    @property
    def merges(self) -> tuple[Merge, ...]:
        """The merge tree: which states became one, in order, and by how much the score changed."""
        return self.agglomeration.merges

    @cached_property
    def scores(self) -> dict[int, Scores]:
        """By number of states: those that EM tried, or without refinement the whole path."""
        if self.refinement is None:
            return {k: Scores(k, score) for k, score in reversed(self.path)}
        completed = dict(self.path)
        return {
            k: Scores(
                states=k,
                agglomeration=completed[k],
                path=_tried(level.path),
                random=_tried(level.random),
                merged=_tried(level.merged),
                bound=level.bound,
                evidence=self.refinement.evidence(k),
            )
            for k, level in sorted(self.refinement.levels.items())
        }

    def value(self, states: int) -> float:
        """What decides between numbers of states: the evidence, or the merge path's score without refinement."""
        if self.together is not None:
            return self.together.get(states, nan)
        each = self.scores.get(states, Scores(states, nan))
        return each.agglomeration if self.refinement is None else each.evidence

    @property
    def runner_up(self) -> int | None:
        """The next best number of states."""
        others = [k for k in (self.scores if self.together is None else self.together) if k != self.states]
        return max(others, key=self.value) if others else None

    @property
    def lead(self) -> float:
        """Nats by which the answer is ahead of the runner-up; below 0 if more states were better, but not clearly."""
        return nan if self.runner_up is None else self.value(self.states) - self.value(self.runner_up)

    @property
    def gain(self) -> float:
        """Nats by which the answer is better than no hidden variable (one state); nan if that was not tried."""
        return self.value(self.states) - self.value(1)

    @property
    def collapses(self) -> bool:
        return self.states == 1

    @cached_property
    def network(self) -> Network:
        """The whole network with what is hidden in it, hidden states by falling frequency."""
        assert self._network is not None
        return self._network()

    @property
    def verdict(self) -> str:
        """The answer in a sentence or two."""
        return words_of("cardinality_words.answer_words", self)

    def plot_merges(self) -> altair.TopLevelMixin:
        """The merge tree [elidan2001 figure 2], as an Altair chart."""
        return chart_of("cardinality_charts.merge_tree", self)

    def plot_scores(self) -> altair.TopLevelMixin:
        """Scores against the number of states."""
        return chart_of("cardinality_charts.score_by_states", self)

    def _repr_html_(self) -> str:
        rows = [(k, f"{self.value(k):,.1f}", "chosen" if k == self.states else "") for k in sorted(self.scores)]
        facts = {"states": self.states, "status": self.status}
        return card(f"How many states {self.hidden} has", facts, ("states", "score, nats", ""), rows, (self.verdict,))

    def __str__(self) -> str:
        return words_of("cardinality_words.all_words", self)


@dataclass(frozen=True, eq=False)
class Cardinalities(Papers):
    """How many states each of several hidden variables has; attributes are dicts by variable."""

    variables: Mapping[str, Cardinality]
    status: Status
    notes: tuple[str, ...] = ()
    trace: tuple[tuple[str, int, float], ...] = ()
    """Without refinement, after each look of the round-robin: the variable, its states, the completed data's score."""
    _network: Callable[[], Network] | None = field(default=None, repr=False)

    @property
    def states(self) -> dict[str, int]:
        return {name: each.states for name, each in self.variables.items()}

    @property
    def path(self) -> dict[str, tuple[tuple[int, float], ...]]:
        return {name: each.path for name, each in self.variables.items()}

    @property
    def merges(self) -> dict[str, tuple[Merge, ...]]:
        return {name: each.merges for name, each in self.variables.items()}

    @property
    def scores(self) -> dict[str, dict[int, Scores]]:
        return {name: each.scores for name, each in self.variables.items()}

    def __getitem__(self, name: str) -> Cardinality:
        return self.variables[name]

    @cached_property
    def network(self) -> Network:
        """The whole network with all of them in it."""
        assert self._network is not None
        return self._network()

    def __str__(self) -> str:
        return "\n".join([*(each.verdict for each in self.variables.values()), *self.notes])


def _tried(score: float) -> float:
    return score if score > -np.inf else nan
