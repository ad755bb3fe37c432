"""`find_hidden`: where hidden variables sit [elidan2000], with the strongest search as their rival."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from leverrier.data.reading import as_table
from leverrier.data.table import Table
from leverrier.discovery.candidate import Candidate, Placement, candidates, put_in, put_in_elidan2000
from leverrier.discovery.findings import Attempt, Baseline, Findings, HiddenVariable
from leverrier.discovery.region import Ground, Tried, try_region
from leverrier.errors import OptionError
from leverrier.learning.family_scores import FamilyScores
from leverrier.learning.score import BDe, Score
from leverrier.learning.structure import learn_structure
from leverrier.model.graph import Graph
from leverrier.statistics.observed import ObservedCounts

Method = Literal["fixed", "region", "full"]
Construction = Literal["default", "elidan2000"]

MOST_CELLS = 2**12
HUBS_CLIMBED = 3
"""Of the starts of a candidate (no arcs kept, or those of one member) this many are climbed, the best ones."""
DEEPENED = 8
"""Candidates that get more states, more starts and are centred again."""
STATES_TRIED = (2, 3, 4)
LEAST_NEIGHBOURS = 3
"""With two, a hidden variable is only a table of lower rank."""
WORTH = 1e-3
SCREENING, DEEPENING = 0.1, 0.01
"""Nats that EM may leave when candidates are compared, and when the best of them are finished."""


@dataclass(frozen=True)
class Plan:
    """How much is tried."""

    method: Method = "region"
    construction: Construction = "default"
    cardinality: int | Literal["auto"] = "auto"
    max_hidden: int = 3
    baseline_seeds: int = 2
    baseline_rounds: int = 10
    max_parents: int | None = None
    seed: int = 0
    deadline: float = np.inf
    progress: Callable[[str, float], None] | None = None

    @property
    def spent(self) -> bool:
        return time.monotonic() > self.deadline

    def tell(self, what: str, share: float) -> None:
        if self.progress is not None:
            self.progress(what, share)


@dataclass(eq=False)
class Search:
    """A search under way: the ground it stands on, the baseline, and what has been tried."""

    ground: Ground
    plan: Plan
    baseline: Baseline
    attempts: list[Attempt] = field(default_factory=list)
    seen: set[Graph] = field(default_factory=set)
    """Graphs that the climbs of this screening came through."""


def find_hidden(
    data: Any,
    method: Method = "region",
    cardinality: int | Literal["auto"] = "auto",
    max_hidden: int = 3,
    *,
    score: Score | None = None,
    construction: Construction = "default",
    max_parents: int | None = None,
    seed: int = 0,
    budget: float | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Findings:
    """Hidden variables that raise the score above the best network without them.

    method        "fixed": EM on the graph a candidate suggests; "region": structural EM around it; "full": everywhere
    cardinality   how many states, or "auto"
    construction  how a candidate is put in: "default" (see docs/find-hidden.md) or the source's, "elidan2000"
    """
    if method not in ("fixed", "region", "full"):
        raise OptionError(f'method={method!r}: expected "fixed", "region" or "full"')
    if construction not in ("default", "elidan2000"):
        raise OptionError(f'construction={construction!r}: expected "default" or "elidan2000"')
    deadline = np.inf if budget is None else time.monotonic() + budget
    plan = Plan(method, construction, cardinality, max_hidden, max_parents=max_parents, seed=seed, deadline=deadline,
                progress=progress)  # fmt: skip
    return run_search(as_table(data), score or BDe(), plan)


def run_search(table: Table, score: Score, plan: Plan) -> Findings:
    """The whole procedure on a table: the same for the data and for each simulated table of the null test."""
    counts = ObservedCounts(table)
    scores = FamilyScores(counts, score, MOST_CELLS)
    ground = Ground(table, scores, plan.max_parents, deadline=plan.deadline)
    search = Search(ground, plan, learn_baseline(table, score, plan))
    while True:
        found, reason = _hidden_variables(search)
        rival = _without_hidden(search, found)
        if rival is None:
            return _findings(search, found, reason)
        search.baseline = rival  # the winner had only repaired the search: begin again from what it showed


def learn_baseline(table: Table, score: Score, plan: Plan, start: Graph | None = None) -> Baseline:
    """The strongest search, from several seeds."""
    plan.tell("the best network without hidden variables", 0.0)
    runs = [
        learn_structure(table, score, method="best", rounds=plan.baseline_rounds, max_cells=MOST_CELLS,
                        max_parents=plan.max_parents, start=start, seed=plan.seed + 1000 * k, threads=1)
        for k in range(plan.baseline_seeds if start is None else 1)
    ]  # fmt: skip
    best = max(runs, key=lambda run: run.score)
    return Baseline(best.network, best.score, best.score - min(run.score for run in runs))


def _without_hidden(search: Search, found: list[_Found]) -> Baseline | None:
    """Drop the hidden variable from the winner and search on: a better network without it becomes the baseline."""
    if not found:
        return None
    winner = found[0].tried.graph
    name = found[0].name
    bare = Graph.from_parents({v: [p for p in winner.parents(v) if p != name] for v in winner if v != name})
    for start in (bare, winner.without(name)):
        again = learn_baseline(search.ground.table, search.ground.scores.score, search.plan, start)
        before = search.baseline
        if again.score > before.score + WORTH:
            return replace(again, spread=max(before.spread, again.score - before.score),
                           repaired=before.repaired + again.score - before.score)  # fmt: skip
    return None


@dataclass(frozen=True, eq=False)
class _Found:
    """A hidden variable in place."""

    name: str
    tried: Tried
    sizes: Mapping[str, int]
    gain: float
    candidate: Candidate
    start: str


def _hidden_variables(search: Search) -> tuple[list[_Found], str]:
    """One hidden variable after another, as long as the next one helps."""
    found: list[_Found] = []
    graph, score = search.baseline.graph, search.baseline.score
    reason = "as many hidden variables as asked for"
    for number in range(search.plan.max_hidden):
        name = _free_name(graph, number)
        best = _best_hidden(search, graph, score, name, found)
        if isinstance(best, str):
            reason = best
            break
        found.append(best)
        graph, score = best.tried.graph, best.tried.score
    return found, reason


def _best_hidden(search: Search, graph: Graph, score: float, name: str, found: list[_Found]) -> _Found | str:
    """The hidden variable that gains most on this graph, or why there is none."""
    suggested = candidates(graph)
    if not suggested:
        return "no candidates: no group of three columns hangs together"
    screened = _screen(search, graph, score, name, suggested, found)
    deep = [_deepen(search, score, one, found) for one in _distinct(screened)[:DEEPENED]]
    linked = [one for one in deep if len(one.tried.graph.neighbours(one.name)) >= LEAST_NEIGHBOURS]
    helping = [one for one in linked if one.gain > WORTH]
    if not helping:
        return "none helped: no candidate scored above the best network without it"
    return max(helping, key=lambda one: one.gain)


def _screen(
    search: Search, graph: Graph, score: float, name: str, suggested: list[Candidate], found: list[_Found]
) -> list[_Found]:
    """Every candidate with two states: EM from each start, structural EM from the best of them."""
    plan = search.plan
    states = 2 if plan.cardinality == "auto" else plan.cardinality
    results = []
    search.seen.clear()
    for number, candidate in enumerate(suggested):
        if plan.spent:
            break
        plan.tell("candidates", number / len(suggested))
        tried = [
            (_try(search, place, name, states, candidate, found, rounds=0), place)
            for place in _placements(plan.construction, graph, candidate, name)
        ]
        tried.sort(key=lambda pair: -pair[0].score)
        if plan.method != "fixed":
            tried = [(_try(search, place, name, states, candidate, found), place) for _, place in tried[:HUBS_CLIMBED]]
        best, place = max(tried, key=lambda pair: pair[0].score)
        sizes = {**_sizes(found), name: states}
        results.append(_Found(name, best, sizes, best.score - score, candidate, place.start))
        search.attempts.append(
            Attempt(tuple(sorted(candidate.members)), candidate.signature, place.start, states, best.score - score,
                    tuple(sorted(best.graph.neighbours(name))))
        )  # fmt: skip
    return sorted(results, key=lambda one: -one.gain)


def _placements(construction: Construction, graph: Graph, candidate: Candidate, name: str) -> list[Placement]:
    if construction == "elidan2000":
        return [put_in_elidan2000(graph, candidate.members, name)]
    hubs: list[str | None] = [None, *sorted(candidate.members)]
    return [put_in(graph, candidate.members, name, hub) for hub in hubs]


def _try(
    search: Search, place: Placement, name: str, states: int, candidate: Candidate, found: list[_Found],
    *, rounds: int = 30,
) -> Tried:  # fmt: skip
    graph = place.graph
    region = set(candidate.members) | {p for v in candidate.members for p in graph.parents(v)}
    if search.plan.method == "full" and rounds:
        region = set(graph.nodes)
    hidden = {**_sizes(found), name: states}
    return try_region(search.ground, graph, hidden, region, merged=name if rounds else None, starts=2 if rounds else 1,
                      max_rounds=rounds, tolerance=SCREENING, seen=search.seen if rounds else None,
                      seed=search.plan.seed)  # fmt: skip


def _deepen(search: Search, score: float, one: _Found, found: list[_Found]) -> _Found:
    """More states, more starts, and the region centred again on the variable's new neighbourhood until that stops."""
    plan, name = search.plan, one.name
    counts = STATES_TRIED if plan.cardinality == "auto" else (plan.cardinality,)
    if plan.method == "fixed":
        runs = [_centred(search, one.tried.graph, {**_sizes(found), name: k}, rounds=0) for k in counts]
        best = max([one.tried, *runs], key=lambda tried: tried.score)
        return _renamed(one, best, score)
    best = one.tried
    for states in counts:
        sizes = {**_sizes(found), name: states}
        for start in (one.tried.graph, best.graph):
            tried = _centred(search, start, sizes)
            while tried.score > best.score + WORTH and not plan.spent:
                best = tried
                tried = _centred(search, best.graph, sizes)
    return _renamed(one, best, score)


