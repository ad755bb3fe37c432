"""From a table to a verdict: hidden variables one after another, each tested before the next is looked for."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leverrier.data.table import Table
from leverrier.discovery.done import Baseline, ByGroups, CutShort, Filled, Omitted, OneClass, Skipped, Step, Tried
from leverrier.discovery.evidence.class_or_arcs import WholeClass, whole_class
from leverrier.discovery.evidence.coarser_copy import told_by, told_shares
from leverrier.discovery.evidence.evidence import LEVEL, Evidence, Stopped, weighed
from leverrier.discovery.evidence.free_learner import FreeLearner, against_free_learner, foretelling, foretold
from leverrier.discovery.evidence.held_out import Gained, held_out_gain
from leverrier.discovery.evidence.null_test import WORTH_A_TEST, null_test, one_more
from leverrier.discovery.evidence.power import power
from leverrier.discovery.evidence.resamples import begin_resamples, support
from leverrier.discovery.evidence.searched_folds import begin_folds, searched_folds
from leverrier.discovery.evidence.whole_groups import Groups
from leverrier.discovery.findings import Findings, HiddenVariable
from leverrier.discovery.meaning import explain
from leverrier.discovery.places.search import Search, begin, findings, light_place, next_hidden, practise
from leverrier.discovery.plan import Plan
from leverrier.discovery.result import Result, Shape
from leverrier.discovery.small_table import told_simply
from leverrier.discovery.verdict import ModelKind, Reason, Verdict, nothing, undecided
from leverrier.learning.structure.score import Score
from leverrier.models.network import Network
from leverrier.plain_values import plain, read_plain
from leverrier.run.codecs import same
from leverrier.run.pool import prepare
from leverrier.run.run import UNBOUNDED, Run

QUICK, SMALL = 2.0, 5000
"""Where all searches take moments (seconds in all, cells of the table), starting other processes would take longer."""
SEARCHED = 10
"""Light searches that the whole search takes as long as, or longer."""
UNTESTED = 10.0
"""Nats that a second or third variable must gain where none is tested: else the search would go on for every bit."""
COMPILED = 3.0
"""A beginning that takes longer compiles its kernels, or has a large table: workers then start when they are needed,
lest they compile the same at the same time."""


@dataclass(frozen=True)
class Tests:
    """What is asked of a hidden variable before it is believed, and of a table in which none was found."""

    draws: int = 99
    resamples: int = 6
    held_out: bool = True
    power: bool = True
    level: float = LEVEL
    """How often something may be found where nothing is hidden, whatever the number of variables found: they are tested
    one after another, each given those before it, up to the first that fails. To name one too many, the test of the
    first that is not there must err (a fixed sequence: Maurer, Hothorn and Lehmacher 1995)."""

    @property
    def none(self) -> bool:
        return self.draws == 0


def examine(
    table: Table, score: Score, plan: Plan, tests: Tests, run: Run = UNBOUNDED, groups: Groups | None = None
) -> Result:
    """The network route: where hidden variables sit, whether they are real, and what their states mean. Rows of one of
    the `groups` are drawn, held out and simulated together."""
    begun = time.monotonic()
    placed = light_place(table, score, plan, run.shared_by(1)) if _placed_first(table, plan) else None
    seconds = run.once(("seconds",), lambda: time.monotonic() - begun)  # (a resumed run has begun in no time)
    to_test = placed is None or placed["gain"] > WORTH_A_TEST
    run = run if _takes_long(table, tests if to_test else Tests(0), seconds) else run.shared_by(1)
    if to_test and run.workers.client is None and seconds < COMPILED:
        prepare(run.workers.jobs, practise)
    if placed is not None and to_test and tests.draws:
        _begin_tests(table, score, plan, tests, run, groups)
    search = begin(table, score, plan, run)
    search.placed = placed
    did: list[Step] = [Filled(table.n_missing, fits=True)] if table.n_missing else []
    did.append(Baseline(len(search.baseline.network.edges)))
    evidence: list[Evidence] = []
    rejected: list[HiddenVariable] = []
    while len(search.found) < plan.max_hidden and _promising(search, tests) and next_hidden(search):
        if search.found[-1].gain <= (WORTH_A_TEST if tests.draws or not evidence else UNTESTED):
            _give_up(search, Reason.SMALL_GAIN)
            break
        run.begin_no_more()  # (whether there is anything to be tested further is asked first)
        tested = null_test(search, tests.draws, tests.level, groups) if tests.draws else _untested(search)
        if not tested.accepted:
            rejected.append(replace(findings(search).hidden[-1], evidence=tested))
            _give_up(search, Reason.COMPRESSOR)
            break
        evidence.append(tested)
    found = findings(search)
    did.append(Tried(len(search.attempts)))
    whole = None
    if not found.hidden and plan.method == "region" and plan.max_hidden and groups is None:
        whole = whole_class(search, tests.draws, tests.level)
    if whole is not None:
        did.append(OneClass(tests.draws > 0))
        return _of_class(search, whole, rejected, tests, did, begun)
    if groups is not None:
        did.append(ByGroups(int(groups.max()) + 1))
    hidden = _with_evidence(found, evidence, search, tests, groups)
    examined = examined_of(search, found, hidden, tuple(rejected), did, asked=not tests.none)
    if tests.draws and plan.method == "region" and plan.max_hidden and groups is None:
        examined = told_simply(examined, table, score, plan, tests.level, run)
    if not examined.hidden and tests.power and tests.draws:
        missed = power(search.baseline.network, round(table.total), score, plan, run)
        examined = replace(examined, power=missed)
    return replace(examined, seconds=time.monotonic() - begun)


def _placed_first(table: Table, plan: Plan) -> bool:
    """Whether the light search of the data, which is asked for in any case, may come first."""
    return plan.kinds and plan.max_hidden > 0 and table.n_rows > 0 and bool(table.variables) and not table.n_missing


def _takes_long(table: Table, tests: Tests, seconds: float) -> bool:
    """Whether other processes are worth starting, by how long one light search took."""
    every = seconds * (SEARCHED + tests.draws + tests.resamples)
    return every > QUICK and table.n_rows * len(table.variables) >= SMALL


def _begin_tests(table: Table, score: Score, plan: Plan, tests: Tests, run: Run, groups: Groups | None) -> None:
    """What will be asked of a variable that the light search has seen does not depend on the whole search: a core that
    would wait for it begins."""
    if tests.held_out:
        begin_folds(table, score, plan, run, groups)
    if tests.resamples:
        begin_resamples(table, score, plan, tests.resamples, run, groups)


def _promising(search: Search, tests: Tests) -> bool:
    """Whether to look for one more: after the first, only where the quick search of the test sees one."""
    return not (search.found and tests.draws) or one_more(search)


def _give_up(search: Search, reason: Reason) -> None:
    """Forget the newest hidden variable."""
    search.found.pop()
    search.networks.pop()
    search.reason = reason


def _untested(search: Search) -> Evidence:
    return Evidence(search.found[-1].gain)


def _with_evidence(
    found: Findings, evidence: list[Evidence], search: Search, tests: Tests, groups: Groups | None
) -> tuple[HiddenVariable, ...]:
    """Each hidden variable with all that speaks for it."""
    if not found.hidden or tests.none:
        return tuple(replace(each, evidence=one) for each, one in zip(found.hidden, evidence, strict=True))
    back = {}
    _begin_foretelling(found, search)
    if tests.resamples:
        back = support(found, search.table, search.score, search.plan, tests.resamples, search.run, groups)
    hidden, gained = [], None
    if tests.held_out:
        gained = searched_folds(search.table, search.score, search.plan, evidence, search.run, groups)
    for number, (each, one) in enumerate(zip(found.hidden, evidence, strict=True)):
        if gained is not None:
            one = replace(one, held_out=gained[number][0], held_out_interval=gained[number][1])
        if each.name in back:
            one = replace(one, support=back[each.name].share, links=back[each.name].links)
        hidden.append(
            replace(each, evidence=_questioned(found.steps[number + 1], found.steps[number], each, one, search))
        )
    return tuple(hidden)


def _begin_foretelling(found: Findings, search: Search) -> None:
    """Have other processes begin with what `_questioned` asks, beside resamples and folds."""
    for each, network, rival in zip(found.hidden, found.steps[1:], found.steps, strict=False):
        near = _nearest(each, told_shares(network.posterior(search.table, each.name), search.table), search.table)
        asked = foretelling(network, near, search.table, search.score, search.plan.seed, rival, search.run.silent())
        if asked is not None:
            search.run.begin_ahead(foretold, *asked, at_once=search.run.workers.jobs)


def _nearest(each: HiddenVariable, shares: Mapping[str, float], table: Table) -> list[str]:
    """The columns next to a hidden variable, those that tell most of it first."""
    return sorted(each.neighbours & set(table.variables), key=lambda name: (-shares.get(name, 0.0), name))


def _questioned(network: Network, rival: Network, each: HiddenVariable, evidence: Evidence, search: Search) -> Evidence:
    """What simulated tables cannot ask, because they share the rival's misfit."""
    shares = told_shares(network.posterior(search.table, each.name), search.table)
    near = _nearest(each, shares, search.table)
    unkept = search.run.unkept()  # (what is kept is the comparison, not what was said of each cell)
    free = search.run.once(
        ("free learner", network.graph.parent_map, each.name),
        lambda: against_free_learner(network, near, search.table, search.score, search.plan.seed, rival, unkept),
        lambda found: None if found is None else plain(found),
        lambda piece: None if piece is None else read_plain(piece, FreeLearner),
        lambda: None,
    )
    claimed = each.gain if search.plan.kinds else None
    return replace(evidence, free=free, claimed=claimed, told_by=told_by(shares))


