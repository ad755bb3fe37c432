"""Exact forward–backward where one small joint state carries everything from slice to slice: HMMs, factorial HMMs, with
arcs between what is observed. Equal slices share their work: what they show is counted once for each distinct row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats, Integers
from leverrier.inference.chains.chain_groups import Group, combined, distinct_columns
from leverrier.inference.chains.shares import shares_of, side_by_side
from leverrier.inference.chains.slice_passes import Answer, Observed
from leverrier.inference.chains.unrolled_rows import Node, Pattern, SliceFamily, Unrolled
from leverrier.inference.exact.factors import log
from leverrier.kernels.chains.eight_lanes import LANES
from leverrier.kernels.chains.eight_states import both_counts, both_ways
from leverrier.kernels.chains.scaled_passes import (
    add_joint,
    add_rows,
    backward,
    backward_counts,
    combine,
    forward,
    viterbi,
)

MOST_STATES = 256
"""Joint states; beyond, junction trees of two slices do less work than one matrix."""
MOST_CELLS = 2**25
"""Numbers in the transition matrices, in the emissions, in a group's table."""
FEW_STATES = 16
"""Up to so many states the way back counts as it goes."""
SOON = 8
"""So many groups are multiplied before their product is scaled."""
LONG = 2**22
"""Multiplications of one way along a sequence from which both ways go side by side."""
BLOCK = 2**16
"""Numbers worked on together on the way back: they stay near the processor."""


