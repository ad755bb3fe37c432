"""Classes of graphs that score alike, and what a search asks of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.search.equivalence import resettle, settle
from leverrier.learning.structure.problem import Parents, Paths, Problem, to_matrix

Arcs = NDArray[np.uint8]


class EquivalenceClass:
    """A class of graphs: `arcs`, the same as bit sets by node, and one graph of the class."""

    def __init__(self, n: int, before: EquivalenceClass | None = None) -> None:
        self.dag, self.arcs = np.empty((n, n), dtype=np.uint8), np.empty((n, n), dtype=np.uint8)
        self.bits = np.empty((2, n, (n + 63) >> 6), dtype=np.uint64)
        self.changed: list[int] = list(range(n))
        """The nodes at which the change that led here changed an arc."""
        self.into, self.out = ([0] * n, [0] * n) if before is None else (before.into.copy(), before.out.copy())
        self.neighbours = [0] * n if before is None else before.neighbours.copy()
        self.parents = [0] * n if before is None else before.parents.copy()
        self.adjacent = [0] * n if before is None else before.adjacent.copy()

    @classmethod
    def of(cls, problem: Problem, graph: Parents) -> EquivalenceClass:
        """The class of a graph."""
        made = cls(problem.n_nodes)
        settle(to_matrix(graph), problem.allowed, problem.free, made.dag, made.arcs, made.bits)
        made._read_bits()
        return made

    def after(self, problem: Problem, arcs: Arcs) -> EquivalenceClass | None:
        """The class of the graphs that changed arcs have in common, if there is one within the constraints."""
        made = EquivalenceClass(problem.n_nodes, self)
        changed = np.empty(problem.n_nodes, dtype=np.int64)
        n_changed = resettle(
            arcs,
            problem.allowed,
            problem.free,
            self.bits,
            problem.log_states,
            problem.log_max_cells,
            problem.max_parents,
            made.dag,
            made.arcs,
            made.bits,
            changed,
        )
        if n_changed < 0:
            return None
        made.changed = changed[:n_changed].tolist()
        made._read_bits()
        return made

    def _read_bits(self) -> None:
        """Bit sets of what changed."""
        width = self.bits.shape[2] * 8
        flat = self.bits.tobytes()
        half = len(flat) // 2
        for v in self.changed:
            at = v * width
            into = self.into[v] = int.from_bytes(flat[at : at + width], "little")
            out = self.out[v] = int.from_bytes(flat[half + at : half + at + width], "little")
            self.neighbours[v], self.parents[v], self.adjacent[v] = into & out, into & ~out, into | out

    def obstacle(self, start: int, goal: int, blocked: int, paths: Paths) -> int:
        """The nodes of a semi-directed path from start to goal outside `blocked`, as bits; 0 if there is none.

        The one last found between the two is tried first: often it is still there.
        """
        known = paths.get((start, goal))
        if known is not None and not known[0] & blocked:
            for a, b in known[1]:
                if not self.out[a] >> b & 1:
                    break
            else:
                return known[0]
        path = self._path(start, goal, blocked)
        if not path:
            return 0
        nodes = 1 << goal
        for a, _ in path:
            nodes |= 1 << a
        paths[start, goal] = nodes, path
        return nodes

    def _path(self, start: int, goal: int, blocked: int) -> list[tuple[int, int]]:
        """The arcs of a semi-directed path outside `blocked`, the last first; none if there is no path."""
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
                return []
            seen |= onward
            layers.append(onward)
        path, v = [], goal
        for layer in reversed(layers[:-1]):  # back along any one way
            back = self.into[v] & layer
            u = (back & -back).bit_length() - 1
            path.append((u, v))
            v = u
        return path


def cliques(state: EquivalenceClass, among: int, fits: Callable[[int], bool]) -> Iterator[int]:
    """Every clique of nodes of `among` that fits, the empty one first. What does not fit must not fit with more."""
    stack = [(0, among)]
    while stack:
        clique, open_ = stack.pop()
        if not fits(clique):
            continue
        yield clique
        while open_:
            low = open_ & -open_
            open_ ^= low
            stack.append((clique | low, open_ & state.adjacent[low.bit_length() - 1]))
