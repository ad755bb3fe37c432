"""How a hidden state moves: transition tables, logits over inputs, states that stay, and lengths of stay by other laws.

Whatever the law, a walk over *steps* results: a plain Markov chain whose steps each belong to one state. A length of
stay that is not geometric has several steps a state [Langrock & Zucchini 2011]: all inference is then that of a chain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.data.sequences.panel import Panel
from leverrier.models.regimes.logits import ascend, log_shares
from leverrier.models.regimes.stays import fitted_stay, leaving
from leverrier.models.regimes.terms import Term, design, distinct_rows

LEAST = 1e-12
NEWTON = 4


class Stay(StrEnum):
    """The law of how long a state lasts."""

    GEOMETRIC = "geometric"
    NEGATIVE_BINOMIAL = "negative binomial"
    WEIBULL = "weibull"


@dataclass(frozen=True, eq=False)
class Walk:
    """A chain over steps: `which[t]` is the matrix that leads to slice t, −1 where a sequence begins."""

    initial: Floats
    transitions: Floats
    which: Integers
    state: Integers
    """By step, its state."""
    rows: Floats
    """The distinct rows of inputs that the matrices belong to."""


@dataclass(frozen=True, eq=False)
class Moves:
    """First states and moves. With a length of stay of its own, `matrix` says where a state goes when it ends."""

    initial: Floats
    matrix: Floats
    allowed: NDArray[np.bool_]
    """(states, states): which moves there are at all."""
    terms: tuple[Term, ...] = ()
    slopes: Floats | None = None
    """(states, 1 + terms, states − 1): the logit of each next state against the last one, given the slice before."""
    stay: Stay = Stay.GEOMETRIC
    laws: Floats | None = None
    """(states, 2): steps and chance of a negative binomial; scale and shape of a Weibull."""
    longest: int = 1
    """Steps that a state may have."""
    pseudo: float = 0.0

    @property
    def states(self) -> int:
        return len(self.initial)

    @property
    def stays(self) -> bool:
        """Whether nothing ever moves: a class of persons, no regime."""
        return self.states > 1 and not np.any(self.allowed & ~np.eye(self.states, dtype=bool))

    @property
    def dimension(self) -> int:
        k = self.states
        first = k - 1
        if self.stay is not Stay.GEOMETRIC:
            jumps = int((self.allowed & ~np.eye(k, dtype=bool)).sum()) - k
            return first + max(jumps, 0) + 2 * k
        free = int(self.allowed.sum()) - k
        return first + free * (1 + len(self.terms))

    def walk(self, panel: Panel) -> Walk:
        """The chain along these slices."""
        which = np.zeros(panel.n_slices, dtype=np.int64)
        state = np.arange(self.states)
        if self.slopes is not None and self.states > 1:
            before = np.maximum(np.arange(panel.n_slices) - 1, 0)
            rows, which[:] = distinct_rows(design(panel, self.terms)[before])
            transitions = self.at(rows)
            initial = self.initial
        elif self.stay is Stay.GEOMETRIC:
            rows, transitions, initial = np.ones((1, 1)), self.matrix[None], self.initial
        else:
            rows = np.ones((1, 1))
            state, matrix = self._steps()
            transitions = matrix[None]
            initial = np.zeros(len(state))
            initial[np.searchsorted(state, np.arange(self.states))] = self.initial
        which[panel.starts[:-1]] = -1
        return Walk(initial, np.ascontiguousarray(transitions), which, state, rows)

    def at(self, rows: Floats) -> Floats:
        """(rows, states, states): the transition tables at these inputs."""
        assert self.slopes is not None
        made = np.stack([np.exp(log_shares(rows, each)) for each in self.slopes], axis=1)
        made = np.where(self.allowed, made, 0.0)
        return made / made.sum(axis=2, keepdims=True)

    def _steps(self) -> tuple[Integers, Floats]:
        """By step its state, and the matrix over steps."""
        assert self.laws is not None
        sizes = [int(law[0]) if self.stay is Stay.NEGATIVE_BINOMIAL else self.longest for law in self.laws]
        begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        matrix = np.zeros((begin[-1], begin[-1]))
        for s, size in enumerate(sizes):
            chance = leaving(self.stay.value, self.laws[s], size)
            for age in range(size):
                at = begin[s] + age
                on = min(at + 1, begin[s + 1] - 1)
                if self.stay is Stay.WEIBULL:
                    matrix[at, on] += 1 - chance[age]
                    matrix[at, begin[:-1]] += chance[age] * self.matrix[s]
                else:
                    matrix[at, at] += 1 - chance[age]
                    if age + 1 < size:
                        matrix[at, at + 1] += chance[age]
                    else:
                        matrix[at, begin[:-1]] += chance[age] * self.matrix[s]
        return np.repeat(np.arange(self.states), sizes), matrix

    def fitted(self, walk: Walk, first: Floats, joint: Floats) -> Self:
        """The M-step: first steps (steps,) and moves (matrices, steps, steps), as expected."""
        begun = np.bincount(walk.state, first, self.states) + self.pseudo / self.states
        initial = begun / max(begun.sum(), 1e-300)
        if self.states == 1:
            return replace(self, initial=np.ones(1))
        if self.stay is not Stay.GEOMETRIC:
            return self._fitted_stays(walk, initial, joint[0])
        if self.slopes is not None:
            return replace(self, initial=initial, slopes=self._fitted_slopes(walk.rows, joint))
        counts = joint.sum(axis=0) + self.pseudo / self.states * self.allowed
        matrix = np.where(self.allowed, np.maximum(counts, LEAST * max(counts.sum(), 1e-300)), 0.0)
        return replace(self, initial=initial, matrix=matrix / matrix.sum(axis=1, keepdims=True))

    def _fitted_slopes(self, rows: Floats, joint: Floats) -> Floats:
        assert self.slopes is not None
        made = self.slopes.copy()
        for s in range(self.states):
            counts = joint[:, s]
            used = np.flatnonzero(counts.sum(axis=1) > 1e-12)
            for _ in range(NEWTON):
                made[s] = ascend(rows[used], made[s], counts[used, :-1], counts[used].sum(axis=1))
        return made

    def _fitted_stays(self, walk: Walk, initial: Floats, joint: Floats) -> Self:
        assert self.laws is not None
        laws, matrix = self.laws.copy(), self.matrix.copy()
        first = np.searchsorted(walk.state, np.arange(self.states))
        for s in range(self.states):
            steps = np.flatnonzero(walk.state == s)
            into = joint[np.ix_(steps, first)].copy()
            into[:, s] = 0.0  # (a state never jumps to itself)
            jumps = into.sum(axis=0)
            if self.stay is Stay.NEGATIVE_BINOMIAL:
                stayed = float(joint[steps, steps].sum())
                moved = float(joint[steps].sum()) - stayed
                laws[s, 1] = np.clip(moved / max(moved + stayed, 1e-300), 1e-6, 1 - 1e-9)
            else:
                left = into.sum(axis=1)
                on = joint[steps].sum(axis=1) - left
                laws[s] = fitted_stay(left, on, laws[s])
            jumps = np.where(self.allowed[s], np.maximum(jumps, LEAST), 0.0)
            jumps[s] = 0.0
            matrix[s] = jumps / jumps.sum()
        return replace(self, initial=initial, matrix=matrix, laws=laws)

    def reordered(self, order: np.ndarray) -> Self:
        """The same with states in another order."""
        slopes = None
        if self.slopes is not None:
            whole = np.concatenate([self.slopes, np.zeros((*self.slopes.shape[:2], 1))], axis=2)[order][:, :, order]
            slopes = (whole - whole[:, :, -1:])[:, :, :-1]
        return replace(
            self,
            initial=self.initial[order],
            matrix=self.matrix[np.ix_(order, order)],
            allowed=self.allowed[np.ix_(order, order)],
            slopes=slopes,
            laws=None if self.laws is None else self.laws[order],
        )

    @property
    def usual(self) -> Floats:
        """(states, states): chances of the next state, inputs at their usual values; with stays, of one more slice."""
        if self.slopes is not None and self.states > 1:
            row = np.zeros((1, 1 + len(self.terms)))
            row[0, 0] = 1.0
            return self.at(row)[0]
        if self.stay is Stay.GEOMETRIC:
            return self.matrix
        leave = 1 / np.maximum(self.dwell, 1.0)
        return np.where(np.eye(self.states, dtype=bool), 1 - leave[:, None], leave[:, None] * self.matrix)

    @property
    def dwell(self) -> Floats:
        """By state, how many slices it lasts on average, once begun."""
        if self.stay is Stay.GEOMETRIC:
            on = np.diag(self.usual)
            return np.divide(1.0, 1 - on, out=np.full(self.states, np.inf), where=on < 1)
        assert self.laws is not None
        if self.stay is Stay.NEGATIVE_BINOMIAL:
            return self.laws[:, 0] / self.laws[:, 1]
        found = []
        for law in self.laws:
            on = np.cumprod(1 - leaving("weibull", law, self.longest))
            tail = on[-1] / max(1e-9, 1 - on[-1] / on[-2]) if len(on) > 1 else 0.0
            found.append(1.0 + on[:-1].sum() + tail)
        return np.array(found)


def even_moves(states: int, persistence: float = 0.9, *, stays: bool = False, pseudo: float = 0.0) -> Moves:
    """A chain that stays where it is with this chance, or for good."""
    if stays or states == 1:
        matrix = np.eye(states)
        return Moves(np.full(states, 1 / states), matrix, matrix.astype(bool), pseudo=pseudo)
    matrix = np.full((states, states), (1 - persistence) / (states - 1))
    np.fill_diagonal(matrix, persistence)
    return Moves(np.full(states, 1 / states), matrix, np.ones((states, states), dtype=bool), pseudo=pseudo)


def with_inputs(moves: Moves, terms: tuple[Term, ...]) -> Moves:
    """The same moves, to be turned by inputs."""
    logs = np.log(np.maximum(moves.matrix, LEAST))
    slopes = np.zeros((moves.states, 1 + len(terms), moves.states - 1))
    slopes[:, 0] = logs[:, :-1] - logs[:, -1:]
    return replace(moves, terms=terms, slopes=slopes)


def with_stays(moves: Moves, stay: Stay, steps: int | None = None, longest: int = 40) -> Moves:
    """The same moves with another law of stay of the same mean."""
    if moves.states == 1:
        return moves
    dwell = np.clip(moves.dwell, 1.05, 1e6)
    jumps = np.where(np.eye(moves.states, dtype=bool), 0.0, np.maximum(moves.matrix, LEAST))
    jumps /= jumps.sum(axis=1, keepdims=True)
    if stay is Stay.NEGATIVE_BINOMIAL:
        size = steps or 2
        laws = np.column_stack([np.full(moves.states, size), np.minimum(size / np.maximum(dwell, size), 1 - 1e-9)])
    else:
        laws = np.column_stack([dwell, np.ones(moves.states)])
    return replace(moves, matrix=jumps, stay=stay, laws=laws, longest=longest)