def _held_out(with_it: Network, without: Network, search: Search) -> Gained | None:
    """The gain of classes on held-out rows and its interval; None where time ran out."""
    key = ("held out", with_it.graph.parent_map, without.graph.parent_map)
    return search.run.once(
        key,
        lambda: held_out_gain(with_it, without, search.table, search.score, search.plan, run=search.run),
        same,
        lambda piece: (piece[0], (piece[1][0], piece[1][1])),
        lambda: None,
    )


def examined_of(
    search: Search,
    found: Findings,
    hidden: tuple[HiddenVariable, ...],
    rejected: tuple[HiddenVariable, ...],
    did: Sequence[Step],
    asked: bool,
) -> Result:
    """All that a search ended with; `asked` says whether its findings were to be tested."""
    table = search.table
    posteriors = {each.name: found.network.posterior(table, each.name) for each in hidden}
    return Result(
        verdict=_verdict(search, hidden, rejected, asked),
        kind=ModelKind.NETWORK,
        hidden=hidden,
        compressors=rejected,
        network=found.network,
        baseline=found.baseline.network,
        score=found.score,
        baseline_score=found.baseline.score,
        spread=found.baseline.spread,
        repaired=found.baseline.repaired,
        shape=shape_of(table),
        meanings={name: explain(found.network, table, name, each) for name, each in posteriors.items()},
        attempts=found.attempts,
        did=tuple(did),
    )


