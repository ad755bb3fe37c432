"""The hidden variable that gains most on a graph: every candidate tried briefly, the best ones at length."""

from __future__ import annotations

from functools import partial
from typing import Any

from leverrier.discovery.findings import Attempt
from leverrier.discovery.places.candidate import Candidate, Placement, candidates, put_in, put_in_elidan2000
from leverrier.discovery.places.deepening import (
    ROUNDS,
    Found,
    Screening,
    deepen,
    found_once,
    improvement,
    linked,
    read_tried,
    renewed,
    replaced,
    write_tried,
)
from leverrier.discovery.places.dependent_groups import dependent_groups
from leverrier.discovery.places.dressing import dressed_once, dresses
from leverrier.discovery.places.region import Passed, Tried, try_region
from leverrier.discovery.places.remote import Elsewhere
from leverrier.discovery.plan import WORTH, Construction
from leverrier.discovery.verdict import Reason
from leverrier.models.graph import Graph
from leverrier.run.event import Event

MOST_CLIMBED = 80
"""Candidates that are climbed at all, in wide tables."""
SCREENED_STATES = 3
"""With two, a variable of three or four states may look worse than none; with three, one of two still shows. Behind
yes/no columns alone two are enough, and a third costs more than it tells."""
RENEWED = 3
"""Candidates, the best ones, that are climbed again from several starts."""
DRESSED = 3
"""Candidates whose families are said by any kind, where the rival's are: the best with tables alone."""
FEW = 4
"""With fewer candidates from the graph, groups of dependent columns are candidates too."""
TOLERANCE = 0.1
"""Nats that EM may leave when candidates are compared."""


def best_hidden(screening: Screening) -> Found | Reason:
    """The hidden variable that gains most, or why there is none."""
    suggested = _suggested(screening)
    if not suggested:
        return Reason.NO_CANDIDATES
    there = Elsewhere.of(screening)
    screened = _screen(screening, there, suggested)
    deep = _deepened(screening, there, _distinct(screened)[: screening.plan.deepened])
    deep = _renewed(screening, [one for one in deep if linked(one)])
    if dresses(screening):
        best = sorted(deep, key=lambda one: -one.gain)[:DRESSED]
        deep = [dressed_once(screening, one) for one in (*best, *_by_tables(screening))]
    helping = [one for one in deep if one.gain > WORTH]
    if not helping and screening.cut:
        return Reason.TIME
    if not helping:
        return Reason.NO_GAIN
    return max(helping, key=lambda one: one.gain)


def _by_tables(screening: Screening) -> list[Found]:
    """The variable put where a search with tables on both sides has it: there it is not at a disadvantage."""
    if screening.by_tables is None:
        return []
    candidate, states = screening.by_tables
    ends = _brief(screening, candidate, states)[:1]
    sizes = {**screening.sizes, screening.name: states}
    found = [
        Found(screening.name, tried, sizes, tried.score - screening.score, candidate, place.start)
        for tried, place in ends
    ]
    return [one for one in found if linked(one)]


def _renewed(screening: Screening, deep: list[Found]) -> list[Found]:
    """The best of those that help climbed from starts of their own, and the others."""
    ranked = sorted(deep, key=lambda one: -one.gain)
    best = [one for one in ranked[:RENEWED] if one.gain > WORTH and screening.plan.renewed]
    again = [(one, found_once(screening, "renewed", one, renewed)) for one in best]
    return [after if linked(after) else one for one, after in again] + ranked[len(best) :]


def _deepened(screening: Screening, there: Elsewhere, best: list[Found]) -> list[Found]:
    """Each improved at length; as it is, where time ran out."""
    keys = [improvement(screening, "deepened", one) for one in best]
    tried = screening.run.in_order(
        partial(_deep, screening),
        partial(there, _deep),
        [(one,) for one in best],
        keys,
        partial(write_tried, screening),
        partial(read_tried, screening),
    )
    deep = [replaced(screening, one, end) for one, end in zip(best, tried, strict=False)]
    return deep + best[len(deep) :]


def _deep(screening: Screening, one: Found) -> Tried:
    screening.ground.forget()
    return deepen(screening, one).tried


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


