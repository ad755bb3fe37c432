"""Large tables: hidden variables are looked for and tested in a sample of the rows, and learned from all of them.

Tests repeat the whole search many times over, and twenty thousand rows decide what tests can decide. What they believe
is then looked for in all rows, in the places the sample named, against the best network of all rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from leverrier.data.table import Table
from leverrier.discovery.done import LearnedFrom, Sampled
from leverrier.discovery.evidence.held_out import learned_again
from leverrier.discovery.examine import Tests, examine, examined_of, shape_of
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.meaning import explain
from leverrier.discovery.places.candidate import Candidate, Suggested
from leverrier.discovery.places.search import begin, findings, next_hidden
from leverrier.discovery.plan import Plan
from leverrier.discovery.result import Result
from leverrier.discovery.verdict import ModelKind, Reason
from leverrier.learning.structure.score import Score
from leverrier.models.network import as_network
from leverrier.run.run import UNBOUNDED, Run

LARGE = 100_000
"""Tables of more rows than this are sampled, unless another number is asked for."""
SAMPLE = 20_000
NUMBERS_LARGE, NUMBER_SAMPLE = 20_000, 5_000
"""The same where numbers stay numbers: every row is seen by every regression, and there is no table of counts."""


def sample_size(table: Table, asked: int | None, numbers: bool = False) -> int:
    """How many rows of this table are to be drawn; 0 if all are looked at. `numbers`: as they are, without bins."""
    if table.weights is not None and not table.counted:
        return 0  # rows that weigh differently cannot be drawn as one
    size, least = (NUMBER_SAMPLE, NUMBERS_LARGE) if numbers else (SAMPLE, LARGE)
    size, least = (size, least) if asked is None else (asked, asked)
    return size if table.n_cases > least else 0


def sampled(table: Table, rows: int, seed: int) -> Table:
    """So many of the source's rows, drawn without replacement from its distinct ones: however it was read, the same."""
    assert table.weights is not None
    rng = np.random.default_rng([seed, 41])
    drawn = rng.permutation(rng.choice(table.n_cases, rows, replace=False))
    chosen = np.searchsorted(np.cumsum(table.weights), drawn, side="right")
    return Table(table.columns, np.ascontiguousarray(table.codes[:, chosen]), None, table.notes, table.aside)


def examine_large(table: Table, score: Score, plan: Plan, tests: Tests, rows: int, run: Run = UNBOUNDED) -> Result:
    """The network route on a sample of a table of distinct rows; then the same hidden variables in all of it."""
    found = examine(sampled(table, rows, plan.seed), score, plan, tests, run)
    shape = shape_of(table)
    where = Sampled(rows)
    if run.spent:
        return replace(found, shape=shape, did=(where, *found.did, LearnedFrom(None)))
    hidden = tuple(_said_of(each, rows) for each in found.hidden)
    if table.n_missing or found.kind is not ModelKind.NETWORK:
        return _refitted(replace(found, shape=shape, hidden=hidden), table, score, where)
    whole = replace(plan, baseline_seeds=1, max_hidden=len(hidden))
    search = begin(table, score, whole, replace(run.shared_by(1), journal=None))
    for each in hidden:
        search.suggested = (Candidate(each.neighbours, Suggested.SAMPLE),)
        if not next_hidden(search):
            search.reason = Reason.SAMPLE_ONLY
            break
    known = findings(search)
    kept = tuple(replace(each, evidence=old.evidence) for each, old in zip(known.hidden, hidden, strict=False))
    did = [where, *found.did, LearnedFrom(table.n_cases)]
    examined = examined_of(search, known, kept, found.compressors, did, asked=not tests.none)
    agreed = len(kept) == len(hidden)
    return replace(
        examined, verdict=found.verdict if agreed else examined.verdict, power=found.power, attempts=found.attempts
    )


def _said_of(each: HiddenVariable, rows: int) -> HiddenVariable:
    return each if each.evidence is None else replace(each, evidence=replace(each.evidence, rows=rows))


def _refitted(found: Result, table: Table, score: Score, where: Sampled) -> Result:
    """Parameters from all rows, arcs as the sample has them: with holes a search of all rows would take too long."""
    network, baseline = (learned_again(as_network(each), table, score) for each in (found.network, found.baseline))
    meanings = {
        each.name: explain(network, table, each.name, network.posterior(table, each.name)) for each in found.hidden
    }
    did = (where, *found.did, LearnedFrom(table.n_cases, arcs=False))
    return replace(found, network=network, baseline=baseline, meanings=meanings, did=did)
