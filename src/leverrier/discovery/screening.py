"""The hidden variable that gains most on a graph: every candidate tried briefly, the best ones at length."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from leverrier.data.checkpoint import marked
from leverrier.discovery.candidate import Candidate, Placement, candidates, put_in, put_in_elidan2000
from leverrier.discovery.findings import Attempt
from leverrier.discovery.pieces import once, read_graph, read_network, write_graph, write_network
from leverrier.discovery.plan import WORTH, Construction, Plan
from leverrier.discovery.region import Ground, Tried, try_region
from leverrier.discovery.unexplained import dependent_groups
from leverrier.model.graph import Graph

HUBS_CLIMBED = 3
"""Of the starts of a candidate (no arcs kept, or those of one member) this many are climbed, the best ones."""
MOST_CLIMBED = 80
"""Candidates that are climbed at all, in wide tables."""
DEEPENED = 8
"""Candidates that get more states, more starts and are centred again."""
SCREENED_STATES = 3
"""With two, a variable of three or four states may look worse than none; with three, one of two still shows. Behind
yes/no columns alone two are enough, and a third costs more than it tells."""
STATES_TRIED = (2, 3, 4)
LEAST_NEIGHBOURS = 3
"""With two, a hidden variable is only a table of lower rank."""
FEW = 4
"""With fewer candidates from the graph, groups of dependent columns are candidates too."""
SCREENING, DEEPENING = 0.1, 0.01
"""Nats that EM may leave when candidates are compared, and when the best of them are finished."""
ROUNDS = 30


@dataclass(frozen=True, eq=False)
class Found:
    """A hidden variable in place: the whole graph with it, and what it gains over the graph without."""

    name: str
    tried: Tried
    sizes: Mapping[str, int]
    gain: float
    candidate: Candidate
    start: str


@dataclass(frozen=True, eq=False)
class Screened:
    """A graph, and by the members of each candidate what it gained there at first."""

    graph: Graph
    gains: Mapping[frozenset[str], float]

    def hopeless(self, candidate: Candidate, graph: Graph) -> bool:
        """Whether it lost clearly on the earlier graph and nothing near it has changed: it would lose again."""
        lost = self.gains.get(candidate.members, 0.0) < -WORTH
        near = candidate.members | {p for v in candidate.members for p in graph.parents(v)}
        same = all(v in self.graph and self.graph.parents(v) == graph.parents(v) for v in near)
        return lost and same


@dataclass(frozen=True, eq=False)
class Screening:
    """One graph in which the next hidden variable is looked for. `sizes` are the hidden variables already in it."""

    ground: Ground
    plan: Plan
    graph: Graph
    score: float
    sizes: Mapping[str, int]
    name: str
    before: Screened | None = None
    """The screening of the graph before the last hidden variable was put in."""
    only: tuple[Candidate, ...] | None = None
    """The candidates, if they are known beforehand."""
    attempts: list[Attempt] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    """How many candidates were left when the time ran out; empty if none were."""
    seen: set[Graph] = field(default_factory=set)
    """Graphs that the climbs came through."""

    @cached_property
    def place(self) -> str:
        """What tells this screening's pieces of work from another's."""
        return marked(self.graph.parent_map, self.name, tuple(self.sizes.items()))


def best_hidden(screening: Screening) -> Found | str:
    """The hidden variable that gains most, or in words why there is none."""
    suggested = _suggested(screening)
    if not suggested:
        return "no candidates: no group of three columns hangs together"
    screened = _screen(screening, suggested)
    best = _distinct(screened)[:DEEPENED]
    deep = [found_once(screening, "deepened", one, _deepen) for one in best]
    helping = [one for one in deep if _linked(one) and one.gain > WORTH]
    if not helping and screening.cut:
        return f"cut short: the time ran out with {screening.cut[0]} candidates left to try"
    if not helping:
        return "none helped: no candidate scored above the best network without it"
    return max(helping, key=lambda one: one.gain)


def _suggested(screening: Screening) -> list[Candidate]:
    if screening.only is not None:
        return list(screening.only)
    found = candidates(screening.graph)
    if len(found) < FEW:
        found = candidates(screening.graph, dependent_groups(screening.ground.table))
    hidden = set(screening.sizes)
    before = screening.before
    return [
        one
        for one in found
        if len(one.members - hidden) >= 2 and not (before is not None and before.hopeless(one, screening.graph))
    ]


def _screen(screening: Screening, suggested: list[Candidate]) -> list[Found]:
    """Every candidate with a few states: EM from each start, structural EM from the best of them."""
    plan = screening.plan
    chosen = _most_promising(screening, suggested)
    results = []
    for number, candidate in enumerate(chosen):
        states = _first_states(screening, candidate)
        key = ("candidate", screening.place, tuple(sorted(candidate.members)))
        write, read = partial(_write_climbed, screening, set(screening.seen)), partial(_read_climbed, screening)
        end = once(plan, key, partial(_climb, screening, candidate, states, needed=not results), write, read)
        if end is None:
            screening.cut.append(len(chosen) - number)
            break
        plan.tell("candidates", (1 + number) / len(chosen))
        best, start = end
        sizes = {**screening.sizes, screening.name: states}
        found = Found(screening.name, best, sizes, best.score - screening.score, candidate, start)
        results.append(found)
        screening.attempts.append(_attempt(found, states))
    return sorted(results, key=lambda one: -one.gain)


def _climb(screening: Screening, candidate: Candidate, states: int, needed: bool) -> tuple[Tried, str] | None:
    """Where a candidate's climbs ended best, and how it was put in; None once time has run out, unless it is needed."""
    ends = _brief(screening, candidate, states)
    if not ends:
        return None
    if screening.plan.method != "fixed":
        ends = [(_try(screening, place, states, candidate, ROUNDS), place) for _, place in ends[:HUBS_CLIMBED]]
    best, place = max(ends, key=lambda pair: pair[0].score)
    return None if screening.plan.spent and not needed else (best, place.start)


