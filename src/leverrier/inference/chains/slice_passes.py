"""Forward and back through sequences by junction trees of two slices: exact, or Boyen–Koller, for any pattern of holes.

Where a slice and its past are observed there is nothing to pass on: only stretches with something hidden are visited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.inference.chains.slice_tree import Builder, Clusters
from leverrier.inference.chains.unrolled_rows import Node, Unrolled
from leverrier.inference.exact.factors import log
from leverrier.kernels.chains.slice_programs import pass_backward, pass_forward

VISIT_SLICE, VISIT_PROGRAM, VISIT_IN, VISIT_OUT = range(4)
"""Columns of a plan: which slice, by which program, and where its message comes from and goes (at first, how long)."""
MOST_KEPT = 2**25
"""Numbers of messages kept at once (256 MiB); beyond, stretches are passed again on the way back."""


def one_cluster(nodes: Sequence[Node]) -> list[tuple[Node, ...]]:
    """Everything together: exact."""
    return [tuple(nodes)] if nodes else []


@dataclass(frozen=True, eq=False)
class Answer:
    """What a pass through the data gives."""

    slices: Floats
    """log P(slice | slices before it)."""
    counts: Floats
    """Expected counts, where the parameters lie."""
    kept: Floats
    """(slices, columns): posteriors of the variables asked for; nothing where they are observed."""

    @property
    def log_likelihood(self) -> float:
        return float(self.slices.sum())


class Observed:
    """What slices show of whole families: looked up and counted once, in one go."""

    def __init__(self, unrolled: Unrolled) -> None:
        self.cells = [
            (unrolled.offsets[number, slices], slices) for _, number, slices in unrolled.known() if len(slices)
        ]

    def log_likelihood(self, theta: Floats, into: Floats) -> None:
        if not self.cells:
            return
        logs = log(theta)
        for cells, slices in self.cells:
            into[slices] += logs[cells]

    def counts(self, size: int) -> Floats:
        found = np.zeros(size)
        for cells, _ in self.cells:
            found += np.bincount(cells, minlength=size)
        return found


class SlicePasses:
    """Programs for every pattern, made once; then any parameters."""

    def __init__(
        self,
        unrolled: Unrolled,
        clusters: Clusters = one_cluster,
        keep: Sequence[int] = (),
        *,
        tracked: bool = True,
        maximise: bool = False,
    ) -> None:
        """`keep`: variables whose posteriors are wanted; `tracked=False` can only go forward; `maximise` passes on the
        largest terms instead of their sums."""
        self.unrolled = unrolled
        self.tracked = tracked
        self.observed = Observed(unrolled)
        columns = np.concatenate([[0], np.cumsum([unrolled.cardinalities[v] for v in keep])]).astype(np.int64)
        self.columns = {variable: int(first) for variable, first in zip(keep, columns[:-1], strict=True)}
        self.width = int(columns[-1])
        made = [
            Builder(
                unrolled.cardinalities,
                pattern,
                unrolled.stages[pattern.stage],
                clusters,
                self.columns,
                tracked=tracked,
                maximise=maximise,
            ).program
            for pattern in unrolled.patterns
        ]
        operations, programs, maps, first_map = [], [], [], 0
        for program in made:
            moved = [_moved(op, first_map) for op in (*program.forward, *program.backward)]
            begin = sum(map(len, operations))
            middle = begin + len(program.forward)
            programs.append((begin, middle, middle, begin + len(moved), program.n_in, program.n_out))
            operations.append(moved)
            maps += program.maps
            first_map += sum(map(len, program.maps))
        flat = [op for part in operations for op in part]
        self.programs = np.array(programs, dtype=np.int64).reshape(-1, 6)
        self.operations = np.array(flat, dtype=np.int64).reshape(-1, 6)
        self.maps = np.concatenate(maps) if maps else np.empty(0, np.int32)
        self.work = np.zeros(max((program.work for program in made), default=1))

    @cached_property
    def plan(self) -> Integers:
        """Slice, program, cells in and out, for each slice to visit, in order."""
        rows = [
            np.stack([pattern.slices, np.full(len(pattern.slices), number)])
            for number, pattern in enumerate(self.unrolled.patterns)
        ]
        if not rows:
            return np.empty((0, 4), dtype=np.int64)
        visits = np.concatenate(rows, axis=1)
        visits = visits[:, np.argsort(visits[0])]
        return np.ascontiguousarray(np.vstack([visits, self.programs[visits[1], 4:].T]).T)

    def _blocks(self, *, back: bool) -> list[tuple[int, int]]:
        """Stretches of visits whose messages are kept together; on the way forward alone one after another."""
        ends = np.cumsum(self.plan[:, VISIT_OUT])
        total = int(ends[-1]) if len(ends) else 0
        if total <= MOST_KEPT:
            return [(0, len(self.plan))]
        largest = int(self.plan[:, VISIT_OUT].max())
        room = max(largest, MOST_KEPT if not back else MOST_KEPT // 2)
        blocks, begin = [], 0
        while begin < len(self.plan):
            taken = ends[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, taken + room, side="right")))
            blocks.append((begin, end))
            begin = end
        return blocks

    def _forward(
        self, block: tuple[int, int], first: Floats, theta: Floats, slices: Floats, kept: Floats | None = None
    ) -> tuple[Integers, Floats]:
        """Messages of a block of visits, the one before it first; and where they lie."""
        part = self.plan[block[0] : block[1]]
        addresses = len(first) + np.concatenate([[0], np.cumsum(part[:, VISIT_OUT])])
        source = np.concatenate([[0], addresses[:-2]]) if len(part) else addresses[:0]
        messages = np.empty(int(addresses[-1]))
        messages[: len(first)] = first
        plan = np.ascontiguousarray(
            np.stack([part[:, VISIT_SLICE], part[:, VISIT_PROGRAM], source, addresses[:-1]], axis=1)
        )
        nothing = np.empty(0)
        pass_forward(
            plan,
            self.programs,
            self.operations,
            self.maps,
            self.unrolled.offsets,
            theta,
            self.work,
            messages,
            slices,
            nothing,
            np.empty((0, 0)) if kept is None else kept,
        )
        return plan, messages

    def evidence(self, theta: Floats) -> Floats:
        """log P(slice | slices before it)."""
        return self.filtered(theta)[0]

    def filtered(self, theta: Floats) -> tuple[Floats, Floats]:
        """The same, and the posteriors asked for given the slices so far (where the programs only go forward)."""
        slices = np.zeros(self.unrolled.n_slices)
        kept = np.zeros((self.unrolled.n_slices, 0 if self.tracked else self.width))
        self.observed.log_likelihood(theta, slices)
        last = np.empty(0)
        for block in self._blocks(back=False):
            plan, messages = self._forward(block, last, theta, slices, kept)
            last = messages[plan[-1, VISIT_OUT] :].copy() if len(plan) else last
        return slices, kept

    def expectation(self, theta: Floats) -> Answer:
        """Expected counts of every family and the posteriors asked for, given whole sequences."""
        n = self.unrolled.n_slices
        slices, counts, kept = np.zeros(n), self.observed.counts(len(theta)), np.zeros((n, self.width))
        self.observed.log_likelihood(theta, slices)
        blocks = self._blocks(back=True)
        firsts, passed = [np.empty(0)], None
        for block in blocks:
            passed = self._forward(block, firsts[-1], theta, slices)
            firsts.append(passed[1][passed[0][-1, VISIT_OUT] :].copy() if len(passed[0]) else firsts[-1])
        later: Floats | None = None
        for place in range(len(blocks) - 1, -1, -1):
            if passed is None or place < len(blocks) - 1:
                passed = self._forward(blocks[place], firsts[place], theta, np.zeros(n))
            plan, messages = passed
            smoothed = messages.copy()
            if later is not None and len(plan):
                smoothed[plan[-1, VISIT_OUT] :] = later
            pass_backward(
                plan,
                self.programs,
                self.operations,
                self.maps,
                self.unrolled.offsets,
                theta,
                self.work,
                messages,
                smoothed,
                counts,
                kept,
            )
            later = smoothed[: len(firsts[place])].copy()
            passed = None
        return Answer(slices, counts, kept)


def _moved(operation: tuple[int, ...], first_map: int) -> tuple[int, ...]:
    code, target, source, first, cells, size = operation
    return code, target, source, first + first_map, cells, size
