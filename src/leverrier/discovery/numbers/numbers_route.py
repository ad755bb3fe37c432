"""From a table with numbers to a verdict: hidden classes and continua against the best network of the columns."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leverrier.data.table import Table
from leverrier.data.variable import free_name
from leverrier.discovery.done import BareClasses, Baseline, Filled, HiddenWeighed, Sampled, SetAside, Step
from leverrier.discovery.evidence.evidence import Compared, Evidence, Stopped, weighed
from leverrier.discovery.examine import QUICK, SEARCHED, Tests, shape_of
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.numbers.behind_hidden import BehindHidden
from leverrier.discovery.numbers.column_profile import column_profile, number_states
from leverrier.discovery.numbers.grades import may_be_graded
from leverrier.discovery.numbers.number_filling import filled
from leverrier.discovery.numbers.number_rule import ROOM, VIEWS, Ruling, Weighed, weigh, weigh_more
from leverrier.discovery.numbers.number_tests import (
    begin_tests,
    beside,
    held_out_numbers,
    null_evidence,
    number_null,
    support_of,
)
from leverrier.discovery.numbers.row_groups import row_groups
from leverrier.discovery.plan import Plan
from leverrier.discovery.result import Result, Shape
from leverrier.discovery.verdict import HiddenKind, ModelKind, Reason, Verdict, nothing, undecided
from leverrier.learning.behind.placed import as_places
from leverrier.learning.behind.space_block import known
from leverrier.learning.behind.standing import Parents, Standing
from leverrier.learning.mixed.learn_mixed import expanded, mixed_network, space_of
from leverrier.learning.mixed.mixed_space import Space
from leverrier.models.behind.behind_model import BehindModel
from leverrier.models.mixed_network import MixedNetwork
from leverrier.run.event import Event
from leverrier.run.one_thread import one_thread
from leverrier.run.pool import prepare
from leverrier.run.run import Run


@dataclass(frozen=True, eq=False)
class Told:
    """A hidden variable that the rule names, with its tests."""

    name: str
    weighed: Weighed
    standing: Standing
    evidence: Evidence

    @property
    def kind(self) -> HiddenKind:
        return HiddenKind(self.weighed.told)

    def variable(self) -> HiddenVariable:
        standing = self.standing
        how = "a continuum" if standing.continuum else "classes"
        states, gain = standing.states, self.weighed.gain
        found = HiddenVariable(self.name, states, standing.children, (), gain, how, "numbers", self.evidence)
        return replace(found, kind=self.kind)


@dataclass(frozen=True, eq=False)
class Laid:
    """A table in its space, and what the rule says of it."""

    table: Table
    shape: Shape
    space: Space
    whole: Space
    """Without holes."""
    first: Weighed
    rows: int
    seconds: float
    """That this took: searches in folds and resamples take about as long each."""


@one_thread
def examine_numbers(table: Table, plan: Plan, tests: Tests, run: Run, rows: int = 0) -> Result:
    """Is something hidden behind these numbers and states? Numbers stay numbers; nothing is cut into bins.

    Of a large table it is looked for and tested in `rows` of its rows, drawn at random.
    """
    begun = time.monotonic()
    return replace(_examined(_laid(table, plan, run, rows), plan, tests, run), seconds=time.monotonic() - begun)


@one_thread
def graded(table: Table, plan: Plan, run: Run, rows: int = 0) -> Laid | None:
    """Grades without any number in the same space, if something seems to be behind them; None of other tables."""
    if not may_be_graded(table):
        return None
    laid = _laid(table, plan, run, rows)
    return None if laid.first.told is Ruling.NOTHING else laid


@one_thread
def examine_grades(laid: Laid, plan: Plan, tests: Tests, run: Run) -> Result:
    """The same of such grades."""
    begun = time.monotonic()
    return replace(_examined(laid, plan, tests, run), seconds=time.monotonic() - begun)


def _laid(table: Table, plan: Plan, run: Run, rows: int) -> Laid:
    begun = time.monotonic()
    shape, table = _uncut(shape_of(table)), expanded(table)
    if rows:
        table = table.take(np.sort(np.random.default_rng([plan.seed, 41]).choice(table.n_rows, rows, replace=False)))
    run.tell(Event.HIDDEN_NUMBERS, 0.0)
    space = space_of(table, plan.seed)
    whole = run.made(("numbers filled",), lambda: filled(space, plan.seed, run))
    first = run.made(("numbers weighed",), lambda: weigh(whole, plan.seed, run))
    return Laid(table, shape, space, whole, first, rows, time.monotonic() - begun)


def _examined(laid: Laid, plan: Plan, tests: Tests, run: Run) -> Result:
    table, whole, first = laid.table, laid.whole, laid.first
    run = _with_workers(laid, tests, run)
    rival = mixed_network(first.rival.scores, numbered(first))
    told = _tested(whole, table, first, rival, plan, tests, run)
    believed = [each for each in told if each.evidence.accepted or not each.evidence.tested]
    rejected = tuple(each.variable() for each in told if each not in believed)
    if believed and not tests.none:
        believed = _with_more(believed, whole, plan, tests, run)
        if not _holds(believed[0]):
            rejected = tuple(each.variable() for each in believed)
            believed = []
    hidden = tuple(each.variable() for each in believed)
    model = _model(believed, first, rival, table, whole)
    asked = not tests.none
    verdict = weighed([each.evidence for each in believed], asked) if believed else _nothing(first, told)
    cut = run.spent or any(each.evidence.stopped is Stopped.BUDGET for each in told)
    meanings = {
        each.name: number_states(
            {name: model.profiles[name] for name in each.standing.children}, model.behind[each.name].latent.shares
        )
        for each in believed
        if not each.standing.continuum
    }
    return Result(
        verdict=verdict.unfinished() if cut else verdict,
        kind=ModelKind.NUMBERS,
        hidden=hidden,
        compressors=rejected,
        network=rival,
        baseline=rival,
        score=first.rival.total + sum(each.gain for each in hidden),
        baseline_score=first.rival.total,
        spread=0.0,
        repaired=first.repaired,
        shape=laid.shape,
        meanings=meanings,
        did=tuple(_did(laid, run)),
        other=model,
    )


def _with_workers(laid: Laid, tests: Tests, run: Run) -> Run:
    """Other processes get ready where there is something to be tested; alone where the tests take moments."""
    if tests.none or laid.first.chosen is None:
        return run
    if laid.seconds * (SEARCHED + tests.resamples) < QUICK:
        return run.shared_by(1)
    if run.workers.client is None:
        prepare(run.workers.jobs, int)
    return run


def _uncut(shape: Shape) -> Shape:
    """Its notes without those on bins: here no number is cut."""
    return replace(shape, notes=tuple(note for note in shape.notes if " is cut into " not in note))


def numbered(found: Weighed, parents: Parents | None = None) -> list[list[int]]:
    place = found.rival.numbers
    graph = found.rival.parents if parents is None else parents
    return [[place[p] for p in graph[name]] for name in found.rival.space.names]


def _tested(
    space: Space, table: Table, first: Weighed, rival: MixedNetwork, plan: Plan, tests: Tests, run: Run
) -> list[Told]:
    """One hidden variable after another, as long as the rule names one and simulated tables do not show it."""
    told: list[Told] = []
    found, drawn = first, Evidence(0.0)
    while found.chosen is not None and len(told) < max(plan.max_hidden, 1):
        name = free_name(f"H{len(told) + 1}", (*space.names, *(each.name for each in told)))
        if not tests.draws:
            evidence = Evidence(found.gain)
        elif found.told is not Ruling.CLASS:
            evidence = Evidence(found.gain, kind=Compared.PARSIMONY)
        elif not drawn.draws:
            job = number_null(rival, table, space, found, plan.seed, run)
            evidence = drawn = null_evidence(job, tests.draws, tests.level, plan.seed, run)
        else:
            evidence = beside(found.excess, drawn, tests.draws, tests.level)
        told.append(Told(name, found, found.chosen, evidence))
        if found.two is not None and len(told) < plan.max_hidden and found.chosen is found.two.first:
            other = free_name(f"H{len(told) + 1}", (*space.names, *(each.name for each in told)))
            told.append(Told(other, found, found.two.second, evidence))
        if (evidence.tested and not evidence.accepted) or run.spent:
            break
        found = weigh_more(found, [each.standing for each in told], plan.seed, run)
    return told


def _with_more(told: list[Told], space: Space, plan: Plan, tests: Tests, run: Run) -> list[Told]:
    """The first one's gain on held-out rows, and how often it comes back. Arcs can imitate a continuum, and tables
    drawn from them gain as much: what is believed for saying the same with less is tested on held-out rows alone."""
    evidence = told[0].evidence
    begin_tests(space, told[0].weighed, tests.held_out, tests.resamples, plan.seed, run)
    if tests.held_out and not run.spent:
        run.tell(Event.HELD_OUT_ROWS, 0.0)
        gained = held_out_numbers(space, plan.seed, run)
        if gained is not None:
            mean, error = float(gained.mean()), float(gained.std() / np.sqrt(len(gained)))
            evidence = replace(evidence, held_out=mean, held_out_interval=(mean - 1.96 * error, mean + 1.96 * error))
            told = [_held_out(each) for each in told]
            evidence = replace(evidence, tested=told[0].evidence.tested)
    if tests.resamples and not run.spent:
        back = support_of(space, told[0].weighed, tests.resamples, plan.seed, run)
        if back is not None:
            evidence = replace(evidence, support=back[0], links=back[1])
    return [replace(told[0], evidence=evidence), *told[1:]]


def _holds(told: Told) -> bool:
    """Whether a class gains anything on rows that it was not learned from; what was not measured does not object."""
    gained = told.evidence.held_out
    return told.kind is not HiddenKind.CLASS or gained is None or gained > 0


def _held_out(told: Told) -> Told:
    """What rests on parsimony counts as tested once folds of the whole procedure were compared."""
    known = told.evidence.kind is Compared.PARSIMONY
    return replace(told, evidence=replace(told.evidence, tested=True)) if known else told


def _nothing(first: Weighed, told: Sequence[Told]) -> Verdict:
    if told:
        return nothing(Reason.COMPRESSOR)
    if first.bare_gain > ROOM or (len(first.rival.space) < VIEWS and any(first.rival.parents.values())):
        return undecided(Reason.FEW_VIEWS)
    if not first.hunted.tried:
        return nothing(Reason.NO_CANDIDATES)
    return nothing(Reason.NO_GAIN if first.gain <= 0 else Reason.SMALL_GAIN)


def _model(told: list[Told], first: Weighed, rival: MixedNetwork, table: Table, space: Space) -> BehindHidden:
    """What answers for rows: each hidden variable's own model, and the network of all other columns."""
    columns = tuple(known(column) for column in space.columns)
    behind: dict[str, BehindModel] = {}
    parents = dict(first.rival.parents)
    for each in told:
        places = as_places(each.standing)
        behind[each.name] = BehindModel(columns, places.latent, places.links, places.fits, table.columns)
        new = {**parents, **{name: own for name, own in each.standing.parents.items() if _free(name, told, each)}}
        parents = new if _acyclic(new) else {**parents, **{link.column: () for link in places.links}}
    rest = mixed_network(first.rival.scores, numbered(first, parents)) if told else rival
    posteriors = {name: each.posterior(table) for name, each in behind.items() if not each.continuum}
    empty = np.empty((table.n_rows, 0))
    owner = {child: each.name for each in told for child in each.standing.children}
    profiles = {name: column_profile(table, name, posteriors.get(owner.get(name, ""), empty)) for name in space.names}
    return BehindHidden(behind, rest, profiles)


