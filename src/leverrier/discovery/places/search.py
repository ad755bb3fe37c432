"""The search for hidden variables [elidan2000], with the strongest search without any as its rival."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from leverrier.counts.parted_counts import counts_of
from leverrier.data.table import Table
from leverrier.discovery.findings import Attempt, Baseline, Findings, HiddenVariable
from leverrier.discovery.network_codecs import network_once, read_codes
from leverrier.discovery.places.baseline import MOST_CELLS, better_without, hidden_name, learn_baseline
from leverrier.discovery.places.candidate import Candidate
from leverrier.discovery.places.deepening import (
    Found,
    Screened,
    Screening,
    centred,
    centred_once,
    enough_neighbours,
    found_once,
)
from leverrier.discovery.places.dressing import dressed_once, dresses
from leverrier.discovery.places.imputation import filled
from leverrier.discovery.places.number_of_states import settled
from leverrier.discovery.places.region import Ground
from leverrier.discovery.places.screening import best_hidden
from leverrier.discovery.places.splitting import split_in_two
from leverrier.discovery.plan import WORTH, Plan
from leverrier.discovery.verdict import Reason
from leverrier.errors import TableError
from leverrier.learning.em.fit import fit
from leverrier.learning.hidden_families.said_behind import with_hidden_families
from leverrier.learning.structure.kind_scores import said_by_kinds, scores_of
from leverrier.learning.structure.score import BDe, Score
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.run import UNBOUNDED, Run

REPAIRS = 5
"""How often the search may begin again because a hidden variable showed a better network without it."""
FIRM = 4.0
"""A gain this many times what the repair gave need not begin again."""


def run_search(table: Table, score: Score, plan: Plan, run: Run = UNBOUNDED) -> Findings:
    """The whole procedure on a table: the same for the data and for each simulated table of the null test."""
    search = begin(table, score, plan, run)
    while len(search.found) < plan.max_hidden and next_hidden(search):
        pass
    return findings(search)


def practise() -> None:
    """A search in miniature: it loads whatever a search needs."""
    run_search(miniature(), BDe(), Plan(max_hidden=1))


def miniature() -> Table:
    """Four columns with something behind them, sixty rows."""
    rows = np.random.default_rng(0).integers(0, 2, (4, 60))
    rows[1:] ^= (rows[0] ^ rows[1:]) * (np.random.default_rng(1).random((3, 60)) < 0.7)
    return Table.from_codes({f"c{i}": (0, 1) for i in range(4)}, rows)


@dataclass(eq=False)
class Search:
    """A search under way: the ground it stands on, the rival to beat, and what has been found."""

    table: Table
    ground: Ground
    plan: Plan
    run: Run
    baseline: Baseline
    found: list[Found] = field(default_factory=list)
    networks: list[Network] = field(default_factory=list)
    """Without hidden variables, with the first, with the first two…"""
    attempts: list[Attempt] = field(default_factory=list)
    screened: Screened | None = None
    """The last screening that led to a hidden variable."""
    reason: Reason = Reason.ENOUGH
    cut: bool = False
    """Whether time ran out before all candidates were tried."""
    placed: dict[str, Any] | None = None
    """Where the light search puts the first variable, once it was asked."""
    light: dict[str, float] = field(default_factory=dict)
    """What the light search gained in the data, by what it was given: see evidence/null_test.py."""
    light_gain: float | None = None
    """The same given nothing, known as soon as it said where it puts the first variable."""
    suggested: tuple[Candidate, ...] | None = None
    """The only places to look in for the next one, if they are known; else the graph suggests them."""

    @property
    def score(self) -> Score:
        return self.ground.scores.score

    @property
    def graph(self) -> Graph:
        return self.found[-1].tried.graph if self.found else self.baseline.graph

    @property
    def reached(self) -> float:
        return self.found[-1].tried.score if self.found else self.baseline.score

    @property
    def sizes(self) -> dict[str, int]:
        return dict(self.found[-1].sizes) if self.found else {}


def begin(table: Table, score: Score, plan: Plan, run: Run = UNBOUNDED) -> Search:
    """Fill holes, and learn the best network without hidden variables."""
    if not table.n_rows or not table.variables:
        raise TableError("the table has no rows or no columns: there is nothing to look at")
    full = table
    if table.n_missing:
        fill = partial(filled, table, score, MOST_CELLS, plan, run)
        full = run.once(("filled",), fill, lambda found: found.codes, lambda codes: read_codes(codes, table))
    scores = scores_of(counts_of(full), score, MOST_CELLS, plan.kinds)
    ground = Ground(full, scores, plan.max_parents, run=run.untold())
    baseline = learn_baseline(full, scores, plan, run)
    return Search(table, ground, plan, run, baseline, networks=[baseline.network])


def next_hidden(search: Search, fitted: bool = True) -> bool:
    """Look for one more hidden variable; says whether there is one. It is last in `found` then, and the network with it
    last in `networks`, unless nobody asks for that."""
    for _ in range(REPAIRS):
        screening = _screening(search)
        screening = replace(screening, by_tables=_placed_by_tables(search)) if dresses(screening) else screening
        best = best_hidden(screening)
        search.attempts += screening.attempts
        search.cut = search.cut or bool(screening.cut)
        split = split_in_two(screening, search.found[-1].tried) if search.found else None
        split = None if split is None else dressed_once(screening, split)
        if split is not None and (isinstance(best, Reason) or split.gain > best.gain):
            best = split
        if isinstance(best, Reason):
            search.reason = best
            return False
        best = _settled(screening, best, "settled")
        before = search.reached
        repaired = _repaired(search, screening, best)
        gain = best.tried.score - search.reached
        if not repaired or gain > FIRM * (search.reached - before):
            gains = {frozenset(each.members): each.gain for each in screening.attempts}
            search.screened = Screened(screening.graph, gains)
            search.found.append(replace(best, gain=gain))
            if fitted:
                search.networks.append(_fitted(search, best))
            return True
    search.reason = Reason.UNSTABLE
    return False


def _placed_by_tables(search: Search) -> tuple[Candidate, int] | None:
    """Where the light search, with tables on both sides, puts the first variable. It is made once, whatever the rival
    is by now."""
    if search.found or search.suggested is not None:
        return None
    if search.placed is None:
        search.placed = light_place(search.ground.table, search.score, search.plan, search.run)
    found = search.placed
    search.light_gain = found["gain"]
    return (Candidate(frozenset(found["members"]), "tables alone"), int(found["states"])) if found["states"] else None


def light_place(table: Table, score: Score, plan: Plan, run: Run) -> dict[str, Any]:
    """Where the light search puts the first hidden variable of a table without holes, with how many states and what it
    gains."""

    def placed() -> dict[str, Any]:
        light = begin(table, score, plan.light(), run.unkept())
        if not next_hidden(light, fitted=False):
            return {"members": [], "states": 0, "gain": 0.0}
        one = light.found[-1]
        return {"members": sorted(light.graph.neighbours(one.name)), "states": one.sizes[one.name], "gain": one.gain}

    return run.once(("placed by tables",), placed)


def _settled(screening: Screening, one: Found, kind: str) -> Found:
    """With the number of states that is worth most: by tables, and then by whatever kinds say it best."""
    bare = found_once(screening, kind, one.undressed, settled)
    if bare.tried is one.bare:
        return one
    again = dressed_once(screening, bare)
    return one if one.tried.score > again.tried.score else again


def _screening(search: Search) -> Screening:
    name = hidden_name(search.graph, len(search.found))
    return Screening(
        search.ground,
        search.plan,
        search.run,
        search.graph,
        search.reached,
        search.sizes,
        name,
        search.screened,
        search.suggested,
    )


def _repaired(search: Search, screening: Screening, best: Found) -> bool:
    """Whether the winner, without its new variable, leads to a better model than the one it beat: then that is next."""
    if not search.found:
        ground = search.ground
        rival = better_without(
            best.tried.graph, best.name, search.baseline, ground.table, ground.scores, search.plan, search.run
        )
        if rival is not None:
            search.baseline = rival
            search.networks = [rival.network]
        return rival is not None
    winner = best.tried.graph
    bare = Graph.from_parents({v: [p for p in winner.parents(v) if p != best.name] for v in winner if v != best.name})
    if not all(enough_neighbours(bare, name) for name in search.sizes):
        return False  # the new one stands between them and the columns
    last = search.found[-1]
    other = dressed_once(screening, replace(last, tried=centred_once(screening, bare, search.sizes), bare=None))
    if other.tried.score <= search.reached + WORTH:
        return False
    search.found[-1] = replace(other, gain=last.gain + other.tried.score - search.reached)
    search.networks[-1] = _fitted(search, search.found[-1])
    return True


def resume_from(search: Search, graph: Graph, sizes: Mapping[str, int]) -> None:
    """Put hidden variables that are known to be there into a search that has just begun."""
    name = list(sizes)[-1]
    baseline = search.baseline
    screening = Screening(search.ground, search.plan, search.run, baseline.graph, baseline.score, {}, name)
    tried = centred(screening, graph, sizes)
    known = Candidate(frozenset(tried.graph.neighbours(name)), "given")
    search.found = [Found(name, tried, dict(sizes), tried.score - baseline.score, known, "given")]
    search.networks.append(_fitted(search, search.found[-1]))


def _fitted(search: Search, found: Found) -> Network:
    """Parameters on the table as it came, holes and all, from the posteriors that the region ended with."""

    def learned() -> Network:
        learned = fit(
            found.tried.graph,
            search.table,
            hidden=dict(found.sizes),
            initial=_initial(search, found),
            starts=1,
            prior=search.score,
            accelerate=False,
            tolerance=WORTH,
            jobs=1,
            budget=search.run.seconds_left(),
        ).network
        network = said_by_kinds(learned, search.ground.scores)
        dressed = found.bare is not None and found.tried is not found.bare
        return with_hidden_families(network, found.tried.network, found.sizes) if dressed else network

    key = ("fitted", found.tried.graph.parent_map, tuple(found.sizes.items()), found.tried.score)
    return network_once(search.run, key, learned, search.table.states)


def _initial(search: Search, found: Found) -> Mapping[str, Any]:
    """The region's posteriors, by row of the whole table."""
    return {name: search.ground.posterior(found.tried, name) for name in found.sizes}


