"""How often a hidden variable comes back when rows are drawn anew.

The rows of a bootstrap draw, each counted once. Counted as often as they were drawn, repeated rows look like
dependence: every test statistic doubles, and three hundred independent columns get hundreds of arcs [Steck and Jaakkola
2003].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.counts.label_agreement import adjusted_rand
from leverrier.data.table import Table
from leverrier.discovery.evidence.held_out import reweighted
from leverrier.discovery.findings import Findings, HiddenVariable
from leverrier.discovery.places.search import run_search
from leverrier.discovery.plan import Plan
from leverrier.learning.structure.score import Score
from leverrier.run.codecs import Key
from leverrier.run.event import Event
from leverrier.run.run import UNBOUNDED, Run

SHARE = 1 - np.exp(-1)
"""Of the rows, those that a draw of as many with replacement holds."""
SHARED = 0.5
"""Of the neighbours of either, so many must be neighbours of both."""
ALIGNED = 0.3
"""Adjusted Rand index of the rows' states from which two variables mean the same."""
MOST_ROWS = 2000
"""Rows on which states are compared."""


Resampled = list[tuple[frozenset[str], NDArray[np.int64]]]
"""By hidden variable of a resample, its neighbours and the states of the first rows."""


@dataclass(frozen=True)
class Support:
    """Share of resamples in which a variable came back, and by column how often it was next to it."""

    share: float
    links: dict[str, float]
    resamples: int


def support(
    found: Findings,
    table: Table,
    score: Score,
    plan: Plan,
    resamples: int,
    run: Run = UNBOUNDED,
    groups: NDArray[np.int64] | None = None,
) -> dict[str, Support]:
    """For each hidden variable, by the light search on rows drawn anew, or on whole groups of rows."""
    calls, keys = resampling(table, score, plan, max(1, len(found.hidden)), resamples, run, groups)
    few = _some_rows(table, plan.seed)
    states = {each.name: _states(found, each, few) for each in found.hidden}
    runs: list[Resampled] = []
    count = run.workers.count
    for first in range(0, resamples, count):
        batch = slice(first, min(first + count, resamples))
        again = run.map(_search_again, calls[batch], keys[batch], _write_run, _read_run)
        whole = [one for one in again if one is not None]
        runs += whole
        run.tell(Event.RESAMPLES, len(runs) / resamples)
        if len(whole) < batch.stop - batch.start:
            break
    if not runs:
        return {}
    return {each.name: _support(each, states[each.name], runs) for each in found.hidden}


def begin_resamples(
    table: Table, score: Score, plan: Plan, resamples: int, run: Run, groups: NDArray[np.int64] | None = None
) -> None:
    """Have other processes begin with them, for one hidden variable."""
    run.begin_ahead(_search_again, *resampling(table, score, plan, 1, resamples, run, groups))


def resampling(
    table: Table, score: Score, plan: Plan, hidden: int, resamples: int, run: Run, groups: NDArray[np.int64] | None
) -> tuple[list[tuple[Any, ...]], list[Key]]:
    """The calls, with their keys, of searches for so many hidden variables in rows drawn anew."""
    again = replace(plan.light(), max_hidden=hidden)
    few, silent = _some_rows(table, plan.seed), run.silent()
    seeds = np.random.SeedSequence([plan.seed, 13]).spawn(resamples)
    calls = [(table, few, score, again, silent, groups, seed) for seed in seeds]
    return calls, [("resample", hidden, *seed.spawn_key) for seed in seeds]


def _search_again(
    table: Table,
    few: Table,
    score: Score,
    plan: Plan,
    run: Run,
    groups: NDArray[np.int64] | None,
    seed: np.random.SeedSequence,
) -> Resampled | None:
    """The search on some of the rows; None if time ran out over it."""
    found = run_search(drawn(table, np.random.default_rng(seed), groups), score, plan, run)
    return None if run.spent else [(each.neighbours, _states(found, each, few)) for each in found.hidden]


def drawn(table: Table, rng: np.random.Generator, groups: NDArray[np.int64] | None = None) -> Table:
    """Each row, or each group of rows, with the probability that a bootstrap draw holds it; a weight that counts rows
    is that many rows."""
    if groups is not None:
        return table.take((rng.random(groups.max() + 1) < SHARE)[groups])
    if table.weights is not None and np.array_equal(table.weights, np.rint(table.weights)):
        return reweighted(table, rng.binomial(table.weights.astype(np.int64), SHARE).astype(np.float64))
    return table.take(rng.random(table.n_rows) < SHARE)


def _write_run(run: Resampled | None) -> Any:
    assert run is not None  # (what time cut short is not kept)
    return [{"neighbours": sorted(neighbours), "states": states} for neighbours, states in run]


def _read_run(piece: Any) -> Resampled | None:
    return [(frozenset(each["neighbours"]), each["states"]) for each in piece]


def _some_rows(table: Table, seed: int) -> Table:
    """The first rows; of rows that were counted, and so sorted, some drawn as they came."""
    if table.weights is None or not table.counted:
        return table.take(np.arange(min(table.n_rows, MOST_ROWS)))
    rng = np.random.default_rng([seed, 43])
    return replace(table.take(rng.choice(table.n_rows, MOST_ROWS, p=table.weights / table.total)), weights=None)


def _states(found: Findings, variable: HiddenVariable, rows: Table) -> NDArray[np.int64]:
    return found.network.posterior(rows, variable.name).argmax(axis=1)


def _support(variable: HiddenVariable, states: NDArray[np.int64], runs: Sequence[Resampled]) -> Support:
    matches = [_match(variable, states, run) for run in runs]
    back = [neighbours for neighbours in matches if neighbours is not None]
    columns = sorted({column for neighbours in back for column in neighbours} | variable.neighbours)
    links = {column: sum(column in neighbours for neighbours in back) / max(len(runs), 1) for column in columns}
    return Support(len(back) / max(len(runs), 1), links, len(runs))


def _match(variable: HiddenVariable, states: NDArray[np.int64], run: Resampled) -> frozenset[str] | None:
    """The neighbours of the variable of a run that is the same one, if there is any."""
    for neighbours, theirs in run:
        shared = len(neighbours & variable.neighbours) / len(neighbours | variable.neighbours)
        if shared >= SHARED and adjusted_rand(states, theirs) >= ALIGNED:
            return neighbours
    return None
