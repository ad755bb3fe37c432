"""What simulated tables cannot ask of a hidden variable, asked of each in its own surroundings: held-out rows, rows
drawn anew, any function of the other columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leverrier.data.table import Table
from leverrier.discovery.evidence.coarser_copy import told_by, told_shares
from leverrier.discovery.evidence.evidence import Evidence
from leverrier.discovery.evidence.free_learner import FreeLearner, against_free_learner
from leverrier.discovery.evidence.held_out import Gained, held_out_gain
from leverrier.discovery.evidence.resamples import drawn
from leverrier.discovery.examine import Tests
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.many.rounds import Rounds
from leverrier.discovery.many.scene import bare_scene, in_order, scene_of
from leverrier.discovery.many.shared_nulls import EVERY_BRANCH, free_in, groups_in
from leverrier.discovery.many.side_by_side import Sides, tried_side_by_side
from leverrier.discovery.many.spots import apart, tried_spots
from leverrier.discovery.plan import Plan
from leverrier.formats.typed import plain, read_plain
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.learn_structure import learn_structure
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.event import Event
from leverrier.run.run import Run

FREELY = 8
"""Hidden variables, the least sure ones first, that are compared with free learners: each takes seconds."""
SHARED = 0.5
"""Of the neighbours of either, so many must be neighbours of both: then it came back."""


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A hidden variable of columns, the columns next to it and theirs, cut out; its rival there knows no hidden one."""

    table: Table
    network: Network
    rival: Network


def checked(
    hidden: tuple[HiddenVariable, ...], network: Network, search: Rounds, tests: Tests, run: Run
) -> tuple[HiddenVariable, ...]:
    """Each with all that speaks for it, and against it."""
    back = _came_back(hidden, search, tests.resamples, run) if tests.resamples else {}
    doubtful = sorted(hidden, key=lambda each: each.gain)[:FREELY]
    found = []
    for number, each in enumerate(hidden):
        one = each.evidence
        assert one is not None
        one = replace(one, told_by=told_by(told_shares(network.posterior(search.table, each.name), search.table)))
        if each.name in back:
            one = replace(one, support=back[each.name][0], links=back[each.name][1])
        columns = [name for name in (*each.children, *each.parents) if name in search.table.variables]
        if len(columns) == len(each.neighbours) and not run.spent:
            one = _in_its_place(one, each, network, search, tests, each in doubtful, run)
        found.append(replace(each, evidence=one))
        run.tell(Event.HELD_OUT_ROWS, (number + 1) / len(hidden))
    return tuple(found)


def _in_its_place(
    one: Evidence, each: HiddenVariable, network: Network, search: Rounds, tests: Tests, freely: bool, run: Run
) -> Evidence:
    place = surroundings(network, each, search.table, search.score, run)
    key = (each.name, network.graph.parent_map)
    if tests.held_out:
        gained: Gained | None = run.once(
            ("held out there", *key),
            lambda: held_out_gain(place.network, place.rival, place.table, search.score, search.plan, run=run),
            lambda said: said,
            lambda piece: (piece[0], (piece[1][0], piece[1][1])),
            lambda: None,
        )
        if gained is not None:
            one = replace(one, held_out=gained[0], held_out_interval=gained[1])
    if freely:
        near = [name for name in (*each.children, *each.parents) if name in place.table.variables]
        free = run.once(
            ("free learner there", *key),
            lambda: against_free_learner(place.network, near, place.table, search.score, search.plan.seed, place.rival),
            lambda said: None if said is None else plain(said),
            lambda piece: None if piece is None else read_plain(piece, FreeLearner),
            lambda: None,
        )
        one = replace(one, free=free)
    return one


def surroundings(network: Network, each: HiddenVariable, table: Table, score: Score, run: Run) -> Surroundings:
    """It with the columns next to it and the columns that drive those, and the best network of the same columns, of
    families of any kind. What those further columns share among themselves is the same for both."""
    graph, name = network.graph, each.name
    near = [v for v in each.neighbours if v in table.variables]
    above = {p for v in near for p in graph.parents(v) if p in table.variables}
    columns = sorted({*near, *above})
    part = table.select(columns)
    far = [v for v in columns if v not in near]
    between = learn_structure(part.select(far), score, jobs=1).network.graph if far else None
    own = {v: [p for p in graph.parents(v) if p in {*columns, name}] for v in near}
    own |= {v: [] if between is None else list(between.parents(v)) for v in far}
    own[name] = [p for p in graph.parents(name) if p in columns]
    whole = Graph.from_parents({v: own[v] for v in (*columns, name)})
    posterior = network.posterior(table, name)
    found = fit(
        whole,
        part,
        hidden={name: each.states},
        initial={name: posterior},
        starts=1,
        prior=score,
        accelerate=1.0,
        tolerance=1e-2,
        jobs=1,
    ).network
    rival = learn_structure(part, score, method="auto", families="auto", jobs=1, budget=run.seconds_left()).network
    return Surroundings(part, found, rival)


def _came_back(
    hidden: tuple[HiddenVariable, ...], search: Rounds, resamples: int, run: Run
) -> dict[str, tuple[float, dict[str, float]]]:
    """By hidden variable of columns, the share of resamples in which one with mostly the same neighbours is found by
    the quick pass, and by column how often it is next to it."""
    seeds = np.random.SeedSequence([search.plan.seed, 71]).spawn(resamples)
    calls = [(search.table, search.score, search.plan, run.silent(), seed) for seed in seeds]
    keys = [("resampled together", *seed.spawn_key) for seed in seeds]
    runs: list[Any] = [each for each in run.map(_places_again, calls, keys) if each is not None]
    run.tell(Event.RESAMPLES, len(runs) / resamples)
    if not runs:
        return {}
    found = {}
    for each in hidden:
        if not each.neighbours <= set(search.table.variables):
            continue
        back = [near for near in (_same(each.neighbours, run_) for run_ in runs) if near is not None]
        columns = sorted(each.neighbours.union(*back)) if back else sorted(each.neighbours)
        links = {column: sum(column in near for near in back) / len(runs) for column in columns}
        found[each.name] = (len(back) / len(runs), links)
    return found


def _places_again(
    table: Table, score: Score, plan: Plan, run: Run, seed: np.random.SeedSequence
) -> list[list[str]] | None:
    rows = in_order(drawn(table, np.random.default_rng(seed)))
    if len(table.variables) > EVERY_BRANCH:
        scene = bare_scene(rows, score, plan, run)
        tried = tried_side_by_side(Sides.of(scene, free_in(scene)), plan, run, strong=False)
    else:
        scene = scene_of(rows, None, score, plan, run, strong=False, seed=plan.seed)
        tried = tried_spots(scene, groups_in(scene), plan, run)
    taken, _ = apart(tried, scene.graph)
    return None if run.spent else [sorted(one.neighbours) for one in taken]


def _same(near: frozenset[str], run: list[list[str]]) -> frozenset[str] | None:
    for other in map(frozenset, run):
        if len(near & other) >= SHARED * len(near | other):
            return other
    return None
