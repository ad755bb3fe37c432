"""A conditional distribution shaped as a tree: few parameters where most parent configurations behave alike."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.errors import NetworkError, TooLargeError
from leverrier.kernels.search.tree_growth import AT_MOST
from leverrier.kinds import Kinds
from leverrier.models.slices.code_tree import Tree

MOST_CELLS = 2**24

Parent = Any
"""(variable, lag) in a network in time; a feature of `data.slice_features` in a model of slices."""


class SliceShape(Kinds):
    """What of a column its trees tell."""

    TREE = "tree"
    """Its state."""
    SAME = "same"
    """Whether and to what it changed."""
    STEP = "step"
    """How far it moved."""


class DenseCPD(Protocol):
    """What can be written out as a table."""

    @property
    def cardinalities(self) -> tuple[int, ...]: ...

    @property
    def states(self) -> int: ...

    def rows(self, parent_codes: NDArray[Any]) -> Floats: ...


@dataclass(frozen=True, eq=False)
class TreeCPD:
    """P(child | parents) by a tree; `parents` name the tree's features in order, with their numbers of codes."""

    parents: tuple[Parent, ...]
    cardinalities: tuple[int, ...]
    tree: Tree
    leaf_probabilities: Floats
    """(nodes, states); only the rows of leaves are asked."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    shape: ClassVar[SliceShape] = SliceShape.TREE
    averaged: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if len(self.parents) != len(self.cardinalities):
            raise NetworkError(f"{len(self.parents)} parents with {len(self.cardinalities)} cardinalities: one each")
        if self.leaf_probabilities.shape != self.tree.counts.shape:
            raise NetworkError("each node of a tree needs one distribution over the child's states")

    @property
    def trees(self) -> tuple[TreeCPD, ...]:
        return (self,)

    @property
    def singles(self) -> tuple[TreeCPD, ...]:
        """What is averaged: itself alone."""
        return (self,)

    @property
    def states(self) -> int:
        return int(self.leaf_probabilities.shape[1])

    @property
    def dimension(self) -> int:
        """The number of free parameters."""
        return self.tree.n_leaves * (self.states - 1)

    @property
    def used(self) -> tuple[int, ...]:
        """Positions of the parents that some split asks."""
        return self.tree.used

    def rows(self, parent_codes: NDArray[Any]) -> Floats:
        """(rows, states): the whole distribution for each column of (parents, rows)."""
        return self.leaf_probabilities[self.tree.leaves(parent_codes)]

    def probabilities(self, child_codes: NDArray[Any], parent_codes: NDArray[Any]) -> Floats:
        """P(child = its code | parents) for each row."""
        return self.leaf_probabilities[self.tree.leaves(parent_codes), child_codes]

    def table(self) -> Floats:
        """The same as a table: axes are the parents in order, then the child."""
        return dense_table(self)

    def restricted(self, known: Mapping[int, int]) -> TreeCPD:
        """The CPD given that some parents (by position) have these codes; only parents still asked are kept."""
        return restricted_in_place(self, known).compacted()

    def compacted(self, kept: Sequence[int] | None = None) -> TreeCPD:
        """Only these parents, by position: without saying which, those that some split asks."""
        return _compacted(self.parents, self.cardinalities, self.tree, self.leaf_probabilities, self.notes, kept)

    def described(self, names: Sequence[str], child: str, labels: Sequence[Hashable]) -> str:
        """The tree as indented text, one line a node."""
        lines: list[str] = []
        stack = [(0, 0, "")]
        while stack:
            node, depth, said = stack.pop()
            pad = "  " * depth
            if self.tree.feature[node] < 0:
                top = np.argsort(-self.leaf_probabilities[node], kind="stable")[:3]
                likely = ", ".join(f"{labels[k]} {self.leaf_probabilities[node, k]:.2f}" for k in top)
                lines.append(f"{pad}{said}{child}: {likely} ({self.tree.counts[node].sum():.0f} slices)")
                continue
            name, value = names[int(self.tree.feature[node])], int(self.tree.value[node])
            yes, no = ("≤", ">") if self.tree.kind[node] == AT_MOST else ("=", "≠")
            if said:
                lines.append(pad + said)
            stack.append((int(self.tree.right[node]), depth + 1, f"{name} {no} {value}: "))
            stack.append((int(self.tree.left[node]), depth + 1, f"{name} {yes} {value}: "))
        return "\n".join(lines)


def dense_table(cpd: DenseCPD) -> Floats:
    """Any distribution as a table: axes are the parents in order, then the child."""
    cells = math.prod(cpd.cardinalities) * cpd.states
    if cells > MOST_CELLS:
        raise TooLargeError(
            f"a table of this distribution would need {cells:,} cells (at most {MOST_CELLS:,}): ask probabilities()"
        )
    if not cpd.cardinalities:
        return cpd.rows(np.zeros((0, 1), dtype=np.uint8))[0]
    kind = np.uint8 if max(cpd.cardinalities) <= 256 else np.uint16
    grid = np.indices(cpd.cardinalities, dtype=kind).reshape(len(cpd.cardinalities), -1)
    return cpd.rows(np.ascontiguousarray(grid)).reshape(*cpd.cardinalities, cpd.states)


def restricted_in_place(cpd: TreeCPD, known: Mapping[int, int]) -> TreeCPD:
    """The same parents, but no split on those that are known."""
    small = cpd.tree.restricted(known)
    # The distributions travel with the counts: ask the same restriction of both.
    carried = replace(cpd.tree, counts=cpd.leaf_probabilities).restricted(known).counts
    return replace(cpd, tree=small, leaf_probabilities=carried)


def _compacted(
    parents: tuple[Parent, ...],
    cardinalities: tuple[int, ...],
    tree: Tree,
    distributions: Floats,
    notes: Mapping[str, Any],
    kept: Sequence[int] | None = None,
) -> TreeCPD:
    used = tree.used if kept is None else tuple(kept)
    place = np.full(max(len(parents), 1), -1, dtype=np.int64)
    place[list(used)] = np.arange(len(used))
    feature = np.where(tree.feature >= 0, place[np.maximum(tree.feature, 0)], -1)
    return TreeCPD(
        tuple(parents[f] for f in used),
        tuple(cardinalities[f] for f in used),
        replace(tree, feature=feature),
        distributions,
        notes,
    )