def findings(search: Search) -> Findings:
    """What was found, as frozen values, after a last refinement of several hidden variables together."""
    baseline = search.baseline
    attempts = tuple(search.attempts)
    if not search.found:
        return Findings((), baseline.network, baseline.score, baseline, attempts, search.plan.method, search.reason)
    if len(search.found) > 1:
        _refine_together(search)
    last, graph = search.found[-1], search.graph
    hidden = tuple(
        HiddenVariable(
            one.name,
            last.sizes[one.name],
            graph.children(one.name),
            graph.parents(one.name),
            one.gain,
            one.candidate.signature,
            one.start,
        )
        for one in search.found
    )
    network = search.networks[-1]
    return Findings(
        hidden,
        network,
        search.reached,
        baseline,
        attempts,
        search.plan.method,
        search.reason,
        network.log_likelihood(search.table),
        tuple(search.networks),
    )


def _refine_together(search: Search) -> None:
    """Structural EM over the neighbourhoods of all hidden variables at once, and each one's number of states anew: the
    first may have taken on what a later one explains better."""
    last = search.found[-1]
    screening = Screening(search.ground, search.plan, search.run, search.graph, search.baseline.score, {}, last.name)
    centre = centred_once(screening, last.tried.graph, last.sizes)
    again = dressed_once(screening, replace(last, tried=centre, bare=None))
    best = last if again.tried.score <= last.tried.score + WORTH else again
    for name in last.sizes:
        others = {other: states for other, states in best.sizes.items() if other != name}
        best = replace(best, name=name, sizes={**others, name: best.sizes[name]})
        best = _settled(screening, best, "settled together")
    linked = all(enough_neighbours(best.tried.graph, name) for name in last.sizes)
    if linked and best.tried is not last.tried:
        sizes = {name: best.sizes[name] for name in last.sizes}
        gain = last.gain + best.tried.score - last.tried.score
        search.found[-1] = replace(last, tried=best.tried, sizes=sizes, gain=gain, bare=best.bare)
        search.networks[-1] = _fitted(search, search.found[-1])
