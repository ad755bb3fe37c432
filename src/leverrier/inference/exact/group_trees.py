"""Clique trees for groups whose joint is too large: the same E-step, one small table at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.inference.exact.elimination import Triangulation, triangulate
from leverrier.inference.exact.packs import PackedRows
from leverrier.inference.exact.parameter_layout import Layout, c_strides
from leverrier.kernels.em.clique_trees import pass_trees
from leverrier.kernels.em.plan_columns import CLIQUE_SEPARATOR, CLIQUE_WIDTH, TREE_CELLS, TREE_ROWS

MOST_CELLS = 2**24
"""A tree with more cells than this is not allocated…"""
MOST_KEPT = 2**28
"""…nor one whose tables for all distinct rows together have more."""


@dataclass(frozen=True, eq=False)
class Trees:
    """What kernels/em/clique_trees.py reads, and each tree's cliques as sets of variables."""

    trees: Integers
    cliques: Integers
    factors: Integers
    maps: NDArray[np.int32]
    bases: NDArray[np.uint32]
    offsets: NDArray[np.uint32]
    weights: Floats
    scopes: tuple[tuple[tuple[int, ...], ...], ...]

    def __len__(self) -> int:
        return len(self.trees)

    @property
    def work(self) -> float:
        """Roughly the nanoseconds of one pass."""
        return 10.0 * float((self.trees[:, TREE_ROWS] * self.trees[:, TREE_CELLS]).sum())

    @property
    def n_kept(self) -> int:
        """Cells of all rows' beliefs together."""
        return int((self.trees[:, TREE_ROWS] * self.trees[:, TREE_CELLS]).sum())

    def expect(self, theta: Floats, counts: Floats, kept: Floats | None = None) -> float:
        """Log-likelihood; adds expected counts, and writes each row's clique beliefs to `kept`."""
        if not len(self):
            return 0.0
        separators = self.cliques[:, CLIQUE_SEPARATOR] + self.cliques[:, CLIQUE_WIDTH]
        return pass_trees(
            self.trees,
            self.cliques,
            self.factors,
            self.maps,
            self.bases,
            self.offsets,
            self.weights,
            theta,
            np.empty(int(self.trees[:, TREE_CELLS].max())),
            np.empty(int(separators.max())),
            np.empty(int(self.cliques[:, CLIQUE_WIDTH].max())),
            counts,
            np.empty(0) if kept is None else kept,
        )


NO_TREES = Trees(
    np.zeros((0, 8), dtype=np.int64),
    np.zeros((0, 9), dtype=np.int64),
    np.zeros((0, 2), dtype=np.int64),
    np.zeros(0, dtype=np.int32),
    np.zeros(0, dtype=np.uint32),
    np.zeros(0, dtype=np.uint32),
    np.zeros(0),
    (),
)


@dataclass(eq=False)
class _Flat:
    trees: list[tuple[int, ...]] = field(default_factory=list)
    cliques: list[tuple[int, ...]] = field(default_factory=list)
    factors: list[tuple[int, int]] = field(default_factory=list)
    maps: list[Integers] = field(default_factory=list)
    offsets: list[Integers] = field(default_factory=list)
    n_maps: int = 0
    n_offsets: int = 0

    def map(self, values: Integers) -> int:
        begin = self.n_maps
        self.maps.append(values)
        self.n_maps += len(values)
        return begin

    def offset(self, values: Integers) -> int:
        begin = self.n_offsets
        self.offsets.append(values)
        self.n_offsets += len(values)
        return begin