def _write_climbed(screening: Screening, before: set[Graph], end: tuple[Tried, str] | None) -> dict[str, Any]:
    """With the graphs that were new to these climbs: later ones end there."""
    assert end is not None
    new = [write_graph(graph) for graph in screening.seen - before]
    return {"tried": _write_tried(screening, end[0]), "start": end[1], "seen": new}


def _read_climbed(screening: Screening, piece: dict[str, Any]) -> tuple[Tried, str]:
    screening.seen.update(read_graph(graph) for graph in piece["seen"])
    return _read_tried(screening, piece["tried"]), str(piece["start"])


def found_once(screening: Screening, kind: str, one: Found, improve: Callable[[Screening, Found], Found]) -> Found:
    """A hidden variable improved, or as it was improved before; as it was if time has run out."""
    return once(
        screening.plan, (kind, screening.place, one.tried.graph, tuple(one.sizes.items()), one.tried.score),
        lambda: improve(screening, one), lambda found: _write_tried(screening, found.tried),
        lambda piece: replaced(screening, one, _read_tried(screening, piece)), lambda: one,
    )  # fmt: skip


def _write_tried(screening: Screening, tried: Tried) -> dict[str, Any]:
    network = write_network(tried.network, screening.ground.table.states)
    return {"graph": write_graph(tried.graph), "score": tried.score, "network": network, "columns": tried.columns}


def _read_tried(screening: Screening, piece: dict[str, Any]) -> Tried:
    network = read_network(piece["network"], screening.ground.table.states)
    return Tried(read_graph(piece["graph"]), float(piece["score"]), network, tuple(piece["columns"]))


def _first_states(screening: Screening, candidate: Candidate) -> int:
    if screening.plan.cardinality != "auto":
        return screening.plan.cardinality
    labels = screening.ground.table.states
    binary = all(len(labels[name]) <= 2 for name in candidate.members if name in labels)
    return 2 if binary else SCREENED_STATES


def _most_promising(screening: Screening, suggested: list[Candidate]) -> list[Candidate]:
    """In wide tables there are too many to climb: those that EM alone, without any arcs kept, says most for."""
    if len(suggested) <= MOST_CLIMBED:
        return suggested
    judged = []
    for number, candidate in enumerate(suggested):
        key = ("glance", screening.place, tuple(sorted(candidate.members)))
        reached = once(screening.plan, key, partial(_glance, screening, candidate))
        if reached is None:
            break
        judged.append((reached, -number))
        screening.plan.tell("candidates, at a glance", (1 + number) / len(suggested))
    return [suggested[-number] for _, number in sorted(judged, reverse=True)[:MOST_CLIMBED]]


def _glance(screening: Screening, candidate: Candidate) -> float | None:
    """What EM alone says for a candidate; None once time has run out."""
    ends = _brief(screening, candidate, _first_states(screening, candidate), places=1)
    return ends[0][0].score if ends else None


def _brief(
    screening: Screening, candidate: Candidate, states: int, places: int | None = None
) -> list[tuple[Tried, Placement]]:
    """A candidate's placements with EM alone, the best first; none once time has run out."""
    if screening.plan.spent:
        return []
    found = _placements(screening.plan.construction, screening.graph, candidate, screening.name)[:places]
    ends = [(_try(screening, place, states, candidate, 0), place) for place in found]
    return sorted(ends, key=lambda pair: -pair[0].score)


