"""Candidates tried in other processes: the same answer, within the same budgets, kept in the same checkpoints."""

import pickle
import time

import numpy as np
import pytest

from leverrier import OptionError, find_hidden
from leverrier.data.table import Table
from leverrier.discovery.places.search import run_search
from leverrier.discovery.plan import Plan
from leverrier.learning.structure.score import BDe
from leverrier.run import pool
from leverrier.run import run as running
from leverrier.run.pool import Workers
from leverrier.run.run import Run

TWO = Workers(2)


@pytest.fixture(scope="module", autouse=True)
def two_processes():
    """Ready beforehand, so that all candidates but the first go there."""
    pool._await(2)
    assert TWO.ready


@pytest.fixture
def sent(monkeypatch):
    """How many calls went to other processes."""
    counts = []

    def counting(workers, stop, function, calls, before=running.streamed):
        counts.append(len(calls))
        return before(workers, stop, function, calls)

    monkeypatch.setattr(running, "streamed", counting)
    return counts


def star(rows=600, columns=7, seed=0):
    """A hidden variable of two states behind most columns, the others alone."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 2, rows)
    codes = rng.integers(0, 3, (columns, rows))
    for column in range(columns - 2):
        copied = rng.random(rows) < 0.7
        codes[column, copied] = hidden[copied] * 2
    return Table.from_codes({f"c{v}": (0, 1, 2) for v in range(columns)}, codes)


def answer(found):
    return [(h.name, h.states, h.children, h.parents, h.gain, h.start) for h in found.hidden], [
        (one.members, one.gain, one.neighbours) for one in found.attempts
    ]


@pytest.mark.parametrize("seed", range(2))
def test_the_answer_does_not_depend_on_where_candidates_are_tried(sent, seed):
    table = star(seed=seed)
    alone = run_search(table, BDe(), Plan(max_hidden=2))
    assert not sent
    assert answer(run_search(table, BDe(), Plan(max_hidden=2), Run(workers=TWO))) == answer(alone)
    assert sum(sent) > 3


def test_from_the_front_door(sent):
    table = star(seed=3)
    assert answer(find_hidden(table, max_hidden=1, jobs=2)) == answer(find_hidden(table, max_hidden=1))
    assert sent


@pytest.mark.parametrize("most", [1, 3, 6])
def test_a_budget_of_work_ends_at_the_same_place(most):
    def within(jobs):
        run = Run.of(jobs=jobs, work=most + 3)  # (three pieces go to the rivals)
        return answer(run_search(star(), BDe(), Plan(max_hidden=1), run)), run.work.done

    assert within(1) == within(2)


def test_a_resumed_run_takes_what_was_tried_elsewhere(sent, tmp_path):
    table = star(seed=1)
    first = find_hidden(table, max_hidden=1, jobs=2, checkpoint=tmp_path / "kept")
    sent.clear()
    again = find_hidden(table, max_hidden=1, jobs=2, checkpoint=tmp_path / "kept", resume=True)
    assert answer(again) == answer(first)
    assert sum(sent) == 0


def test_no_time_left_is_no_candidates_tried():
    found = run_search(star(), BDe(), Plan(max_hidden=1), Run(time.monotonic() - 1, workers=TWO))
    assert not found.hidden
    assert not found.attempts


def test_a_deadline_is_the_same_moment_on_a_machine_with_another_clock(monkeypatch):
    sent = pickle.dumps(Run.of(100))
    there = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: there() + 5000)
    assert pickle.loads(sent).seconds_left() == pytest.approx(100, abs=1)


def test_an_endless_run_stays_endless():
    assert pickle.loads(pickle.dumps(Run())).deadline == np.inf


def test_an_impossible_number_of_processes():
    with pytest.raises(OptionError, match="jobs=0: expected at least 1"):
        find_hidden(star(), jobs=0)


def test_calls_that_are_given_up_are_no_warning():
    """(Warnings are errors in the tests.)"""
    results = pool.streamed(TWO, None, _slowly, [(number,) for number in range(6)])
    assert next(results) == 0
    results.close()
    assert list(pool.streamed(TWO, None, _slowly, [(number,) for number in range(2)])) == [0, 1]


def _slowly(number):
    time.sleep(0.2)
    return number
