"""Posteriors of everything that a table leaves unobserved, by distinct evidence, laid out for the kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.errors import NetworkError
from leverrier.inference.exact.e_step import EStep
from leverrier.inference.exact.groups import Plan
from leverrier.inference.exact.parameter_layout import c_strides
from leverrier.kernels.counts.soft_counts import joint_posteriors
from leverrier.kernels.em.plan_columns import GROUP_ROWS, GROUP_STATES, TREE_CELLS, TREE_KEPT, TREE_ROWS


@dataclass(frozen=True, eq=False)
class Posteriors:
    """What kernels/counts/soft_counts.py reads. Variables and slots are numbers; slot_of[v] is −1 if observed."""

    owner: NDArray[np.int32]
    slot_of: Integers
    group_of: NDArray[np.int32]
    groups: Integers
    place: Integers
    singles: Floats
    cliques: Integers
    clique_members: Integers
    beliefs: Floats
    trees: Integers
    """The last cliques, those of large groups, as kernels/em/clique_trees.py has them; `maps` are theirs."""
    maps: NDArray[np.int32]

    def of(self, variable: int, states: int) -> tuple[NDArray[np.int32], Floats]:
        """Each row's instance (−1: observed), and every instance's posterior of the variable (zeros if not in it)."""
        owner = self.owner[self.slot_of[variable]]
        table = np.zeros((len(self.group_of), states))
        for g in np.flatnonzero(self.place[:, variable] >= 0):
            first, begin, width = self.groups[g, :3]
            n = int(np.count_nonzero(self.group_of == g))
            block = self.singles[begin : begin + n * width].reshape(n, width)
            at = self.place[g, variable]
            table[first : first + n] = block[:, at : at + states]
        return owner, table


def posteriors(plan: Plan, theta: Floats, n_rows: int) -> Posteriors:
    """One E-step, kept: the joint posterior of each small group, clique beliefs of the large ones, and singles."""
    cards = plan.layout.cardinalities
    step = EStep(plan)
    kept = np.zeros(plan.trees.n_kept)
    if step(theta, np.zeros(plan.layout.room)) == -np.inf:
        raise NetworkError(
            "the network gives some row probability zero, so what is unobserved there has no posterior: "
            "fit it with a prior, or leave such rows out"
        )
    plan.trees.expect(theta, np.zeros(plan.layout.room), kept)
    beliefs: list[Floats] = []
    singles: list[Floats] = []
    groups, cliques, members = [], [], []
    place = np.full((len(plan.members), len(cards)), -1, dtype=np.int64)
    instance = single = belief = 0
    sizes = []
    for g, variables in enumerate(plan.members):
        rows, scopes, block = _beliefs(plan, step, kept, g)
        groups.append(
            (instance, single, sum(cards[v] for v in variables), len(cliques), len(scopes), belief, block.shape[1])
        )
        at = 0
        for v in variables:
            place[g, v] = at
            at += cards[v]
        singles.append(_singles(block, scopes, variables, cards))
        beliefs.append(block.ravel())
        cell = 0
        for scope in scopes:
            cliques.append((cell, len(members), len(scope)))
            shape = [cards[v] for v in scope]
            members += list(zip(scope, c_strides(shape), shape, strict=True))
            cell += math.prod(shape)
        instance += rows
        single += singles[-1].size
        belief += block.size
        sizes.append(rows)
    slot_of, owner = _owners(plan, [group[0] for group in groups], n_rows)
    return Posteriors(
        owner,
        slot_of,
        np.repeat(np.arange(len(sizes)), sizes).astype(np.int32),
        np.array(groups, dtype=np.int64).reshape(-1, 7),
        place,
        np.concatenate([np.zeros(0), *singles]),
        np.array(cliques, dtype=np.int64).reshape(-1, 3),
        np.array(members, dtype=np.int64).reshape(-1, 3),
        np.concatenate([np.zeros(0), *beliefs]),
        plan.trees.cliques,
        plan.trees.maps,
    )


def _beliefs(plan: Plan, step: EStep, kept: Floats, g: int) -> tuple[int, tuple[tuple[int, ...], ...], Floats]:
    """A group's number of instances, the scopes of its cliques, and (instances, cells) of beliefs."""
    if g < len(plan.groups):
        group = plan.groups[g]
        block = np.empty((int(group[GROUP_ROWS]), int(group[GROUP_STATES])))
        joint_posteriors(group, plan.packs, plan.ids, step.cells, block)
        return len(block), (plan.members[g],), block
    alone = [(p, m) for p, variables in enumerate(plan.products.variables) for m in range(len(variables))]
    g -= len(plan.groups)
    if g < len(alone):
        block = plan.products.of(step.singles, *alone[g])
        return len(block), (plan.members[len(plan.groups) + g],), block
    tree = plan.trees.trees[g - len(alone)]
    rows, cells, first = int(tree[TREE_ROWS]), int(tree[TREE_CELLS]), int(tree[TREE_KEPT])
    return rows, plan.trees.scopes[g - len(alone)], kept[first : first + rows * cells].reshape(rows, cells)


def _singles(
    block: Floats, scopes: tuple[tuple[int, ...], ...], variables: tuple[int, ...], cards: tuple[int, ...]
) -> Floats:
    """Each member's posterior, from the smallest clique that has it; members one after the other."""
    begins = [0, *accumulate(math.prod(cards[v] for v in scope) for scope in scopes)]
    parts = []
    for v in variables:
        home = min((c for c, scope in enumerate(scopes) if v in scope), key=lambda c: begins[c + 1] - begins[c])
        scope = scopes[home]
        shape = [cards[other] for other in scope]
        table = block[:, begins[home] : begins[home + 1]].reshape(len(block), *shape)
        parts.append(table.sum(axis=tuple(1 + a for a, other in enumerate(scope) if other != v)))
    return np.concatenate(parts, axis=1).ravel()


def _owners(plan: Plan, first: list[int], n_rows: int) -> tuple[Integers, NDArray[np.int32]]:
    """The instance of each unobserved cell, by slot and row."""
    variables = sorted({v for group in plan.members for v in group})
    slot_of = np.full(len(plan.layout.cardinalities), -1, dtype=np.int64)
    slot_of[variables] = np.arange(len(variables))
    owner = np.full((len(variables), n_rows), -1, dtype=np.int32)
    for members, begin, (rows, place) in zip(plan.members, first, plan.places, strict=True):
        for v in members:
            owner[slot_of[v], slice(None) if rows is None else rows] = place + begin
    return slot_of, owner
