"""One run: when it ends, what it tells, what it keeps, and how its calls are shared out."""

import builtins
import math
import os
import pickle
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import leverrier as lv
from leverrier.errors import Cut, OptionError
from leverrier.run import checkpoint as checkpoints
from leverrier.run import cores
from leverrier.run.event import Event, Told
from leverrier.run.pool import Workers, end_workers, streamed
from leverrier.run.run import LEAST_SECONDS, UNBOUNDED, Run
from leverrier.run.stop import Stop, answered
from leverrier.status import Status


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless it is moved."""
    now = SimpleNamespace(at=1000.0)
    monkeypatch.setattr(time, "monotonic", lambda: now.at)
    return now


def test_a_budget_is_seconds_from_now(clock):
    run = Run.of(10.0)
    clock.at += 4
    assert (run.late, run.spent, run.status, run.seconds_left()) == (False, False, Status.CONVERGED, 6.0)
    clock.at += 7
    assert (run.late, run.spent, run.status, run.seconds_left()) == (True, True, Status.BUDGET, LEAST_SECONDS)
    assert not UNBOUNDED.late
    assert UNBOUNDED.seconds_left() is None


def test_a_part_of_a_run_ends_no_later_than_the_run(clock):
    run = Run.of(10.0)
    assert run.within(3.0).seconds_left() == 3.0
    assert run.within(30.0).seconds_left() == 10.0
    assert UNBOUNDED.within(math.inf).seconds_left() is None
    assert run.hurried().late
    assert run.silent().deadline == run.deadline
    clock.at += 11
    assert run.within(3.0).late


def test_work_is_a_budget_that_is_spent_by_pieces():
    run = Run.of(work=2)
    assert run.once(("a",), lambda: 1) + run.once(("b",), lambda: 2) == 3
    assert run.spent
    assert not run.late
    assert run.once(("c",), lambda: 3, otherwise=lambda: 0) == 0


def test_a_wish_to_stop_breaks_in_only_where_nobody_looks():
    stop = Stop()
    run = Run.of(stop=stop)
    stop.ask()
    assert (run.stopped, run.spent, run.status, run.seconds_left()) == (True, True, Status.INTERRUPTED, LEAST_SECONDS)
    with stop.breaking_in(), pytest.raises(KeyboardInterrupt):
        stop.ask()
    stop.ask()
    stop.break_in()
    with pytest.raises(KeyboardInterrupt):
        stop.ask()
    stop.spread()  # (whoever was interrupted tells the others so without being interrupted again)


def test_what_is_cut_is_answered_in_haste_and_what_is_answered_is_not_cut():
    def cut():
        raise Cut

    stop = Stop()
    assert answered(stop, cut, lambda: "in haste") == "in haste"
    assert not stop.answered
    assert answered(stop, lambda: "whole", cut) == "whole"
    assert stop.answered


def test_a_line_of_progress_is_words_an_event_and_a_share():
    told = []
    run = Run.of(progress=lambda what, share: told.append((what, share)))
    run.tell(Event.CANDIDATES, 0.5)
    run.part(0.2, 0.6).tell(Event.LAGS, 0.5, 3)
    run.tell(Event.SAMPLED_CHAIN, 0.1, 2, said="sweep 10 of 100, 3 causes")
    run.tell(Event.ROUND, math.nan, 4)
    run.untold().tell(Event.CANDIDATES, 1.0)
    assert [what for what, _ in told] == ["candidates", "3 lags", "chain 2: sweep 10 of 100, 3 causes", "round 4"]
    assert [what.event for what, _ in told] == [Event.CANDIDATES, Event.LAGS, Event.SAMPLED_CHAIN, Event.ROUND]
    assert told[2][0].task == "chain 2"
    assert [share for _, share in told[:3]] == pytest.approx([0.5, 0.4, 0.1])
    assert math.isnan(told[3][1])


def test_every_event_has_words_of_its_own():
    assert len({event.value for event in Event}) == len(Event.__members__)
    assert all(isinstance(Told.of(event, *"abcd"), str) for event in Event)


def test_every_learner_tells_lines_and_shares():
    """The second number is the share done, from whichever learner: never a score."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (4, 80))
    table = lv.Table.from_codes({f"c{i}": (0, 1) for i in range(4)}, codes)
    numbers = {"x": rng.normal(size=60), "y": rng.normal(size=60)}
    signs = rng.integers(0, 2, (30, 4)).astype(float)
    steps = lv.read_sequences({"t": list(range(40)), "a": rng.integers(0, 2, 40).tolist()}, time="t")
    for learn in (
        lambda **how: lv.latent_classes(table, range(1, 3), starts=2, **how),
        lambda **how: lv.mixed_classes(numbers, range(1, 3), numbers=["x", "y"], starts=2, **how),
        lambda **how: lv.fit_mixture(np.column_stack([*numbers.values()]), (1, 2), starts=2, **how),
        lambda **how: lv.hidden_markov(steps, (1, 2), **how),
        lambda **how: lv.hidden_causes(signs, sweeps=4, chains=1, **how),
        lambda **how: lv.find_hidden(table, max_hidden=1, **how),
    ):
        told = []
        learn(progress=lambda what, share, told=told: told.append((what, share)))
        assert told
        assert all(isinstance(what, Told) and (0 <= share <= 1 or math.isnan(share)) for what, share in told)


