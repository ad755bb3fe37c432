"""Round after round: all candidates that do not overlap are tested together, and those accepted are in the next
round's network, as columns whose states are drawn; there their own parents are looked for, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from leverrier.data.table import Table
from leverrier.discovery.evidence.evidence import Evidence
from leverrier.discovery.evidence.null_test import WORTH_A_TEST
from leverrier.discovery.findings import Attempt, Baseline
from leverrier.discovery.many.first_sight import kept
from leverrier.discovery.many.scene import ALL_PAIRS, Known, Scene, scene_of
from leverrier.discovery.many.shared_nulls import EVERY_BRANCH, SharedNull, free_in, groups_in, shared_tests
from leverrier.discovery.many.side_by_side import Sides, tried_side_by_side
from leverrier.discovery.many.spots import NEW, Spot, apart, improved, merged, posteriors, tried_spots
from leverrier.discovery.network_codecs import scored_network_once
from leverrier.discovery.places.baseline import hidden_name, learn_baseline, thinned
from leverrier.discovery.plan import WORTH, Plan
from leverrier.discovery.verdict import Reason
from leverrier.errors import LeverrierError
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.run import Run

MOST_ROUNDS = 6
REPAIRS = 2
"""How often a round may begin again because its hidden variables showed a better network without them."""
UNTESTED = 10.0
"""Nats that a variable must gain where none is tested."""
TOLERANCE = 1e-2


@dataclass(frozen=True, eq=False)
class Accepted:
    """A hidden variable that was taken: when, what it gained, and what its test says."""

    name: str
    round: int
    gain: float
    members: frozenset[str]
    evidence: Evidence
    start: str


@dataclass(eq=False)
class Rounds:
    """A search for many under way."""

    table: Table
    """Complete, columns in order of their names."""
    score: Score
    plan: Plan
    run: Run
    draws: int
    level: float
    baseline: Baseline | None = None
    known: Known | None = None
    reached: float = 0.0
    """The score of the network with what is known."""
    accepted: list[Accepted] = field(default_factory=list)
    rejected: list[tuple[Spot, Evidence, int]] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    reason: Reason = Reason.ENOUGH
    done: int = 0
    """Rounds that were gone through."""
    cut: bool = False
    beside: bool = False
    """Whether this round's groups were tried side by side."""
    steps: list[Network] = field(default_factory=list)
    """The network before each round."""

    @property
    def network(self) -> Network:
        assert self.baseline is not None
        return self.baseline.network if self.known is None else self.known.network


def go_round(search: Rounds) -> None:
    """Rounds until one accepts nothing."""
    while search.done < MOST_ROUNDS and len(search.accepted) < search.plan.max_hidden:
        scene, spots = _best_spots(search)
        search.done += 1
        spots = spots[: search.plan.max_hidden - len(search.accepted)]
        if search.run.spent:
            search.cut, search.reason = True, Reason.TIME
        if not spots:
            search.reason = search.reason if search.cut else Reason.NO_GAIN
            return
        passed = _tested(search, scene, spots)
        if not passed:
            return
        _take(search, scene, passed)
        if search.cut:
            return


def _best_spots(search: Rounds) -> tuple[Scene, list[Spot]]:
    """The places of this round, on the best network without them that they show."""
    plan, run = search.plan, search.run
    scene = scene_of(search.table, search.known, search.score, plan, run, strong=True, seed=plan.seed)
    spots: list[Spot] = []
    for again in range(1 + REPAIRS):
        first = _first_spots(search, scene)
        spots, _ = apart(improved([one for one in first if one.gain > WORTH_A_TEST], plan, run), scene.graph)
        settled = not spots or search.known is not None or search.beside or again == REPAIRS
        rival = None if settled else _rival(search, scene, spots)
        if rival is None:
            break
        scene = replace(scene, baseline=rival)
    if search.baseline is None:
        search.baseline = scene.baseline
    return scene, spots


def _first_spots(search: Rounds, scene: Scene) -> list[Spot]:
    """Quick tries that do not overlap: of each group by itself; side by side in wide tables, and where more gain so."""
    plan, run = search.plan, search.run
    search.beside = len(search.table.variables) > EVERY_BRANCH
    tried = [] if search.beside else tried_spots(scene, groups_in(scene), plan, run)
    first, _ = apart(tried, scene.graph)
    sides = Sides.of(scene, free_in(scene))
    if search.beside or len(sides.groups) > len(first):
        beside = tried_side_by_side(sides, plan, run, strong=True)
        taken, _ = apart(beside, scene.graph)
        if search.beside or sum(one.gain > WORTH_A_TEST for one in taken) > len(first):
            search.beside, tried, first = True, beside, taken
    search.attempts += [_attempt(one) for one in tried]
    return first


def _rival(search: Rounds, scene: Scene, spots: Sequence[Spot]) -> Baseline | None:
    """A better network without the new ones, if searching on from what is left when they are dropped finds one: bare,
    and with their children tied to each other."""
    names = [f"{NEW} {n}" for n in range(len(spots))]
    graph = merged(scene.graph, spots, names)
    if graph is None or len(scene.table.variables) > ALL_PAIRS:
        return None
    bare = Graph.from_parents({v: [p for p in graph.parents(v) if p not in names] for v in graph if v not in names})
    tied = graph
    for name in names:
        tied = tied.without(name)
    before, ground = scene.baseline, scene.ground
    for start in (bare, thinned(tied, ground.scores)):
        if search.run.spent:
            break
        again = learn_baseline(ground.table, ground.scores, search.plan, search.run, start)
        gained = again.score - before.score
        if gained > WORTH:
            return replace(again, spread=max(before.spread, gained), repaired=before.repaired + gained)
    return None


