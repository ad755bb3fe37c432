"""Hidden variables tried in every group of siblings, and those that do not stand in each other's way taken together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

from leverrier.discovery.many.scene import Scene
from leverrier.discovery.places.candidate import Candidate, Suggested, put_in
from leverrier.discovery.places.deepening import (
    ROUNDS,
    Found,
    Screening,
    centred,
    deepen,
    enough_neighbours,
    read_tried,
    replaced,
    write_tried,
)
from leverrier.discovery.places.number_of_states import settled
from leverrier.discovery.places.region import Tried, try_region
from leverrier.discovery.plan import WORTH, Plan
from leverrier.errors import LeverrierError
from leverrier.models.graph import Graph
from leverrier.run.event import Event
from leverrier.run.run import Run

STATES = (2, 3)
"""Tried first; the number is settled for those that are taken."""
TOLERANCE = 0.1
HOPELESS = -50.0
"""Nats: a group that begins so far below what it must gain is not centred again; one that begins twice as far below
half of it is not given more states."""
NEW = "(a new hidden variable)"
"""What it is called until it is taken; those tried beside it are called so with a number."""


@dataclass(frozen=True, eq=False)
class Spot:
    """A hidden variable in its place, tried quickly; `found` as it was improved at length."""

    members: frozenset[str]
    gain: float
    """Of the quick try: what simulated tables are compared with."""
    found: Found
    scene: Scene
    """Where it was tried."""

    @property
    def neighbours(self) -> frozenset[str]:
        """Columns, and hidden variables that were accepted before; not those that are tried beside it."""
        near = self.found.tried.graph.neighbours(NEW)
        return frozenset(name for name in near if not name.startswith(NEW))


def screening_of(scene: Scene, plan: Plan, run: Run) -> Screening:
    return Screening(scene.ground, plan, run, scene.graph, scene.baseline.score, {}, NEW)


def tried_spots(scene: Scene, groups: Sequence[frozenset[str]], plan: Plan, run: Run) -> list[Spot]:
    """A quick try of every group, those that gain, the largest gain first. None where time ran out before the end."""
    screening = screening_of(scene, plan.light(), run)
    found: dict[tuple[frozenset[str], int], Spot] = {}
    for number, members in enumerate(groups):
        if run.late or run.stopped:
            break
        scene.ground.forget()
        spot = try_group(screening, members, scene)
        if spot is not None:
            same = (spot.neighbours, spot.found.sizes[NEW])
            if same not in found or found[same].gain < spot.gain:
                found[same] = spot
        run.tell(Event.CANDIDATES, (number + 1) / len(groups))
    return sorted(found.values(), key=lambda one: (-one.gain, sorted(one.members)))


def try_group(
    screening: Screening, members: frozenset[str], scene: Scene, alone: bool = False, least: float = 0.0
) -> Spot | None:
    """A hidden variable behind these columns, by structural EM around it; None if it does not gain. `alone`: begun also
    without any arc between its columns and others, over all of the scene, which must be small: where arcs from its
    cousins stand in for it, a climb that begins with them never drops all of them. `least`: what it must gain to be
    worth more than a first climb."""
    place = put_in(screening.graph, members, NEW)
    begun = [(place.graph, members)]
    if alone:
        begun.append((_by_itself(place.graph, members), frozenset(screening.graph)))
    best: Tried | None = None
    states = STATES[0]
    for k, (graph, region) in product(STATES, begun):
        if k > STATES[0] and best is not None and best.score - screening.score < 2 * HOPELESS + least / 2:
            break
        tried = try_region(
            screening.ground,
            graph,
            {NEW: k},
            region,
            merged=NEW,
            starts=1,
            max_rounds=ROUNDS,
            tolerance=TOLERANCE,
            evaluations=screening.plan.evaluations,
            seed=screening.plan.seed,
        )
        if best is None or tried.score > best.score:
            best, states = tried, k
    assert best is not None
    if best.score - screening.score > least + HOPELESS and enough_neighbours(best.graph, NEW):
        again = centred(screening, best.graph, {NEW: states})
        best = again if again.score > best.score and enough_neighbours(again.graph, NEW) else best
    gain = best.score - screening.score
    if gain <= WORTH or not enough_neighbours(best.graph, NEW):
        return None
    found = Found(NEW, best, {NEW: states}, gain, Candidate(members, Suggested.SHARED), place.start)
    return Spot(members, gain, found, scene)


def _by_itself(graph: Graph, members: frozenset[str]) -> Graph:
    """The members driven by the new variable alone, and driving nobody."""
    others = {v: [p for p in graph.parents(v) if p not in members] for v in graph if v not in members}
    return graph.with_parents({**others, **dict.fromkeys(members, (NEW,))})


def apart(spots: Iterable[Spot], graph: Graph, held: frozenset[str] = frozenset()) -> tuple[list[Spot], list[Spot]]:
    """Those that do not overlap, the larger gain first, and those that must wait for another round. Columns that are
    `held` may not be claimed."""
    taken: list[Spot] = []
    waiting: list[Spot] = []
    claimed = set(held)
    for spot in sorted(spots, key=lambda one: (-one.found.gain, sorted(one.members))):
        fits = not spot.neighbours & claimed and merged(graph, [*taken, spot], [str(n) for n in range(len(taken) + 1)])
        (taken if fits else waiting).append(spot)
        if fits:
            claimed |= spot.neighbours
    return taken, waiting


def merged(graph: Graph, spots: Sequence[Spot], names: Sequence[str]) -> Graph | None:
    """The graph with all of them; None if arcs then run in a circle."""
    parents: dict[str, tuple[str, ...]] = dict(graph.parent_map)
    for spot, name in zip(spots, names, strict=True):
        own = spot.found.tried.graph
        for node in own:
            above = tuple(name if p == NEW else p for p in own.parents(node) if p == NEW or not p.startswith(NEW))
            if node == NEW:
                parents[name] = above
            elif node.startswith(NEW):
                continue  # (another one that is tried beside it: links between them come later)
            elif spot.scene.graph is not graph:
                parents[node] = above if node in spot.members or name in above else parents[node]
            elif above != graph.parents(node) and (name in above or parents[node] == graph.parents(node)):
                parents[node] = above
    try:
        found = Graph.from_parents(parents)
        _ = found.order
    except LeverrierError:
        return None
    return found


def improved(spots: Sequence[Spot], plan: Plan, run: Run) -> list[Spot]:
    """Each at length: more starts, its region centred again, its number of states settled."""
    better = []
    for number, one in enumerate(spots):
        screening = screening_of(one.scene, plan, run)
        write, read = partial(write_tried, screening), partial(read_tried, screening)
        key = ("spot", screening.place, tuple(sorted(one.members)), one.gain)
        end = run.once(key, partial(_improved, screening, one.found), write, read, lambda one=one: one.found.tried)
        better.append(replace(one, found=replaced(screening, one.found, end)))
        run.tell(Event.STATES_TOGETHER, (number + 1) / len(spots), len(spots))
    return [one for one in better if enough_neighbours(one.found.tried.graph, NEW)]


def _improved(screening: Screening, one: Found) -> Tried:
    screening.ground.forget()
    return settled(screening, deepen(screening, one)).tried


def posteriors(spots: Sequence[Spot], names: Sequence[str]) -> Mapping[str, Any]:
    """By name, (rows, states) from the region it was found in."""
    return {name: one.scene.ground.posterior(one.found.tried, NEW) for one, name in zip(spots, names, strict=True)}
