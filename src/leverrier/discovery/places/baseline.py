"""The rival of a hidden variable: the best network without one.

The great trap is a weak search without the hidden variable: then a hidden one wins merely by repairing it. So the
baseline comes from the strongest search, from several seeds, and whatever a hidden variable shows is tried without it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from leverrier.data.table import Table
from leverrier.data.variable import free_name
from leverrier.discovery.findings import Baseline
from leverrier.discovery.network_codecs import scored_network_once
from leverrier.discovery.plan import WORTH, Plan
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.known_scores import members
from leverrier.learning.structure.learn_structure import learn_from_scores
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.event import Event
from leverrier.run.run import Run

MOST_CELLS = 2**12
WIDE, VERY_WIDE = 60, 100
"""Tables with more columns get one strong search that wanders once; with still more, one that does not depend on a
seed: shaking all of them would take minutes."""


def learn_baseline(
    table: Table, scores: FamilyScores, plan: Plan, run: Run, start: Graph | None = None, reached: float = -np.inf
) -> Baseline:
    """The best network without hidden variables, from several seeds, and how far apart they ended; from a start, one
    that beats the score `reached`, if there is one."""
    run.tell(Event.BASELINE, 0.0)
    wide, very_wide = len(table.variables) > WIDE, len(table.variables) > VERY_WIDE
    seeds = 1 if start is not None or wide else plan.baseline_seeds

    def learned(k: int) -> tuple[Network, float]:
        found = learn_from_scores(
            table,
            scores.by_name().afresh(),
            method="auto" if very_wide else "best",
            rounds=1 if wide else plan.baseline_rounds,
            max_parents=plan.max_parents,
            start=start,
            seed=plan.seed + 1000 * k,
            budget=run.seconds_left(),
            reached=reached,
        )
        return found.network, found.score

    begun = None if start is None else start.parent_map
    runs = [scored_network_once(run, ("baseline", k, begun), partial(learned, k), table.states) for k in range(seeds)]
    network, reached = max(runs, key=lambda found: found[1])
    return Baseline(network, reached, reached - min(score for _, score in runs))


def better_without(
    winner: Graph, name: str, before: Baseline, table: Table, scores: FamilyScores, plan: Plan, run: Run
) -> Baseline | None:
    """Drop the hidden variable from the winner and search on: a better network without it, if that finds one."""
    bare = Graph.from_parents({v: [p for p in winner.parents(v) if p != name] for v in winner if v != name})
    for start in (bare, thinned(winner.without(name), scores)):
        if run.spent:
            break
        again = learn_baseline(table, scores, plan, run, start, before.score)
        gained = again.score - before.score
        if gained > WORTH:
            return replace(again, spread=max(before.spread, gained), repaired=before.repaired + gained)
    return None


def thinned(graph: Graph, scores: FamilyScores) -> Graph:
    """With families that fit: the children of a variable that drove twenty columns are a clique of twenty without it.

    A family over the cap on cells keeps the parents that help most, one after another.
    """
    place = {name: at for at, name in enumerate(scores.names)}
    parents: dict[str, tuple[str, ...]] = {}
    for node, above in graph.families:
        child, open_ = place[node], sum(1 << place[p] for p in above)
        if scores.fits(child, open_):
            parents[node] = above
            continue
        kept = 0
        while gains := [
            (scores.family(child, kept | 1 << p), -p)
            for p in members(open_ & ~kept)
            if scores.fits(child, kept | 1 << p)
        ]:
            score, p = max(gains)
            if score <= scores.family(child, kept):
                break
            kept |= 1 << -p
        parents[node] = tuple(scores.names[p] for p in members(kept))
    return Graph.from_parents(parents)


def hidden_name(graph: Graph, number: int) -> str:
    """H1, H2…, or with underscores if a column is called so."""
    return free_name(f"H{number + 1}", graph)
