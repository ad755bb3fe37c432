"""A family's counts by occurring configuration of its parents: all that the fit of a kind needs to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from leverrier.arrays import Floats
from leverrier.data.projection import Projection, project
from leverrier.data.table import Table
from leverrier.learning.families.state_column import StateColumn, state_column

Codes = NDArray[np.int64]

MANY_STATES = 4
"""From so many states on, a lean prior for the child's shares is as likely as the score's own."""


@dataclass(frozen=True, eq=False)
class FamilyCounts:
    """`counts[j, k]`: rows with the parents' configuration `codes[:, j]` and the child's state k; may be expected."""

    codes: Codes
    counts: Floats
    child: StateColumn
    parents: tuple[StateColumn, ...]

    @classmethod
    def of_rows(cls, table: Table, child: str, parents: Sequence[str]) -> FamilyCounts:
        """From the rows of a table that show the whole family."""
        places = [table.index(name) for name in (child, *parents)]
        whole = np.all(table.codes[places] != table.missing, axis=0)
        codes = table.codes[places][:, whole]
        weights = np.ones(codes.shape[1]) if table.weights is None else table.weights[whole]
        columns = [
            state_column(table.columns[v], np.bincount(own, weights, table.columns[v].cardinality).astype(np.float64))
            for v, own in zip(places, codes, strict=True)
        ]
        found = projected_on(codes[1:], [column.states for column in columns[1:]], weights)
        cells = np.bincount(found.index * columns[0].states + codes[0], weights, len(found) * columns[0].states)
        counts = cells.astype(np.float64).reshape(len(found), columns[0].states)
        return cls(found.configurations.astype(np.int64), counts, columns[0], tuple(columns[1:]))

    @property
    def states(self) -> int:
        return int(self.counts.shape[1])

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(parent.states for parent in self.parents)

    @cached_property
    def total(self) -> float:
        return float(self.counts.sum())

    @cached_property
    def margin(self) -> Floats:
        return self.counts.sum(axis=0)

    @cached_property
    def saturated(self) -> float:
        """The log-likelihood of the table of relative frequencies: no kind can have more."""
        return float(xlogy(self.counts, self.counts).sum() - xlogy(rows := self.counts.sum(axis=1), rows).sum())

    def share_price(self, price: Price) -> float:
        """What the child's own shares cost, before anything is said of its parents: the likelihood of the shares
        less their evidence under a prior, as exact as a table's; half the log of the rows each where there is none.

        Kinds that begin from the shares of all rows (logits, noisy-max) pay this and a price for each effect, so that
        one without effects scores what a table without parents does. A hidden child's shares change as EM goes on,
        and an evidence less a likelihood of them might fall: they have the plain price.
        """
        if price.cell <= 0 or self.child.hidden:
            return price.parameter * (self.states - 1)
        margin = self.margin[None, :]
        evidence = dirichlet(margin, price.cell)
        if self.states >= MANY_STATES:
            evidence = np.logaddexp(evidence, dirichlet(margin, 1.0 / self.states)) - np.log(2.0)
        return float(xlogy(margin, margin).sum() - xlogy(self.total, self.total) - evidence)

    @cached_property
    def cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """Configuration, state and count of each cell that occurs."""
        j, k = np.nonzero(self.counts)
        return j, k, self.counts[j, k]


def projected_on(codes: NDArray[np.unsignedinteger], sizes: Sequence[int], weights: Floats | None) -> Projection:
    """The distinct configurations of these columns; of none, one that every row has."""
    if not len(codes):
        total = codes.shape[1] if weights is None else float(weights.sum())
        return Projection(np.zeros((0, 1), np.uint8), np.array([total]), np.zeros(codes.shape[1], dtype=np.int64))
    return project(np.ascontiguousarray(codes), np.array(sizes, dtype=np.int64), weights)


def summed_by(part: Codes, counts: Floats, parts: int) -> Floats:
    """(parts, states): rows of counts added up by the part that each belongs to."""
    states = counts.shape[1]
    cells = part[:, None] * states + np.arange(states)
    return np.bincount(cells.ravel(), counts.ravel(), parts * states).astype(np.float64).reshape(parts, states)


@dataclass(frozen=True, eq=False)
class Price:
    """What parameters cost: half the log of the rows each (BIC), or what the score asks."""

    parameter: float
    cell: float
    """The prior count of a state in a leaf; 0 for scores without a prior."""


def dirichlet(counts: Floats, alpha: float) -> float:
    """ln P of counts (…, states) in sequence, each row with its own distribution and prior count alpha a state."""
    states = counts.shape[-1]
    rows = counts.sum(axis=-1)
    cells = counts[counts > 0]
    seen = rows[rows > 0]
    above = (gammaln(alpha + cells) - gammaln(alpha)).sum()
    return float(above - (gammaln(alpha * states + seen) - gammaln(alpha * states)).sum())
