"""From a table to a verdict: hidden variables one after another, each tested before the next is looked for."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from leverrier.data.table import Table
from leverrier.discovery.evidence import FLOOR, Evidence, null_test
from leverrier.discovery.examined import Examined, Shape, Verdict
from leverrier.discovery.find import Search, begin, findings, next_hidden
from leverrier.discovery.findings import Findings, HiddenVariable
from leverrier.discovery.held_out import held_out_gain
from leverrier.discovery.meaning import explain
from leverrier.discovery.plan import Plan
from leverrier.discovery.power import power
from leverrier.discovery.resamples import support
from leverrier.discovery.whole_class import WholeClass, whole_class
from leverrier.learning.score import Score

QUICK = 5.0
"""Where a search takes moments, starting other processes would take longer."""


@dataclass(frozen=True)
class Tests:
    """What is asked of a hidden variable before it is believed, and of a table in which none was found."""

    draws: int = 19
    resamples: int = 6
    held_out: bool = True
    power: bool = True
    jobs: int = 1
    early: bool = True

    @property
    def none(self) -> bool:
        return self.draws == 0


def examine(table: Table, score: Score, plan: Plan, tests: Tests) -> Examined:
    """The network route: where hidden variables sit, whether they are real, and what their states mean."""
    begun = time.monotonic()
    search = begin(table, score, plan)
    quick = (time.monotonic() - begun) * len(table.variables) < QUICK
    tests = replace(tests, jobs=1) if quick else tests
    did = [_filled_words(table)] if table.n_missing else []
    did.append(f"learned the best network without hidden variables ({len(search.baseline.network.edges)} arcs)")
    evidence: list[Evidence] = []
    rejected: list[HiddenVariable] = []
    while len(search.found) < plan.max_hidden and next_hidden(search):
        hopeless = search.found[-1].gain <= FLOOR and (tests.draws > 0 or len(search.found) > 1)
        if tests.early and hopeless:
            _give_up(search, f"none accepted: the best gain, {search.found[-1].gain:.1f} nats, is below {FLOOR:.0f}")
            break
        tested = null_test(search, tests.draws, tests.jobs, early=tests.early) if tests.draws else _untested(search)
        if not tested.accepted:
            rejected.append(replace(findings(search).hidden[-1], evidence=tested))
            _give_up(search, "none accepted: tables with nothing hidden gained about as much")
            break
        evidence.append(tested)
    found = findings(search)
    did.append(f"tried {len(search.attempts)} candidates")
    whole = None
    if not found.hidden and tests.draws and plan.method == "region" and not plan.spent:
        whole = whole_class(search, tests.draws, tests.jobs)
    if whole is not None:
        did.append("asked whether one class behind all columns explains them better than arcs do (Cox's test)")
        return _of_class(search, whole, table, score, rejected, tests, did, begun)
    hidden = _with_evidence(found, evidence, table, score, plan, tests)
    examined = _examined(search, found, hidden, tuple(rejected), did)
    if not hidden and tests.power and tests.draws and not plan.spent:
        missed = power(search.baseline.network, round(table.total), score, plan, tests.jobs)
        examined = replace(examined, power=missed)
    return replace(examined, seconds=time.monotonic() - begun)


def _give_up(search: Search, reason: str) -> None:
    """Forget the newest hidden variable."""
    search.found.pop()
    search.networks.pop()
    search.reason = reason


def _untested(search: Search) -> Evidence:
    return Evidence(search.found[-1].gain)


def _with_evidence(
    found: Findings, evidence: list[Evidence], table: Table, score: Score, plan: Plan, tests: Tests
) -> tuple[HiddenVariable, ...]:
    """Each hidden variable with all that speaks for it."""
    if not found.hidden or tests.none:
        return tuple(replace(each, evidence=one) for each, one in zip(found.hidden, evidence, strict=True))
    wanted = tests.resamples and not plan.spent
    back = support(found, table, score, plan, tests.resamples, tests.jobs) if wanted else {}
    hidden = []
    for number, (each, one) in enumerate(zip(found.hidden, evidence, strict=True)):
        if tests.held_out and not plan.spent:
            gain, interval = held_out_gain(found.steps[number + 1], found.steps[number], table, score, plan.seed)
            one = replace(one, held_out=gain, held_out_interval=interval)
        if each.name in back:
            one = replace(one, support=back[each.name].share, links=back[each.name].links)
        hidden.append(replace(each, evidence=one))
    return tuple(hidden)


def _examined(
    search: Search, found: Findings, hidden: tuple[HiddenVariable, ...], rejected: tuple[HiddenVariable, ...],
    did: list[str],
) -> Examined:  # fmt: skip
    table = search.table
    posteriors = {each.name: found.network.posterior(table, each.name) for each in hidden}
    return Examined(
        verdict=_verdict(search, hidden, rejected),
        kind="network",
        hidden=hidden,
        compressors=rejected,
        network=found.network,
        baseline=found.baseline.network,
        score=found.score,
        baseline_score=found.baseline.score,
        spread=found.baseline.spread,
        repaired=found.baseline.repaired,
        shape=shape_of(table),
        reason=found.reason,
        meanings={name: explain(found.network, table, name, each) for name, each in posteriors.items()},
        attempts=found.attempts,
        did=tuple(did),
    )


def _verdict(
    search: Search, hidden: tuple[HiddenVariable, ...], rejected: tuple[HiddenVariable, ...]
) -> Verdict:
    if hidden and hidden[0].gain <= search.baseline.spread:
        return "search unstable"
    if hidden:
        return "found" if hidden[0].evidence.tested else "not tested"
    if rejected:
        return "compressor"
    for verdict in ("search unstable", "no candidates"):
        if search.reason.startswith(verdict):
            return verdict
    return "none accepted"


def _of_class(
    search: Search, whole: WholeClass, table: Table, score: Score, rejected: list[HiddenVariable], tests: Tests,
    did: list[str], begun: float,
) -> Examined:  # fmt: skip
    """One class behind all columns, believed by Cox's test."""
    evidence = whole.evidence
    if tests.held_out and not search.plan.spent:
        gain, interval = held_out_gain(whole.network, search.baseline.network, table, score, search.plan.seed)
        evidence = replace(evidence, held_out=gain, held_out_interval=interval)
    variable = replace(whole.variable, evidence=evidence)
    empty = _examined(search, findings(search), (), tuple(rejected), did)
    posterior = whole.network.posterior(table, variable.name)
    return replace(empty, verdict="found", kind="classes", hidden=(variable,), network=whole.network,
                   score=whole.score, meanings={variable.name: explain(whole.network, table, variable.name, posterior)},
                   reason="found", seconds=time.monotonic() - begun)  # fmt: skip


def shape_of(table: Table) -> Shape:
    return Shape(table.n_rows, len(table.variables), table.n_missing, table.notes, table.columns)


def _filled_words(table: Table) -> str:
    return (
        f"filled the {table.n_missing:,} empty cells by draws from a network without hidden variables, for the search "
        "only; fits and posteriors use the table as it came"
    )
