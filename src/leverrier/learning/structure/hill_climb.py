"""Greedy hill-climbing over graphs: add, delete or reverse the arc that gains most; tabu walks; perturbation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leverrier.learning.structure.family_scores import SMALLEST_GAIN
from leverrier.learning.structure.known_scores import members
from leverrier.learning.structure.problem import Parents, Problem, SearchLog, to_matrix

ADD, DELETE, REVERSE = 0, 1, 2
MOVES = ("add", "delete", "reverse")
Move = tuple[int, int, int]
"""What, parent, child."""


class Climber:
    """A graph with the gain of every single change to it; after a change only the touched nodes' are renewed.

    gains[ADD][p, c], gains[DELETE][p, c], gains[REVERSE][p, c]; −∞ where the change is not possible. That an addition
    or a reversal makes no cycle is looked up (`below`) when a move is chosen.
    """

    def __init__(self, problem: Problem, start: Parents) -> None:
        self.problem = problem
        self.parents = list(start)
        n = problem.n_nodes
        self.gains = np.full((3, n, n), -np.inf)
        self.below = np.zeros((n, n), dtype=np.bool_)
        self.score = problem.scores.total(start)
        for child in problem.open_children:
            self._renew(child)
        self._renew_reversals(slice(None))
        self._stale: list[int] = []
        self._renew_below()

    def best_move(self, tabu: NDArray[np.bool_] | None = None) -> tuple[float, Move]:
        """The legal move that gains most (it may lose); among equals the first in order."""
        self.refresh()
        gains = self.gains.copy()
        gains[ADD][self.below.T] = -np.inf  # p is below c: p → c would close a cycle
        if tabu is not None:
            gains[:, tabu] = -np.inf
        while True:
            what, p, c = (int(i) for i in np.unravel_index(np.argmax(gains), gains.shape))
            if what != REVERSE or not self._other_path(p, c) or not np.isfinite(gains[what, p, c]):
                return float(gains[what, p, c]), (what, p, c)
            gains[what, p, c] = -np.inf

    def move(self, move: Move) -> None:
        what, p, c = move
        self.score += float(self.gains[what, p, c])
        touched = [c]
        if what == ADD:
            self.parents[c] |= 1 << p
        else:
            self.parents[c] ^= 1 << p
            if what == REVERSE:
                self.parents[p] |= 1 << c
                touched.append(p)
        self._stale += touched

    def refresh(self) -> None:
        """Renew what the last moves changed: not before it is asked for, for the last move's nobody will ask."""
        if not self._stale:
            return
        for child in self._stale:
            self._renew(child)
        self._renew_reversals(self._stale)
        self._renew_below()
        self._stale = []

    def legal(self, move: Move) -> bool:
        what, p, c = move
        if not np.isfinite(self.gains[what, p, c]):
            return False
        return not (self.below[c, p] if what == ADD else what == REVERSE and self._other_path(p, c))

    def _other_path(self, p: int, c: int) -> bool:
        """Whether p leads to c by another way than the arc itself."""
        outside = 0 if self.problem.above is None else self.problem.above[c]
        if outside >> p & 1:
            return True
        return any(self.below[p, other] for other in members(self.parents[c] | outside) if other != p)

    def _renew(self, child: int) -> None:
        problem, above = self.problem, self.parents[child]
        scores = problem.scores
        add, delete = self.gains[ADD, :, child], self.gains[DELETE, :, child]
        add[:] = delete[:] = -np.inf
        base = scores.family(child, above)
        if above.bit_count() < problem.max_parents:
            np.subtract(scores.expand(child, above)[:-1], base, out=add, where=problem.allowed[:, child])
        for p in members(above):
            if not problem.required[p, child]:
                delete[p] = scores.family(child, above & ~(1 << p)) - base

    def _renew_reversals(self, touched: list[int] | slice) -> None:
        """p → c becomes c → p: what the deletion and the addition gain together."""
        allowed = self.problem.allowed
        add, delete, reverse = self.gains
        reverse[:, touched] = delete[:, touched] + np.where(allowed[touched], add[touched], -np.inf).T
        reverse[touched] = delete[touched] + np.where(allowed[:, touched], add[:, touched], -np.inf).T

    def _renew_below(self) -> None:
        """below[a, b]: a leads to b."""
        n = self.problem.n_nodes
        outside = self.problem.above or [0] * n
        parents = [own | more for own, more in zip(self.parents, outside, strict=True)]
        above = [0] * n
        done = 0
        waiting = list(range(n))
        while waiting:
            later = []
            for v in waiting:
                if parents[v] & ~done:
                    later.append(v)
                    continue
                reach = parents[v]
                for p in members(parents[v]):
                    reach |= above[p]
                above[v] = reach
                done |= 1 << v
            waiting = later
        self.below = to_matrix(above).astype(np.bool_)


def hill_climb(problem: Problem, start: Parents, effort: SearchLog, tabu: int = 0) -> Parents:
    """Climb until nothing gains; with `tabu` > 0 walk on for that many moves without undoing recent ones."""
    climber = Climber(problem, start)
    best_score, best = climber.score, list(climber.parents)
    recent: list[tuple[int, int]] = []
    stale = 0
    while not effort.spent():
        blocked = _blocked(problem.n_nodes, recent) if tabu else None
        gain, move = climber.best_move(blocked)
        if not np.isfinite(gain) or (gain <= SMALLEST_GAIN and stale >= tabu):
            break
        climber.move(move)
        effort.moved(MOVES[move[0]], climber.score)
        recent = [*recent, move[1:]][-tabu:] if tabu else []
        stale += 1
        if climber.score > best_score + SMALLEST_GAIN:
            best_score, best, stale = climber.score, list(climber.parents), 0
    return best


def _blocked(n: int, recent: list[tuple[int, int]]) -> NDArray[np.bool_]:
    blocked = np.zeros((n, n), dtype=np.bool_)
    for p, c in recent:
        blocked[p, c] = blocked[c, p] = True
    return blocked


def random_moves(problem: Problem, start: Parents, count: int, rng: np.random.Generator) -> Parents:
    """The graph after so many random legal changes."""
    climber = Climber(problem, start)
    for _ in range(count):
        climber.refresh()
        possible = np.argwhere(np.isfinite(climber.gains))
        for what, p, c in rng.permutation(possible).tolist():
            if climber.legal((what, p, c)):
                climber.move((what, p, c))
                break
    climber.refresh()  # (what was scored for it is known to the search that follows)
    return climber.parents


def drop_arcs(problem: Problem, start: Parents, share: float, rng: np.random.Generator) -> Parents:
    """The graph without each arc that is not required, with this probability."""
    kept = list(start)
    for child, above in enumerate(start):
        for p in members(above):
            if not problem.required[p, child] and rng.random() < share:
                kept[child] &= ~(1 << p)
    return kept