def _free(name: str, told: list[Told], own: Told) -> bool:
    """Whether a column's parents are this hidden variable's to say: not those of another one's child."""
    return not any(name in each.standing.children for each in told if each is not own)


def _acyclic(parents: Parents) -> bool:
    placed: set[str] = set()
    while len(placed) < len(parents):
        ready = {name for name, own in parents.items() if name not in placed and placed.issuperset(own)}
        if not ready:
            return False
        placed |= ready
    return True


def _finite(gain: float) -> float | None:
    return round(gain, 3) if np.isfinite(gain) else None


def _did(laid: Laid, run: Run) -> Iterator[Step]:
    space, found, table = laid.space, laid.first, laid.table
    if laid.rows:
        yield Sampled(laid.rows, learned=True)
    yield from (SetAside(name, why) for name, why in space.aside.items())
    if table.n_missing:
        yield Filled(table.n_missing, fits=False)
    yield Baseline(sum(map(len, found.rival.parents.values())), numbers=True)
    yield HiddenWeighed(found.hunted.tried, VIEWS, _finite(found.class_gain), _finite(found.continuum_gain))
    bare = found.hunted.bare
    if bare is not None and found.told is Ruling.NOTHING and found.bare_gain > ROOM:
        yield BareClasses(bare.states, tuple(bare.children), found.bare_gain, bare.views())
    if found.told is Ruling.NOTHING and not run.spent and (seen := row_groups(space)) is not None:
        yield seen
