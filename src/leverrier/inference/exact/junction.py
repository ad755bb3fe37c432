"""The junction tree: built once for a set of scopes, used for any values of the factors and any evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.errors import OptionError, TooLargeError
from leverrier.inference.exact.calibrated import Batch, Calibrated
from leverrier.inference.exact.factors import Codes, Factor, Scope, check_factors, log
from leverrier.inference.exact.propagation import CliqueTree

FEW_PATTERNS = 16
"""Up to this many patterns of observed variables each get a tree of their own."""
OWN_TREE = 2**18
"""Beyond, a pattern gets its own tree when its rows need this many cells: building one costs as much."""
MOST_TREES = 1024
"""Trees kept for patterns seen before."""


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """Cliques of variables 0…V−1 in a tree; every scope and every forced cluster lies within some clique."""

    cardinalities: tuple[int, ...]
    scopes: tuple[Scope, ...]
    max_cells: int
    _reduced: dict[frozenset[int], CliqueTree] = field(default_factory=dict, repr=False)

    @classmethod
    def build(
        cls,
        cardinalities: Sequence[int],
        scopes: Sequence[Scope],
        clusters: Sequence[Scope] = (),
        max_cells: int = 2**24,
        whole: bool = True,
    ) -> JunctionTree:
        """Refuses with the size, before allocating, when the cliques together have more than `max_cells` cells.

        With `whole=False` only what evidence leaves of the tree has to fit, and `calibrate` refuses.
        """
        cards = tuple(map(int, cardinalities))
        wanted = tuple(dict.fromkeys(tuple(map(int, scope)) for scope in (*scopes, *clusters)))
        if any(variable < 0 or variable >= len(cards) for scope in wanted for variable in scope):
            raise OptionError(f"a scope names a variable outside 0…{len(cards) - 1}")
        tree = cls(cards, wanted, max_cells)
        if whole:
            tree.layout  # noqa: B018  (raises when too large)
        return tree

    @cached_property
    def layout(self) -> CliqueTree:
        """The tree without evidence."""
        return CliqueTree.build(self.cardinalities, range(len(self.cardinalities)), self.scopes, self.max_cells)

    @cached_property
    def fits(self) -> bool:
        """Whether the tree without evidence is small enough."""
        try:
            return self.cells <= self.max_cells
        except TooLargeError:
            return False

    @property
    def cliques(self) -> tuple[Scope, ...]:
        return self.layout.cliques

    @property
    def width(self) -> int:
        """Variables in the largest clique, less one."""
        return max(map(len, self.cliques)) - 1

    @property
    def cells(self) -> int:
        """Cells of all cliques together."""
        return self.layout.cells

    @cached_property
    def _single(self) -> frozenset[int]:
        """Variables of one state are always observed."""
        return frozenset(variable for variable, cardinality in enumerate(self.cardinalities) if cardinality == 1)

    def calibrate(self, factors: Sequence[Factor], evidence: Codes | None = None, merge: bool = True) -> Calibrated:
        """Exact posteriors for each column of `evidence` (variables, rows), −1 where nothing is observed.

        Equal columns are computed once; `merge=False` says that there are none worth looking for.

        Observed variables leave the tree: rows with the same pattern share a smaller tree, made for that pattern.
        Rows of rare patterns go together; what only some of them observe enters as zeros and ones.
        """
        check_factors(factors, self.cardinalities)
        codes = self._checked(factors, evidence)
        merge = merge and not any(factor.by_row for factor in factors)
        codes, index = distinct(codes) if merge else (codes, np.arange(codes.shape[1]))
        codes[list(self._single)] = 0
        logs = [Factor(factor.scope, log(np.asarray(factor.values, dtype=np.float64))) for factor in factors]
        batches = [Batch(self._tree(observed), observed, rows, logs) for observed, rows in self._groups(codes)]
        return Calibrated(self.cardinalities, self.max_cells, codes, index, batches)

    def _checked(self, factors: Sequence[Factor], evidence: Codes | None) -> Codes:
        n_rows = {len(factor.values) for factor in factors if factor.by_row}
        if evidence is None:
            evidence = np.full((len(self.cardinalities), max(n_rows, default=1)), -1)
        if evidence.ndim != 2 or len(evidence) != len(self.cardinalities):
            raise OptionError(f"evidence has shape {evidence.shape}, expected ({len(self.cardinalities)}, rows)")
        if n_rows - {evidence.shape[1]}:
            raise OptionError(f"a factor has values for {max(n_rows)} rows, the evidence has {evidence.shape[1]}")
        highest = evidence.max(axis=1, initial=-1)
        if np.any(highest >= np.array(self.cardinalities, dtype=np.int64)):
            variable = int(np.argmax(highest >= np.array(self.cardinalities)))
            raise OptionError(
                f"evidence for variable {variable} has state {highest[variable]}, "
                f"expected 0 to {self.cardinalities[variable] - 1}, or −1 where unobserved"
            )
        for scope in {factor.scope for factor in factors} - set(self.scopes):
            if not any(set(scope) <= set(held) for held in self.scopes) and scope:
                raise OptionError(f"no scope holds the factor over {scope}: build the tree with its scope")
        codes = evidence.astype(np.int16 if max(self.cardinalities, default=1) < 2**15 else np.int64)
        return np.maximum(codes, -1, out=codes)

    def _groups(self, codes: Codes) -> list[tuple[frozenset[int], NDArray[np.int64]]]:
        """Which rows are done together, and what all of them observe."""
        seen = codes >= 0
        patterns, index = distinct(seen.view(np.uint8))
        order = np.argsort(index, kind="stable")
        rows_of = np.split(order, np.cumsum(np.bincount(index, minlength=patterns.shape[1]))[:-1])
        own, pooled = [], []
        for rows in rows_of:
            alone = len(rows_of) <= FEW_PATTERNS or not self.fits or len(rows) * self.cells >= OWN_TREE
            (own if alone else pooled).append(rows)
        if pooled:
            own.append(np.sort(np.concatenate(pooled)))
        return [(frozenset(np.flatnonzero(seen[:, rows].all(axis=1)).tolist()), rows) for rows in own if len(rows)]

    def _tree(self, observed: frozenset[int]) -> CliqueTree:
        """The tree of what is left when these are observed."""
        if not observed:
            return self.layout
        if observed not in self._reduced:
            if len(self._reduced) >= MOST_TREES:
                self._reduced.clear()
            left = [variable for variable in range(len(self.cardinalities)) if variable not in observed]
            scopes = [tuple(variable for variable in scope if variable not in observed) for scope in self.scopes]
            self._reduced[observed] = CliqueTree.build(self.cardinalities, left, scopes, self.max_cells)
        return self._reduced[observed]


def distinct(codes: Codes) -> tuple[Codes, NDArray[np.int64]]:
    """Distinct columns, and which of them each column is."""
    if codes.shape[1] <= 1 or not len(codes) or np.array_equal(codes, np.broadcast_to(codes[:, :1], codes.shape)):
        return codes[:, :1], np.zeros(codes.shape[1], dtype=np.int64)
    rows = np.ascontiguousarray(codes.T)
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, index = np.unique(whole, return_index=True, return_inverse=True)
    return codes[:, first], index.astype(np.int64)
