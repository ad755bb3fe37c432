"""Scores of families of any kind, behind the face that searches know: tables first, and what says the same for less.

Tables of all further parents are scored in one batch, as ever. Other kinds are fitted where they can matter: for the
family itself, and for the further parents whose column goes with what the family's own distribution leaves unexplained.
What is not fitted has its table's score, which is a lower bound: a search may find later what it missed, and never
believes what is not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.projection import Projection
from leverrier.data.table import Table
from leverrier.kernels.search.tree_growth import count_by_feature
from leverrier.learning.families.family_counts import FamilyCounts, Price, projected_on
from leverrier.learning.families.kind_choice import best_kind
from leverrier.learning.families.offered import Offered
from leverrier.learning.families.state_column import StateColumn, state_column
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.known_scores import members
from leverrier.learning.structure.score import Score
from leverrier.learning.structure.unexplained import unexplained
from leverrier.models.families.conditional import StateConditional
from leverrier.models.network import Network

MOST_EXPANDED = 2**16
"""Cells of a family of another kind, written out as a table."""
MOST_PARENTS = 10
FITTED = 3
"""Further parents for which all kinds are fitted, in one batch."""
KEPT = 64
"""Sets of parents whose configurations are kept."""
ALMOST_NEVER = 1e-3
"""Added to each count of a table that is asked what it expects."""
MOST_FITTED_CELLS = 2**19
"""Occurring configurations times the child's states: above, only tables are scored."""


