"""From a questionnaire of several scales to a verdict: traits that go together, all at once, against the best network
of the columns."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from leverrier.data.table import Table
from leverrier.data.variable import free_name
from leverrier.discovery.done import Baseline, Sampled, Step, TraitsTogether
from leverrier.discovery.evidence.evidence import Evidence, Stopped, weighed
from leverrier.discovery.examine import Tests, shape_of
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.numbers.behind_hidden import BehindHidden
from leverrier.discovery.numbers.column_profile import column_profile, number_states
from leverrier.discovery.numbers.number_rival import NumberRival
from leverrier.discovery.numbers.number_rule import ROOM
from leverrier.discovery.plan import Plan
from leverrier.discovery.result import Result
from leverrier.discovery.traits.graded_columns import several_scales, whole_rows
from leverrier.discovery.traits.trait_kinds import Alone, alone
from leverrier.discovery.traits.trait_search import HOPELESS, WithTraits, first_rival, rival_of, shown, with_traits
from leverrier.discovery.traits.trait_tests import held_out_traits, left_out, null_traits, trait_null
from leverrier.discovery.verdict import ModelKind
from leverrier.learning.behind.space_block import block_of, known
from leverrier.learning.mixed.learn_mixed import mixed_network, space_of
from leverrier.learning.mixed.mixed_space import Space
from leverrier.models.behind.behind_model import BehindModel
from leverrier.run.event import Event
from leverrier.run.one_thread import one_thread
from leverrier.run.run import Run

SEVERAL = 2
"""Fewer traits than so many are the matter of other routes."""
MOST_ROWS = 5000
"""Of a longer table so many rows are drawn: what is there shows in these."""


@dataclass(frozen=True, eq=False)
class Claimed:
    """A trait that is told: its name, its items alone, what the table's score falls by without it."""

    name: str
    trait: int
    own: Alone
    gain: float


@one_thread
def examine_traits(table: Table, plan: Plan, tests: Tests, run: Run) -> Result | None:
    """Several traits behind the items of a questionnaire; None where nothing of the kind is there or stands its tests:
    then other routes have the word."""
    begun = time.monotonic()
    laid = whole_rows(_some_rows(table, plan.seed))
    items = several_scales(*laid) if laid is not None else ()
    if laid is None or not items or plan.max_hidden < SEVERAL:
        return None
    run.tell(Event.HIDDEN_NUMBERS, 0.0)
    space = space_of(laid[0], plan.seed)
    light = run.made(("traits light",), lambda: with_traits(space, items, light=True, run=run).score)
    first = run.made(("traits first rival",), lambda: first_rival(space, plan.seed, run))
    if light - first.total < HOPELESS or run.spent:
        return None
    hidden = run.made(("traits",), lambda: with_traits(space, items, run=run))
    rival = run.made(("traits rival",), lambda: rival_of(first, hidden, plan.seed, run))
    gain = hidden.score - rival.total
    if gain <= ROOM or run.spent:
        return None
    falls = {v: fall for v, fall in left_out(hidden, shown(hidden.traits), run).items() if fall > ROOM}
    if not SEVERAL <= len(falls) <= plan.max_hidden or run.spent:
        return None
    evidence = _evidence(space, hidden, rival, light - rival.total, plan, tests, run)
    if evidence is None:
        return None
    found = _result(table, laid[0], space, hidden, rival, falls, evidence, plan, tests)
    cut = run.spent or evidence.stopped is Stopped.BUDGET
    verdict = found.verdict.unfinished() if cut else found.verdict
    return replace(found, verdict=verdict, seconds=time.monotonic() - begun)


def _some_rows(table: Table, seed: int) -> Table:
    """At most so many, drawn at random."""
    if table.n_rows <= MOST_ROWS:
        return table
    return table.take(np.sort(np.random.default_rng([seed, 41]).choice(table.n_rows, MOST_ROWS, replace=False)))


def _evidence(
    space: Space, hidden: WithTraits, rival: NumberRival, light: float, plan: Plan, tests: Tests, run: Run
) -> Evidence | None:
    """Of all of them together; None where tests refuse them. `light` is what simulated tables are compared with.
    Held-out rows must speak for them clearly: simulated tables share what the network does not describe."""
    gain = hidden.score - rival.total
    if not tests.draws:
        return Evidence(gain)
    evidence = null_traits(trait_null(rival, hidden.items, run), light, tests.draws, tests.level, plan.seed, run)
    if not evidence.accepted:
        return None
    evidence = replace(evidence, claimed=gain)
    if tests.held_out and not run.spent:
        run.tell(Event.HELD_OUT_ROWS, 0.0)
        gained = held_out_traits(space, hidden.items, plan.seed, run)
        if gained is not None:
            mean, error = float(gained.mean()), float(gained.std() / np.sqrt(len(gained)))
            if mean - 1.96 * error <= 0:
                return None
            evidence = replace(evidence, held_out=mean, held_out_interval=(mean - 1.96 * error, mean + 1.96 * error))
    return evidence


