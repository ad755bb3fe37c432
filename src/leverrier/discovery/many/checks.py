"""What simulated tables cannot ask of a hidden variable, asked of each in its own surroundings: held-out rows, rows
drawn anew, any function of the other columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
from leverrier.discovery.many.rounds import Rounds, fitted
from leverrier.discovery.many.scene import bare_scene, in_order, scene_of
from leverrier.discovery.many.shared_nulls import EVERY_BRANCH, free_in, groups_in
from leverrier.discovery.many.sibling_groups import SMALLEST
from leverrier.discovery.many.side_by_side import Sides, tried_side_by_side
from leverrier.discovery.many.spots import apart, tried_spots
from leverrier.discovery.many.surroundings import Surroundings, surroundings
from leverrier.discovery.plan import Plan
from leverrier.learning.structure.score import Score
from leverrier.models.network import Network
from leverrier.plain_values import plain, read_plain
from leverrier.run.event import Event
from leverrier.run.run import Run

FREELY = 1000
"""Hidden variables that are compared with free learners, if nothing speaks against them before."""
MANY, FEW = 16, 3
"""Where more than so many are, each takes seconds: then few of its columns are foretold, those that tell most of it."""
BELOW = 2
SHARED = 0.5
"""Of the neighbours of either, so many must be neighbours of both: then it came back."""


def checked(
    hidden: tuple[HiddenVariable, ...], network: Network, search: Rounds, tests: Tests, run: Run
) -> tuple[tuple[HiddenVariable, ...], Network]:
    """Each with all that speaks for it, and against it; and the network, fitted again where families of other kinds ask
    for another number of states."""
    places = _places(hidden, network, search, run)
    hidden, network = _restated(hidden, network, places, search)
    back = _came_back(hidden, search, tests.resamples, run) if tests.resamples else {}
    found: list[HiddenVariable] = []
    telling: dict[str, list[str]] = {}
    for number, each in enumerate(hidden):
        one = each.evidence
        assert one is not None
        shares = told_shares(network.posterior(search.table, each.name), search.table)
        one = replace(one, told_by=told_by(shares))
        if each.name in back:
            one = replace(one, support=back[each.name][0], links=back[each.name][1])
        if each.name in places and not run.spent:
            one = _in_its_place(one, each, places[each.name], network, search, tests, run)
            near = sorted(each.neighbours & set(shares), key=lambda name: (-shares[name], name))
            telling[each.name] = near
        found.append(replace(each, evidence=one))
        run.tell(Event.HELD_OUT_ROWS, (number + 1) / len(hidden))
    return _upper(_freely(found, telling, places, search, run), set(search.table.variables)), network


def _freely(
    hidden: list[HiddenVariable],
    telling: Mapping[str, list[str]],
    places: Mapping[str, Surroundings],
    search: Rounds,
    run: Run,
) -> list[HiddenVariable]:
    """Those that nothing speaks against so far beside any function of the other columns, all of them: a patch on what
    families say badly may gain more than what is truly hidden."""
    asked = [each for each in hidden if each.name in telling and each.believed][:FREELY]
    most = FEW if len(asked) > MANY else None
    calls, keys = [], []
    for each in asked:
        place, near = places[each.name], telling[each.name][:most]
        calls.append((place.network, near, place.table, search.score, search.plan.seed, place.rival, run.silent()))
        keys.append(("free learner there", each.name, tuple(near), place.network.graph.parent_map))
    answers = run.map(_against, calls, keys)
    said = {each.name: free for each, free in zip(asked, answers, strict=False)}  # (fewer if time runs out)
    found = []
    for each in hidden:
        one, free = each.evidence, said.get(each.name)
        if one is not None and free is not None:
            each = replace(each, evidence=replace(one, free=read_plain(free, FreeLearner)))
        found.append(each)
    return found


def _against(network: Network, near: list[str], table: Table, score: Score, seed: int, rival: Network, run: Run) -> Any:
    """As plain values, for a journal; None where rows are too few, or time."""
    said = against_free_learner(network, near, table, score, seed, rival, run)
    return None if said is None else plain(said)


def _places(hidden: tuple[HiddenVariable, ...], network: Network, search: Rounds, run: Run) -> dict[str, Surroundings]:
    """Those behind columns in their surroundings, as far as time allows."""
    assert search.baseline is not None
    table, before = search.table, search.baseline.graph
    columns, found = set(table.variables), {}
    for each in hidden:
        if len(each.neighbours & columns) >= SMALLEST and not run.spent:
            posterior = network.posterior(table, each.name)
            found[each.name] = surroundings(
                network.graph, posterior, each, table, before, search.score, search.plan, run
            )
    return found


def _restated(
    hidden: tuple[HiddenVariable, ...], network: Network, places: Mapping[str, Surroundings], search: Rounds
) -> tuple[tuple[HiddenVariable, ...], Network]:
    """With the number of states that is best in each one's surroundings, all fitted together again."""
    states = {each.name: places[each.name].states if each.name in places else each.states for each in hidden}
    if all(states[each.name] == each.states for each in hidden):
        return hidden, network
    initial = {
        each.name: network.posterior(search.table, each.name)
        if states[each.name] == each.states
        else places[each.name].posterior(each.name)
        for each in hidden
    }
    network, search.reached = fitted(search, network.graph, states, initial)
    return tuple(replace(each, states=states[each.name]) for each in hidden), network


def _upper(hidden: list[HiddenVariable], columns: set[str]) -> tuple[HiddenVariable, ...]:
    """Those of a layer above others stand on them: where fewer than two below are believed there is nothing to say of
    the one above."""
    found = {each.name: each for each in hidden}
    for each in hidden:  # (in the order of rounds: lower ones first)
        below = [name for name in each.neighbours if name in found]
        one = each.evidence
        if one is not None and not each.neighbours & columns and sum(found[v].believed for v in below) < BELOW:
            found[each.name] = replace(each, evidence=replace(one, over_kinds=0.0))
    return tuple(found.values())


def _in_its_place(
    one: Evidence, each: HiddenVariable, place: Surroundings, network: Network, search: Rounds, tests: Tests, run: Run
) -> Evidence:
    one = replace(one, over_kinds=place.gain)
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
    return one


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
