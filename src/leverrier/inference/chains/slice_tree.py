"""The junction tree of one slice and the one before it, as a program: built once for each pattern of what is observed.

What passes from slice to slice are the marginals of clusters of nodes (the source's α̃). One cluster of everything is
exact; several are Boyen and Koller's projection, which multiplies cluster marginals as if they were independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from leverrier.errors import TooLargeError
from leverrier.inference.chains.unrolled_rows import Node, Pattern, SliceFamily
from leverrier.inference.exact.factors import Scope, count_cells
from leverrier.inference.exact.propagation import CliqueTree
from leverrier.kernels.chains import slice_programs as code

MOST_CELLS = 2**24
SOON = 8
"""So many factors are multiplied before the product is scaled: it cannot vanish on the way."""

Clusters = Callable[[Sequence[Node]], list[tuple[Node, ...]]]


@dataclass(eq=False)
class Program:
    """What a slice does, forward and back. Work begins with: messages in, out (on the way back their corrections), and
    the posteriors of what came in."""

    n_in: int
    n_out: int
    forward: list[tuple[int, ...]] = field(default_factory=list)
    backward: list[tuple[int, ...]] = field(default_factory=list)
    maps: list[NDArray[np.int32]] = field(default_factory=list)
    work: int = 0


class Builder:
    """Writes the program of one pattern."""

    def __init__(
        self,
        cardinalities: Sequence[int],
        pattern: Pattern,
        families: Sequence[SliceFamily],
        clusters: Clusters,
        keep: dict[int, int],
        *,
        maximise: bool = False,
        tracked: bool = True,
    ) -> None:
        """`keep` gives the column of each variable whose posterior is wanted: given the whole sequence, or (with
        `tracked=False`, which has no way back) given the slices so far."""
        self.nodes = pattern.nodes
        self.number = {node: place for place, node in enumerate(self.nodes)}
        self.cards = [cardinalities[variable] for variable, _ in self.nodes]
        self.pattern, self.families, self.keep = pattern, families, keep
        self.maximise = maximise
        self.inputs = [self._scope(cluster) for cluster in clusters(pattern.before)]
        now = [(variable, lag - 1) for variable, lag in pattern.after]
        self.outputs = [self._scope(cluster) for cluster in clusters(now)]
        self.factors = {number: self._scope(families[number].nodes) for number in pattern.families}
        self.tree = self._rooted()
        self.map_start = 0
        self.made: dict[tuple[Scope, Scope], int] = {}
        n_in = sum(self._cells(scope) for scope in self.inputs)
        n_out = sum(self._cells(scope) for scope in self.outputs)
        self.program = Program(n_in, n_out)
        self._place()
        singles = [(place, node) for place, node in enumerate(self.nodes) if node[1] == 0 and node[0] in keep]
        self._forward([] if tracked else singles)
        if tracked:
            self._backward(singles)

    def _scope(self, nodes: Sequence[Node]) -> Scope:
        return tuple(self.number[node] for node in nodes if node in self.number)

    def _cells(self, scope: Scope) -> int:
        return count_cells(scope, self.cards)

    def _rooted(self) -> CliqueTree:
        """A clique tree over all of it, turned so that the first clique holds the largest message out."""
        scopes = [*self.factors.values(), *self.inputs, *self.outputs]
        try:
            tree = CliqueTree.build(self.cards, range(len(self.cards)), [s for s in scopes if s], MOST_CELLS)
        except TooLargeError as problem:
            size = str(problem).partition("(")[0].removeprefix("exact inference needs").strip()
            raise TooLargeError(
                f"two slices together need {size}, at most {MOST_CELLS:,} are allowed: "
                'inference="boyen-koller" passes on less'
            ) from None
        if not self.outputs:
            return tree
        largest = max(self.outputs, key=self._cells)
        root = tree.find(largest) or 0
        parents = list(tree.parents)
        above, here = -1, root
        while here >= 0:
            parents[here], above, here = above, here, parents[here]
        return _reordered(tree, parents)

    def _place(self) -> None:
        """Where everything lies in the work array."""
        p = self.program
        at = 2 * p.n_in + p.n_out
        self.clique_at, self.separator_at = [], []
        for clique, separator in zip(self.tree.cliques, self.tree.separators, strict=True):
            self.clique_at.append(at)
            at += self._cells(clique)
            self.separator_at.append(at)
            at += self._cells(separator)
        self.fresh_at = at
        p.work = at + max(map(self._cells, self.tree.separators))

    def _map(self, clique: Scope, target: Scope, strides: Sequence[int] | None = None, first: int = 0) -> int:
        """Where each cell of the clique goes in a table over `target` (in C order, or with these strides)."""
        key = (clique, (*target, -1, *(strides or ()), -1, first))
        if key not in self.made:
            sizes = [self.cards[v] for v in target]
            steps = strides or [int(np.prod(sizes[place + 1 :], dtype=np.int64)) for place in range(len(sizes))]
            step_of: dict[int, int] = {}
            for variable, step in zip(target, steps, strict=True):
                step_of[variable] = step_of.get(variable, 0) + int(step)
            cells = np.full([1] * len(clique), first, dtype=np.int64)
            for axis, variable in enumerate(clique):
                shape = [1] * len(clique)
                shape[axis] = self.cards[variable]
                cells = cells + (np.arange(self.cards[variable]) * step_of.get(variable, 0)).reshape(shape)
            self.made[key] = self.map_start
            self.program.maps.append(np.broadcast_to(cells, [self.cards[v] for v in clique]).ravel().astype(np.int32))
            self.map_start += self._cells(clique)
        return self.made[key]

    def _home(self, scope: Scope) -> int:
        """The smallest clique that holds it."""
        fitting = [c for c, clique in enumerate(self.tree.cliques) if set(scope) <= set(clique)]
        return min(fitting, key=lambda c: self._cells(self.tree.cliques[c]))

    def _family(self, number: int, clique: int) -> tuple[int, int]:
        """The map from a clique's cells to a family's, and the number of cells."""
        family = self.families[number]
        pairs = [(self.number[n], s) for n, s in zip(family.nodes, family.strides, strict=True) if n in self.number]
        scope = tuple(variable for variable, _ in pairs)
        cells = self._cells(self.tree.cliques[clique])
        return self._map(self.tree.cliques[clique], scope, [stride for _, stride in pairs]), cells

    def _build(self, extra: Sequence[tuple[Scope, int]]) -> list[tuple[int, ...]]:
        """Each clique's product of families and messages; `extra` are tables (scope, address) in the work array."""
        operations: list[tuple[int, ...]] = []
        filled = [0] * len(self.tree.cliques)

        def put(clique: int, of_family: bool, source: int, first: int) -> None:
            begin = (code.SET_FAMILY, code.TIMES_FAMILY) if of_family else (code.SET, code.TIMES)
            cells = self._cells(self.tree.cliques[clique])
            operations.append((begin[filled[clique] > 0], self.clique_at[clique], source, first, cells, cells))
            filled[clique] += 1
            if filled[clique] % SOON == 0:
                operations.append((code.SCALE, self.clique_at[clique], 0, 0, cells, cells))

        for number, scope in self.factors.items():
            clique = self._home(scope)
            put(clique, True, number, self._family(number, clique)[0])
        for scope, address in extra:
            clique = self._home(scope)
            put(clique, False, address, self._map(self.tree.cliques[clique], scope))
        sizes = [self._cells(clique) for clique in self.tree.cliques]
        ones = [
            (code.ONES, at, 0, 0, cells, cells)
            for at, cells, count in zip(self.clique_at, sizes, filled, strict=True)
            if not count
        ]
        return ones + operations

    def _collect(self) -> list[tuple[int, ...]]:
        total = code.MAXIMUM if self.maximise else code.SUM
        operations = []
        for c in range(len(self.tree.cliques) - 1, -1, -1):
            cells, at = self._cells(self.tree.cliques[c]), self.clique_at[c]
            operations.append((code.SCALE, at, 0, 0, cells, cells))
            parent = self.tree.parents[c]
            if parent < 0:
                continue
            up = self._map(self.tree.cliques[c], self.tree.separators[c])
            down = self._map(self.tree.cliques[parent], self.tree.separators[c])
            width = self._cells(self.tree.separators[c])
            operations.append((total, self.separator_at[c], at, up, cells, width))
            above = self._cells(self.tree.cliques[parent])
            operations.append((code.TIMES, self.clique_at[parent], self.separator_at[c], down, above, above))
        return operations

    def _distribute(self, wanted: set[int]) -> list[tuple[int, ...]]:
        """From the root to these cliques."""
        reached = set()
        for c in wanted:
            while c >= 0:
                reached.add(c)
                c = self.tree.parents[c]
        total = code.MAXIMUM if self.maximise else code.SUM
        operations = []
        for c in range(1, len(self.tree.cliques)):
            if c not in reached:
                continue
            parent = self.tree.parents[c]
            down = self._map(self.tree.cliques[parent], self.tree.separators[c])
            up = self._map(self.tree.cliques[c], self.tree.separators[c])
            width = self._cells(self.tree.separators[c])
            above, cells = self._cells(self.tree.cliques[parent]), self._cells(self.tree.cliques[c])
            operations += [
                (total, self.fresh_at, self.clique_at[parent], down, above, width),
                (code.RATIO, self.fresh_at, self.separator_at[c], 0, width, width),
                (code.TIMES, self.clique_at[c], self.fresh_at, up, cells, cells),
            ]
        return operations

    def _extract(self, scopes: Sequence[Scope], at: int) -> list[tuple[int, ...]]:
        total = code.MAXIMUM if self.maximise else code.SUM
        operations = []
        for scope in scopes:
            c = self._home(scope)
            cells = self._cells(self.tree.cliques[c])
            first = self._map(self.tree.cliques[c], scope)
            operations.append((total, at, self.clique_at[c], first, cells, self._cells(scope)))
            at += self._cells(scope)
        return operations

    def _addresses(self, scopes: Sequence[Scope], at: int) -> list[tuple[Scope, int]]:
        found = []
        for scope in scopes:
            found.append((scope, at))
            at += self._cells(scope)
        return found

    def _forward(self, singles: Sequence[tuple[int, Node]]) -> None:
        homes = {self._home(scope) for scope in self.outputs} | {self._home((place,)) for place, _ in singles}
        self.program.forward = [
            *self._build(self._addresses(self.inputs, 0)),
            *self._collect(),
            *self._distribute(homes),
            *self._extract(self.outputs, self.program.n_in),
            *(self._kept(place, self.keep[variable]) for place, (variable, _) in singles),
        ]

    def _backward(self, singles: Sequence[tuple[int, Node]]) -> None:
        """α̃(t−1) · P(slice t) · β̃(t), calibrated: counts of every family, posteriors, and what the slice before needs.

        β̃ is the ratio of smoothed to filtered cluster marginals, so that its projection is weighted by what is likely.
        """
        p = self.program
        extra = [*self._addresses(self.inputs, 0), *self._addresses(self.outputs, p.n_in)]
        homes = {self._home(scope) for scope in (*self.factors.values(), *self.inputs)}
        homes |= {self._home((place,)) for place, _ in singles}
        p.backward = [*self._build(extra), *self._collect(), *self._distribute(homes)]
        p.backward += self._extract(self.inputs, p.n_in + p.n_out)
        for number, scope in self.factors.items():
            clique = self._home(scope)
            first, cells = self._family(number, clique)
            p.backward.append((code.COUNT, self.clique_at[clique], number, first, cells, cells))
        for place, (variable, _) in singles:
            p.backward.append(self._kept(place, self.keep[variable]))

    def _kept(self, place: int, column: int) -> tuple[int, ...]:
        """A variable's posterior goes to its columns of the answer."""
        clique = self._home((place,))
        cells = self._cells(self.tree.cliques[clique])
        first = self._map(self.tree.cliques[clique], (place,), first=column)
        return (code.KEEP, self.clique_at[clique], 0, first, cells, cells)


def _reordered(tree: CliqueTree, parents: Sequence[int]) -> CliqueTree:
    """The same cliques with other parents, parents first again."""
    children: list[list[int]] = [[] for _ in parents]
    for child, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(child)
    order: list[int] = []
    stack = [parents.index(-1)]
    while stack:
        order.append(stack.pop())
        stack += children[order[-1]]
    place = {clique: number for number, clique in enumerate(order)}
    cliques = tuple(tree.cliques[c] for c in order)
    above = tuple(-1 if parents[c] < 0 else place[parents[c]] for c in order)
    separators = tuple(
        tuple(v for v in clique if parent >= 0 and v in cliques[parent])
        for clique, parent in zip(cliques, above, strict=True)
    )
    return CliqueTree(tree.cardinalities, cliques, separators, above, {})
