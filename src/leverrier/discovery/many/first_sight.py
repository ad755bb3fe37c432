"""Which places are refused before any table is simulated for them: those where a network of the same columns with
families of every kind, or any function of the columns, clearly says more than the hidden variable does.

They would be refused after their tests too, for the same reasons. Simulated tables cost most of the time, and the more
so where such places are many: a table with a misfit of this kind shows it everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.discovery.evidence.coarser_copy import told_shares
from leverrier.discovery.evidence.evidence import KINDS_WORTH
from leverrier.discovery.evidence.free_learner import against_free_learner
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.many.scene import Scene
from leverrier.discovery.many.sibling_groups import SMALLEST
from leverrier.discovery.many.spots import NEW, Spot, merged, posteriors
from leverrier.discovery.many.surroundings import surroundings
from leverrier.discovery.places.baseline import hidden_name
from leverrier.discovery.plan import Plan
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.run.run import Run

BEHIND = -KINDS_WORTH
"""Nats over the network of every kind: one so far behind is refused, one nearer is weighed again after its test."""
COLUMNS, ROWS, ERRORS = 3, 1500, 2.0
"""Columns that free learners foretell here, those that tell most of it, on so many rows: on all that they are given at
the end they take longer than the tests; and standard errors by which one must be better."""


def kept(scene: Scene, spots: Sequence[Spot], score: Score, plan: Plan, run: Run, about: int) -> list[bool]:
    """Of every place in the whole table's scene, whether it goes on to its test. Places among hidden variables are not
    asked: those are drawn states."""
    columns = [v for v in scene.table.variables if v not in scene.hidden]
    table, name = scene.table.select(columns), hidden_name(scene.graph, len(scene.hidden))
    asked = [one for one in spots if len(one.neighbours.intersection(columns)) >= SMALLEST]
    calls, keys = [], []
    for one in asked:
        graph = merged(scene.graph, [one], [name])
        if graph is None:
            continue
        states, posterior = one.found.sizes[NEW], posteriors([one], [name])[name]
        each = HiddenVariable(name, states, graph.children(name), graph.parents(name), one.gain, "", "")
        calls.append((graph, posterior, each, table, scene.graph, score, plan, run.silent()))
        keys.append(("first sight", about, tuple(sorted(one.members)), one.gain))
    answers = run.map(outdone, calls, keys)
    refused = {key[2] for key, said in zip(keys, answers, strict=False) if said}  # (fewer if time runs out)
    return [tuple(sorted(one.members)) not in refused for one in spots]


def outdone(
    graph: Graph,
    posterior: Floats,
    each: HiddenVariable,
    table: Table,
    before: Graph,
    score: Score,
    plan: Plan,
    run: Run,
) -> bool | None:
    """Whether a network of every kind, or a learner of any function, clearly says more in its surroundings; None if
    time runs out."""
    place = surroundings(graph, posterior, each, table, before, score, plan, run, brief=True)
    if run.spent:
        return None
    if place.gain is not None and place.gain <= BEHIND:
        return True
    shares = told_shares(place.posterior(each.name), place.table)
    near = sorted(each.neighbours & set(shares), key=lambda v: (-shares[v], v))[:COLUMNS]
    free = against_free_learner(place.network, near, _some_rows(place.table, plan.seed), score, plan.seed, run=run)
    return None if run.spent else free is not None and free.z <= -ERRORS


def _some_rows(table: Table, seed: int) -> Table:
    """At most so many, drawn at random; rows that stand for several are left to the learners' own draw."""
    if table.weights is not None or table.n_rows <= ROWS:
        return table
    return table.take(np.sort(np.random.default_rng([seed, 89]).choice(table.n_rows, ROWS, replace=False)))