def _centred(search: Search, graph: Graph, sizes: Mapping[str, int], rounds: int = 30) -> Tried:
    """Structural EM over the hidden variables' neighbourhoods and their parents."""
    region = {v for name in sizes for v in (*graph.blanket(name), *graph.neighbours(name))}
    region |= {p for v in region for p in graph.parents(v)}
    newest = list(sizes)[-1]
    return try_region(search.ground, graph, sizes, region, merged=newest, starts=3, max_rounds=rounds,
                      tolerance=DEEPENING, seed=search.plan.seed)  # fmt: skip


def _renamed(one: _Found, best: Tried, score: float) -> _Found:
    sizes = {name: best.region.network.cardinality(name) for name in one.sizes}
    return replace(one, tried=best, sizes=sizes, gain=best.score - score)


def _distinct(screened: list[_Found]) -> list[_Found]:
    """Without those that ended in the same place, or in none."""
    seen: set[object] = set()
    kept = []
    for one in screened:
        if len(one.tried.graph.neighbours(one.name)) < LEAST_NEIGHBOURS:
            continue
        key = (one.tried.graph, tuple(sorted(one.sizes.items())))
        if key not in seen:
            seen.add(key)
            kept.append(one)
    return kept


def _sizes(found: list[_Found]) -> dict[str, int]:
    return dict(found[-1].sizes) if found else {}


