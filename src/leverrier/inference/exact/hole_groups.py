"""Rows with holes scattered over them: each row's unobserved variables fall into small groups of their own.

Where a few patterns of holes repeat, rows share a tree (`JunctionTree`); where nearly every row has its own, it is
quicker to enumerate the small groups row by row, and to leave to a tree the few rows with a large one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.inference.exact.calibrated import Calibrated
from leverrier.inference.exact.factors import Codes, Factor, Scope
from leverrier.inference.exact.junction import JunctionTree, distinct
from leverrier.inference.exact.parameter_layout import Layout
from leverrier.kernels.em.small_groups import solve_rows

MANY_PATTERNS = 128
"""Beyond this many patterns of holes rows are taken one by one."""
LARGEST_GROUP = 2**12
"""Joint states of a group up to which it is enumerated."""
EVIDENCE, COMPLETION = -1, -2


@lru_cache(maxsize=64)
def tree_of(cardinalities: tuple[int, ...], scopes: tuple[Scope, ...]) -> JunctionTree:
    """A tree depends on the graph alone: models that differ in their values share it."""
    return JunctionTree.build(cardinalities, scopes, whole=False)


@dataclass(frozen=True, eq=False)
class Families:
    """P(child | parents) for some families: scopes have the child last, and stand parents first.

    Columns of codes are taken to differ: who asks has merged equal ones.
    """

    cardinalities: tuple[int, ...]
    factors: tuple[Factor, ...]

    @cached_property
    def layout(self) -> Layout:
        return Layout(tuple(factor.scope for factor in self.factors), self.cardinalities)

    @cached_property
    def theta(self) -> Floats:
        return self.layout.pack([factor.values for factor in self.factors])

    def calibrate(self, codes: Codes) -> Calibrated:
        tree = tree_of(self.cardinalities, tuple(f.scope for f in self.factors))
        return tree.calibrate(self.factors, codes, merge=False)

    def log_evidence(self, codes: Codes) -> Floats:
        """log P(observed cells) of each column, −∞ where it is impossible."""
        result, _, _, left = self._by_row(codes, EVIDENCE)
        if len(left):
            result[left] = self.calibrate(_some(codes, left)).log_evidence
        return result

    def posterior(self, codes: Codes, variables: Sequence[int]) -> Floats:
        """(columns, states…) of unobserved variables given the rest; all zero where that is impossible."""
        if len(variables) > 1:
            return self.calibrate(codes).marginal(tuple(variables))
        _, result, _, left = self._by_row(codes, variables[0])
        if len(left):
            result[left] = self.calibrate(_some(codes, left)).marginal((variables[0],))
        return result

    def most_probable(self, codes: Codes) -> tuple[NDArray[np.int64], Floats]:
        """Each column completed, and the log-probability of that; holes stay where there is no completion."""
        best, _, filled, left = self._by_row(codes, COMPLETION)
        if len(left):
            filled[:, left], best[left] = self.calibrate(_some(codes, left)).most_probable()
        return filled, best

    def _by_row(self, codes: Codes, target: int) -> tuple[Floats, Floats, NDArray[np.int64], NDArray[np.int64]]:
        """Log-probabilities, posteriors, completions, and the columns that are left to a tree."""
        n = codes.shape[1]
        log_z = np.empty(n)
        posterior = np.zeros((n, self.cardinalities[target] if target >= 0 else 0))
        best = np.array(codes.T if target == COMPLETION else np.zeros((n, 0)), dtype=np.int64, order="C")
        if distinct((codes >= 0).view(np.uint8))[0].shape[1] <= MANY_PATTERNS:
            return log_z, posterior, best.T, np.arange(n)
        done = np.zeros(n, dtype=np.bool_)
        layout = self.layout
        solve_rows(
            np.ascontiguousarray(codes.T, dtype=np.int64),
            target,
            LARGEST_GROUP,
            np.array(self.cardinalities, dtype=np.int64),
            layout.starts,
            layout.members,
            layout.strides,
            layout.begins,
            self.theta,
            log_z,
            posterior,
            best,
            done,
        )
        posterior[~done] = 0.0
        return log_z, posterior, best.T, np.flatnonzero(~done)


def _some(codes: Codes, columns: NDArray[np.int64]) -> Codes:
    return codes if len(columns) == codes.shape[1] else codes[:, columns]
