"""Held-out gain of the whole procedure: every fold is searched anew."""

from dataclasses import replace

import numpy as np
import pytest

import leverrier as lv
from leverrier.discovery.evidence.evidence import Evidence
from leverrier.discovery.evidence.searched_folds import searched_folds
from leverrier.discovery.places.search import run_search
from leverrier.discovery.plan import Plan
from leverrier.run.run import Run
from tests.test_structural_em import star

PLAN = Plan(seed=5)
EASY = Evidence(50.0, null_gains=(1.0, 2.0, 3.0), tested=True)


@pytest.fixture(scope="module")
def hidden_star() -> lv.Table:
    return star(children=6, states=2, extra=0).sample(900, seed=1).drop("h")


@pytest.fixture(scope="module")
def gained(hidden_star):
    return searched_folds(hidden_star, lv.BDe(), PLAN, [EASY])


def test_it_is_the_mean_over_folds_done_by_hand(hidden_star, gained):
    """An unhurried twin: the search by its public steps on two thirds, both models by their own log-likelihoods."""
    ((mean, (low, high)),) = gained
    assert 0 < low < mean < high
    fold = np.random.default_rng([5, 11]).permutation(hidden_star.n_rows) % 3
    rows = []
    for k in range(3):
        train, test = hidden_star.take(fold != k), hidden_star.take(fold == k)
        found = run_search(train, lv.BDe(), PLAN.light())
        plain = lv.fit(found.baseline.graph, train, prior=lv.BDe()).network
        rows += list(found.network.row_log_likelihood(test) - plain.row_log_likelihood(test))
    assert mean == pytest.approx(np.mean(rows), abs=1e-6)
    assert high - low == pytest.approx(2 * 1.96 * np.std(rows) / 30, rel=1e-3)


def test_a_fold_that_finds_nothing_gains_nothing(hidden_star):
    """What the null test would not believe in a fold is not counted, whichever way it points."""
    hard = replace(EASY, null_gains=(1e6, 1.0, 2.0))
    assert searched_folds(hidden_star, lv.BDe(), PLAN, [hard]) == [(0.0, (0.0, 0.0))]
    lenient = replace(hard, level=0.5)  # one of three tables may gain as much: p = (1 + 1) / 4
    assert searched_folds(hidden_star, lv.BDe(), PLAN, [lenient])[0][0] > 0


def test_columns_with_nothing_behind_them_gain_nothing():
    rows = np.random.default_rng(3).integers(0, 2, (6, 400))
    table = lv.Table.from_codes({f"c{v}": (0, 1) for v in range(6)}, rows)
    ((mean, (low, high)),) = searched_folds(table, lv.BDe(), PLAN, [EASY])
    assert low <= 0 <= high
    assert abs(mean) < 0.01


def test_each_further_variable_is_judged_given_those_before(hidden_star, gained):
    first, second = searched_folds(hidden_star, lv.BDe(), PLAN, [EASY, EASY])
    assert first[0] == pytest.approx(gained[0][0], abs=2e-3)
    assert second == (0.0, (0.0, 0.0))  # a star has one


def test_whole_groups_are_held_out_together(hidden_star, gained):
    """Rows each twice: held out one by one, a row's twin is learned from; in pairs, the rows are as if they came once
    (but for the number of states of belief that twice the rows give)."""
    twice = hidden_star.take(np.repeat(np.arange(hidden_star.n_rows), 2))
    pairs = np.repeat(np.arange(hidden_star.n_rows), 2)
    ((mean, (low, high)),) = searched_folds(twice, lv.BDe(), PLAN, [EASY], groups=pairs)
    ((_, alone),) = searched_folds(twice, lv.BDe(), PLAN, [EASY])
    ((once, _),) = gained
    assert low < once < high
    assert high - low > 1.2 * (alone[1] - alone[0])  # √2, were the gains the same
    assert mean > 0


def test_workers_checkpoints_and_cuts_do_not_change_it(hidden_star, gained, tmp_path):
    assert searched_folds(hidden_star, lv.BDe(), PLAN, [EASY], Run.of(jobs=2)) == gained
    with Run.of(work=2).kept_in(tmp_path, False, "folds") as run:
        assert searched_folds(hidden_star, lv.BDe(), PLAN, [EASY], run) is None  # two of three folds
    with Run.of().kept_in(tmp_path, True, "folds") as run:
        assert searched_folds(hidden_star, lv.BDe(), PLAN, [EASY], run) == gained
    assert searched_folds(hidden_star, lv.BDe(), PLAN, [EASY], Run.of(budget=1e-6)) is None


def test_holes_and_counted_rows(hidden_star, gained):
    codes = hidden_star.codes.copy()
    codes[0, ::9] = hidden_star.missing
    ((mean, (low, _)),) = searched_folds(lv.Table(hidden_star.columns, codes), lv.BDe(), PLAN, [EASY])
    assert low > 0
    assert mean < gained[0][1][1]
    ((counted, interval),) = searched_folds(hidden_star.distinct(), lv.BDe(), PLAN, [EASY])
    assert interval[0] < gained[0][0] < interval[1]
    assert counted > 0
