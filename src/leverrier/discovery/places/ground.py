"""What every candidate for a hidden variable shares, and what trying one gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.expected_counts import ExpectedCounts
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.discovery.states.agglomeration import Agglomeration
from leverrier.learning.em.fit import Method
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.known_table import KnownTable
from leverrier.learning.structure.one_hidden import Rows
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.run import UNBOUNDED, Run

KEPT_COUNTS = 32
"""Sets of columns whose configurations are kept counted."""


@dataclass(frozen=True, eq=False)
class Ground:
    """What every candidate shares: the rows, and the scores of all families without hidden members."""

    table: Table
    scores: FamilyScores
    max_parents: int | None = None
    method: Method = "em"
    run: Run = UNBOUNDED

    def __post_init__(self) -> None:
        self.scores.steady()

    def forget(self) -> None:
        """Before a piece of work that may be kept: compiled climbs take scores from whichever family they know, so
        what came before must not be known. What costs time, the scores themselves, stays."""
        self.__dict__.pop("known", None)
        self.__dict__.pop("tried", None)

    def family(self, graph: Graph, node: str) -> float:
        """The score of a node's family, all of it observed."""
        parents = graph.parents(node)
        known = self._families.get((node, parents))
        if known is None:
            place = self.places
            known = self.scores.family(place[node], sum(1 << place[p] for p in parents))
            self._families[node, parents] = known
        return known

    @cached_property
    def _families(self) -> dict[tuple[str, tuple[str, ...]], float]:
        return {}

    @cached_property
    def known(self) -> KnownTable:
        """The same scores for compiled climbs."""
        return KnownTable(self.scores)

    @cached_property
    def tried(self) -> dict[Any, Tried]:
        """What deepening.py tried in this piece of work, and may be asked to try again."""
        return {}

    @cached_property
    def merged(self) -> dict[Any, Agglomeration]:
        """What cutout.py keeps."""
        return {}

    @cached_property
    def places(self) -> dict[str, int]:
        return {name: v for v, name in enumerate(self.scores.names)}

    @cached_property
    def _counts(self) -> dict[tuple[str, ...], tuple[ObservedCounts, Rows | None]]:
        return {}

    def counts(self, columns: tuple[str, ...]) -> ObservedCounts:
        """Counts of the rows' distinct configurations on these columns. The last asked for are kept: one candidate is
        tried in many ways."""
        return self._counted(columns)[0]

    def rows(self, columns: tuple[str, ...]) -> Rows | None:
        """The configurations themselves, if compiled climbs can use them."""
        return self._counted(columns)[1]

    def _counted(self, columns: tuple[str, ...]) -> tuple[ObservedCounts, Rows | None]:
        found = self._counts.pop(columns, None)
        if found is None:
            projected = self.table.project(columns)
            kept = tuple(self.table.columns[self.places[name]] for name in columns)
            table = Table(kept, np.ascontiguousarray(projected.configurations), projected.weights)
            found = (ObservedCounts(table), Rows.of(table))
        self._counts[columns] = found
        if len(self._counts) > KEPT_COUNTS:
            del self._counts[next(iter(self._counts))]
        return found

    def total(self, graph: Graph) -> float:
        """The score of a graph without hidden variables."""
        return sum(self.family(graph, node) for node in graph)

    def posterior(self, tried: Tried, name: str) -> NDArray[np.float64]:
        """(rows, states) of a hidden variable, from the region it was found in."""
        counts = self.counts(tried.columns)
        inner = ExpectedCounts(tried.network, counts.table, counts).posterior(name)
        return inner[self.table.project(tried.columns).index]


class Tried:
    """A whole graph with a hidden variable, its score, and the network of the region it was found in.

    Most are only compared by their score: graph and network may be given as functions, called when they are asked for.
    """

    def __init__(
        self,
        graph: Graph | Callable[[], Graph],
        score: float,
        network: Network | Callable[[], Network],
        columns: tuple[str, ...],
    ) -> None:
        self._graph = graph
        self.score = score
        self._network = network
        self.columns = columns
        """Those of the region."""

    @cached_property
    def graph(self) -> Graph:
        return self._graph() if callable(self._graph) else self._graph

    @cached_property
    def network(self) -> Network:
        return self._network() if callable(self._network) else self._network

    def __reduce__(self) -> tuple[Any, ...]:
        return Tried, (self.graph, self.score, self.network, self.columns)