def _free_name(graph: Graph, number: int) -> str:
    name = f"H{number + 1}"
    while name in graph:
        name += "_"
    return name


def _findings(search: Search, found: list[_Found], reason: str) -> Findings:
    from leverrier.learning.fit import fit

    baseline = search.baseline
    if not found:
        return Findings((), baseline.network, baseline.score, baseline, tuple(search.attempts), search.plan.method,
                        reason)  # fmt: skip
    last = found[-1]
    graph = last.tried.graph
    fitted = fit(graph, search.ground.table, hidden=dict(last.sizes), initial=_initial(search, last), starts=1,
                 prior=search.ground.scores.score, accelerate=False, jobs=1)  # fmt: skip
    hidden = tuple(
        HiddenVariable(one.name, last.sizes[one.name], graph.children(one.name), graph.parents(one.name), one.gain,
                       one.candidate.signature, one.start)
        for one in found
    )  # fmt: skip
    return Findings(hidden, fitted.network, last.tried.score, baseline, tuple(search.attempts), search.plan.method,
                    "found", fitted.log_likelihood)  # fmt: skip


def _initial(search: Search, last: _Found) -> Mapping[str, Any]:
    """The region's posteriors, by row of the whole table."""
    region = last.tried.region
    columns = region.fit.table.variables
    index = search.ground.table.project(columns).index
    return {name: region.posterior(name)[index] for name in last.sizes}
