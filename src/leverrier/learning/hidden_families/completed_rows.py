"""Rows with every state of what is hidden, each weighed by its posterior; and the scores of families over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.projection import Projection
from leverrier.data.table import Table, Variable
from leverrier.data.variable import code_type
from leverrier.learning.families.function_fit import tabled
from leverrier.learning.families.offered import Offered
from leverrier.learning.families.state_column import plain_column
from leverrier.learning.structure.kind_scores import KindScores
from leverrier.learning.structure.known_scores import KnownScores, members
from leverrier.learning.structure.score import Score

PLAIN = "plain table"
"""A table under the score's own prior, which needs no name in a network."""
ALMOST_NEVER = 1e-12
"""The least posterior: a state that is ruled out for a row may come back."""


@dataclass(frozen=True, eq=False)
class CompletedRows:
    """Distinct rows of complete columns, and what is hidden beside them: row i with joint state j is row i·J + j."""

    rows: Table
    hidden: Mapping[str, int]

    @property
    def joint(self) -> int:
        """J, the joint states of what is hidden."""
        return prod(self.hidden.values())

    @cached_property
    def weights(self) -> Floats:
        return np.ones(self.rows.n_rows) if self.rows.weights is None else self.rows.weights

    @cached_property
    def columns(self) -> tuple[Variable, ...]:
        own = (Variable(name, tuple(str(k) for k in range(states))) for name, states in self.hidden.items())
        return (*self.rows.columns, *own)

    @cached_property
    def codes(self) -> NDArray[np.unsignedinteger]:
        cells = code_type(max((each.cardinality for each in self.columns), default=2))
        seen = np.repeat(self.rows.codes, self.joint, axis=1)
        states = np.indices(tuple(self.hidden.values())).reshape(len(self.hidden), self.joint)
        return np.ascontiguousarray(np.concatenate([seen, np.tile(states, self.rows.n_rows)]).astype(cells))

    def weighed(self, posterior: Floats) -> Floats:
        """By completed row, its weight under posteriors (rows, joint states)."""
        return (posterior * self.weights[:, None]).ravel()

    def table(self, posterior: Floats) -> Table:
        return Table(self.columns, self.codes, self.weighed(posterior))


class CompletedScores(KindScores):
    """Families by the kind that scores best on expected counts; those that every row shows are known already."""

    def __init__(
        self,
        completed: CompletedRows,
        posterior: Floats,
        score: Score,
        max_cells: int,
        observed: KnownScores,
        kinds: bool = True,
        projections: dict[int, Projection] | None = None,
    ) -> None:
        super().__init__(ObservedCounts(completed.table(posterior)), score, max_cells)
        self.shown, self.any_kind = observed, kinds
        count = observed.n_nodes
        self.columns = (*self.columns[:count], *map(plain_column, completed.hidden.values()))
        self._veiled = (1 << self.n_nodes) - (1 << count)
        self._projections = {} if projections is None else projections

    def veiled(self, child: int, parents: int) -> bool:
        """Whether something hidden is in the family."""
        return bool((1 << child | parents) & self._veiled)

    def family(self, child: int, parents: int) -> float:
        if not self.veiled(child, parents):
            return self.shown.family(child, parents)
        return super().family(child, parents)

    def offered(self, child: int, parents: int) -> Offered:
        """The family's best form: its table under the score's own prior, or a kind that beats it."""
        chosen = self.chosen(child, parents)
        counts = self.counts(child, parents)
        if not self.tables.fits(child, parents) and chosen is not None:
            return chosen
        plain = tabled(counts, self.score.alphas(counts.states, float(prod(counts.sizes)))[0], PLAIN)
        return plain if chosen is None or chosen.score <= plain.score else chosen

    def cells(self, child: int, parents: int) -> NDArray[np.int64]:
        """By completed row, the cell of the family's counts that it is in."""
        return self._projection(parents).index * int(self.states[child]) + self.table.codes[child]

    def _choose(self, child: int, parents: int) -> Offered | None:
        return super()._choose(child, parents) if self.any_kind else None

    def _compute(self, child: int, parents: int) -> NDArray[np.float64]:
        if self.veiled(child, parents):
            return super()._compute(child, parents)
        out = np.full(self.n_nodes + 1, -np.inf)
        known, count = self.shown.expand(child, parents), self.shown.n_nodes
        out[:count], out[-1] = known[:-1], known[-1]
        for v in members(self._veiled):
            if self.fits(child, parents | 1 << v):
                out[v] = self.family(child, parents | 1 << v)
        return out
