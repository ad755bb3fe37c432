"""The search of the source's loop [boyen1999 section 5.1]: on expected counts, in stages, among potential parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.family import Statistics
from leverrier.data.sequences.read_sequences import lagged
from leverrier.learning.slices.learn_dynamic import into_the_past
from leverrier.learning.structure.constraints import as_parents, make_problem
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.hill_climb import hill_climb
from leverrier.learning.structure.known_scores import members
from leverrier.learning.structure.problem import SearchLog
from leverrier.learning.structure.score import Score
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.graph import Graph
from leverrier.run.run import UNBOUNDED, Run

Node = tuple[str, int]
Parents = dict[str, tuple[Node, ...]]
STAGES = 3
"""Rounds of search on the same counts, each with its own potential parents. [boyen1999 section 5.1]"""
CANDIDATES = 8
MOST_CELLS = 2**14


def search_stages(
    counts: Statistics, network: DynamicNetwork, lags: int, score: Score, max_parents: int, run: Run = UNBOUNDED
) -> Parents:
    """Search on expected counts in stages, each among potential parents chosen anew. [boyen1999 section 5.1]"""
    scores = FamilyScores(counts, score, MOST_CELLS)
    names = network.variables
    graph = _graph(scores.names, {name: network.parents(name) for name in names})
    forbidden = into_the_past(names, lags)
    for _ in range(STAGES):
        problem = make_problem(scores, graph, (), forbidden, None, max_parents, None)
        allowed = problem.allowed & _potential(scores, graph, problem.allowed)
        scores.candidates = allowed
        effort = SearchLog(run.untold())
        found = hill_climb(replace(problem, allowed=allowed), as_parents(scores.names, graph, ()), effort)
        better = Graph.from_parents(
            {name: [scores.names[p] for p in members(found[v])] for v, name in enumerate(scores.names)}
        )
        if better == graph:
            break
        graph, scores = better, FamilyScores(counts, score, MOST_CELLS)
    back = {lagged(name, lag): (name, lag) for lag in range(lags + 1) for name in names}
    return {name: tuple(back[parent] for parent in graph.parents(name)) for name in names}


def _potential(scores: FamilyScores, graph: Graph, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each child its present parents and those that would gain most beside them."""
    place = {name: v for v, name in enumerate(scores.names)}
    kept = np.zeros_like(allowed)
    for child, name in enumerate(scores.names):
        if not allowed[:, child].any():
            continue
        above = [place[parent] for parent in graph.parents(name)]
        scores.candidates = allowed
        gains = scores.expand(child, sum(1 << p for p in above))[:-1]
        kept[np.argsort(-gains, kind="stable")[:CANDIDATES], child] = True
        kept[above, child] = True
    return kept


def _graph(names: Sequence[str], parents: Mapping[str, Sequence[Node]]) -> Graph:
    return Graph.from_parents({name: [lagged(*node) for node in parents.get(name, ())] for name in names})
