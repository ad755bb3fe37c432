"""The largest number of states that could matter: one for each configuration of the blanket in the data.

Rows that agree on a hidden variable's blanket are the same row from where it stands [elidan2001 section 3]. All that
the score needs of them is how often each occurs in the families that hold the variable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from leverrier.arrays import Floats, Integers
from leverrier.data.table import Label, Table
from leverrier.kernels.counts.cell_numbers import number_cells, place_seeds
from leverrier.kernels.em.state_merging import absorb_rest, sum_of_rises
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph

MOST_STATES = 1024
"""With more configurations than this the rarest begin in the state of a frequent one: gains of pairs fill a matrix."""
MOST_CELLS = 2**24
"""Of all states' count vectors together."""
MOST_WORK = 10**8
"""Cells looked at while the rarest are put in their places."""


MOST_LOOKED_UP = 2**17
"""Rows up to which what they add to the score is looked up, not computed."""
NO_RISES: Floats = np.empty((1, 0))


@dataclass(frozen=True)
class ChildFamily:
    """A child of the hidden variable: its states, and how many rows its table has for one state of the variable."""

    name: str
    states: int
    parent_rows: float


@dataclass(frozen=True, eq=False)
class FirstStates:
    """Configurations of the blanket and where each is counted."""

    hidden: str
    blanket: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]
    """The blanket's states, by variable."""
    configurations: NDArray[np.unsignedinteger]
    weights: Floats
    index: Integers
    """Row i of the table has configuration index[i]."""
    own_rows: float
    """How many configurations the variable's parents could have."""
    own_totals: Floats
    """How often each configuration of the parents occurs."""
    children: tuple[ChildFamily, ...]
    cells: Integers
    """cells[f, m]: where configuration m is counted in table f, −1 if one of the table's columns is a hole there. Table
    0 is the variable's own (its parents' configurations), then come each child's cells, then each child's row sums.
    Only cells that occur are numbered."""
    table_of: Integers
    """The table of each cell."""
    total: float

    def __len__(self) -> int:
        return len(self.weights)

    def priors(self, score: Score, states: int) -> Floats:
        """Prior count, sign and ln Γ(prior count) of each cell, when the variable has so many states, and the row of
        `rises` that has its prior count."""
        return _priors_by_table(self.alphas(score, states))[self.table_of]

    def rises(self, score: Score) -> Floats:
        """What each whole number of rows adds to the score, by prior count ascending; nothing if rows have shares."""
        if self.total > MOST_LOOKED_UP or not np.array_equal(self.weights, np.rint(self.weights)):
            return NO_RISES
        return _rises(tuple(sorted(set(self.alphas(score, 2)))), round(self.total))

    def alphas(self, score: Score, states: int) -> tuple[float, ...]:
        """The prior count of a cell, by table."""
        own = score.alphas(states, self.own_rows)[0]
        children = [score.alphas(child.states, child.parent_rows * states) for child in self.children]
        return (own, *(cell for cell, _ in children), *(row for _, row in children))

    def level(self, score: Score, states: int) -> float:
        """The part of the score that depends on the number of states alone, not on who is in which.

        That is the rows of the variable's own table, Σ_j ln Γ(kα) − ln Γ(kα + N_j), and the penalties.
        """
        alpha = score.alphas(states, self.own_rows)[1]
        penalty = score.penalty(states, self.own_rows, self.total)
        for child in self.children:
            penalty += score.penalty(child.states, child.parent_rows * states, self.total)
        return -sum_of_rises(self.own_totals, alpha) - penalty

    def describe(self, configuration: int) -> dict[str, Label | None]:
        """The blanket's states in one configuration; None for a hole."""
        codes = self.configurations[:, configuration].tolist()
        return {
            name: labels[code] if code < len(labels) else None
            for name, labels, code in zip(self.blanket, self.labels, codes, strict=True)
        }


def first_states(graph: Graph, table: Table, hidden: str) -> FirstStates:
    """Project the table on the blanket. All of it must be columns: other hidden variables have been assigned."""
    blanket = graph.blanket(hidden)
    found = table.project(blanket)
    states = {name: len(table.states[name]) for name in blanket}
    place = {name: v for v, name in enumerate(blanket)}
    above = graph.parents(hidden)
    others = {c: tuple(p for p in graph.parents(c) if p != hidden) for c in graph.children(hidden)}

    def rows_of(names: tuple[str, ...]) -> float:
        return math.prod((states[name] for name in names), start=1.0)

    beside = [(*names, child) for child, names in others.items()]
    scopes = [above, *beside, *beside]
    keyed = [len(above), *map(len, beside), *(len(scope) - 1 for scope in beside)]
    cells, begins = np.empty((len(scopes), len(found)), dtype=np.int64), np.empty(len(scopes) + 1, dtype=np.int64)
    number_cells(
        found.configurations,
        np.array(list(states.values()), dtype=np.int64),
        table.missing,
        np.array([place[name] for scope in scopes for name in scope], dtype=np.int64),
        np.cumsum([0, *map(len, scopes)], dtype=np.int64),
        np.array(keyed, dtype=np.int64),
        cells,
        begins,
    )
    own = cells[0]
    return FirstStates(
        hidden=hidden,
        blanket=blanket,
        labels=tuple(table.states[name] for name in blanket),
        configurations=found.configurations,
        weights=found.weights,
        index=found.index,
        own_rows=rows_of(above),
        own_totals=np.bincount(own[own >= 0], found.weights[own >= 0]).astype(np.float64),
        children=tuple(ChildFamily(child, states[child], rows_of(names)) for child, names in others.items()),
        cells=cells,
        table_of=np.repeat(np.arange(len(scopes)), np.diff(begins)),
        total=table.total,
    )


def count_vectors(first: FirstStates, score: Score, rises: Floats, most: int = MOST_STATES) -> tuple[Floats, Integers]:
    """A count vector (a column) for each first state, and the first state of each configuration: its own, if there is
    room.

    Otherwise the most frequent configurations begin, and each of the others joins the state it gains most with, one
    after another, frequent ones first.
    """
    n, n_cells = len(first), len(first.table_of)
    limit = max(2, min(most, MOST_CELLS // n_cells))
    if n > limit:
        limit = int(np.clip(MOST_WORK // (n * len(first.cells)), min(64, limit), limit))
    order = np.argsort(-first.weights, kind="stable") if n > limit else np.arange(n)
    seeds = order[:limit]
    counts = np.zeros((n_cells, len(seeds)))
    place = np.empty(n, dtype=np.int64)
    place[seeds] = np.arange(len(seeds))
    place_seeds(first.cells, first.weights, seeds, counts)
    if n > len(seeds):
        priors = first.priors(score, len(seeds))
        absorb_rest(order, len(seeds), first.cells, first.weights, priors, rises, counts, place)
    return counts, place


@lru_cache(maxsize=16)
def _rises(alphas: tuple[float, ...], most: int) -> Floats:
    n = np.arange(most + 1.0)
    return np.stack([gammaln(a + n) - gammaln(a) if a > 0 else xlogy(n, n) for a in alphas])


@lru_cache(maxsize=256)
def _priors_by_table(alphas: tuple[float, ...]) -> Floats:
    """A row of `FirstStates.priors` for each table: its own, the children's cells, the children's row sums."""
    prior = np.array(alphas)
    signs = np.ones(len(prior))
    signs[1 + len(prior) // 2 :] = -1.0
    _, row = np.unique(prior, return_inverse=True)
    return np.stack([prior, signs, gammaln(np.where(prior > 0, prior, 1.0)), row.astype(np.float64)], axis=1)
