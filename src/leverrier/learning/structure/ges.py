"""Greedy equivalence search [Chickering 2002]: the moves are between classes of graphs that score alike, so the
answer does not hang on the order of the columns.

For a node y with undirected neighbours Ne(y), an insertion of x is fixed by the clique U = NA(y, x) ∪ T ⊆ Ne(y), and
its gain is score(y | Pa ∪ U ∪ {x}) − score(y | Pa ∪ U): one batch of scores a clique serves every x at once.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from leverrier.kernels.search.equivalence import extend
from leverrier.learning.structure.equivalence_class import Arcs, EquivalenceClass, cliques
from leverrier.learning.structure.family_scores import SMALLEST_GAIN
from leverrier.learning.structure.known_scores import members
from leverrier.learning.structure.problem import Move, Parents, Problem, SearchLog, column_bits


def greedy_equivalence(problem: Problem, start: Parents, effort: SearchLog) -> Parents:
    """Insert while it helps, then delete while it helps, and again until neither does."""
    state = EquivalenceClass.of(problem, start)
    look = (1 << problem.n_nodes) - 1
    best, best_score = start, problem.scores.total(start)
    while True:
        score = best_score
        for phase in (_Insertions, _Deletions):
            run = phase(problem, state)
            state, score = run.climb(look, score, effort)
            look |= run.touched
        found = column_bits(_some_graph(problem, state))
        score = problem.scores.total(found)
        if score <= best_score + SMALLEST_GAIN:
            return best  # (under a score that tells equivalent graphs apart the moves could go round in circles)
        best, best_score = found, score
        if not run.touched or effort.spent():
            return best


def _some_graph(problem: Problem, state: EquivalenceClass) -> Arcs:
    """A graph of the class that obeys the constraints."""
    if problem.free:
        return state.dag
    dag = np.empty_like(state.arcs)
    return dag if extend(state.arcs, dag) else state.dag


Entry = tuple[float, int, int, int, int, int]
"""Loss, y, x, U, the version of y it belongs to, and its place among y's moves (−1: one that had to wait)."""


class _Phase(ABC):
    """Each node's best move in a heap; after a move only what it touched is looked at again."""

    what = ""

    def __init__(self, problem: Problem, state: EquivalenceClass) -> None:
        self.problem = problem
        self.state = state
        self.version = [0] * problem.n_nodes
        self.offered: list[list[Move]] = [[] for _ in self.version]
        self.heap: list[Entry] = []
        self.touched = 0

    def moves(self, y: int) -> list[Move]:
        """Every move at y that gains, by falling gain.

        They depend on y's surroundings alone, so searches of one problem share them.
        """
        state = self.state
        near = state.neighbours[y]
        around = [state.adjacent[v] for v in members(near)] if near else ()
        key = (self.what, y, state.parents[y], near, *around)
        known = self.problem.moves.get(key)
        if known is None:
            known = self.problem.moves[key] = sorted(self.find(y))
        return known

    @abstractmethod
    def find(self, y: int) -> list[Move]: ...

    @abstractmethod
    def excluded(self, y: int) -> int:
        """Nodes, as bits, with which the class has no move at y."""

    @abstractmethod
    def obstacle(self, x: int, y: int, clique: int) -> int:
        """The nodes, as bits, because of which the move is not valid; 0 if it is."""

    @abstractmethod
    def changed(self, x: int, y: int, clique: int) -> Arcs: ...

    def climb(self, look: int, score: float, effort: SearchLog) -> tuple[EquivalenceClass, float]:
        for y in members(look):
            if effort.spent():
                return self.state, score
            self._offer(y, 0)
        parked: list[tuple[int, Entry]] = []
        while self.heap:
            loss, y, x, clique, version, at = heapq.heappop(self.heap)
            if version != self.version[y]:
                continue
            obstacle = self.obstacle(x, y, clique)
            after = None if obstacle else self.state.after(self.problem, self.changed(x, y, clique))
            if after is None:
                parked.append((obstacle or -1, (loss, y, x, clique, version, -1)))  # another move may make it valid
                if at >= 0:
                    self._offer(y, at + 1)
                continue
            if effort.spent():
                break
            score -= loss
            effort.moved(self.what, score)
            self.state = after
            touched = self._touched(x, y)
            self.touched |= touched
            for other in members(touched):
                self.version[other] += 1
                self._offer(other, 0)
            for obstacle, waiting in parked:
                if obstacle & touched:
                    heapq.heappush(self.heap, waiting)
            parked = [pair for pair in parked if not pair[0] & touched]
        return self.state, score

    def _offer(self, y: int, begin: int) -> None:
        """Put the best of y's moves from the given place on in the heap."""
        if not begin:
            self.offered[y] = self.moves(y)
        moves, excluded = self.offered[y], self.excluded(y)
        for at in range(begin, len(moves)):
            loss, x, clique = moves[at]
            if not excluded >> x & 1:
                heapq.heappush(self.heap, (loss, y, x, clique, self.version[y], at))
                return

    def _touched(self, x: int, y: int) -> int:
        """Nodes whose parents, neighbours or children changed, and the neighbours of the two ends."""
        touched = 1 << x | 1 << y | self.state.neighbours[x] | self.state.neighbours[y]
        for v in self.state.changed:
            touched |= 1 << v
        return touched