def test_pieces_are_worked_out_once_and_taken_up_again(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)
    done = []

    def compute(what):
        done.append(what)
        return np.arange(3) * what

    for resume in (False, True):
        with UNBOUNDED.kept_in(tmp_path / "kept", resume, "trial", "about", 1) as run:
            assert run.once(("piece", 2), lambda: compute(2)).tolist() == [0, 2, 4]
            assert [each.tolist() for each in run.map(compute, [(3,), (4,)], [("each", 3), ("each", 4)])] == [
                [0, 3, 6],
                [0, 4, 8],
            ]
    assert done == [2, 3, 4]
    other = UNBOUNDED.kept_in(tmp_path / "kept", True, "trial", "about", 2)
    with pytest.raises(OptionError, match="other data or options"), other:
        pass
    with pytest.raises(OptionError, match="say where the run was kept"), UNBOUNDED.kept_in(None, True, "trial"):
        pass


def test_what_time_cut_short_is_not_kept(tmp_path, clock):
    with Run.of(5.0).kept_in(tmp_path / "kept", False, "trial") as run:

        def slow():
            clock.at += 6
            return 1

        assert run.once(("slow",), slow) == 1
        assert run.kept(("slow",), lambda piece: piece) is None


def test_a_run_goes_to_other_processes_without_what_belongs_here():
    run = Run.of(100, work=3, jobs=2, stop=Stop(), progress=lambda *_: None)
    there = pickle.loads(pickle.dumps(run.silent()))
    assert there.seconds_left() == pytest.approx(100, abs=5)
    assert (there.work, there.stop, there.progress, there.journal, there.workers) == (None, None, None, None, Workers())


def test_jobs_are_checked_and_by_default_one_a_core(monkeypatch):
    monkeypatch.setattr("leverrier.run.run.usable_cores", lambda: 7)
    assert Run.of(jobs=None).workers.jobs == 7
    assert Run.of().workers.jobs == 1
    for call in (lambda: Run.of(jobs=0), lambda: lv.learn_structure({"a": [0, 1]}, jobs=0)):
        with pytest.raises(OptionError, match="jobs=0: expected at least 1"):
            call()


def test_cores_are_counted_on_every_system(monkeypatch):
    monkeypatch.setattr(os, "process_cpu_count", lambda: 3, raising=False)
    assert cores.usable_cores() == 3
    monkeypatch.delattr(os, "process_cpu_count")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    assert cores.usable_cores() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert cores.usable_cores() == 5
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores.usable_cores() == 1


def grown(megabytes):
    """In a worker: holds so much more from now on, and takes a while."""
    held = [*getattr(builtins, "held_by_a_test", ()), np.ones(megabytes * 2**20, dtype=np.uint8)]
    setattr(builtins, "held_by_a_test", held)  # noqa: B010  (a worker keeps no module of tests)
    time.sleep(0.4)
    return os.getpid()


def test_a_worker_that_has_grown_is_neither_replaced_nor_warned_of():
    """joblib looks once a second, and ends one that holds 300 MB more than after its first call."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        pids = list(streamed(Workers(2), None, grown, [(350 if number in (2, 3) else 0,) for number in range(14)]))
    end_workers()
    assert len(set(pids)) <= 2
    assert not heard
