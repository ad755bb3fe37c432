"""The source's two strawmen [elidan2000 section 4]: a hidden variable placed without looking, and the true graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import leverrier as lv
from leverrier.discovery.places.baseline import MOST_CELLS, hidden_name
from leverrier.learning.structure.score import BDe, Score
from leverrier.models.graph import Graph


@dataclass(frozen=True, eq=False)
class Strawman:
    """A network with a hidden variable that was placed without looking, and its Cheeseman–Stutz score."""

    network: lv.Network
    score: float
    hidden: Mapping[str, int]


def naive(data: lv.Table, states: int = 2, *, score: Score | None = None, restarts: int = 3, seed: int = 0) -> Strawman:
    """One hidden parent of every column, then structural EM with perturbed restarts [elidan2000 section 4]."""
    name = hidden_name(Graph.from_edges(data.variables, ()), 0)
    graph = Graph.from_parents({**dict.fromkeys(data.variables, (name,)), name: ()})
    result = lv.structural_em(
        graph, data, {name: states}, score=score or BDe(), restarts=restarts, max_cells=MOST_CELLS, seed=seed
    )
    return Strawman(result.network, result.score, {name: states})


def original(
    truth: Any,
    data: lv.Table,
    hidden: Mapping[str, int],
    *,
    score: Score | None = None,
    starts: int = 10,
    seed: int = 0,
) -> Strawman:
    """The true graph with its parameters learned by EM: what knowing the structure is worth."""
    rule = score or BDe()
    result = lv.fit(truth, data, hidden=dict(hidden), starts=starts, method="vb", score=rule, seed=seed)
    return Strawman(result.network, result.score, dict(hidden))