class KindScores(FamilyScores):
    """Families of complete rows by the kind that scores best."""

    def __init__(self, statistics: ObservedCounts, score: Score, max_cells: int) -> None:
        super().__init__(statistics, score, max_cells)
        self.statistics: ObservedCounts = statistics
        self.max_cells = max(max_cells, MOST_EXPANDED)
        self.tables = FamilyScores(statistics, score, max_cells)
        self.table: Table = statistics.table
        self.price = Price(_per_parameter(score, statistics.total), score.alphas(2, 1.0)[0])
        codes, weights = self.table.codes, self.table.weights
        self.columns: tuple[StateColumn, ...] = tuple(
            state_column(variable, np.bincount(codes[v], weights, variable.cardinality).astype(np.float64))
            for v, variable in enumerate(self.table.columns)
        )
        self._weights = np.ones(self.table.n_rows) if weights is None else weights
        self._chosen: dict[tuple[int, int], Offered | None] = {}
        self._projections: dict[int, Projection] = {}
        self._worth: dict[tuple[int, int], list[int]] = {}
        self._beside: dict[int, NDArray[np.float64]] = {}

    def afresh(self) -> KindScores:
        """The same scores without a memory of what was asked; what was fitted need not be fitted again."""
        other = KindScores(self.statistics, self.score, self.table_cells)
        other._chosen, other._projections = self._chosen, self._projections
        other._worth, other._beside = self._worth, self._beside
        return other

    def steady(self) -> Self:
        self.tables.steady()
        return super().steady()

    def of_columns(self, names: Sequence[str]) -> KindScores:
        return KindScores(ObservedCounts(self.table.select(names)), self.score, self.table_cells)

    def family(self, child: int, parents: int) -> float:
        """The score of the family's best kind."""
        key = (child, parents)
        known = self._single.get(key)
        if known is None:
            table = self._table_score(child, parents)
            chosen = self.chosen(child, parents)
            known = self._single[key] = table if chosen is None else max(table, float(chosen.score))
            self._count()
        return known

    def surplus(self, child: int, parents: int) -> float:
        return self.family(child, parents) - self.tables.family(child, parents)

    def kind(self, child: int, parents: int) -> StateConditional | None:
        """The family, if another kind than the plain table says it best."""
        chosen = self.chosen(child, parents)
        return None if chosen is None else chosen.make()

    def fits(self, child: int, parents: int) -> bool:
        return parents.bit_count() <= MOST_PARENTS and super().fits(child, parents)

    def known_families(self) -> list[dict[int, float]]:
        known = super().known_families()
        for (child, parents), score in self._single.items():
            if score > known[child][0]:
                known[child][parents] = score
        return known

    def chosen(self, child: int, parents: int) -> Offered | None:
        """The best kind that beats the plain table; None if none does."""
        key = (child, parents)
        if key not in self._chosen:
            self._chosen[key] = self._choose(child, parents)
        return self._chosen[key]

    def _choose(self, child: int, parents: int) -> Offered | None:
        if len(self._projection(parents)) * int(self.states[child]) > MOST_FITTED_CELLS:
            return None
        return best_kind(self.counts(child, parents), self.price, self._table_score(child, parents))

    def counts(self, child: int, parents: int) -> FamilyCounts:
        """The family's counts by occurring configuration."""
        found, r = self._projection(parents), int(self.states[child])
        cells = found.index * r + self.table.codes[child]
        counts = np.bincount(cells, self._weights, len(found) * r).astype(np.float64).reshape(len(found), r)
        above = tuple(self.columns[p] for p in members(parents))
        return FamilyCounts(found.configurations.astype(np.int64), counts, self.columns[child], above)

    def _table_score(self, child: int, parents: int) -> float:
        return self.tables.family(child, parents) if self.tables.fits(child, parents) else -np.inf

    def _projection(self, parents: int) -> Projection:
        found = self._projections.pop(parents, None)
        if found is None:
            places = members(parents)
            found = projected_on(self.table.codes[places], self.states[places].tolist(), self.table.weights)
        self._projections[parents] = found
        if len(self._projections) > KEPT:
            del self._projections[next(iter(self._projections))]
        return found

    def _compute(self, child: int, parents: int) -> NDArray[np.float64]:
        out = self.tables.expand(child, parents).copy()
        out[-1] = self.family(child, parents)
        key = (child, parents)
        if self.candidates is not None or key not in self._worth:
            self._worth[key] = self._promising(child, parents, out)
        for v in self._worth[key]:
            out[v] = max(out[v], self.family(child, parents | 1 << v))
        self._count()
        return out

    def _promising(self, child: int, parents: int, scores: NDArray[np.float64]) -> list[int]:
        """The further parents that are worth fitting all kinds: those with the most to gain, by what is left
        unexplained or by their tables."""
        if self.states[child] < 2 or parents.bit_count() >= MOST_PARENTS:
            return []
        others = self._others(child, parents)
        if not len(others):
            return []
        gains = unexplained(
            self.table.codes,
            others,
            [self.columns[v] for v in others],
            self._seen_beside(child)[np.repeat(np.isin(np.arange(self.n_nodes), others), self.states[:-1])],
            self.columns[child],
            *self._expected(child, parents),
            self._weights,
            self.price.parameter,
        )
        by_table = scores[others] - scores[-1]
        worth = np.round(np.maximum(gains, by_table), 6)  # (ties are settled by place, not by what was asked before)
        order = np.argsort(-worth, kind="stable")[:FITTED]
        return [int(others[i]) for i in order if worth[i] > 0]

    def _seen_beside(self, child: int) -> NDArray[np.float64]:
        """By column and state, how often each state of the child is seen beside it: counted once a child."""
        if child not in self._beside:
            codes, starts = self.table.codes, np.concatenate([[0], np.cumsum(self.states[:-1])]).astype(np.int64)
            seen = np.zeros((int(starts[-1]), int(self.states[child])))
            rows = np.arange(codes.shape[1])
            count_by_feature(codes.copy(), codes[child].astype(np.int64), self._weights, rows, starts, seen)
            self._beside[child] = seen
        return self._beside[child]

    def _others(self, child: int, parents: int) -> NDArray[np.int64]:
        """The columns that may be a further parent of the child."""
        may = self.states[:-1] > 1
        if self.candidates is not None:
            may = may & self.candidates[:, child]
        cells = float(self.states[child])
        for v in (child, *members(parents)):
            may[v] = False
            cells *= 1.0 if v == child else float(self.states[v])
        return np.flatnonzero(may & (cells * self.states[:-1] <= self.max_cells))

    def _expected(self, child: int, parents: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The family's distribution by configuration, and each row's configuration."""
        found, chosen = self._projection(parents), self.chosen(child, parents)
        if chosen is not None:
            return chosen.make().rows(found.configurations.astype(np.int64)), found.index
        counts = self.counts(child, parents).counts + ALMOST_NEVER
        return counts / counts.sum(axis=1, keepdims=True), found.index

    def _count(self) -> None:
        self.families_scored = self.tables.families_scored + len(self._single)


def scores_of(statistics: object, score: Score, max_cells: int, kinds: bool) -> FamilyScores:
    """Scores of all kinds where every row is at hand and complete; else of tables."""
    if kinds and isinstance(statistics, ObservedCounts) and statistics.complete and statistics.table.n_rows:
        return KindScores(statistics, score, max_cells)
    return FamilyScores(statistics, score, max_cells)  # pyright: ignore[reportArgumentType]


def _per_parameter(score: Score, total: float) -> float:
    """What a parameter costs: as the score says (BIC, AIC), and half the log of the rows under a Bayesian score."""
    if score.alphas(2, 1.0)[0] > 0:
        return 0.5 * float(np.log(max(total, 2.0)))
    return score.penalty(2, 1.0, total)


def kinds_of(scores: FamilyScores, parents: Sequence[int]) -> dict[str, StateConditional]:
    """The families of a graph that another kind than the plain table says best, by name of the child."""
    if not isinstance(scores, KindScores):
        return {}
    kinds = {name: scores.kind(child, parents[child]) for child, name in enumerate(scores.names)}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def said_by_kinds(network: Network, scores: FamilyScores) -> Network:
    """The network with each family of complete columns as the kind that says it best: EM learns the others."""
    if not isinstance(scores, KindScores):
        return network
    place = {name: v for v, name in enumerate(scores.names)}
    chosen = []
    for node in network.variables:
        family = (node, *network.parents(node))
        whole = all(name in place for name in family)
        if whole and scores.chosen(place[node], sum(1 << place[p] for p in family[1:])) is not None:
            chosen.append(node)
    return _said(network, chosen, scores.table, scores.score)


def said_again(network: Network, model: Network, table: Table, score: Score) -> Network:
    """The network with the families that the model says by other kinds than tables said so by these rows."""
    return _said(network, list(model.families), table, score)


def _said(network: Network, nodes: Sequence[str], table: Table, score: Score) -> Network:
    """These nodes by their best kind, fitted with the parents in the network's own order."""
    price = Price(_per_parameter(score, table.total), score.alphas(2, 1.0)[0])
    found: dict[str, StateConditional] = {}
    for node in nodes:
        parents = network.parents(node)
        if all(name in table.variables for name in (node, *parents)):
            kind = best_kind(FamilyCounts.of_rows(table, node, parents), price, -np.inf)
            found |= {} if kind is None else {node: kind.make()}
    return network.with_families(found) if found else network
