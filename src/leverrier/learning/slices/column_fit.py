"""One column of a slice learnt from a design: as a tree, or as "same as before, else what"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.learning.slices.slice_design import Design
from leverrier.learning.slices.tree_growing import LEAF_COUNT, grow_tree
from leverrier.models.slices.code_tree import Tree
from leverrier.models.slices.shaped_cpd import CPD, SingleCPD, cpd_of
from leverrier.models.slices.tree_cpd import SliceShape, TreeCPD


@dataclass(frozen=True)
class Smoothing:
    """How far a leaf leans on the node above it, and how much of that is spread evenly; one for a data set."""

    strength: float = 8.0
    floor: float = 0.3


SMOOTHINGS = tuple(Smoothing(s, f) for s in (1.0, 4.0, 16.0, 32.0, 64.0) for f in (0.03, 0.1, 0.3, 1.0))


@dataclass(frozen=True, eq=False)
class Grown:
    """The tree or trees of one column, before any smoothing is chosen."""

    name: str
    shape: SliceShape
    trees: tuple[Tree, ...]
    order: tuple[int, ...]
    """The features in the order the distribution's parents have (own past first for "same")."""
    base: Floats
    """What the root leans on."""

    def leaves(self, tree: Tree, strength: float | Floats, floor: float | Floats) -> Floats:
        """A tree's distributions; a change or a step leans on all states alike."""
        return tree.distributions(strength, floor, self.base if tree.counts.shape[1] == len(self.base) else None)

    def cpd(self, design: Design, smoothing: Smoothing) -> SingleCPD:
        parents = tuple(design.features[f] for f in self.order)
        sizes = tuple(design.sizes[f] for f in self.order)
        place = np.argsort(self.order)
        notes: dict[str, Any] = {"strength": smoothing.strength, "floor": smoothing.floor, "base": self.base}
        made = [
            TreeCPD(
                parents, sizes, _renumbered(tree, place), self.leaves(tree, smoothing.strength, smoothing.floor), notes
            )
            for tree in self.trees
        ]
        return cpd_of(self.shape, made)


@dataclass(frozen=True, eq=False)
class Target:
    """What one tree of a column learns: codes by slice, how many there are, and which slices count."""

    child: NDArray[np.int64]
    states: int
    counts: NDArray[np.bool_]


def targets(design: Design, name: str, shape: SliceShape) -> tuple[Target, ...]:
    """For "tree" the column itself; for "same" whether it changed, and to what; for "step" how far, and the first."""
    child, seen = design.child(name)
    states = design.states(name)
    own = design.before(name)
    if shape == SliceShape.TREE or own is None:
        return (Target(child, states, seen),)
    before = design.table.codes[own].astype(np.int64)
    known = before < states
    if shape == SliceShape.STEP:
        step = np.where(known, child - before + states - 1, 0)
        return Target(step, 2 * states - 1, seen & known), Target(child, states, seen & ~known)
    changed = child != before
    return Target(changed.astype(np.int64), 2, seen & known), Target(child, states, seen & (changed | ~known))


def grow_column(
    design: Design, name: str, weights: Floats, shape: SliceShape = SliceShape.TREE, leaf_count: float = LEAF_COUNT
) -> Grown:
    """Grow the column's trees on weighted slices; slices in which it is not seen are left out."""
    may = design.allowed(name)
    trees = tuple(
        grow_tree(
            design.splits,
            target.child,
            target.states,
            np.where(target.counts, weights, 0.0),
            allowed=may,
            leaf_count=leaf_count,
        )
        for target in targets(design, name, shape)
    )
    own = design.before(name)
    everything = tuple(range(len(design.features)))
    if len(trees) == 1 or own is None:
        return Grown(name, SliceShape.TREE, trees, everything, design.base(name, weights))
    order = (own, *(f for f in everything if f != own))
    return Grown(name, shape, trees, order, design.base(name, weights))


def recount_column(design: Design, grown: Grown, weights: Floats) -> Grown:
    """The same splits with the counts that these weights give."""
    trees = []
    for tree, target in zip(grown.trees, targets(design, grown.name, grown.shape), strict=True):
        cells = tree.leaves(design.table.codes) * target.states + target.child
        counts = np.bincount(cells, np.where(target.counts, weights, 0.0), tree.n_nodes * target.states)
        trees.append(tree.with_counts(counts.reshape(tree.n_nodes, target.states).astype(np.float64)))
    return replace(grown, trees=tuple(trees))


def bag_column(
    design: Design, name: str, parts: Sequence[Floats], shapes: Sequence[SliceShape], leaf_count: float = LEAF_COUNT
) -> tuple[Grown, ...]:
    """Trees for each part of the slices (weights), the shapes in turn, all with the same order of parents."""
    own = design.before(name)
    everything = range(len(design.features))
    order = tuple(everything) if own is None else (own, *(f for f in everything if f != own))
    turns: list[SliceShape] = [shapes[i % len(shapes)] for i in range(len(parts))]
    return tuple(
        replace(grow_column(design, name, part, shape, leaf_count), order=order)
        for part, shape in zip(parts, turns, strict=True)
    )


def log_probabilities(design: Design, name: str, cpd: CPD, slices: NDArray[np.int64]) -> Floats:
    """ln P(the column's state | features) at these slices, 0 where it is not seen."""
    child, seen = design.child(name)
    asked = design.table.codes[[design.place[p] for p in cpd.parents]]
    if len(slices) < asked.shape[1]:
        asked = asked[:, slices]
    asked = np.ascontiguousarray(asked)
    found = np.log(np.maximum(cpd.probabilities(child[slices], asked), 1e-300))
    return np.where(seen[slices], found, 0.0)


def smoothed_probabilities(
    design: Design, grown: Grown, smoothings: Sequence[Smoothing], slices: NDArray[np.int64]
) -> Floats:
    """(smoothings, slices): P(the column's state), for many smoothings of the same trees at once."""
    codes = np.ascontiguousarray(design.table.codes[:, slices])
    strength, floor = np.array([(one.strength, one.floor) for one in smoothings]).T
    child = design.child(grown.name)[0][slices]
    at = [tree.leaves(codes) for tree in grown.trees]
    leaves = [grown.leaves(tree, strength, floor) for tree in grown.trees]
    if grown.shape == SliceShape.TREE:
        return leaves[0][:, at[0], child]
    states = design.states(grown.name)
    before = codes[grown.order[0]].astype(np.int64)
    known = before < states
    own = np.where(known, before, 0)
    if grown.shape == SliceShape.SAME:
        changed = leaves[0][:, at[0], 1]
        rest = np.maximum(1.0 - leaves[1][:, at[1], own], 1e-300)
        moved = changed * leaves[1][:, at[1], child] / rest
        return np.where(known, np.where(child == before, 1.0 - changed, moved), leaves[1][:, at[1], child])
    cumulative = np.concatenate([np.zeros((*leaves[0].shape[:2], 1)), np.cumsum(leaves[0], axis=2)], axis=2)
    possible = cumulative[:, at[0], 2 * states - 1 - own] - cumulative[:, at[0], states - 1 - own]
    step = leaves[0][:, at[0], np.where(known, child - own + states - 1, 0)]
    return np.where(known, step / np.maximum(possible, 1e-300), leaves[1][:, at[1], child])


def _renumbered(tree: Tree, place: NDArray[np.int64]) -> Tree:
    if not len(place):  # nothing may be asked
        return tree
    feature = np.where(tree.feature >= 0, place[np.maximum(tree.feature, 0)], -1)
    return Tree(feature, tree.kind, tree.value, tree.left, tree.right, tree.counts)
