"""Sets of parents worth having, with their scores: what a search over orders chooses from.

A node's best parents among those before it are found by growing and shrinking [andrews2023]: add the node that gains
most, one after another, then take away what gains by going. Greedy, so it is done again in every situation near a
graph: with each parent out of reach, with each child within reach, at every place of an order. All walks of a node
begin in a few sets and share a tree, so that most of them cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leverrier.kernels.search.order_climb import grow, undominated
from leverrier.learning.structure.family_scores import SMALLEST_GAIN
from leverrier.learning.structure.known_scores import members
from leverrier.learning.structure.problem import Parents, Problem


@dataclass(frozen=True, eq=False)
class Known:
    """By node, the sets that no subset of theirs beats, by falling score; node v's are starts[v] to starts[v + 1]."""

    masks: NDArray[np.uint64]
    scores: NDArray[np.float64]
    starts: NDArray[np.int64]

    def graph(self, chosen: NDArray[np.int64]) -> Parents:
        return [int.from_bytes(self.masks[s].tobytes(), "little") for s in chosen]


class ParentSets:
    """The sets found so far, and how more are found."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._width = 8 * ((problem.n_nodes + 63) >> 6)
        self._sets: list[dict[int, float]] = [{} for _ in range(problem.n_nodes)]
        self._dominated: list[set[int]] = [set() for _ in self._sets]
        self._packed: list[tuple[NDArray[np.uint64], NDArray[np.float64]] | None] = [None for _ in self._sets]
        self._places: dict[tuple[int, int], int] = {}
        self._families: list[tuple[int, int]] = []
        """By place in the tree, the child and its parents."""
        self._gaining = np.full((64, problem.n_nodes), -1, dtype=np.int32)
        """By place, the further parents that gain, the best first."""
        self._onward = np.full((64, problem.n_nodes), -1, dtype=np.int32)
        """By place and further parent, the place of the set with it, −1 if it is not in the tree yet."""
        self._ended: set[int] = set()
        self._taken = 0

    def take_known(self) -> None:
        """Take in what searches among classes have scored since."""
        gained = list(self.problem.gained)
        for child, parents in gained[self._taken :]:
            if self.problem.permits_family(child, parents):
                self._place(child, parents)
        self._taken = len(self.problem.gained)

    def look_near(self, graph: Parents) -> None:
        """Each node's sets if it lost a parent, or could have a child of its as a parent."""
        everyone = (1 << len(graph)) - 1
        children, below = _children_and_below(graph)
        begins, within = [], []
        for v, parents in enumerate(graph):
            required = self.problem.required_bits[v]
            reach = everyone & ~below[v] & ~(1 << v)
            reaches = [reach, *(reach | 1 << c for c in members(children[v]))]
            reaches += [reach ^ 1 << p for p in members(parents & ~required)]
            for begin in dict.fromkeys((required, parents)):
                begins += [self._place(v, begin & each) for each in reaches]
                within += reaches
        self._grow(np.array(begins), self._packed_bits(within))

    def look_along(self, order: list[int]) -> None:
        """Each node's sets at every place of the order."""
        before = [0]
        for v in order:
            before.append(before[-1] | 1 << v)
        reaches = self._packed_bits(before)
        for v in order:  # (itself is not among those that gain)
            required = self.problem.required_bits[v]
            first = next(at for at, each in enumerate(before) if not required & ~each)
            self._grow(np.full(len(before) - first, self._place(v, required)), reaches[first:])

    def grown(self, children: list[int], begins: list[int], within: list[int]) -> list[int]:
        """Where each child's set ends that grows within its reach; the ends are shrunk and kept."""
        places = np.array([self._place(child, begin) for child, begin in zip(children, begins, strict=True)])
        self._grow(places, self._packed_bits(within))
        return [self._families[place][1] for place in places.tolist()]

    def known(self, graph: Parents) -> Known:
        """All sets that are worth having, and those of the graph."""
        for child, parents in enumerate(graph):
            self._add(child, parents)
        packed = [each if each is not None else self._pack(child) for child, each in enumerate(self._packed)]
        starts = np.cumsum([0, *(len(scores) for _, scores in packed)], dtype=np.int64)
        return Known(np.concatenate([each for each, _ in packed]), np.concatenate([each for _, each in packed]), starts)

    def _grow(self, begins: NDArray[np.int64], within: NDArray[np.uint64]) -> None:
        """Grow each set within its reach, and shrink where a walk ends; `begins` become the places of the ends."""
        at, walks = begins, np.arange(len(begins))
        while len(walks):
            missing = np.empty(len(walks), dtype=np.int64)
            here = at[walks]
            grow(here, within[walks], self._gaining, self._onward, missing)
            at[walks] = here
            cut = missing >= 0
            for place, more in dict.fromkeys(zip(here[cut].tolist(), missing[cut].tolist(), strict=True)):
                child, parents = self._families[place]
                onward = self._place(child, parents | 1 << more)
                self._onward[place, more] = onward
            walks = walks[cut]
        for place in set(at.tolist()) - self._ended:
            self._ended.add(place)
            self._shrink(*self._families[place])

    def _place(self, child: int, parents: int) -> int:
        """The set's place in the tree; with each further parent that gains it is a set worth having."""
        place = self._places.get((child, parents))
        if place is not None:
            return place
        place = self._places[child, parents] = len(self._families)
        self._families.append((child, parents))
        if place == len(self._gaining):
            self._gaining = np.concatenate([self._gaining, np.full_like(self._gaining, -1)])
            self._onward = np.concatenate([self._onward, np.full_like(self._onward, -1)])
        self._add(child, parents)
        if parents.bit_count() < self.problem.max_parents:
            allowed = self.problem.allowed_bits[child]
            losses = sorted(each for each in self.problem.gaining(child, parents) if allowed >> each[1] & 1)
            own = self.problem.scores.family(child, parents)
            self._sets[child].update((parents | 1 << x, own - loss) for loss, x in losses)
            self._packed[child] = None
            self._gaining[place, : len(losses)] = [x for _, x in losses]
        return place

    def _shrink(self, child: int, parents: int) -> None:
        """Take away what gains by going, one after another."""
        family, score = self.problem.scores.family, self.problem.scores.family(child, parents)
        while open_ := members(parents & ~self.problem.required_bits[child]):
            best, out = max((family(child, parents ^ 1 << p), -p) for p in open_)
            if best <= score + SMALLEST_GAIN:
                return
            parents, score = parents ^ 1 << -out, best
            self._add(child, parents)

    def _add(self, child: int, parents: int) -> None:
        if parents not in self._sets[child] and parents not in self._dominated[child]:
            self._sets[child][parents] = self.problem.scores.family(child, parents)
            self._packed[child] = None

    def _pack(self, child: int) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        ordered = sorted(self._sets[child].items(), key=lambda item: (-item[1], item[0]))
        masks = self._packed_bits([parents for parents, _ in ordered])
        scores = np.array([score for _, score in ordered])
        kept = np.zeros(len(ordered), dtype=np.bool_)
        undominated(masks, scores, kept)
        self._sets[child] = {ordered[at][0]: ordered[at][1] for at in np.flatnonzero(kept).tolist()}
        self._dominated[child].update(ordered[at][0] for at in np.flatnonzero(~kept).tolist())
        self._packed[child] = packed = (masks[kept], scores[kept])
        return packed

    def _packed_bits(self, sets: list[int]) -> NDArray[np.uint64]:
        flat = b"".join(each.to_bytes(self._width, "little") for each in sets)
        return np.frombuffer(flat, dtype=np.uint64).reshape(len(sets), -1)


def _children_and_below(graph: Parents) -> tuple[list[int], list[int]]:
    """By node, its children and all nodes below it, as bits."""
    children, below = [0] * len(graph), [0] * len(graph)
    for child, parents in enumerate(graph):
        for p in members(parents):
            children[p] |= 1 << child
    for v in reversed(topological(graph)):
        below[v] = children[v]
        for child in members(children[v]):
            below[v] |= below[child]
    return children, below


def topological(parents: Parents) -> list[int]:
    """The nodes, parents before children, as near to the given order as that allows."""
    placed, order = 0, []
    while len(order) < len(parents):
        ready = [v for v, above in enumerate(parents) if not placed >> v & 1 and not above & ~placed]
        order += ready
        placed |= sum(1 << v for v in ready)
    return order