class Chain:
    """The pattern of one joint state, or None where the sequences do not have it (see `chain_of`)."""

    def __init__(self, unrolled: Unrolled, variables: tuple[int, ...], keep: Sequence[int] = ()) -> None:
        self.unrolled = unrolled
        self.variables = variables
        self.cards = tuple(unrolled.cardinalities[v] for v in variables)
        self.states = int(np.prod(self.cards, dtype=np.int64))
        self.keep = tuple(keep)
        self.observed = Observed(unrolled)
        self.groups = [self._groups(pattern) for pattern in unrolled.patterns]
        self.which = np.full(unrolled.n_slices, -1, dtype=np.int64)
        self.symbol = np.zeros(unrolled.n_slices, dtype=np.int64)
        self.rows: list[tuple[Integers, slice, Integers, slice]] = []
        emissions = transitions = 0
        for pattern, groups in zip(unrolled.patterns, self.groups, strict=True):
            shown, row = combined([group for group in groups if not any(group.before)], len(pattern.slices))
            moved, matrix = combined([group for group in groups if any(group.before)], len(pattern.slices))
            self.symbol[pattern.slices] = emissions + row
            if pattern.before:
                self.which[pattern.slices] = transitions + matrix
            else:
                moved = moved[:, :0]
            self.rows.append(
                (
                    shown,
                    slice(emissions, emissions + shown.shape[1]),
                    moved,
                    slice(transitions, transitions + moved.shape[1]),
                )
            )
            emissions += shown.shape[1]
            transitions += moved.shape[1]
        self.n_emissions, self.n_transitions = emissions, max(transitions, 1)

    @property
    def fits(self) -> bool:
        largest = max(
            (int(np.prod(g.shape)) * g.inner * g.offsets.shape[1] for groups in self.groups for g in groups), default=1
        )
        return max(self.n_transitions * self.states**2, self.n_emissions * self.states, largest) <= MOST_CELLS

    def _groups(self, pattern: Pattern) -> list[Group]:
        families = self.unrolled.stages[pattern.stage]
        own = [node for node in pattern.nodes if node[1] == 0 and node[0] not in self.variables]
        ties = {number: {node for node in own if node in families[number].nodes} for number in pattern.families}
        parts: list[tuple[set[int], set[Node]]] = []
        for number, tied in ties.items():
            touching = [part for part in parts if part[1] & tied]
            merged = ({number}.union(*(part[0] for part in touching)), tied.union(*(part[1] for part in touching)))
            parts = [part for part in parts if part not in touching] + [merged]
        return [self._group(pattern, families, sorted(numbers), sorted(inner)) for numbers, inner in parts]

    def _group(self, pattern: Pattern, families: Sequence[SliceFamily], numbers: list[int], inner: list[Node]) -> Group:
        seen = {node for number in numbers for node in families[number].nodes}
        missing = set(pattern.nodes)
        before = tuple((v, 1) in seen and (v, 1) in missing for v in self.variables)
        now = tuple((v, 0) in seen and (v, 0) in missing for v in self.variables)
        nodes = [
            *((v, 1) for v, there in zip(self.variables, before, strict=True) if there),
            *((v, 0) for v, there in zip(self.variables, now, strict=True) if there),
            *inner,
        ]
        shape = [self.unrolled.cardinalities[v] for v, _ in nodes]
        grids = np.indices(shape).reshape(len(shape), -1)
        maps = []
        for number in numbers:
            family = families[number]
            steps = dict(zip(family.nodes, family.strides, strict=True))
            cells = sum(
                (steps.get(node, 0) * grid for node, grid in zip(nodes, grids, strict=True)),
                np.zeros(int(np.prod(shape, dtype=np.int64)), dtype=np.int64),
            )
            maps.append(cells)
        offsets, index = distinct_columns(self.unrolled.offsets[numbers][:, pattern.slices])
        hidden = shape[: len(shape) - len(inner)]
        inside = int(np.prod(shape[len(hidden) :], dtype=np.int64))
        return Group(tuple(numbers), before, now, tuple(hidden), inside, tuple(maps), offsets, index)

    def _spread(self, group: Group, values: Floats) -> Floats:
        """(showings, hidden cells) as axes of the joint state, of length 1 where the group does not see a variable."""
        pair = any(group.before)
        sizes = [c if there else 1 for c, there in zip(self.cards, group.before, strict=True)] if pair else []
        sizes += [c if there else 1 for c, there in zip(self.cards, group.now, strict=True)]
        return values.reshape(len(values), *sizes)

    def matrices(self, theta: Floats, *, maximise: bool = False) -> tuple[Floats, Floats, list[list[Floats]]]:
        """Transition matrices, emissions, and each group's products (for the counts)."""
        emissions = np.ones((self.n_emissions, *self.cards))
        transitions = np.ones((self.n_transitions, *self.cards, *self.cards))
        products: list[list[Floats]] = []
        self._taken = (np.zeros(self.n_emissions), np.zeros(self.n_transitions + 1))
        for groups, (shown, some, moved, matrices) in zip(self.groups, self.rows, strict=True):
            products.append([])
            numbers = {False: iter(shown), True: iter(moved)}
            for group in groups:
                pair = any(group.before)
                full = group.product(theta)
                products[-1].append(full)
                values = full[..., 0] if group.inner == 1 else full.max(axis=-1) if maximise else full.sum(axis=-1)
                target = transitions[matrices] if pair else emissions[some]
                target *= self._spread(group, values)[next(numbers[pair])]
                if len(products[-1]) % SOON == 0:  # a product of very many columns would vanish
                    _scale(target, self._taken[1][:-1][matrices] if pair else self._taken[0][some])
        n, more = self.states, self.width - self.states
        return (
            np.pad(transitions.reshape(-1, n, n), ((0, 0), (0, more), (0, more))),
            np.pad(emissions.reshape(-1, n), ((0, 0), (0, more))),
            products,
        )

    @property
    def width(self) -> int:
        """States with idle ones to eight, or to a multiple of four, which processors add and multiply together."""
        return LANES if self.states <= LANES else -(-self.states // 4) * 4

    @cached_property
    def _room(self) -> tuple[Floats, Floats]:
        """Where messages go, kept from pass to pass."""
        return np.empty((self.unrolled.n_slices, self.width)), np.empty((self.unrolled.n_slices, self.width))

    @cached_property
    def _later(self) -> Floats:
        return np.empty(self.unrolled.n_slices * LANES)

    def _forward(self, theta: Floats) -> tuple[Floats, Floats, Floats, list[list[Floats]]]:
        transitions, emissions, products = self.matrices(theta)
        totals = np.empty(self.unrolled.n_slices)
        forward(transitions, emissions, self.which, self.symbol, self._room[0], totals)
        return transitions, emissions, totals, products

    def _logs(self, totals: Floats) -> Floats:
        """log P(slice | slices before), with what was taken out of emissions and transitions put back."""
        slices = np.log(totals) if totals.min() > 0 else log(totals)
        emissions, transitions = self._taken
        if emissions.any() or transitions.any():
            slices += emissions[self.symbol] + transitions[self.which]
        return slices

    def evidence(self, theta: Floats) -> Floats:
        """log P(slice | slices before it)."""
        slices = self._logs(self._forward(theta)[2])
        self.observed.log_likelihood(theta, slices)
        return slices

    @cached_property
    def _known_counts(self) -> tuple[int, Floats]:
        size = max((int(cells.max()) + 1 for cells, _ in self.observed.cells), default=0)
        return size, self.observed.counts(size)

    def expectation(self, theta: Floats) -> Answer:
        """Expected counts of every family and the posteriors asked for, given whole sequences."""
        transitions, emissions, products = self.matrices(theta)
        shown, joint = np.zeros_like(emissions), np.zeros_like(transitions)
        totals = self._passes(transitions, emissions, shown, joint)
        slices = self._logs(totals)
        self.observed.log_likelihood(theta, slices)
        beta = self._room[1]
        joint *= transitions
        n = self.states
        size, known = self._known_counts
        counts = np.zeros(len(theta))
        counts[:size] = known
        for place, groups in enumerate(self.groups):
            self._count(place, groups, products[place], shown[:, :n], joint[:, :n, :n], counts)
        return Answer(slices, counts, self._kept(beta[:, :n]))

    @cached_property
    def _shares(self) -> list[tuple[int, int]]:
        return shares_of(self.unrolled.starts, self.unrolled.n_slices)

    def _passes(self, transitions: Floats, emissions: Floats, shown: Floats, joint: Floats) -> Floats:
        """P(slice | slices before); posteriors fill the second array of messages and are added to `shown`, `joint`.

        Shares of the sequences go side by side, each with counts of its own, which are added in their order.
        """
        turned = np.ascontiguousarray(transitions.transpose(0, 2, 1))
        totals = np.empty(self.unrolled.n_slices)
        own = [(shown, joint), *((np.zeros_like(shown), np.zeros_like(joint)) for _ in self._shares[1:])]
        tables = (transitions, turned, emissions)
        side_by_side(
            [
                partial(self._share, begin, end, *tables, totals[begin:end], *counts)
                for (begin, end), counts in zip(self._shares, own, strict=True)
            ]
        )
        for more_shown, more_joint in own[1:]:
            shown += more_shown
            joint += more_joint
        return totals

    def _share(
        self,
        begin: int,
        end: int,
        transitions: Floats,
        turned: Floats,
        emissions: Floats,
        totals: Floats,
        shown: Floats,
        joint: Floats,
    ) -> None:
        """Both ways along some whole sequences."""
        which, symbol = self.which[begin:end], self.symbol[begin:end]
        raw, beta = (room[begin:end] for room in self._room)
        if self.width == LANES:
            ones, later = np.ones(LANES), self._later[begin * LANES : end * LANES]
            flat = (raw.ravel(), totals, later, beta.ravel())
            both_ways(transitions.ravel(), turned.ravel(), emissions.ravel(), ones, which, symbol, *flat)
            both_counts(which, symbol, *flat, ones, shown.ravel(), joint.ravel())
            return
        there = partial(forward, transitions, emissions, which, symbol, raw, totals)
        if self.width <= FEW_STATES:
            there()
            backward_counts(turned, emissions, which, symbol, raw, totals, beta, shown, joint)
            return
        back = partial(backward, turned, emissions, which, symbol, beta)
        if (
            len(self._shares) == 1 and len(which) * self.width**2 > LONG
        ):  # (one long sequence: neither way needs the other)
            side_by_side([there, back])
        else:
            there()
            back()
        step = max(512, BLOCK // self.width)
        weights = np.empty((step, self.width))
        for low in range(0, len(totals), step):  # (the second array of messages becomes the posterior)
            high = min(low + step, len(totals))
            combine(low, high, emissions, which, symbol, raw, totals, beta, weights, shown)
            add_joint(low, high, which, raw, weights, joint)

    def _count(
        self, place: int, groups: list[Group], products: list[Floats], shown: Floats, joint: Floats, counts: Floats
    ) -> None:
        rows_shown, some, rows_moved, matrices = self.rows[place]
        numbers = {False: iter(rows_shown), True: iter(rows_moved)}
        for group, full in zip(groups, products, strict=True):
            pair = any(group.before)
            source = joint[matrices] if pair else shown[some]
            by_showing = np.zeros((group.offsets.shape[1], source[0].size))
            add_rows(next(numbers[pair]), source.reshape(len(source), -1), by_showing)
            there = (*group.before, *group.now) if pair else group.now
            axes = tuple(1 + axis for axis, kept in enumerate(there) if not kept)
            cells = by_showing.reshape(-1, *(self.cards * 2 if pair else self.cards)).sum(axis=axes)
            cells = cells.reshape(len(full), -1, 1)
            if group.inner > 1:
                total = full.sum(axis=-1, keepdims=True)
                cells = cells * np.divide(full, total, out=np.zeros_like(full), where=total > 0)
            flat = cells.reshape(len(full), -1)
            for offsets, places in zip(group.offsets, group.maps, strict=True):
                at = (offsets[:, None] + places).ravel()
                low = int(at.min())
                found = np.bincount(at - low, weights=flat.ravel())
                counts[low : low + len(found)] += found

    def _kept(self, posterior: Floats) -> Floats:
        """Posteriors of the chain's own variables (others are not asked of it)."""
        table = posterior.reshape(-1, *self.cards)
        columns = []
        for variable in self.keep:
            axis = 1 + self.variables.index(variable)
            others = tuple(other for other in range(1, table.ndim) if other != axis)
            columns.append(table.sum(axis=others))
        return np.concatenate(columns, axis=1) if columns else np.zeros((len(table), 0))

    def most_probable(self, theta: Floats) -> NDArray[np.int32]:
        """(chain's variables, slices): the most probable path."""
        transitions, emissions, _ = self.matrices(theta, maximise=True)
        path = np.zeros(self.unrolled.n_slices, dtype=np.int64)
        back = np.zeros((self.unrolled.n_slices, self.width), dtype=np.int16)
        viterbi(log(transitions), log(emissions), self.which, self.symbol, back, path)
        return np.array(np.unravel_index(path, self.cards), dtype=np.int32)


def chain_of(unrolled: Unrolled, keep: Sequence[int] = ()) -> Chain | None:
    """The chain, if every slice passes on the same few hidden variables and no others, one slice back."""
    patterns = unrolled.patterns
    if not patterns or sum(len(pattern.slices) for pattern in patterns) < unrolled.n_slices:
        return None
    after = patterns[0].after
    variables = tuple(variable for variable, _ in after)
    if not after or any(lag != 1 for _, lag in after) or not set(keep) <= set(variables):
        return None
    if any(pattern.after != after or pattern.before not in ((), after) for pattern in patterns):
        return None
    first = unrolled.starts[:-1]
    begins = np.zeros(unrolled.n_slices, dtype=np.bool_)
    begins[first] = True
    if any(bool(begins[pattern.slices].any()) == bool(pattern.before) for pattern in patterns):
        return None
    states = int(np.prod([float(unrolled.cardinalities[v]) for v in variables]))
    if states > MOST_STATES or (states + 3) * unrolled.n_slices > MOST_CELLS:
        return None
    chain = Chain(unrolled, variables, keep)
    return chain if chain.fits else None


def _scale(tables: Floats, taken: Floats) -> None:
    """Each table's largest number becomes 1; the logarithm of what that took out is added to `taken`."""
    peak = tables.reshape(len(tables), -1).max(axis=1)
    safe = np.where(peak > 0, peak, 1.0)
    tables /= safe.reshape(-1, *(1,) * (tables.ndim - 1))
    taken += np.log(safe)
