"""Distributions made of trees: same as before, so much more or less than before, and the average of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.errors import NetworkError
from leverrier.model.tree import Floats
from leverrier.model.tree_cpd import Parent, TreeCPD, dense_table, restricted_in_place


@dataclass(frozen=True, eq=False)
class SameElseCPD:
    """ "Same as before, else what": P(change | parents), and where to if it changes.

    The first parent is the child's own state before. Values that seldom change (a key, a posture) then need one
    probability of change, where a tree or table would need one for each of their states.
    """

    change: TreeCPD
    """P(same), P(changed): a child of two states."""
    other: TreeCPD
    """P(new state | parents) among changes; the state before is left out and the rest made to sum to one."""

    def __post_init__(self) -> None:
        if self.change.parents != self.other.parents or not self.change.parents:
            raise NetworkError("both parts of a same-as-before distribution need the same parents, own past first")

    @property
    def parents(self) -> tuple[Parent, ...]:
        return self.change.parents

    @property
    def cardinalities(self) -> tuple[int, ...]:
        return self.change.cardinalities

    @property
    def states(self) -> int:
        return self.other.states

    @property
    def dimension(self) -> int:
        return self.change.tree.n_leaves + self.other.tree.n_leaves * (self.states - 2)

    @cached_property
    def used(self) -> tuple[int, ...]:
        """Positions of the parents that are asked: own past, and every split of both trees."""
        return tuple(sorted({0, *self.change.tree.used, *self.other.tree.used}))

    def compacted(self, kept: Sequence[int] | None = None) -> SameElseCPD:
        """Only the parents that are asked, own past first."""
        asked = self.used if kept is None else kept
        return SameElseCPD(self.change.compacted(asked), self.other.compacted(asked))

    def restricted(self, known: Mapping[int, int]) -> TreeCPD | SameElseCPD:
        """The CPD given that some parents (by position) have these codes; own past unknown leaves `other` alone."""
        if 0 in known:
            if known[0] < self.states:
                raise NetworkError("the child's own past can be left unknown, not fixed")
            return self.other.restricted(known)
        change, other = (restricted_in_place(part, known) for part in (self.change, self.other))
        return SameElseCPD(change, other).compacted()

    def rows(self, parent_codes: NDArray[Any]) -> Floats:
        """(rows, states). Where the state before is unknown (a code beyond the states) only `other` speaks."""
        before = parent_codes[0].astype(np.int64)
        where = self.other.rows(parent_codes)
        known = np.flatnonzero(before < self.states)
        if len(known) == 0 or self.states == 1:
            return where
        out = where.copy()
        own = before[known]
        rest = np.maximum(1.0 - where[known, own], 1e-300)
        changed = self.change.rows(parent_codes)[known, 1]
        out[known] *= (changed / rest)[:, None]
        out[known, own] = 1.0 - changed
        return out

    def probabilities(self, child_codes: NDArray[Any], parent_codes: NDArray[Any]) -> Floats:
        return self.rows(parent_codes)[np.arange(len(child_codes)), child_codes]

    def table(self) -> Floats:
        return dense_table(self)


@dataclass(frozen=True, eq=False)
class StepCPD:
    """ "So much more or less than before": P(step | parents), for states in order.

    The first parent is the child's own state before. A melody, a temperature: what matters is how far it moves, and
    states that were seldom seen share what was learnt at others.
    """

    step: TreeCPD
    """P(step): a child of 2r − 1 states, from −(r − 1) to r − 1; steps beyond the ends are left out."""
    start: TreeCPD
    """P(state) where the state before is not known."""

    def __post_init__(self) -> None:
        if self.step.parents != self.start.parents or self.step.states != 2 * self.start.states - 1:
            raise NetworkError("steps over r states need 2r − 1 states, and the same parents as the start")

    @property
    def parents(self) -> tuple[Parent, ...]:
        return self.step.parents

    @property
    def cardinalities(self) -> tuple[int, ...]:
        return self.step.cardinalities

    @property
    def states(self) -> int:
        return self.start.states

    @property
    def dimension(self) -> int:
        return self.step.dimension + self.start.dimension

    @cached_property
    def used(self) -> tuple[int, ...]:
        return tuple(sorted({0, *self.step.tree.used, *self.start.tree.used}))

    def compacted(self, kept: Sequence[int] | None = None) -> StepCPD:
        asked = self.used if kept is None else kept
        return StepCPD(self.step.compacted(asked), self.start.compacted(asked))

    def restricted(self, known: Mapping[int, int]) -> TreeCPD | StepCPD:
        if 0 in known:
            if known[0] < self.states:
                raise NetworkError("the child's own past can be left unknown, not fixed")
            return self.start.restricted(known)
        step, start = (restricted_in_place(part, known) for part in (self.step, self.start))
        return StepCPD(step, start).compacted()

    def rows(self, parent_codes: NDArray[Any]) -> Floats:
        before = parent_codes[0].astype(np.int64)
        out = self.start.rows(parent_codes).copy()
        known = np.flatnonzero(before < self.states)
        if len(known):
            moves = self.step.rows(parent_codes[:, known])
            place = np.arange(self.states)[None, :] - before[known, None] + self.states - 1
            found = np.take_along_axis(moves, place, axis=1)
            out[known] = found / found.sum(axis=1, keepdims=True)
        return out

    def probabilities(self, child_codes: NDArray[Any], parent_codes: NDArray[Any]) -> Floats:
        return self.rows(parent_codes)[np.arange(len(child_codes)), child_codes]

    def table(self) -> Floats:
        return dense_table(self)


@dataclass(frozen=True, eq=False)
class AveragedCPD:
    """The mean of several distributions over the same parents: bagged trees."""

    parts: tuple[TreeCPD | SameElseCPD | StepCPD, ...]

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
        own = () if all(isinstance(part, TreeCPD) for part in self.parts) else (0,)
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