class _Insertions(_Phase):
    what = "insert"

    def find(self, y: int) -> list[Move]:
        state, problem = self.state, self.problem
        parents, near = state.parents[y], state.neighbours[y]
        closed = parents | near | ~problem.mutual_bits[y]
        found: list[Move] = []
        for clique in self._cliques(y):
            apart = closed
            for v in members(near & ~clique):
                apart |= state.adjacent[v]
            found += [(loss, x, clique) for loss, x in problem.gaining(y, parents | clique) if not apart >> x & 1]
        return found

    def _cliques(self, y: int) -> Iterator[int]:
        """Cliques among y's undirected neighbours, the empty one too, that leave room for one more parent."""
        parents, problem = self.state.parents[y], self.problem
        room = problem.max_parents - 1 - parents.bit_count()

        def fits(clique: int) -> bool:
            return clique.bit_count() <= room and problem.scores.fits(y, parents | clique)

        return cliques(self.state, self.state.neighbours[y], fits)

    def excluded(self, y: int) -> int:
        return self.state.adjacent[y]  # (y's children are not among the surroundings that moves are known by)

    def obstacle(self, x: int, y: int, clique: int) -> int:
        return self.state.obstacle(y, x, clique, self.problem.paths)

    def changed(self, x: int, y: int, clique: int) -> Arcs:
        arcs = self.state.arcs.copy()
        arcs[x, y] = 1
        tail = clique & ~self.state.adjacent[x]  # T: neighbours of y not adjacent to x now point at y
        for v in members(tail):
            arcs[y, v] = 0
        return arcs


class _Deletions(_Phase):
    what = "delete"

    def find(self, y: int) -> list[Move]:
        state, problem = self.state, self.problem
        scores = problem.scores
        found: list[Move] = []
        for x in members(state.neighbours[y] | state.parents[y]):
            if problem.required[x, y] or problem.required[y, x]:
                continue
            shared, with_x = state.neighbours[y] & state.adjacent[x], state.parents[y] | 1 << x
            for clique in cliques(state, shared, lambda some, with_x=with_x: problem.fits(y, with_x | some)):
                above = (with_x | clique) & ~(1 << x)
                loss = scores.family(y, above | 1 << x) - scores.family(y, above)
                if loss < -SMALLEST_GAIN:
                    found.append((loss, x, clique))
        return found

    def excluded(self, y: int) -> int:  # noqa: ARG002
        return 0

    def obstacle(self, x: int, y: int, clique: int) -> int:  # noqa: ARG002
        return 0  # that NA \ H is a clique is all that a deletion needs

    def changed(self, x: int, y: int, clique: int) -> Arcs:
        arcs = self.state.arcs.copy()
        arcs[x, y] = arcs[y, x] = 0
        for h in members(self.state.neighbours[y] & self.state.adjacent[x] & ~clique):
            arcs[h, y] = 0  # y → h
            if arcs[h, x] and arcs[x, h]:
                arcs[h, x] = 0  # x → h
        return arcs