def _result(
    table: Table,
    whole: Table,
    space: Space,
    hidden: WithTraits,
    rival: NumberRival,
    falls: dict[int, float],
    evidence: Evidence,
    plan: Plan,
    tests: Tests,
) -> Result:
    block = block_of(space)
    claimed: list[Claimed] = []
    for trait, fall in sorted(falls.items(), key=lambda pair: -pair[1]):
        name = free_name(f"H{len(claimed) + 1}", (*table.variables, *(each.name for each in claimed)))
        claimed.append(Claimed(name, trait, alone(block, hidden, trait, plan.seed), fall))
    model = _model(whole, space, hidden, claimed)
    variables = tuple(
        HiddenVariable(
            each.name,
            each.own.states,
            hidden.traits.children(each.trait),
            (),
            each.gain,
            "a continuum" if each.own.behind.latent.fixed else "classes",
            "items",
            evidence,
            kind=each.own.kind,
        )
        for each in claimed
    )
    meanings = {
        each.name: number_states(
            {name: model.profiles[name] for name in hidden.traits.children(each.trait)},
            model.behind[each.name].latent.shares,
        )
        for each in claimed
        if each.own.states
    }
    number = rival.numbers
    network = mixed_network(rival.scores, [[number[p] for p in rival.parents[name]] for name in space.names])
    arcs = sum(map(len, rival.parents.values()))
    did: tuple[Step, ...] = (
        *((Sampled(MOST_ROWS, learned=True),) if table.n_rows > MOST_ROWS else ()),
        Baseline(arcs, numbers=True),
        TraitsTogether(len(claimed), hidden.traits.count, space.n_rows, round(hidden.score - rival.total, 3)),
    )
    return Result(
        verdict=weighed([evidence], asked=not tests.none),
        kind=ModelKind.NUMBERS,
        hidden=variables,
        compressors=(),
        network=network,
        baseline=network,
        score=hidden.score,
        baseline_score=rival.total,
        spread=0.0,
        repaired=0.0,
        shape=shape_of(table),
        meanings=meanings,
        did=did,
        other=model,
    )


def _model(table: Table, space: Space, hidden: WithTraits, claimed: list[Claimed]) -> BehindHidden:
    """What answers for rows: each trait's own items, how traits go together, and the network of all other columns."""
    columns = tuple(known(column) for column in space.columns)
    place = {column.name: column for column in table.columns}
    variables = tuple(place[name] for name in space.names)
    behind = {
        each.name: BehindModel(columns, each.own.behind.latent, each.own.behind.links, each.own.behind.fits, variables)
        for each in claimed
    }
    scores, parents = hidden.beside.scores, hidden.parents()
    number = {name: at for at, name in enumerate(space.names)}
    rest = mixed_network(scores, [[number[p] for p in parents[name]] for name in space.names])
    rows = {each.name: each.own.behind.posterior for each in claimed if each.own.states}
    empty = np.empty((space.n_rows, 0))
    owner = {child: each.name for each in claimed for child in hidden.traits.children(each.trait)}
    profiles = {name: column_profile(table, name, rows.get(owner.get(name, ""), empty)) for name in space.names}
    return BehindHidden(behind, rest, profiles, together=_together(hidden, claimed))


def _together(hidden: WithTraits, claimed: list[Claimed]) -> dict[str, dict[str, float]]:
    """How continua go together, what drives both included; each runs as it does by itself."""
    placed = hidden.ascended.placed
    away = placed.points - placed.means.mean(axis=0)[:, None, None]
    spread = np.einsum("rq,irq,jrq->ij", placed.weights, away, away)
    size = np.sqrt(np.diag(spread))
    own = {each.name: (each.trait, _way(each, hidden)) for each in claimed if not each.own.states}
    return {
        one: {
            other: float(way * turn * spread[v, u] / size[v] / size[u])
            for other, (u, turn) in own.items()
            if other != one
        }
        for one, (v, way) in own.items()
    }


def _way(each: Claimed, hidden: WithTraits) -> float:
    """Whether the trait by itself runs the way it runs among all."""
    behind = each.own.behind
    place = behind.posterior @ behind.latent.basis[:, 0]
    return 1.0 if place @ hidden.ascended.placed.means[:, each.trait] >= 0 else -1.0