def _verdict(
    search: Search, hidden: tuple[HiddenVariable, ...], rejected: tuple[HiddenVariable, ...], asked: bool
) -> Verdict:
    """A search or a test that time cut short has found nothing *yet*."""
    if hidden and hidden[0].gain <= search.baseline.spread:
        return undecided(Reason.UNSTABLE)
    if hidden:
        return weighed([each.evidence for each in hidden if each.evidence is not None], asked)
    if search.reason is Reason.UNSTABLE:
        return undecided(Reason.UNSTABLE)
    unclear = any(each.evidence is not None and each.evidence.stopped is Stopped.BUDGET for each in rejected)
    if search.cut or search.run.spent or unclear or search.reason is Reason.TIME:
        return undecided(Reason.TIME)
    return nothing(search.reason)


def _of_class(
    search: Search, whole: WholeClass, rejected: list[HiddenVariable], tests: Tests, did: Sequence[Step], begun: float
) -> Result:
    """One class behind all columns, believed by Cox's test."""
    evidence = whole.evidence
    if tests.held_out:
        gained = _held_out(whole.network, search.baseline.network, search)
        evidence = evidence if gained is None else replace(evidence, held_out=gained[0], held_out_interval=gained[1])
    if not tests.none:
        evidence = _questioned(whole.network, search.baseline.network, whole.variable, evidence, search)
    variable = replace(whole.variable, evidence=evidence)
    empty = examined_of(search, findings(search), (), tuple(rejected), did, asked=not tests.none)
    posterior = whole.network.posterior(search.table, variable.name)
    return replace(
        empty,
        verdict=weighed([evidence], asked=not tests.none),
        kind=ModelKind.CLASSES,
        hidden=(variable,),
        network=whole.network,
        score=whole.score,
        meanings={variable.name: explain(whole.network, search.table, variable.name, posterior)},
        seconds=time.monotonic() - begun,
    )


def shape_of(table: Table) -> Shape:
    return Shape(table.n_cases, len(table.variables), table.n_missing, table.notes, table.columns)


def cut_short(found: Result, tests: Tests) -> CutShort:
    """What a run that was cut short did not do."""
    parts = []
    if not found.attempts and found.kind is ModelKind.NETWORK:
        parts.append(Omitted(Skipped.SEARCH))
    for each in (*found.hidden, *found.compressors):
        one = each.evidence
        if tests.draws and one is not None and (not one.tested or one.stopped is Stopped.BUDGET):
            short = tests.draws - len(one.null_gains)
            parts.append(Omitted(Skipped.TABLES, each.name, short, tests.draws))
        if each in found.hidden and tests.draws and one is not None and one.held_out is None:
            parts.append(Omitted(Skipped.HELD_OUT, each.name))
        if each in found.hidden and tests.resamples and one is not None and one.support is None:
            parts.append(Omitted(Skipped.RESAMPLES, each.name))
    if not found.hidden and tests.power and tests.draws and found.power is None:
        parts.append(Omitted(Skipped.POWER))
    if found.remaining is None:
        parts.append(Omitted(Skipped.UNEXPLAINED))
    return CutShort(tuple(parts))
