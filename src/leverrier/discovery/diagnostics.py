"""What a report needs beside the verdict: how sure rows are, what remains unexplained, scores by number of states."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.data.reading.read_table import read_table
from leverrier.data.table import Table
from leverrier.discovery.evidence.certainty import rows_of
from leverrier.discovery.evidence.residual import Simulate, remaining
from leverrier.discovery.examined import Examined
from leverrier.discovery.plan import Plan
from leverrier.discovery.states.merge_tree import MergeTree, merge_tree
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.models.mixed_class_model import MixedClasses
from leverrier.models.noisy_or.noisy_or_model import HiddenCauses
from leverrier.run.event import Event
from leverrier.run.run import UNBOUNDED, Run

Floats = NDArray[np.float64]

MORE_STATES = 2
STARTS = 3
MOST_CELLS = 400_000
"""Rows × columns up to which scores by number of states are worth the wait."""
EXACT_CAUSES = 18
"""With more causes their posteriors are sampled."""
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")


def described(
    found: Examined, whole: Table, table: Table, score: Score, plan: Plan, thorough: bool = True, run: Run = UNBOUNDED
) -> Examined:
    """The same findings with counts of rows, remaining dependencies and versions. Sees the rows once, keeps none.

    `whole` has every row with its numbers, where `table` may have distinct rows alone. What takes simulated tables or
    more fits is left out unless `thorough`.
    """
    run.tell(Event.UNEXPLAINED, 0.0)
    seen = whole if isinstance(found.model, MixedClasses) else table
    posteriors = {} if run.spent else _posteriors(found, seen)
    left = None if run.spent or not thorough else remaining(table, _simulator(found, table), plan.seed)
    scores = {} if run.spent or not thorough else _scores(found, table, score, plan, run)
    merges = {} if run.spent or not thorough else _merges(found, table, score)
    run.tell(Event.UNEXPLAINED, 1.0)
    return replace(
        found,
        rows=rows_of(seen, posteriors),
        remaining=left,
        scores=scores,
        merges=merges,
        settings={**found.settings, "versions": versions()},
    )


def versions() -> dict[str, str]:
    """Of Python and of the packages that numbers come from."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def _posteriors(found: Examined, table: Table) -> dict[str, Floats]:
    """By hidden variable (rows, states)."""
    if isinstance(found.model, MixedClasses):
        return {each.name: found.model.posterior(table) for each in found.hidden}
    if isinstance(found.model, HiddenCauses):
        present = found.model.posterior(_signs(found, table), exact=found.model.n_causes <= EXACT_CAUSES)
        return {each.name: np.column_stack([1 - present[:, k], present[:, k]]) for k, each in enumerate(found.hidden)}
    return {each.name: found.network.posterior(table, each.name) for each in found.hidden}


def _signs(found: Examined, table: Table) -> Floats:
    """1 where a sign is there, 0 where not, NaN where nothing was seen."""
    yes: Mapping[str, Any] = found.settings["yes"]
    cells = np.full((table.n_rows, len(found.model.names)), np.nan)
    for place, name in enumerate(found.model.names):
        codes = table.column(name)
        cells[:, place] = np.where(codes == table.missing, np.nan, codes == table.states[name].index(yes[name]))
    return cells


def _simulator(found: Examined, table: Table) -> Simulate:
    """Draws tables with the columns and states of the data from the model that was found."""
    model = found.model
    if isinstance(model, MixedClasses):
        return lambda rows, rng: read_table(model.sample(rows, rng), like=table, unseen="hole")
    if isinstance(model, HiddenCauses):
        yes = [table.states[name].index(found.settings["yes"][name]) for name in table.variables]
        order = [model.names.index(name) for name in table.variables]

        def draw(rows: int, rng: np.random.Generator) -> Table:
            cells = model.sample(rows, rng)[0][:, order].T
            codes = np.where(cells == 1, np.array(yes)[:, None], 1 - np.array(yes)[:, None])
            return Table(table.columns, codes.astype(table.codes.dtype))

        return draw
    return lambda rows, rng: found.network.sample(rows, rng).select(table.variables)


def _scores(
    found: Examined, table: Table, score: Score, plan: Plan, run: Run
) -> dict[str, tuple[tuple[int, float], ...]]:
    """By hidden variable of a network, the score with the same arcs and other numbers of states; larger is better."""
    most = MOST_CELLS if table.n_missing == 0 else MOST_CELLS // 10
    if found.model is not None or not math.isinf(run.deadline) or table.n_rows * len(table.variables) > most:
        return {}
    scores: dict[str, tuple[tuple[int, float], ...]] = {}
    for each in found.hidden:
        graph = found.network.graph if table.n_missing else _surroundings(found.network.graph, each.name)
        rows = table.select([name for name in table.variables if name in graph])
        sizes = {other.name: other.states for other in found.hidden if other.name in graph}
        reached: list[tuple[int, float]] = []
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
            reached.append((k, fitted.score))
            if run.spent:
                return scores
        scores[each.name] = tuple(reached)
    return scores


def _merges(found: Examined, table: Table, score: Score) -> dict[str, MergeTree]:
    if found.model is not None:
        return {}
    trees = {each.name: merge_tree(found.network.graph, table, each.name, each.states, score) for each in found.hidden}
    return {name: tree for name, tree in trees.items() if tree is not None}


def _surroundings(graph: Graph, name: str) -> Graph:
    """The families that hold the variable; where the rest is observed, scores differ in those alone."""
    inside = [name, *graph.children(name)]
    near = dict.fromkeys(node for member in inside for node in (*graph.parents(member), member))
    return Graph.from_parents({node: graph.parents(node) if node in inside else () for node in near})
