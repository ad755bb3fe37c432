"""EM, and structural EM, with families of any kind beside hidden variables.

What is climbed is the Cheeseman–Stutz score with kinds: the best score of every family on expected counts, and the
entropy of the posteriors. Every family's score lies above its tangent in the counts (see `Offered.slopes`), so that
posteriors weighed by the tangents, and then the best score again, never lose: the climb is that of variational EM where
all families are tables, and of plain EM where all are likelihoods less a price.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax, xlogy

from leverrier.arrays import Floats
from leverrier.counts.family import Family
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.projection import Projection
from leverrier.learning.em.maximise import network_from_counts
from leverrier.learning.families.family_counts import FamilyCounts
from leverrier.learning.families.offered import Offered
from leverrier.learning.hidden_families.completed_rows import ALMOST_NEVER, PLAIN, CompletedRows, CompletedScores
from leverrier.learning.structure.known_scores import KnownScores
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.run import UNBOUNDED, Run

MOST_STEPS = 200
TOLERANCE = 0.01
"""Nats that a step must gain for another to be taken."""
MOST_ROUNDS = 6
"""How often kinds are chosen anew."""
MOST_COMPLETED = 2**17
"""Distinct rows times joint states: above, families with hidden members stay tables."""


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a climb stands: the posteriors, and the families with hidden members that they were scored by."""

    graph: Graph
    posterior: Floats
    """(rows, joint states)"""
    counts: Mapping[str, FamilyCounts]
    families: Mapping[str, Offered]
    score: float
    """Of the families with hidden members, and the entropy; those that every row shows are not in it."""
    trace: tuple[float, ...] = ()


class FamiliesClimb:
    """The rows of a region and what is hidden there. `observed` has the scores of families that every row shows."""

    def __init__(
        self,
        completed: CompletedRows,
        score: Score,
        max_cells: int,
        observed: KnownScores,
        kinds: bool = True,
        run: Run = UNBOUNDED,
    ) -> None:
        self.completed, self.score, self.max_cells, self.observed = completed, score, max_cells, observed
        self.kinds, self.run = kinds, run
        self._place = {each.name: v for v, each in enumerate(completed.columns)}
        self._projections: dict[int, Projection] = {}
        self._cells: dict[tuple[int, int], NDArray[np.int64]] = {}

    def scores(self, posterior: Floats) -> CompletedScores:
        """All families' scores, with these posteriors for what is hidden."""
        return CompletedScores(
            self.completed, posterior, self.score, self.max_cells, self.observed, self.kinds, self._projections
        )

    def ordered(self, graph: Graph) -> Graph:
        """With parents in the order of the columns, as kinds are fitted."""
        return Graph.from_parents({v: sorted(graph.parents(v), key=self._place.__getitem__) for v in graph})

    def veiled(self, graph: Graph) -> list[str]:
        """The nodes with something hidden in their family."""
        hidden = self.completed.hidden
        return [node for node in graph if node in hidden or any(p in hidden for p in graph.parents(node))]

    def begin(self, graph: Graph, posterior: Floats, scores: CompletedScores | None = None) -> Standing:
        """Each family with hidden members by its best form."""
        posterior, graph = _within(posterior), self.ordered(graph)
        scores = self.scores(posterior) if scores is None else scores
        counts, families = {}, {}
        for node in self.veiled(graph):
            child, parents = self._family(graph, node)
            counts[node], families[node] = scores.counts(child, parents), scores.offered(child, parents)
            self._cells[child, parents] = scores.cells(child, parents)
        value = self._value(posterior, families)
        return Standing(graph, posterior, counts, families, value, (value,))

    def climb(self, standing: Standing) -> Standing:
        """EM with the forms as they are, until a step gains next to nothing."""
        for _ in range(MOST_STEPS):
            further = self._step(standing)
            gained = further.score - standing.score
            if gained < 0 or self.run.late:
                break
            standing = further
            if gained < TOLERANCE:
                break
        return standing

    def settle(self, standing: Standing) -> Standing:
        """EM, and the forms chosen anew, until that gains nothing."""
        standing = self.climb(standing)
        for _ in range(MOST_ROUNDS if self.kinds else 0):
            anew = self.begin(standing.graph, standing.posterior)
            if anew.score <= standing.score + TOLERANCE or self.run.late:
                break
            standing = self.climb(replace(anew, trace=(*standing.trace, anew.score)))
        return standing

    def network(self, standing: Standing) -> Network:
        """The region's network: families that every row shows as tables, the others by their forms."""
        graph = standing.graph
        states = {each.name: each.states for each in self.completed.columns}
        known, families = {}, {}
        for node, one in standing.families.items():
            if one.kind == PLAIN:
                shape = [len(states[v]) for v in (*graph.parents(node), node)]
                known[Family(node, graph.parents(node))] = one.make().table(shape)
            else:
                families[node] = one.make()
        return network_from_counts(
            graph, states, ObservedCounts(self.completed.rows), self.score, known, families=families
        )

    def _family(self, graph: Graph, node: str) -> tuple[int, int]:
        return self._place[node], sum(1 << self._place[p] for p in graph.parents(node))

    def _step(self, standing: Standing) -> Standing:
        posterior = _within(self._weighed(standing))
        weights = self.completed.weighed(posterior)
        counts, families = {}, {}
        for node, one in standing.families.items():
            before = standing.counts[node]
            cells = self._cells[self._family(standing.graph, node)]
            found = np.bincount(cells, weights, before.counts.size).astype(np.float64)
            counts[node] = now = replace(before, counts=found.reshape(before.counts.shape))
            families[node] = _no_worse(one, before, now)
        value = self._value(posterior, families)
        return Standing(standing.graph, posterior, counts, families, value, (*standing.trace, value))

    def _weighed(self, standing: Standing) -> Floats:
        """The posteriors that the families' slopes give."""
        logs = np.zeros(self.completed.codes.shape[1])
        for node, one in standing.families.items():
            logs += one.slopes().ravel()[self._cells[self._family(standing.graph, node)]]
        return np.asarray(softmax(logs.reshape(-1, self.completed.joint), axis=1), dtype=np.float64)

    def _value(self, posterior: Floats, families: Mapping[str, Offered]) -> float:
        entropy = -float(self.completed.weights @ xlogy(posterior, posterior).sum(axis=1))
        return entropy + sum(one.score for one in families.values())


def _no_worse(one: Offered, before: FamilyCounts, now: FamilyCounts) -> Offered:
    """The form fitted to new counts; as it was, where a climb that ended early would lose by that."""
    again = one.again(now)
    as_it_was = one.score + float((one.slopes() * (now.counts - before.counts)).sum())
    return again if again.score >= as_it_was else replace(one, score=as_it_was)


def _within(posterior: Floats) -> Floats:
    """No state is ruled out for good."""
    kept = np.maximum(posterior, ALMOST_NEVER)
    return kept / kept.sum(axis=1, keepdims=True)
