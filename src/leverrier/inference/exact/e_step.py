"""One E-step over a plan, on one thread or several with the same answer."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from leverrier.arrays import Floats, Integers
from leverrier.inference.exact.groups import Plan
from leverrier.kernels.em.expectation import absorb, absorb_groups, fill_packs, scatter_packs
from leverrier.kernels.em.plan_columns import (
    GROUP_FIRST_PACK,
    GROUP_PACKS,
    GROUP_ROWS,
    GROUP_STRIDE,
    PACK_CELL,
    PACK_SIZE,
)

BLOCK = 65_536
MOST_BLOCKS = 32
"""Blocks depend on the number of rows alone, so that sums, and so answers, do not depend on threads."""


@dataclass(frozen=True, eq=False)
class _Share:
    """Rows lo to hi of group g; its packs' tables are cells begin to end of all, renumbered from 0."""

    group: Integers
    packs: Integers
    lo: int
    hi: int
    begin: int
    end: int


class EStep:
    """Evaluate parameters: log-likelihood of what the plan's groups explain, and expected counts.

    Groups that are approximated give a lower bound; their posteriors are kept from one call to the next, so that it
    never falls.
    """

    def __init__(self, plan: Plan, threads: Executor | None = None) -> None:
        self.plan = plan
        self.cells = np.zeros(plan.n_cells)
        self.sums = np.zeros(plan.n_cells)
        self.singles = plan.products.start()
        self._threads = threads
        long = np.flatnonzero(plan.groups[:, GROUP_ROWS] > BLOCK)
        self._shares = [share for g in long for share in _shares(plan, int(g))]

    def __call__(self, theta: Floats, counts: Floats) -> float:
        """The groups' log-likelihood under these parameters (−∞: some row is impossible); adds to `counts`."""
        plan = self.plan
        total = fill_packs(plan.groups, plan.packs, plan.bases, plan.offsets, theta, plan.pack_weights, self.cells)
        self.sums[:] = 0.0
        total += absorb_groups(plan.groups, plan.packs, plan.ids, plan.weights, BLOCK, self.cells, self.sums)
        done = map(self._absorb, self._shares)
        if self._threads is not None and len(self._shares) > 1:
            done = self._threads.map(self._absorb, self._shares)
        for share, (value, sums) in zip(self._shares, done, strict=True):
            total += value
            self.sums[share.begin : share.end] += sums
        scatter_packs(plan.groups, plan.packs, plan.bases, plan.offsets, self.sums, counts)
        return total + plan.trees.expect(theta, counts) + plan.products.expect(theta, counts, self.singles)

    def _absorb(self, share: _Share) -> tuple[float, Floats]:
        plan = self.plan
        sums = np.zeros(share.end - share.begin)
        cells = self.cells[share.begin : share.end]
        value = absorb(share.group, share.packs, plan.ids, plan.weights, share.lo, share.hi, cells, sums)
        return value, sums


def _shares(plan: Plan, g: int) -> list[_Share]:
    group = plan.groups[g].copy()
    rows = int(group[GROUP_ROWS])
    packs = plan.packs[group[GROUP_FIRST_PACK] : group[GROUP_FIRST_PACK] + group[GROUP_PACKS]].copy()
    begin = int(packs[0, PACK_CELL])
    end = int(packs[-1, PACK_CELL] + packs[-1, PACK_SIZE] * group[GROUP_STRIDE])
    packs[:, PACK_CELL] -= begin
    group[GROUP_FIRST_PACK] = 0
    size = max(BLOCK, -(-rows // MOST_BLOCKS))
    return [_Share(group, packs, lo, min(lo + size, rows), begin, end) for lo in range(0, rows, size)]
