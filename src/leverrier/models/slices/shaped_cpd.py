"""Distributions made of trees: same as before, so much more or less than before, and the average of several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.errors import NetworkError
from leverrier.models.slices.tree_cpd import Parent, SliceShape, TreeCPD, dense_table, restricted_in_place


@dataclass(frozen=True, eq=False)
class OwnPastCPD(ABC):
    """Two trees over the same parents, of which the first is the child's own state before."""

    moves: TreeCPD
    """Whether it changed, or how far it moved."""
    state: TreeCPD
    """P(state) where the state before does not say it."""
    shape: ClassVar[SliceShape]
    averaged: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.moves.parents != self.state.parents or not self.moves.parents:
            raise NetworkError("both trees of such a distribution need the same parents, own past first")

    @property
    def trees(self) -> tuple[TreeCPD, TreeCPD]:
        return self.moves, self.state

    @property
    def singles(self) -> tuple[Self, ...]:
        """What is averaged: itself alone."""
        return (self,)

    @property
    def parents(self) -> tuple[Parent, ...]:
        return self.moves.parents

    @property
    def cardinalities(self) -> tuple[int, ...]:
        return self.moves.cardinalities

    @property
    def states(self) -> int:
        return self.state.states

    @cached_property
    def used(self) -> tuple[int, ...]:
        """Positions of the parents that are asked: own past, and every split of both trees."""
        return tuple(sorted({0, *self.moves.tree.used, *self.state.tree.used}))

    def compacted(self, kept: Sequence[int] | None = None) -> Self:
        """Only the parents that are asked, own past first."""
        asked = self.used if kept is None else kept
        return type(self)(self.moves.compacted(asked), self.state.compacted(asked))

    def restricted(self, known: Mapping[int, int]) -> TreeCPD | Self:
        """The CPD given that some parents (by position) have these codes; own past unknown leaves `state` alone."""
        if 0 in known:
            if known[0] < self.states:
                raise NetworkError("the child's own past can be left unknown, not fixed")
            return self.state.restricted(known)
        moves, state = (restricted_in_place(part, known) for part in self.trees)
        return type(self)(moves, state).compacted()

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of free parameters."""

    @abstractmethod
    def rows(self, parent_codes: NDArray[Any]) -> Floats:
        """(rows, states). A code beyond the states says that the state before is not known."""

    def probabilities(self, child_codes: NDArray[Any], parent_codes: NDArray[Any]) -> Floats:
        return self.rows(parent_codes)[np.arange(len(child_codes)), child_codes]

    def table(self) -> Floats:
        return dense_table(self)


@dataclass(frozen=True, eq=False)
class SameElseCPD(OwnPastCPD):
    """ "Same as before, else what": `moves` has P(same), P(changed); `state` is where to if it changes.

    Values that seldom change (a key, a posture) then need one probability of change, where a tree or table would need
    one for each of their states. In `state` the state before is left out and the rest made to sum to one.
    """

    shape = SliceShape.SAME

    @property
    def dimension(self) -> int:
        return self.moves.tree.n_leaves + self.state.tree.n_leaves * (self.states - 2)

    def rows(self, parent_codes: NDArray[Any]) -> Floats:
        before = parent_codes[0].astype(np.int64)
        where = self.state.rows(parent_codes)
        known = np.flatnonzero(before < self.states)
        if len(known) == 0 or self.states == 1:
            return where
        out = where.copy()
        own = before[known]
        rest = np.maximum(1.0 - where[known, own], 1e-300)
        changed = self.moves.rows(parent_codes)[known, 1]
        out[known] *= (changed / rest)[:, None]
        out[known, own] = 1.0 - changed
        return out


@dataclass(frozen=True, eq=False)
class StepCPD(OwnPastCPD):
    """ "So much more or less than before": `moves` has P(step), for states in order.

    A melody, a temperature: what matters is how far it moves, and states that were seldom seen share what was learnt at
    others. Steps are states from −(r − 1) to r − 1; those beyond the ends are left out. `state` speaks where the state
    before is not known.
    """

    shape = SliceShape.STEP

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.moves.states != 2 * self.state.states - 1:
            raise NetworkError("steps over r states need 2r − 1 states")

    @property
    def dimension(self) -> int:
        return self.moves.dimension + self.state.dimension

    def rows(self, parent_codes: NDArray[Any]) -> Floats:
        before = parent_codes[0].astype(np.int64)
        out = self.state.rows(parent_codes).copy()
        known = np.flatnonzero(before < self.states)
        if len(known):
            moves = self.moves.rows(parent_codes[:, known])
            place = np.arange(self.states)[None, :] - before[known, None] + self.states - 1
            found = np.take_along_axis(moves, place, axis=1)
            out[known] = found / found.sum(axis=1, keepdims=True)
        return out


@dataclass(frozen=True, eq=False)
class AveragedCPD:
    """The mean of several distributions over the same parents: bagged trees."""

    parts: tuple[TreeCPD | SameElseCPD | StepCPD, ...]
    averaged: ClassVar[bool] = True

    @property
    def singles(self) -> tuple[SingleCPD, ...]:
        return self.parts

    @property
    def parents(self) -> tuple[Parent, ...]:
        return self.parts[0].parents

    @property
    def cardinalities(self) -> tuple[int, ...]:
        return self.parts[0].cardinalities

    @property
    def states(self) -> int:
        return self.parts[0].states

    @property
    def dimension(self) -> int:
        return sum(part.dimension for part in self.parts)

    @cached_property
    def used(self) -> tuple[int, ...]:
        return tuple(sorted({f for part in self.parts for f in part.used}))

    def compacted(self) -> AveragedCPD:
        """Only the parents that some part asks; the first stays where it is the child's own past."""
        own = () if all(part.shape is SliceShape.TREE for part in self.parts) else (0,)
        kept = tuple(sorted({*own, *self.used}))
        return AveragedCPD(tuple(part.compacted(kept) for part in self.parts))

    def rows(self, parent_codes: NDArray[Any]) -> Floats:
        total = self.parts[0].rows(parent_codes).copy()
        for part in self.parts[1:]:
            total += part.rows(parent_codes)
        return total / len(self.parts)

    def probabilities(self, child_codes: NDArray[Any], parent_codes: NDArray[Any]) -> Floats:
        return self.rows(parent_codes)[np.arange(len(child_codes)), child_codes]

    def table(self) -> Floats:
        return np.mean([part.table() for part in self.parts], axis=0)


SingleCPD = TreeCPD | SameElseCPD | StepCPD
CPD = SingleCPD | AveragedCPD


def cpd_of(shape: SliceShape, trees: Sequence[TreeCPD]) -> SingleCPD:
    """The distribution of this shape that these trees make: one of the states, or two of an own past."""
    match shape:
        case SliceShape.TREE:
            return trees[0]
        case SliceShape.SAME:
            return SameElseCPD(trees[0], trees[1])
        case SliceShape.STEP:
            return StepCPD(trees[0], trees[1])
