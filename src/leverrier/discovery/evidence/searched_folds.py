"""What the whole procedure gains on rows it never saw: in every fold the search is made anew.

Of each third of the rows nothing is known to the search that is scored on it: neither which arcs there are, nor where a
hidden variable sits, nor how many states it has. The search is the light one of the null test
(docs/decisions/0016-a-light-statistic.md), for the model with the variable and for the one without.

Both sides say their families by tables alone. The rival of the data may say them by other kinds, but a search that
weighs kinds costs many times as much, and kinds on one side only would measure the kinds, not the variable. Whether a
rival with kinds does as well is asked by the null test, whose tables come from it, and by free_learner.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.data.table import Table
from leverrier.discovery.evidence.evidence import Evidence
from leverrier.discovery.evidence.held_out import (
    Gained,
    folded,
    learned_again,
    mean_and_interval,
    mean_and_interval_of_groups,
)
from leverrier.discovery.evidence.null_test import WORTH_A_TEST
from leverrier.discovery.evidence.whole_groups import Groups, folds_of_groups
from leverrier.discovery.places.search import begin, next_hidden
from leverrier.discovery.plan import Plan
from leverrier.learning.structure.score import Score
from leverrier.run.codecs import Key
from leverrier.run.event import Event
from leverrier.run.run import UNBOUNDED, Run

FOLDS = 3


@dataclass(frozen=True, eq=False)
class Fold:
    """What the search on the other rows found, and what that says of the rows held out."""

    gains: tuple[float, ...]
    """By hidden variable that was found, what it gained on the rows learned from."""
    rows: Floats
    """(variables, rows held out): log-likelihood with the variable less that with only those before it."""


def searched_folds(
    table: Table,
    score: Score,
    plan: Plan,
    evidence: Sequence[Evidence],
    run: Run = UNBOUNDED,
    groups: Groups | None = None,
) -> list[Gained] | None:
    """By variable, the gain a held-out row with a 95 % interval; None if time ran out.

    A fold's k-th variable is set beside the model with those before it. It counts as found if it gains a row what the
    null test asked of the data's (simulated tables gain by what arcs cannot say, and that grows with the rows). A fold
    in which nothing is found gains 0: no variable is refused for want of rows to find it in.
    """
    parts = _parts(table, plan, groups)
    calls, keys = _folding(parts, score, plan, len(evidence), run)
    found = [fold for fold in run.map(_searched, calls, keys, _write_fold, _read_fold) if fold is not None]
    if len(found) < len(parts):
        return None
    run.tell(Event.HELD_OUT_ROWS, 1.0)
    asked = np.array([_asked(one) for one in evidence])
    shares = [train.total / table.total for train, _ in parts]
    counted = [_counted(fold, share * asked) for fold, share in zip(found, shares, strict=True)]
    gains = np.concatenate(counted, axis=1)
    if groups is not None:
        fold = _fold_of_rows(plan, groups)
        order = np.concatenate([np.flatnonzero(fold == k) for k in np.unique(fold)])
        return [mean_and_interval_of_groups(each, groups[order]) for each in gains]
    weights = [np.ones(test.n_rows) if test.weights is None else test.weights for _, test in parts]
    return [mean_and_interval(each, np.concatenate(weights)) for each in gains]


def begin_folds(table: Table, score: Score, plan: Plan, run: Run, groups: Groups | None = None) -> None:
    """Have other processes begin with them, for one hidden variable."""
    run.begin_ahead(_searched, *_folding(_parts(table, plan, groups), score, plan, 1, run))


def _folding(
    parts: Sequence[tuple[Table, Table]], score: Score, plan: Plan, hidden: int, run: Run
) -> tuple[list[tuple[Any, ...]], list[Key]]:
    """The calls, with their keys, of searches for so many hidden variables in each part."""
    again, silent = replace(plan.light(), max_hidden=hidden), run.silent()
    calls = [(train, test, score, again, silent) for train, test in parts]
    return calls, [("searched fold", hidden, number) for number in range(len(parts))]


def _parts(table: Table, plan: Plan, groups: Groups | None) -> list[tuple[Table, Table]]:
    """What is learned from and what is held out."""
    if groups is None:
        return list(folded(table, FOLDS, np.random.default_rng([plan.seed, 11])))
    fold = _fold_of_rows(plan, groups)
    return [(table.take(fold != k), table.take(fold == k)) for k in np.unique(fold)]


def _fold_of_rows(plan: Plan, groups: Groups) -> Groups:
    return folds_of_groups(groups, FOLDS, np.random.default_rng([plan.seed, 11]))


def _searched(train: Table, test: Table, score: Score, plan: Plan, run: Run) -> Fold | None:
    """The search on one part, scored on the other; None if time ran out over it."""
    if not train.n_rows:
        return Fold((), np.zeros((0, test.n_rows)))
    search = begin(train, score, plan, run)
    while len(search.found) < plan.max_hidden and next_hidden(search):
        pass
    if run.spent:
        return None
    networks = [learned_again(search.networks[0], train, score), *search.networks[1:]]
    told = np.array([each.row_log_likelihood(test) for each in networks])
    return Fold(tuple(each.gain for each in search.found), np.diff(told, axis=0))


def _asked(one: Evidence) -> float:
    """The gain above which the null test would have believed it: that of all simulated tables but the few that the
    level allows to gain as much."""
    allowed = 0 if one.level is None else max(floor(one.level * (1 + one.draws) + 1e-9) - 1, 0)
    drawn = sorted(one.null_gains, reverse=True)
    return max(drawn[allowed] if allowed < len(drawn) else 0.0, WORTH_A_TEST)


def _counted(fold: Fold, asked: Floats) -> Floats:
    """By variable that was asked about and row, the gain; 0 from the first on that the fold did not find."""
    out = np.zeros((len(asked), fold.rows.shape[1]))
    for place, (gain, least) in enumerate(zip(fold.gains, asked, strict=False)):
        if gain <= least:
            break
        out[place] = fold.rows[place]
    return out


def _write_fold(fold: Fold | None) -> Any:
    assert fold is not None  # (what time cut short is not kept)
    return {"gains": list(fold.gains), "rows": fold.rows}


def _read_fold(piece: Any) -> Fold | None:
    return Fold(tuple(piece["gains"]), piece["rows"])
