"""Greedy equivalence search [Chickering 2002]: the moves are between classes of graphs that score alike, so the
answer does not hang on the order of the columns.

For a node y with undirected neighbours Ne(y), an insertion of x is fixed by the clique U = NA(y, x) ∪ T ⊆ Ne(y), and
its gain is score(y | Pa ∪ U ∪ {x}) − score(y | Pa ∪ U): one batch of scores a clique serves every x at once.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.equivalence import essential, extend, orient, reachable
from leverrier.learning.family_scores import members
from leverrier.learning.search.problem import SMALLEST_GAIN, Effort, Parents, Problem, column_bits, to_matrix

Arcs = NDArray[np.uint8]


class EquivalenceClass:
    """A class of graphs: `arcs`, the same as bit sets by node, and one graph of the class."""

    def __init__(self, problem: Problem, dag: Arcs) -> None:
        self.arcs = np.empty_like(dag)
        essential(dag, self.arcs)
        self.legal = problem.free or bool(orient(self.arcs, problem.allowed))
        self.into, self.out = column_bits(self.arcs), column_bits(self.arcs.T)
        pairs = list(zip(self.into, self.out, strict=True))
        self.neighbours = [a & b for a, b in pairs]
        self.parents = [a & ~b for a, b in pairs]
        self.adjacent = [a | b for a, b in pairs]
        self.dag = dag

    def fits(self, problem: Problem) -> bool:
        """Whether every family of the class's graph is within the caps."""
        within = self.dag.sum(axis=0, dtype=np.int64) <= problem.max_parents
        cells = self.dag.T @ problem.log_states + problem.log_states
        return bool(within.all() and (cells <= problem.log_max_cells).all())

    @cached_property
    def reach(self) -> list[int]:
        """By node, what a semi-directed path leads to, as bits."""
        rows = np.zeros((len(self.arcs), (len(self.arcs) + 63) // 64), dtype=np.uint64)
        reachable(self.arcs, rows)
        width = rows.shape[1] * 8
        flat = rows.tobytes()
        return [int.from_bytes(flat[at : at + width], "little") for at in range(0, len(flat), width)]

    def obstacle(self, start: int, goal: int, blocked: int) -> int:
        """Nodes, as bits, among which a semi-directed path leads from start to goal outside `blocked`; 0: none does."""
        if not self.reach[start] >> goal & 1:
            return 0
        return self._path(start, goal, blocked) if blocked else self.reach[start] | 1 << start

    def _path(self, start: int, goal: int, blocked: int) -> int:
        """The nodes of a semi-directed path from start to goal outside `blocked`, as bits; 0 if there is none."""
        seen = blocked | 1 << start
        layers = [1 << start]
        while not seen >> goal & 1:
            edge, onward = layers[-1], 0
            while edge:
                low = edge & -edge
                onward |= self.out[low.bit_length() - 1]
                edge ^= low
            onward &= ~seen
            if not onward:
                return 0
            seen |= onward
            layers.append(onward)
        found = at = 1 << goal
        for layer in reversed(layers[:-1]):  # back along any one way
            v = at.bit_length() - 1
            back = self.into[v] & layer
            at = back & -back
            found |= at
        return found


def greedy_equivalence(problem: Problem, start: Parents, effort: Effort, near: int | None = None) -> Parents:
    """Insert while it helps, then delete while it helps, and again until neither does.

    With `near` (nodes as bits) moves are looked for at those nodes first and then only where a move touched something.
    """
    state = EquivalenceClass(problem, to_matrix(start))
    look = (1 << problem.n_nodes) - 1 if near is None else near
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


def forbidden_gains(problem: Problem, graph: Parents) -> list[int]:
    """Nodes by the largest gain of an insertion there that is not made, ties by name.

    Where a climb has ended, what still gains is forbidden by a path. Nodes without such a gain come last.
    """
    run = _Insertions(problem, EquivalenceClass(problem, to_matrix(graph)))
    largest = [0.0] * problem.n_nodes
    for y in range(problem.n_nodes):
        for gain, x, _ in run.moves(y):
            largest[x], largest[y] = max(largest[x], gain), max(largest[y], gain)
    return sorted(range(problem.n_nodes), key=lambda v: (-largest[v], problem.scores.names[v]))


def _some_graph(problem: Problem, state: EquivalenceClass) -> Arcs:
    """A graph of the class that obeys the constraints."""
    if problem.free:
        return state.dag
    dag = np.empty_like(state.arcs)
    return dag if extend(state.arcs, dag) else state.dag


Moves = list[tuple[float, int, int]]
"""(gain, x, U) of each move at a node that gains."""


class _Phase(ABC):
    """Candidate moves by target node in a heap; after a move only what it touched is looked at again."""

    what = ""

    def __init__(self, problem: Problem, state: EquivalenceClass) -> None:
        self.problem = problem
        self.state = state
        self.version = [0] * problem.n_nodes
        self.heap: list[tuple[float, int, int, int, int]] = []
        self.touched = 0

    def moves(self, y: int) -> Moves:
        """Every move at y that gains. It depends on y's surroundings alone, so searches of one problem share it."""
        state = self.state
        near = members(state.neighbours[y])
        key = (self.what, y, state.parents[y], state.neighbours[y], *[state.adjacent[v] for v in near])
        known = self.problem.moves.get(key)
        if known is None:
            known = self.problem.moves[key] = list(self.find(y))
        return known

    @abstractmethod
    def find(self, y: int) -> Iterator[tuple[float, int, int]]:
        ...

    @abstractmethod
    def obstacle(self, x: int, y: int, clique: int) -> int:
        """The nodes, as bits, because of which the move is not valid; 0 if it is."""

    @abstractmethod
    def changed(self, x: int, y: int, clique: int) -> Arcs:
        ...

    def climb(self, look: int, score: float, effort: Effort) -> tuple[EquivalenceClass, float]:
        for y in members(look):
            self._look(y)
        parked: list[tuple[int, tuple[float, int, int, int, int]]] = []
        while self.heap:
            entry = heapq.heappop(self.heap)
            loss, y, x, clique, version = entry
            if version != self.version[y]:
                continue
            obstacle = self.obstacle(x, y, clique)
            after = None if obstacle else self._apply(x, y, clique)
            if after is None:
                parked.append((obstacle or -1, entry))  # another move may yet make it valid
                continue
            if effort.spent():
                break
            score -= loss
            effort.moved(self.what, score)
            before, self.state = self.state, after
            touched = self._touched(before, x, y)
            self.touched |= touched
            for other in members(touched):
                self.version[other] += 1
                self._look(other)
            for obstacle, waiting in parked:
                if obstacle & touched:
                    heapq.heappush(self.heap, waiting)
            parked = [pair for pair in parked if not pair[0] & touched]
        return self.state, score

    def _look(self, y: int) -> None:
        version = self.version[y]
        for gain, x, clique in self.moves(y):
            heapq.heappush(self.heap, (-gain, y, x, clique, version))

    def _apply(self, x: int, y: int, clique: int) -> EquivalenceClass | None:
        arcs = self.changed(x, y, clique)
        dag = np.empty_like(arcs)
        if not extend(arcs, dag):
            return None
        after = EquivalenceClass(self.problem, dag)
        return after if after.legal and after.fits(self.problem) else None

    def _touched(self, before: EquivalenceClass, x: int, y: int) -> int:
        """Nodes whose parents or neighbours changed, and the neighbours of the two ends."""
        after = self.state
        touched = 1 << x | 1 << y
        for v in range(self.problem.n_nodes):
            if before.neighbours[v] != after.neighbours[v] or before.parents[v] != after.parents[v]:
                touched |= 1 << v
        return touched | after.neighbours[x] | after.neighbours[y]


class _Insertions(_Phase):
    what = "insert"

    def find(self, y: int) -> Iterator[tuple[float, int, int]]:
        state, problem = self.state, self.problem
        closed = state.adjacent[y] | 1 << y
        for clique in self._cliques(y):
            scores = problem.scores.expand(y, state.parents[y] | clique)
            gains = scores[:-1] - scores[-1]
            rest = state.neighbours[y] & ~clique
            for x in np.flatnonzero(gains > SMALLEST_GAIN).tolist():
                mutual = problem.allowed[x, y] or problem.allowed[y, x]
                if not closed >> x & 1 and not rest & state.adjacent[x] and mutual:
                    yield float(gains[x]), x, clique

    def _cliques(self, y: int) -> Iterator[int]:
        """Cliques among y's undirected neighbours, the empty one too, that leave room for one more parent."""
        parents, problem = self.state.parents[y], self.problem
        for clique in cliques(self.state, self.state.neighbours[y], problem.max_parents - 1 - parents.bit_count()):
            if problem.scores.fits(y, parents | clique):
                yield clique

    def obstacle(self, x: int, y: int, clique: int) -> int:
        return self.state.obstacle(y, x, clique)

    def changed(self, x: int, y: int, clique: int) -> Arcs:
        arcs = self.state.arcs.copy()
        arcs[x, y] = 1
        tail = clique & ~self.state.adjacent[x]  # T: neighbours of y not adjacent to x now point at y
        arcs[y, members(tail)] = 0
        return arcs


class _Deletions(_Phase):
    what = "delete"

    def find(self, y: int) -> Iterator[tuple[float, int, int]]:
        state, problem = self.state, self.problem
        scores = problem.scores
        for x in members(state.neighbours[y] | state.parents[y]):
            if problem.required[x, y] or problem.required[y, x]:
                continue
            shared = state.neighbours[y] & state.adjacent[x]
            for clique in cliques(state, shared, problem.max_parents):
                above = (state.parents[y] | clique) & ~(1 << x)
                if problem.fits(y, above | 1 << x):
                    gain = scores.family(y, above) - scores.family(y, above | 1 << x)
                    if gain > SMALLEST_GAIN:
                        yield gain, x, clique

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


def cliques(state: EquivalenceClass, among: int, largest: int) -> Iterator[int]:
    """Every clique of at most `largest` nodes of `among`, the empty one first."""
    stack = [(0, among)] if largest >= 0 else []
    while stack:
        clique, open_ = stack.pop()
        yield clique
        if clique.bit_count() >= largest:
            continue
        while open_:
            low = open_ & -open_
            open_ ^= low
            stack.append((clique | low, open_ & state.adjacent[low.bit_length() - 1]))