def _screen(screening: Screening, there: Elsewhere, suggested: list[Candidate]) -> list[Found]:
    """Every candidate with a few states: EM from each start, structural EM from the best of them."""
    chosen = _most_promising(screening, there, suggested)
    keys = [("candidate", screening.place, tuple(sorted(candidate.members))) for candidate in chosen]
    calls = [(candidate, number == 0) for number, candidate in enumerate(chosen)]
    ends = screening.run.in_order(
        partial(_climb, screening),
        partial(there, _climb),
        calls,
        keys,
        partial(_write_climbed, screening),
        partial(_read_climbed, screening),
    )
    results = []
    for candidate, end in zip(chosen, ends, strict=False):
        if end is None:
            break
        screening.run.tell(Event.CANDIDATES, (1 + len(results)) / len(chosen))
        best, start = end
        states = _first_states(screening, candidate)
        sizes = {**screening.sizes, screening.name: states}
        found = Found(screening.name, best, sizes, best.score - screening.score, candidate, start)
        results.append(found)
        screening.attempts.append(_attempt(found, states))
    if len(results) < len(chosen):
        screening.cut.append(len(chosen) - len(results))
    return sorted(results, key=lambda one: -one.gain)


def _climb(screening: Screening, candidate: Candidate, needed: bool) -> tuple[Tried, str] | None:
    """Where a candidate's climbs ended best, and how it was put in; None once time has run out, unless it is needed."""
    states = _first_states(screening, candidate)
    ends = _brief(screening, candidate, states)
    if not ends:
        return None
    if screening.plan.method != "fixed":
        seen = Passed()
        best = [place for _, place in ends[: screening.plan.placements]]
        ends = [(_try(screening, place, states, candidate, ROUNDS, seen), place) for place in best]
    best, place = max(ends, key=lambda pair: pair[0].score)
    return None if screening.run.spent and not needed else (best, place.start)


def _write_climbed(screening: Screening, end: tuple[Tried, str] | None) -> dict[str, Any]:
    assert end is not None
    return {"tried": write_tried(screening, end[0]), "start": end[1]}


def _read_climbed(screening: Screening, piece: dict[str, Any]) -> tuple[Tried, str]:
    return read_tried(screening, piece["tried"]), str(piece["start"])


def _first_states(screening: Screening, candidate: Candidate) -> int:
    if screening.plan.cardinality != "auto":
        return screening.plan.cardinality
    labels = screening.ground.table.states
    binary = all(len(labels[name]) <= 2 for name in candidate.members if name in labels)
    return 2 if binary else SCREENED_STATES


def _most_promising(screening: Screening, there: Elsewhere, suggested: list[Candidate]) -> list[Candidate]:
    """In wide tables there are too many to climb: those that EM alone, without any arcs kept, says most for."""
    if len(suggested) <= MOST_CLIMBED:
        return suggested
    keys = [("glance", screening.place, tuple(sorted(candidate.members))) for candidate in suggested]
    calls = [(candidate,) for candidate in suggested]
    judged = []
    for reached in screening.run.in_order(partial(_glance, screening), partial(there, _glance), calls, keys):
        if reached is None:
            break
        judged.append((reached, -len(judged)))
        screening.run.tell(Event.GLANCE, len(judged) / len(suggested))
    return [suggested[-number] for _, number in sorted(judged, reverse=True)[:MOST_CLIMBED]]


def _glance(screening: Screening, candidate: Candidate) -> float | None:
    """What EM alone says for a candidate; None once time has run out."""
    ends = _brief(screening, candidate, _first_states(screening, candidate), places=1)
    return ends[0][0].score if ends else None


def _brief(
    screening: Screening, candidate: Candidate, states: int, places: int | None = None
) -> list[tuple[Tried, Placement]]:
    """A candidate's placements with EM alone, the best first; none once time has run out."""
    if screening.run.spent:
        return []
    screening.ground.forget()
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


def _try(
    screening: Screening, place: Placement, states: int, candidate: Candidate, rounds: int, seen: Passed | None = None
) -> Tried:
    """Structural EM from a placement, so many rounds. `seen` are graphs that the candidate's other climbs came
    through: going on from one of them would end where that climb did."""
    graph = place.graph
    region = set(candidate.members) | {p for v in candidate.members for p in graph.parents(v)}
    if screening.plan.method == "full" and rounds:
        region = set(graph.nodes)
    hidden = {**screening.sizes, screening.name: states}
    return try_region(
        screening.ground,
        graph,
        hidden,
        region,
        merged=screening.name if rounds else None,
        starts=1 + screening.plan.random_starts if rounds else 1,
        max_rounds=rounds,
        evaluations=screening.plan.evaluations if rounds else screening.plan.brief_evaluations,
        tolerance=TOLERANCE,
        seen=seen,
        seed=screening.plan.seed,
    )


def _distinct(screened: list[Found]) -> list[Found]:
    """Without those that ended in the same place, or in none."""
    seen: set[object] = set()
    kept = []
    for one in screened:
        key = (one.tried.graph, tuple(sorted(one.sizes.items())))
        if linked(one) and key not in seen:
            seen.add(key)
            kept.append(one)
    return kept
