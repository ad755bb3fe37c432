"""A screening in another process: candidates do not know of each other, so each can be tried wherever there is room."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from leverrier.counts.parted_counts import counts_of
from leverrier.data.table import Table
from leverrier.discovery.places.baseline import MOST_CELLS
from leverrier.discovery.places.deepening import Screening
from leverrier.discovery.places.region import Ground
from leverrier.discovery.plan import Plan
from leverrier.learning.structure.kind_scores import scores_of
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.run.run import Run

Result = TypeVar("Result")
_last: dict[str, Screening] = {}
"""The screening that this process worked on last: most calls are of the same one."""


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """What of a screening is sent: the rows and the graph, not what has been worked out from them."""

    token: str
    table: Table
    score: Score
    plan: Plan
    run: Run
    graph: Graph
    reached: float
    sizes: Mapping[str, int]
    name: str

    @classmethod
    def of(cls, screening: Screening) -> Elsewhere:
        ground = screening.ground
        bare = Table(ground.table.columns, ground.table.codes, ground.table.weights, counted=ground.table.counted)
        return cls(
            secrets.token_hex(8),
            bare,
            ground.scores.score,
            screening.plan,
            screening.run.silent(),
            screening.graph,
            screening.score,
            dict(screening.sizes),
            screening.name,
        )

    def __call__(self, work: Callable[..., Result], *about: Any) -> Result:
        """A piece of work on this screening, there."""
        if self.token not in _last:
            _last.clear()
            _last[self.token] = self._screening()
        return work(_last[self.token], *about)

    def _screening(self) -> Screening:
        given = self.table
        weights = None if given.weights is None else np.asarray(given.weights)
        table = Table(given.columns, np.asarray(given.codes), weights, counted=given.counted)  # (maybe mapped files)
        scores = scores_of(counts_of(table), self.score, MOST_CELLS, self.plan.kinds)
        ground = Ground(table, scores, self.plan.max_parents, run=self.run)
        return Screening(ground, self.plan, self.run, self.graph, self.reached, self.sizes, self.name)