def _tested(search: Rounds, scene: Scene, spots: Sequence[Spot]) -> list[tuple[Spot, Evidence]]:
    if not search.draws:
        passed = [(one, Evidence(one.gain)) for one in spots if one.found.gain > UNTESTED]
        search.reason = search.reason if passed else Reason.SMALL_GAIN
        return passed
    keeps = kept(scene, spots, search.score, search.plan, search.run, search.done)
    refused, spots = keeps.count(False), [one for one, stays in zip(spots, keeps, strict=True) if stays]
    if not spots:
        search.reason = Reason.RIVAL
        return []
    silent = search.run.silent()
    network = search.network if search.known is not None else scene.baseline.network
    null = SharedNull(network, search.known, search.table, search.score, search.plan, silent, search.beside)
    about = (search.done, network.graph.parent_map)
    evidence = shared_tests(spots, null, search.draws, search.level, search.run, about, refused)
    passed = [(one, said) for one, said in zip(spots, evidence, strict=True) if said.accepted]
    search.rejected += [
        (one, said, search.done) for one, said in zip(spots, evidence, strict=True) if not said.accepted
    ]
    if search.run.spent:
        search.cut = True
    if not passed:
        search.reason = Reason.TIME if search.cut else Reason.RIVAL if refused else Reason.COMPRESSOR
    return passed


def _take(search: Rounds, scene: Scene, passed: Sequence[tuple[Spot, Evidence]]) -> None:
    """Put them in, fit all together, and look what arcs there are between hidden variables and other columns."""
    spots = [one for one, _ in passed]
    names: list[str] = []
    for number in range(len(spots)):
        taken = Graph.from_edges([*scene.table.variables, *names], ())
        names.append(hidden_name(taken, len(search.accepted) + number))
    graph = merged(scene.graph, spots, names)
    assert graph is not None
    for name in names:
        graph = _above(graph, name, scene.hidden)
    sizes = {**scene.hidden, **{name: one.found.sizes[NEW] for name, one in zip(names, spots, strict=True)}}
    search.steps.append(search.network)
    initial = dict(posteriors(spots, names))
    if search.known is not None:
        initial |= {name: search.known.network.posterior(search.table, name) for name in search.known.hidden}
    network, reached = fitted(search, graph, sizes, initial)
    levels = dict(scene.levels)
    for name, one in zip(names, spots, strict=True):
        levels[name] = 1 + max((scene.levels.get(v, 0) for v in one.members), default=0)
    search.known, search.reached = Known(network, sizes, levels), reached
    for name, (one, said) in zip(names, passed, strict=True):
        search.accepted.append(Accepted(name, search.done, one.found.gain, one.members, said, one.found.start))
    _linked(search)


def _above(graph: Graph, name: str, hidden: Mapping[str, int]) -> Graph:
    """With arcs from the new one to the hidden variables it was found behind: which way an arc points scores the same
    where it closes no collider, and in a layer above others it points down. As it is where that would close a
    circle."""
    below = [v for v in graph.parents(name) if v in hidden]
    turned = {name: [p for p in graph.parents(name) if p not in below]}
    turned |= {v: [*graph.parents(v), name] for v in below}
    try:
        return graph.with_parents(turned)
    except LeverrierError:
        return graph


def _linked(search: Rounds) -> None:
    """Arcs among hidden variables, and then from them to columns of others, where all together score better with them.
    In this order: as long as cousins are not linked, each seems to drive the other's columns."""
    plan = search.plan
    for turn, within in enumerate((True, False)):
        known = search.known
        assert known is not None
        if search.run.spent:
            return
        scene = scene_of(
            search.table, known, search.score, plan, search.run, strong=True, seed=plan.seed + 1 + turn, within=within
        )
        if scene.graph.parent_map == known.network.graph.parent_map:
            continue
        initial = {name: known.network.posterior(search.table, name) for name in known.hidden}
        network, reached = fitted(search, scene.graph, known.hidden, initial)
        if reached > search.reached:
            search.known, search.reached = replace(known, network=network), reached


def fitted(search: Rounds, graph: Graph, sizes: Mapping[str, int], initial: Mapping[str, Any]) -> tuple[Network, float]:
    """EM on the whole network, every hidden variable at once, and its Cheeseman–Stutz score."""

    def learned() -> tuple[Network, float]:
        found = fit(
            graph,
            search.table,
            hidden=dict(sizes),
            initial=initial,
            starts=1,
            prior=search.score,
            score=search.score,
            accelerate=1.0,
            tolerance=TOLERANCE,
            jobs=1,
            budget=search.run.seconds_left(),
        )
        return found.network, found.score

    key = ("fitted together", graph.parent_map, tuple(sizes.items()))
    return scored_network_once(search.run, key, partial(learned), search.table.states)


def _attempt(one: Spot) -> Attempt:
    near = tuple(sorted(one.neighbours))
    found = one.found
    return Attempt(tuple(sorted(one.members)), found.candidate.signature, found.start, found.sizes[NEW], one.gain, near)