def plan_trees(layout: Layout, members: Sequence[tuple[int, ...]], rows: Sequence[PackedRows]) -> Trees:
    """A clique tree for each of these groups, from the group's members and located rows."""
    if not members:
        return NO_TREES
    flat = _Flat()
    scopes = []
    base = row = kept = 0
    for group, located in zip(members, rows, strict=True):
        factors = located.packs[0].factors
        found = _triangulated(layout, group, factors)
        cliques = tuple(tuple(group[i] for i in clique) for clique in found.cliques)
        homes = [_home(cliques, {v for v in layout.scopes[j] if v in group}) for j in factors]
        cells = _add_cliques(flat, layout, cliques, found.parents, homes, factors)
        n = len(located.weights)
        flat.trees.append((len(cliques), len(flat.cliques) - len(cliques), row, n, len(factors), base, cells, kept))
        scopes.append(cliques)
        row += n
        base += n * len(factors)
        kept += n * cells
    return Trees(
        np.array(flat.trees, dtype=np.int64).reshape(-1, 8),
        np.array(flat.cliques, dtype=np.int64).reshape(-1, 9),
        np.array(flat.factors, dtype=np.int64).reshape(-1, 2),
        np.concatenate([np.zeros(0, np.int64), *flat.maps]).astype(np.int32),
        np.concatenate([np.zeros(0, np.int64), *(r.packs[0].bases.ravel() for r in rows)]).astype(np.uint32),
        np.concatenate([np.zeros(0, np.int64), *flat.offsets]).astype(np.uint32),
        np.concatenate([np.zeros(0), *(r.weights for r in rows)]),
        tuple(scopes),
    )


def fits(layout: Layout, group: tuple[int, ...], rows: PackedRows) -> bool:
    """Whether a group's tree is small enough to be built."""
    cells = _triangulated(layout, group, rows.packs[0].factors).cells
    return cells <= MOST_CELLS and cells * len(rows.weights) <= MOST_KEPT


def _triangulated(layout: Layout, group: tuple[int, ...], factors: Sequence[int]) -> Triangulation:
    number = {v: i for i, v in enumerate(group)}
    scopes = [tuple(number[v] for v in layout.scopes[j] if v in number) for j in factors]
    return triangulate([layout.cardinalities[v] for v in group], scopes)


def _home(cliques: Sequence[tuple[int, ...]], scope: set[int]) -> int:
    """The last clique that holds the scope: far from the root, tables are smaller."""
    return max(i for i, clique in enumerate(cliques) if scope <= set(clique))


def _add_cliques(
    flat: _Flat,
    layout: Layout,
    cliques: Sequence[tuple[int, ...]],
    parents: Sequence[int],
    homes: Sequence[int],
    factors: Sequence[int],
) -> int:
    """Append a tree's cliques; gives back how many cells they have."""
    cell = separator_cell = 0
    cards = layout.cardinalities
    for i, (clique, parent) in enumerate(zip(cliques, parents, strict=True)):
        digits = digits_of(tuple(cards[v] for v in clique))
        shared = tuple(v for v in clique if parent >= 0 and v in cliques[parent])
        strides = dict(zip(shared, c_strides([cards[v] for v in shared]), strict=True))
        up = flat.map(_mapped(digits, clique, strides))
        above = cliques[parent] if parent >= 0 else ()
        down = flat.map(_mapped(digits_of(tuple(cards[v] for v in above)), above, strides))
        first = len(flat.factors)
        for column, (home, j) in enumerate(zip(homes, factors, strict=True)):
            if home == i:
                flat.factors.append((column, flat.offset(_mapped(digits, clique, layout.stride_of[j]))))
        width = math.prod(cards[v] for v in shared)
        here = (digits.shape[1], parent, width, up, down, cell, separator_cell, first, len(flat.factors) - first)
        flat.cliques.append(here)
        cell += digits.shape[1]
        separator_cell += width
    return cell


def digits_of(shape: tuple[int, ...]) -> Integers:
    """(variables, cells): the state of each variable in each cell of a table of this shape."""
    if not shape:
        return np.zeros((0, 1), dtype=np.int64)
    return np.indices(shape).reshape(len(shape), -1).astype(np.int64)


def _mapped(digits: Integers, scope: Sequence[int], strides: dict[int, int]) -> Integers:
    """Each cell's position when only the variables with a stride count."""
    position = np.zeros(digits.shape[1], dtype=np.int64)
    for row, v in zip(digits, scope, strict=True):
        if v in strides:
            position += row * strides[v]
    return position
