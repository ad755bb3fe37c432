"""`discover` for wide tables: all hidden variables at once, tested together, in layers."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

from leverrier.counts.parted_counts import counts_of
from leverrier.data.table import Table
from leverrier.discovery.done import Baseline, Filled, Sampled, Step, TakenTogether, Tried
from leverrier.discovery.evidence.evidence import weighed
from leverrier.discovery.examine import Tests, shape_of
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.many.checks import checked
from leverrier.discovery.many.rounds import Rounds, go_round
from leverrier.discovery.many.scene import in_order, scene_of
from leverrier.discovery.many.shared_nulls import groups_in
from leverrier.discovery.many.sibling_groups import SMALLEST
from leverrier.discovery.many.spots import NEW, apart, tried_spots
from leverrier.discovery.meaning import explain
from leverrier.discovery.network_codecs import read_codes
from leverrier.discovery.places.baseline import MOST_CELLS, learn_baseline
from leverrier.discovery.places.candidate import Suggested
from leverrier.discovery.places.imputation import filled
from leverrier.discovery.plan import Plan
from leverrier.discovery.result import Result
from leverrier.discovery.subsample import sampled
from leverrier.discovery.verdict import ModelKind, Reason, Verdict, nothing, undecided
from leverrier.learning.structure.kind_scores import scores_of
from leverrier.learning.structure.score import Score
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.run.run import UNBOUNDED, Run

WIDE = 60
"""Tables with more columns are searched for all hidden variables at once."""


FEW_NUMBERS = 0.1
MOST_ASKED = 200
SEVERAL, CLEARLY = 2, 20.0
"""So many groups apart that gain so many nats at a glance are looked for at once in smaller tables too."""


def few_numbers(table: Table) -> bool:
    """Whether so few columns are numbers that cutting them into bins costs little: a survey of 25 items with an age."""
    numbers = len(table.measured)
    return numbers <= FEW_NUMBERS * len(table.columns)


def at_once(table: Table, score: Score, plan: Plan, run: Run = UNBOUNDED, rows: int = 0) -> bool:
    """Whether a table is for this route: it is wide, or several groups of its columns show at a glance, and nobody set
    a limit to how many are wanted. A long one, of which so many `rows` are drawn, only if it is wide."""
    columns = len(table.variables)
    if columns > WIDE:
        return plan.max_hidden > 0
    whole = table.take((table.codes != table.missing).all(axis=0))
    few = 2 * whole.n_rows < table.n_rows or not whole.n_rows
    if columns < SMALLEST * SEVERAL or plan.max_hidden < columns or plan.cardinality != "auto" or few or rows:
        return False
    plan = replace(plan, kinds=False)
    scene = scene_of(in_order(whole), None, score, plan, run.untold(), strong=False, seed=plan.seed)
    spots, _ = apart(tried_spots(scene, groups_in(scene), plan, run.untold()), scene.graph)
    return sum(one.gain > CLEARLY for one in spots) >= SEVERAL


def examine_many(table: Table, score: Score, plan: Plan, tests: Tests, run: Run = UNBOUNDED) -> Result:
    """The route for wide tables: the same questions as of small ones, asked of all candidates together."""
    begun = time.monotonic()
    plan = replace(plan, kinds=False)
    full = table
    if table.n_missing:
        fill = partial(filled, table, score, MOST_CELLS, plan, run)
        full = run.once(("filled",), fill, lambda found: found.codes, lambda codes: read_codes(codes, table))
    search = Rounds(in_order(full), score, plan, run, tests.draws, tests.level)
    go_round(search)
    did: list[Step] = [Filled(table.n_missing, fits=False)] if table.n_missing else []
    assert search.baseline is not None
    did += [Baseline(len(search.baseline.network.edges)), Tried(len(search.attempts))]
    if search.accepted:
        did.append(TakenTogether(len(search.accepted), search.done, tests.level if tests.draws else None))
    network = _in_table_order(search.network, table)
    hidden = tuple(
        HiddenVariable(
            one.name,
            network.cardinality(one.name),
            network.children(one.name),
            network.parents(one.name),
            one.gain,
            Suggested.SHARED,
            one.start,
            one.evidence,
        )
        for one in search.accepted
    )
    if hidden and not tests.none:
        hidden, network = checked(hidden, network, search, tests, run)
        network = _in_table_order(network, table)
    posteriors = {each.name: network.posterior(table, each.name) for each in hidden}
    verdict = _verdict(search, hidden, asked=not tests.none)
    if verdict.found and not _asked_by_kinds(hidden, table) and _kinds_ahead(full, score, plan, search.reached, run):
        verdict = undecided(Reason.RIVAL)
    return Result(
        verdict=verdict,
        kind=ModelKind.NETWORK,
        hidden=hidden,
        compressors=_rejected(search),
        network=network,
        baseline=_in_table_order(search.baseline.network, table),
        score=search.reached if search.accepted else search.baseline.score,
        baseline_score=search.baseline.score,
        spread=search.baseline.spread,
        repaired=search.baseline.repaired,
        shape=shape_of(table),
        meanings={name: explain(network, table, name, each) for name, each in posteriors.items()},
        attempts=tuple(search.attempts),
        did=tuple(did),
        seconds=time.monotonic() - begun,
    )


def stands(found: Result) -> bool:
    """Whether this route has the last word: in a small table one without limits to its families has it where these
    columns ask for others than tables."""
    return found.verdict.reason is not Reason.RIVAL or found.shape.columns > WIDE


def _asked_by_kinds(hidden: tuple[HiddenVariable, ...], table: Table) -> bool:
    """Whether each one behind columns that is believed was compared with families of every kind by itself."""
    columns = set(table.variables)
    near = [each for each in hidden if each.believed and len(each.neighbours & columns) >= SMALLEST]
    return all(each.evidence is not None and each.evidence.over_kinds is not None for each in near)


def _kinds_ahead(table: Table, score: Score, plan: Plan, reached: float, run: Run) -> bool:
    """Whether a network of the columns with families of every kind, which the search here does not ask for, scores as
    much as all that was found: then it mends what tables cannot say cheaply. Very wide tables are not asked."""
    if len(table.variables) > MOST_ASKED or run.spent:
        return False
    scores = scores_of(counts_of(in_order(table)), score, MOST_CELLS, kinds=True)
    return learn_baseline(in_order(table), scores, replace(plan, baseline_seeds=1), run).score >= reached


def examine_many_of(table: Table, score: Score, plan: Plan, tests: Tests, rows: int, run: Run = UNBOUNDED) -> Result:
    """The same on so many rows drawn from a table of distinct rows: wide and long, it is learned from those alone."""
    found = examine_many(sampled(table, rows, plan.seed), score, plan, tests, run)
    return replace(found, shape=shape_of(table), did=(Sampled(rows, learned=True), *found.did))


def _verdict(search: Rounds, hidden: tuple[HiddenVariable, ...], asked: bool) -> Verdict:
    if hidden:
        return weighed([each.evidence for each in hidden if each.evidence is not None], asked)
    if search.cut or search.reason is Reason.RIVAL:
        return undecided(Reason.TIME if search.cut else Reason.RIVAL)
    return nothing(search.reason)


def _rejected(search: Rounds) -> tuple[HiddenVariable, ...]:
    """The best of those that simulated tables gained as much as, of the first round alone."""
    found = []
    for one, said, number in search.rejected:
        if number == 1 and not search.accepted and not found:
            graph = one.found.tried.graph
            near = graph.children(NEW), graph.parents(NEW)
            found.append(
                HiddenVariable(
                    "H1", one.found.sizes[NEW], *near, one.found.gain, Suggested.SHARED, one.found.start, said
                )
            )
    return tuple(found)


def _in_table_order(network: Network, table: Table) -> Network:
    """The same with nodes in the order of the table's columns, hidden variables after them."""
    names = [*table.variables, *(name for name in network.graph if name not in table.variables)]
    graph = Graph.from_parents({name: network.graph.parents(name) for name in names})
    return Network(graph, {name: network.states[name] for name in names}, dict(network.tables))
