"""Calls begun in other processes before they are asked for: the same results, whatever was begun or failed."""

import threading
import time
from concurrent.futures import Future

import numpy as np
import pytest

import leverrier as lv
from leverrier.run import ahead as early
from leverrier.run.ahead import Ahead, awaited
from leverrier.run.pool import TURN, Workers
from leverrier.run.run import Run
from leverrier.run.stop import Stop


@pytest.fixture
def there(monkeypatch):
    """Another process that does nothing until it is let go, and remembers what it was asked."""
    gate, asked = threading.Event(), []

    def called(jobs, calls):
        asked.extend((jobs, call) for _, call in calls)
        gate.wait(10)
        for function, call in calls:
            yield function(*call)

    monkeypatch.setattr(early, "called_there", called)
    monkeypatch.setattr(early, "end_workers", lambda: asked.append("ended"))
    called.gate, called.asked = gate, asked
    yield called
    gate.set()


def test_what_was_begun_is_waited_for_and_what_was_not_is_left_to_the_caller(there):
    calls = Ahead(2)
    calls.begin(pow, [(2, 5), (3, 2), (5, 2)], ["a", "b", "c"], at_once=1)
    while not there.asked:
        pass
    assert calls.take("b") is None  # (one at a time: it still waits, and now nobody begins it)
    begun = calls.take("a")
    assert begun is not None
    calls.begin_no_more()
    there.gate.set()
    assert awaited(begun, None, lambda: -1) == 32
    assert calls.take("c") is None
    assert there.asked == [(2, (2, 5))]
    assert calls.idle


def test_a_call_that_fails_there_is_worked_out_here(there):
    calls = Ahead(2)
    calls.begin(divmod, [(1, 0)], ["a"], at_once=2)
    while not there.asked:
        pass
    there.gate.set()
    begun = calls.take("a") or pytest.fail("it was not begun")
    assert awaited(begun, None, lambda: "here") == "here"


def test_who_asks_to_stop_does_not_wait(monkeypatch):
    stop, begun = Stop(), Future()
    monkeypatch.setattr(begun, "exception", lambda _: stop.ask())  # (where nobody looks the wish breaks in)
    assert awaited(begun, stop, lambda: "here") is None

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(begun, "exception", interrupted)
    with pytest.raises(KeyboardInterrupt):
        awaited(begun, None, lambda: "here")


def test_when_time_runs_out_nobody_waits(there):
    run = Run.of(budget=0.2, jobs=2)
    run.begin_ahead(pow, [(2, 5)], [("power", 5)])
    while not there.asked:
        pass
    assert run.map(pow, [(2, 5)], [("power", 5)]) == []
    assert run.late


def test_what_nobody_asks_for_is_ended(there):
    calls = Ahead(2)
    calls.begin(pow, [(2, 5)], ["a"], at_once=1)
    while not there.asked:
        pass
    calls.end()
    assert there.asked[-1] == "ended"
    there.gate.set()
    calls.end()
    assert there.asked.count("ended") == 1


def test_a_run_gives_the_same_results_with_and_without_calls_ahead(there):
    there.gate.set()
    calls, keys = [(2, n) for n in range(6)], [("power", n) for n in range(6)]
    run = Run(workers=Workers(2), ahead=Ahead(2))
    run.begin_ahead(pow, calls[::2], keys[::2], at_once=2)
    assert run.map(pow, calls, keys) == [2**n for n in range(6)]
    run.begin_ahead(pow, calls[:2], keys[:2])
    assert run.begun_or(lambda: 2**1, keys[1]) == 2
    run.end_ahead()
    assert Run.of(jobs=1).ahead is None
    Run.of(jobs=1).begin_ahead(pow, calls, keys)  # (alone: nobody begins anything)


def test_discover_says_the_same_alone_and_with_tests_begun_ahead():
    rng = np.random.default_rng(5)
    hidden = rng.integers(0, 2, 900)
    rows = {f"a{i}": np.where(rng.random(900) < 0.8, hidden, 1 - hidden) for i in range(5)}
    rows["b"] = rng.integers(0, 2, 900)
    how = {"seed": 1, "draws": 19, "level": 0.05, "resamples": 2, "progress": False}
    alone, shared = (lv.discover(lv.read_table(rows), jobs=jobs, **how) for jobs in (1, 2))
    assert [each.evidence for each in alone.hidden] == [each.evidence for each in shared.hidden]
    assert (alone.verdict, alone.result.score) == (shared.verdict, shared.result.score)
    assert alone.verdict.found


def test_who_needs_a_result_now_goes_before_who_works_ahead(there):
    """While calls are shared out nothing is begun beside them: two threads are never in the executor at once."""
    calls = Ahead(2)
    with TURN:
        calls.begin(pow, [(2, 5)], ["a"], at_once=1)
        time.sleep(0.1)
        assert calls.take("b") is None
        assert not there.asked
    while not there.asked:
        pass
    there.gate.set()
    assert awaited(calls.take("a") or pytest.fail("it was not begun"), None, lambda: -1) == 32


def test_one_thread_at_a_time_has_the_turn():
    free, had = threading.Event(), []
    with TURN:
        other = threading.Thread(target=lambda: (had.append(TURN.given()), free.set()))
        other.start()
        free.wait(10)
        other.join()
        with TURN:  # (whoever has it has it)
            pass
    assert had == [False]
    assert TURN.given()
    TURN.over()
