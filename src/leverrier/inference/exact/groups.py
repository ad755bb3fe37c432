"""The plan of an E-step: which groups of unobserved variables there are, with which distinct evidence.

Made once for a graph and a table; every iteration of EM then costs what the *distinct* evidence costs. With one
hidden node in a network and everything else observed that is a few dozen rows, whatever the table's length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.inference.approximate.mean_field_groups import Products, plan_products
from leverrier.inference.exact.group_trees import MOST_CELLS, Trees, fits, plan_trees
from leverrier.inference.exact.packs import Pack, PackedRows, pack_rows
from leverrier.inference.exact.parameter_layout import Layout
from leverrier.inference.exact.unobserved import Evidence, Group, unobserved_groups
from leverrier.inference.taken_apart import TakenApart
from leverrier.kernels.em.grouping import equal_runs, locate, number_keys
from leverrier.kernels.em.plan_columns import GROUP_PACKS, GROUP_ROWS, GROUP_STRIDE, PACK_SIZE
from leverrier.words_of import told

FEW_ROWS = 256
"""Groups with fewer rows are located all together; larger ones are packed one by one."""
LARGEST_JOINT = 256
"""Groups with more joint states than this are passed through a clique tree…"""
CHEAP = 1024
"""…unless there are so few rows that finding a tree costs more than it saves: joint states × rows."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What the kernels read (see kernels/em/expectation.py), and who the groups are."""

    layout: Layout
    members: tuple[tuple[int, ...], ...]
    groups: Integers
    packs: Integers
    bases: NDArray[np.uint32]
    offsets: NDArray[np.uint32]
    ids: NDArray[np.uint16]
    weights: Floats
    pack_weights: Floats
    products: Products
    """Groups for which even a clique tree is too large: these are approximated."""
    trees: Trees
    pruned: bool
    """Whether unobserved variables without observed descendants were left out somewhere."""
    places: tuple[tuple[Integers | None, Integers], ...]
    """By group (joint ones first, then each member of a product alone, then trees): the table's rows, and which of
    the group's rows each became."""

    elsewhere: ClassVar[bool] = False
    """Whether others hold the rows, so that starts had better climb side by side and share each pass over them."""

    @staticmethod
    def joined() -> AbstractContextManager[None]:
        """While a climber is among those that a pass over rows elsewhere waits for: here nobody waits."""
        return nullcontext()

    @property
    def n_cells(self) -> int:
        """Length of the packs' tables together."""
        strides = np.repeat(self.groups[:, GROUP_STRIDE], self.groups[:, GROUP_PACKS])
        return int((self.packs[:, PACK_SIZE] * strides).sum())

    @property
    def needs_passes(self) -> bool:
        """Whether some group is too large for the kernel that takes whole EM steps."""
        return len(self.trees) + len(self.products) > 0

    @property
    def approximate(self) -> bool:
        return len(self.products) > 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What is approximated, in words."""
        if not self.approximate:
            return ()
        return told([TakenApart(max(len(group) for group in self.products.variables), MOST_CELLS)])

    @property
    def work(self) -> float:
        """Roughly the nanoseconds of one E-step."""
        joints = float((self.groups[:, GROUP_ROWS] * self.groups[:, GROUP_STRIDE] * self.groups[:, GROUP_PACKS]).sum())
        return joints + self.trees.work + self.products.work


@dataclass(eq=False)
class _Flat:
    """The plan's arrays while they grow."""

    groups: list[tuple[int, ...]] = field(default_factory=list)
    packs: list[tuple[int, ...]] = field(default_factory=list)
    bases: list[Integers] = field(default_factory=list)
    offsets: list[Integers] = field(default_factory=list)
    ids: list[NDArray[np.uint16]] = field(default_factory=list)
    weights: list[Floats] = field(default_factory=list)
    pack_weights: list[Floats] = field(default_factory=list)
    at: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("base", "offset", "cell", "row", "pack", "id"), 0)
    )

    def add(self, layout: Layout, members: tuple[int, ...], rows: PackedRows) -> None:
        at = self.at
        states = math.prod(layout.cardinalities[v] for v in members)
        stride = -(-states // 4) * 4
        n = len(rows.weights)
        self.groups.append((states, stride, len(self.packs), len(rows.packs), at["row"], n, at["id"]))
        for k, pack in enumerate(rows.packs):
            width = len(pack.factors)
            self.packs.append((len(pack), width, at["base"], at["offset"], at["cell"], at["pack"]))
            offsets = factor_offsets(layout, members, pack.factors)
            self.bases.append(pack.bases.ravel())
            self.offsets.append(offsets.ravel())
            total = rows.weights if rows.ids is None else np.bincount(rows.ids[:, k], rows.weights, len(pack))
            self.pack_weights.append(total.astype(np.float64))
            for name, step in (("base", pack.bases.size), ("offset", offsets.size), ("cell", len(pack) * stride)):
                at[name] += step
            at["pack"] += len(pack)
        self.weights.append(rows.weights)
        at["row"] += n
        if rows.ids is not None:
            self.ids.append(rows.ids.ravel())
            at["id"] += rows.ids.size


def make_plan(
    evidence: Evidence, layout: Layout, order: Integers, *, prune: bool = True, largest_joint: int = LARGEST_JOINT
) -> Plan:
    """The plan for these rows and families. Rows of weight zero are no evidence and must have been left out."""
    small: list[tuple[Group, tuple[int, ...]]] = []
    flat = _Flat()
    members: list[tuple[int, ...]] = []
    places: list[tuple[Integers | None, Integers]] = []
    large: list[tuple[Group, tuple[int, ...]]] = []
    found, pruned = unobserved_groups(evidence, layout, order, prune)
    for group in found:
        factors = touched(layout, group.members)
        n = evidence.n_rows if group.rows is None else len(group.rows)
        states = math.prod((layout.cardinalities[v] for v in group.members), start=1.0)
        if len(group.members) > 1 and states > largest_joint and not states * n <= min(CHEAP, 4 * largest_joint):
            large.append((group, factors))
        elif n <= FEW_ROWS:
            small.append((group, factors))
        else:
            rows = pack_rows(evidence, layout, group, factors, int(states))
            flat.add(layout, group.members, rows)
            members.append(group.members)
            places.append((group.rows, rows.place))
    for (group, _), rows in zip(small, _located(evidence, layout, small), strict=True):
        flat.add(layout, group.members, rows)
        members.append(group.members)
        places.append((group.rows, rows.place))
    located = [(group, rows) for (group, _), rows in zip(large, _located(evidence, layout, large), strict=True)]
    exact = [pair for pair in located if fits(layout, pair[0].members, pair[1])]
    beyond = [pair for pair in located if pair not in exact]
    members += [(v,) for group, _ in beyond for v in group.members] + [group.members for group, _ in exact]
    places += [(group.rows, rows.place) for group, rows in beyond for _ in group.members]
    places += [(group.rows, rows.place) for group, rows in exact]
    return Plan(
        layout,
        tuple(members),
        np.array(flat.groups, dtype=np.int64).reshape(-1, 7),
        np.array(flat.packs, dtype=np.int64).reshape(-1, 6),
        joined(flat.bases, np.uint32),
        joined(flat.offsets, np.uint32),
        joined(flat.ids, np.uint16),
        joined(flat.weights, np.float64),
        joined(flat.pack_weights, np.float64),
        plan_products(layout, [group.members for group, _ in beyond], [rows for _, rows in beyond]),
        plan_trees(layout, [group.members for group, _ in exact], [rows for _, rows in exact]),
        pruned,
        tuple(places),
    )


def touched(layout: Layout, members: Sequence[int]) -> tuple[int, ...]:
    """The families that hold one of these variables, ascending."""
    return tuple(sorted({j for v in members for j in layout.touching[v]}))


def factor_offsets(layout: Layout, members: tuple[int, ...], factors: Sequence[int]) -> Integers:
    """(joint states, factors): how far from its base a factor lies at each joint state of these variables."""
    offsets = np.zeros((1, len(factors)), dtype=np.int64)
    for v in members:
        strides = np.array([layout.stride_of[j].get(v, 0) for j in factors], dtype=np.int64)
        steps = np.arange(layout.cardinalities[v])[:, None] * strides
        offsets = (offsets[:, None, :] + steps).reshape(-1, len(factors))
    return offsets


def joined(parts: Sequence[NDArray], kind: type) -> NDArray:
    return np.ascontiguousarray(np.concatenate(parts), dtype=kind) if parts else np.zeros(0, dtype=kind)


def _located(evidence: Evidence, layout: Layout, groups: Sequence[tuple[Group, tuple[int, ...]]]) -> list[PackedRows]:
    """Distinct evidence of many groups with few rows each, in one pass over all their rows."""
    if not groups:
        return []
    every = np.arange(evidence.n_rows)
    parts = [every if group.rows is None else group.rows for group, _ in groups]
    rows = np.concatenate(parts)
    sizes = np.array([len(part) for part in parts])
    kind = np.repeat(np.arange(len(groups)), sizes)
    within = np.zeros((len(groups), len(layout.cardinalities)), dtype=np.bool_)
    needs = np.full((len(groups), max(len(factors) for _, factors in groups)), -1, dtype=np.int64)
    for t, (group, factors) in enumerate(groups):
        within[t, list(group.members)] = True
        needs[t, : len(factors)] = factors
    lengths = np.array([len(factors) for _, factors in groups])[kind]
    first = np.cumsum(lengths) - lengths
    bases = np.empty(int(lengths.sum()), dtype=np.int64)
    key = np.empty(len(rows), dtype=np.uint64)
    locate(
        evidence.codes,
        evidence.column_of,
        evidence.hole,
        layout.begins,
        layout.starts,
        layout.members,
        layout.strides,
        layout.size,
        rows,
        kind,
        within,
        needs,
        first,
        bases,
        key,
    )
    slots = np.full(1 << (2 * len(rows)).bit_length(), -1, dtype=np.int64)
    example, place = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.int64)
    example = example[: number_keys(key, slots, example, place)]  # by group, then by first appearance
    if not equal_runs(bases, first, lengths, example[place]):  # two hashes coincide: merge nothing
        example, place = np.arange(len(rows)), np.arange(len(rows))
    weights = None if evidence.weights is None else evidence.weights[rows]
    total = np.bincount(place, weights=weights, minlength=len(example)).astype(np.float64)
    cuts = np.concatenate([[0], np.cumsum(np.bincount(kind[example], minlength=len(groups)))])
    ends = np.concatenate([[0], np.cumsum(sizes)])
    packed = []
    for t, (_, factors) in enumerate(groups):
        mine = example[cuts[t] : cuts[t + 1]]
        table = bases[first[mine][:, None] + np.arange(len(factors))]
        where = place[ends[t] : ends[t + 1]] - cuts[t]
        packed.append(PackedRows((Pack(factors, table),), None, total[cuts[t] : cuts[t + 1]], where))
    return packed
