"""What a report needs beside the verdict: how sure rows are, what remains unexplained, scores by number of states."""

from __future__ import annotations

import math
import platform
from dataclasses import replace
from importlib.metadata import version

from leverrier.data.table import Table
from leverrier.discovery.evidence.certainty import rows_of
from leverrier.discovery.evidence.residual import remaining
from leverrier.discovery.plan import Plan
from leverrier.discovery.result import Result
from leverrier.discovery.states.merge_tree import MergeTree, merge_tree
from leverrier.discovery.states.states_fit import StatesFit, states_fit
from leverrier.discovery.verdict import ModelKind
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.run.event import Event
from leverrier.run.run import UNBOUNDED, Run

MORE_STATES = 2
STARTS = 3
MOST_CELLS = 400_000
"""Rows × columns up to which scores by number of states are worth the wait."""
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")


def described(
    found: Result, whole: Table, table: Table, score: Score, plan: Plan, thorough: bool = True, run: Run = UNBOUNDED
) -> Result:
    """The same findings with counts of rows, remaining dependencies and versions. Sees the rows once, keeps none.

    `whole` has every row with its numbers, where `table` may have distinct rows alone. What takes simulated tables or
    more fits is left out unless `thorough`.
    """
    run.tell(Event.UNEXPLAINED, 0.0)
    model = found.model
    seen = whole if model.numbers is not None or found.kind is ModelKind.NUMBERS else table
    posteriors = {} if run.spent or not found.hidden else model.posterior(seen)
    left = None
    if thorough and not run.spent:
        left = remaining(table, lambda rows, rng: model.sample(rows, table, rng), plan.seed)
    scores = {} if run.spent or not thorough else _scores(found, table, score, plan, run)
    merges = {} if run.spent or not thorough else _merges(found, table, score)
    run.tell(Event.UNEXPLAINED, 1.0)
    return replace(
        found,
        rows=rows_of(seen, posteriors),
        remaining=left,
        scores=scores,
        merges=merges,
        settings=replace(found.settings, versions=versions()),
    )


def versions() -> dict[str, str]:
    """Of Python and of the packages that numbers come from."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def _scores(found: Result, table: Table, score: Score, plan: Plan, run: Run) -> dict[str, tuple[StatesFit, ...]]:
    """By hidden variable of a network, how well other numbers of states fit with the same arcs."""
    most = MOST_CELLS if table.n_missing == 0 else MOST_CELLS // 10
    network = found.model.network
    if network is None or not math.isinf(run.deadline) or table.n_rows * len(table.variables) > most:
        return {}
    scores: dict[str, tuple[StatesFit, ...]] = {}
    for each in found.hidden:
        graph = network.graph if table.n_missing else _surroundings(network.graph, each.name)
        rows = table.select([name for name in table.variables if name in graph])
        if not rows.variables:
            continue  # (of a higher layer: it drives hidden variables alone)
        sizes = {other.name: other.states for other in found.hidden if other.name in graph}
        reached: list[StatesFit] = []
        for k in range(2, max(each.states + MORE_STATES, 4) + 1):
            fitted = fit(
                graph,
                rows,
                hidden={**sizes, each.name: k},
                starts=STARTS,
                prior=score,
                score=score,
                tolerance=1e-2,
                accelerate=False,
                seed=plan.seed,
                jobs=1,
            )
            reached.append(states_fit(fitted, each.name))
            if run.spent:
                return scores
        scores[each.name] = tuple(reached)
    return scores


def _merges(found: Result, table: Table, score: Score) -> dict[str, MergeTree]:
    network = found.model.network
    if network is None:
        return {}
    trees = {each.name: merge_tree(network.graph, table, each.name, each.states, score) for each in found.hidden}
    return {name: tree for name, tree in trees.items() if tree is not None}


def _surroundings(graph: Graph, name: str) -> Graph:
    """The families that hold the variable; where the rest is observed, scores differ in those alone."""
    inside = [name, *graph.children(name)]
    near = dict.fromkeys(node for member in inside for node in (*graph.parents(member), member))
    return Graph.from_parents({node: graph.parents(node) if node in inside else () for node in near})