def _attempt(found: Found, states: int) -> Attempt:
    neighbours = tuple(sorted(found.tried.graph.neighbours(found.name)))
    members = tuple(sorted(found.candidate.members))
    return Attempt(members, found.candidate.signature, found.start, states, found.gain, neighbours)


def _placements(construction: Construction, graph: Graph, candidate: Candidate, name: str) -> list[Placement]:
    if construction == "elidan2000":
        return [put_in_elidan2000(graph, candidate.members, name)]
    hubs: list[str | None] = [None]
    if not candidate.whole:
        hubs += sorted(candidate.members)
    return [put_in(graph, candidate.members, name, hub) for hub in hubs]


def _try(screening: Screening, place: Placement, states: int, candidate: Candidate, rounds: int) -> Tried:
    graph = place.graph
    region = set(candidate.members) | {p for v in candidate.members for p in graph.parents(v)}
    if screening.plan.method == "full" and rounds:
        region = set(graph.nodes)
    hidden = {**screening.sizes, screening.name: states}
    return try_region(
        screening.ground, graph, hidden, region, merged=screening.name if rounds else None, starts=2 if rounds else 1,
        max_rounds=rounds, tolerance=SCREENING, seen=screening.seen if rounds else None, seed=screening.plan.seed,
    )  # fmt: skip


def _deepen(screening: Screening, one: Found) -> Found:
    """More states, more starts, and the region centred again on the variable's new neighbourhood until that stops."""
    plan = screening.plan
    counts = STATES_TRIED if plan.cardinality == "auto" else (plan.cardinality,)
    if plan.method == "fixed":
        runs = [centred(screening, one.tried.graph, with_states(one, k), rounds=0) for k in counts]
        return replaced(screening, one, max([one.tried, *runs], key=lambda tried: tried.score))
    best = one.tried
    for states in counts:
        for start in (one.tried.graph, best.graph):
            if plan.spent:
                break
            best = climbed(screening, start, with_states(one, states), best) or best
    return replaced(screening, one, best)


def climbed(
    screening: Screening, start: Graph, sizes: Mapping[str, int], best: Tried | None, rounds: int = ROUNDS
) -> Tried | None:
    """Centred again and again as long as it gains; the best so far if it does not."""
    tried = centred(screening, start, sizes, rounds)
    newest = list(sizes)[-1]
    while (best is None or tried.score > best.score + WORTH) and enough_neighbours(tried.graph, newest):
        best = tried
        if screening.plan.spent:
            break
        if not rounds:
            break
        tried = centred(screening, best.graph, sizes, rounds)
    return best


def centred(screening: Screening, graph: Graph, sizes: Mapping[str, int], rounds: int = ROUNDS) -> Tried:
    """Structural EM over the hidden variables' neighbourhoods and their parents."""
    region = {v for name in sizes for v in (*graph.blanket(name), *graph.neighbours(name))}
    region |= {p for v in region for p in graph.parents(v)}
    newest = list(sizes)[-1]
    return try_region(screening.ground, graph, sizes, region, merged=newest, starts=3, max_rounds=rounds,
                      tolerance=DEEPENING, seed=screening.plan.seed)  # fmt: skip


def centred_once(screening: Screening, graph: Graph, sizes: Mapping[str, int]) -> Tried:
    """The same, or as it came out before."""
    key = ("centred", screening.place, graph, tuple(sizes.items()))
    write, read = partial(_write_tried, screening), partial(_read_tried, screening)
    return once(screening.plan, key, lambda: centred(screening, graph, sizes), write, read)


def with_states(one: Found, states: int) -> dict[str, int]:
    return {**one.sizes, one.name: states}


def replaced(screening: Screening, one: Found, best: Tried) -> Found:
    sizes = {name: best.network.cardinality(name) for name in one.sizes}
    return replace(one, tried=best, sizes=sizes, gain=best.score - screening.score)


def _linked(one: Found) -> bool:
    """Whether each hidden variable has neighbours enough: a new one may have taken those of one before it."""
    return all(enough_neighbours(one.tried.graph, name) for name in one.sizes)


def enough_neighbours(graph: Graph, name: str) -> bool:
    return len(graph.neighbours(name)) >= LEAST_NEIGHBOURS


def _distinct(screened: list[Found]) -> list[Found]:
    """Without those that ended in the same place, or in none."""
    seen: set[object] = set()
    kept = []
    for one in screened:
        key = (one.tried.graph, tuple(sorted(one.sizes.items())))
        if _linked(one) and key not in seen:
            seen.add(key)
            kept.append(one)
    return kept
