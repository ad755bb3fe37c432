"""A network unrolled over sequences: where each family's numbers lie, what of each slice is unobserved, what matters.

Parameters lie in one flat array. A family's value in a slice is at its offset there (its first cell, moved on by the
states that the slice shows) plus strides times the states of what is not observed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Integers

Node = tuple[int, int]
"""A variable's number and how many slices ago."""


class SliceFamily(NamedTuple):
    """A family of one slice: nodes are the parents in order, then the child; strides say where their states lie."""

    nodes: tuple[Node, ...]
    base: int
    strides: tuple[int, ...]
    by_slice: int = 0
    """Numbers that each slice has its own of (the density of what it shows): so many further on for each slice."""

    hole: int = -1
    """Where the numbers lie for slices that do not show the child, if nothing depends on it: it is then summed out
    beforehand, and is no pattern of its own."""
    factor: bool = False
    """Any table over the nodes, not a distribution: it is there to be counted."""

    @property
    def child(self) -> Node | None:
        """None for a density or a factor: it has no child that could be summed out."""
        return None if self.by_slice or self.factor else self.nodes[-1]


class Pattern(NamedTuple):
    """Slices of one stage that leave the same nodes unobserved, and what is to be done in them."""

    stage: int
    slices: Integers
    families: tuple[int, ...]
    """Those with unobserved nodes that matter."""
    nodes: tuple[Node, ...]
    """The unobserved nodes that matter."""
    before: tuple[Node, ...]
    """Those of slices before: their joint comes from the slice before."""
    after: tuple[Node, ...]
    """Those that later slices ask for, as numbered there (one slice further back)."""


@dataclass(frozen=True, eq=False)
class Unrolled:
    """`stages[s]` are the families of slices at place s; the last of them is for all later slices."""

    cardinalities: tuple[int, ...]
    stages: tuple[tuple[SliceFamily, ...], ...]
    codes: NDArray[np.int32]
    """(variables, slices), −1 where unobserved."""
    starts: Integers
    wanted: frozenset[int] = frozenset()
    """Variables asked about: kept even where nothing observed depends on them."""

    @property
    def n_slices(self) -> int:
        return int(self.codes.shape[1])

    @cached_property
    def place(self) -> Integers:
        return np.arange(self.n_slices) - np.repeat(self.starts[:-1], np.diff(self.starts))

    @cached_property
    def stage_of(self) -> Integers:
        return np.minimum(self.place, len(self.stages) - 1)

    @cached_property
    def uncertain(self) -> NDArray[np.bool_]:
        """Variables that some slice leaves unobserved, those apart that were summed out beforehand."""
        found = np.any(self.codes < 0, axis=1)
        for family in (family for stage in self.stages for family in stage):
            if family.hole >= 0:
                found[family.nodes[-1][0]] = False
        return found

    @cached_property
    def relevant(self) -> frozenset[int]:
        """Variables that are observed somewhere or asked about, and all that these depend on."""
        kept = set(np.flatnonzero(np.any(self.codes >= 0, axis=1)).tolist()) | set(self.wanted)
        families = [family for stage in self.stages for family in stage]
        grown = -1
        while grown != len(kept):
            grown = len(kept)
            for family in families:
                if family.child is None or family.child[0] in kept:
                    kept.update(variable for variable, _ in family.nodes)
        return frozenset(kept)

    @cached_property
    def reach(self) -> tuple[int, ...]:
        """For each variable, how many slices later it is still a parent of something that matters."""
        far = [0] * len(self.cardinalities)
        for family in (family for stage in self.stages for family in stage):
            if family.child is None or family.child[0] in self.relevant:
                for variable, lag in family.nodes:
                    far[variable] = max(far[variable], lag)
        return tuple(far)

    @cached_property
    def offsets(self) -> Integers:
        """(families of a stage, slices): where each family's numbers for a slice begin."""
        found = np.zeros((max(map(len, self.stages)), self.n_slices), dtype=np.int64)
        for stage, families in enumerate(self.stages):
            here = np.flatnonzero(self.stage_of == stage)
            for number, family in enumerate(families):
                place = family.base + family.by_slice * here
                for (variable, lag), stride in zip(family.nodes, family.strides, strict=True):
                    place = place + stride * np.maximum(self.codes[variable, here - lag], 0)
                if family.hole >= 0:
                    unseen = self.codes[family.nodes[-1][0], here] < 0
                    place = np.where(unseen, place - family.base + family.hole, place)
                found[number, here] = place
        return found

    def known(self) -> Iterator[tuple[int, int, Integers]]:
        """Each family with the slices that show all its nodes: (stage, number, slices)."""
        for stage, families in enumerate(self.stages):
            here = np.flatnonzero(self.stage_of == stage)
            for number, family in enumerate(families):
                seen = np.ones(len(here), dtype=np.bool_)
                for variable, lag in family.nodes:
                    if self.uncertain[variable]:
                        seen &= self.codes[variable, here - lag] >= 0
                yield stage, number, here if seen.all() else here[seen]

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The slices with something unobserved that matters, by what that is."""
        found: list[Pattern] = []
        for stage in range(len(self.stages)):
            here = np.flatnonzero(self.stage_of == stage)
            last = stage == len(self.stages) - 1
            nodes = [
                (variable, lag)
                for variable in sorted(self.relevant)
                if self.uncertain[variable]
                for lag in range(self.reach[variable] + 1)
                if lag <= stage or last
            ]
            if not len(here) or not nodes:
                continue
            missing = np.array([self.codes[variable, here - lag] < 0 for variable, lag in nodes])
            kinds, index = np.unique(np.packbits(missing, axis=0).T, axis=0, return_inverse=True)
            flags = np.unpackbits(kinds, axis=1, count=len(nodes)).astype(np.bool_)
            order = np.argsort(index.ravel(), kind="stable")
            groups = np.split(order, np.cumsum(np.bincount(index.ravel(), minlength=len(kinds)))[:-1])
            for kind, members in zip(flags, groups, strict=True):
                if kind.any():
                    unobserved = [node for node, hole in zip(nodes, kind.tolist(), strict=True) if hole]
                    found.append(self._pattern(stage, here[members], unobserved))
        return tuple(pattern for pattern in found if pattern.nodes)

    def _pattern(self, stage: int, slices: Integers, unobserved: Sequence[Node]) -> Pattern:
        """What is to be done where these nodes are open. What nothing depends on sums to one and is left out."""
        families = self.stages[stage]
        missing = set(unobserved)
        needed = {node for node in missing if node[1] or self.reach[node[0]] or node[0] in self.wanted}
        active: set[int] = set()
        grown = True
        while grown:
            grown = False
            for number, family in enumerate(families):
                here = missing.intersection(family.nodes)
                if number in active or not here or not self.matters(family):
                    continue
                if family.child is None or family.child not in missing or family.child in needed:
                    active.add(number)
                    needed |= here
                    grown = True
        kept = tuple(node for node in unobserved if node in needed)
        return Pattern(
            stage,
            slices,
            tuple(sorted(active)),
            kept,
            tuple(node for node in kept if node[1]),
            tuple((variable, lag + 1) for variable, lag in kept if lag < self.reach[variable]),
        )

    def matters(self, family: SliceFamily) -> bool:
        return family.child is None or family.child[0] in self.relevant
