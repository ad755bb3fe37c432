"""Every phrase of a verdict, by making the situation that it speaks of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import leverrier as lv
from leverrier.discovery import examine as route
from leverrier.discovery.causes_route import with_causes
from leverrier.discovery.evidence.drawn_evidence import unseen as evidence_unseen
from leverrier.discovery.evidence.evidence import Compared, Evidence, Stopped, weighed
from leverrier.discovery.plan import Plan
from leverrier.discovery.time.find_in_time import find_in_time
from leverrier.discovery.verdict import Answer, Reason, Verdict
from leverrier.report.words.verdict_words import compressor_words, headline, verdict
from leverrier.run.event import Event, Told
from leverrier.run.run import Run
from leverrier.run.stop import Stop
from tests.report_cases import found as case
from tests.report_cases import nothing
from tests.test_structural_em import star


@pytest.fixture(scope="module")
def rows() -> lv.Table:
    return star(children=6, states=2, extra=0).sample(900, seed=1).drop("h")


@pytest.fixture(scope="module")
def noise() -> lv.Table:
    rng = np.random.default_rng(0)
    return lv.Table.from_codes({f"v{i}": (0, 1) for i in range(4)}, rng.integers(0, 2, (4, 300)))


def said(evidence: list[Evidence], asked: bool = True) -> tuple[str, Reason]:
    one = weighed(evidence, asked)
    return str(one), one.reason


FULL = Evidence(50.0, tuple([1.0] * 99), 0.01, tested=True, level=0.01)
SAVED = Evidence(90.0, tuple([1.0] * 8), 0.11, tested=True, stopped=Stopped.CLEAR)
ONE = Evidence(50.0, (1.0,), 0.5, tested=True, level=0.01)
SOME = Evidence(50.0, tuple([1.0] * 30), 1 / 31, tested=True, stopped=Stopped.BUDGET, level=0.01)
CUT = replace(ONE, stopped=Stopped.BUDGET)
NONE = Evidence(50.0, stopped=Stopped.BUDGET, level=0.01)


@pytest.mark.parametrize(
    ("evidence", "asked", "answer", "reason"),
    [
        ([FULL], True, "found", Reason.TESTED),
        ([SAVED], True, "found", Reason.TESTED),
        ([SOME], True, "found", Reason.FEW_DRAWS),
        ([FULL, SOME], True, "found", Reason.FEW_DRAWS),
        ([replace(FULL, support=0.0)], True, "undecided", Reason.NOT_AGAIN),
        ([replace(FULL, support=0.5)], True, "found", Reason.TESTED),
        ([replace(FULL, support=0.5, held_out_interval=(0.0, 0.0))], True, "undecided", Reason.NOT_AGAIN),
        ([replace(FULL, support=0.6, held_out_interval=(0.0, 0.0))], True, "found", Reason.TESTED),
        ([replace(FULL, support=2 / 6, held_out_interval=(-0.01, 0.01))], True, "undecided", Reason.NOT_AGAIN),
        ([replace(FULL, support=3 / 6, held_out_interval=(-0.01, 0.01))], True, "found", Reason.TESTED),
        ([replace(FULL, support=2 / 6, held_out_interval=(0.01, 0.02))], True, "found", Reason.TESTED),
        ([replace(FULL, null_gains=(*[1.0] * 49, *[30.0] * 50), claimed=29.0)], True, "undecided", Reason.DROWNED),
        ([replace(FULL, null_gains=(*[1.0] * 50, *[30.0] * 49), claimed=29.0)], True, "found", Reason.TESTED),
        ([FULL, NONE], True, "found", Reason.TESTED),
        ([ONE], True, "found", Reason.FEW_DRAWS),
        ([CUT], True, "undecided", Reason.TIME),
        ([NONE], True, "not tested", Reason.TIME),
        ([Evidence(50.0)], False, "not tested", Reason.NOT_ASKED),
        ([replace(FULL, held_out_interval=(-0.04, -0.02))], True, "undecided", Reason.HELD_OUT_AGAINST),
        ([Evidence(9.0, tested=True, kind=Compared.CAUSES)], True, "found", Reason.HELD_OUT),
        ([Evidence(9.0, tested=True, kind=Compared.CAUSES)], False, "not tested", Reason.NOT_ASKED),
    ],
)
def test_what_tests_say(evidence, asked, answer, reason):
    assert said(evidence, asked) == (answer, reason)


def test_a_verdict_is_a_value_whose_text_is_its_answer():
    one = Verdict(Answer.NOTHING, Reason.NO_GAIN)
    assert str(one) == "nothing"
    assert one == Verdict(Answer.NOTHING, Reason.NO_GAIN)
    assert one.unfinished() == Verdict(Answer.UNDECIDED, Reason.TIME)
    assert Verdict(Answer.FOUND, Reason.TESTED).unfinished().found
    assert {str(each) for each in Answer} == {"found", "nothing", "undecided", "not tested"}


def test_only_what_was_tested_is_at_work_and_the_rest_is_listed_apart():
    result = case()
    first = result.hidden[0]
    second = replace(first, name="H2", evidence=NONE)
    both = replace(result, hidden=(first, second), verdict=weighed([FULL, NONE], True))
    assert [each.name for each in both.believed] == ["H1"]
    assert [each.name for each in both.untested] == ["H2"]
    words = verdict(both)
    assert words.startswith("One hidden variable is at work")
    assert "Found, but not tested or not to the end: H2." in words
    third = replace(both, hidden=(first, replace(second, evidence=FULL)))
    assert headline(third).startswith("2 hidden variables are at work")
    for evidence, asked in (([NONE], True), ([CUT], True), ([Evidence(50.0)], False)):
        untested = replace(result, hidden=(replace(first, evidence=evidence[0]),), verdict=weighed(evidence, asked))
        assert untested.believed == ()
        assert "at work" not in verdict(untested)
    provisional = replace(result, hidden=(replace(first, evidence=ONE),), verdict=weighed([ONE], True))
    assert "provisional" in headline(provisional)


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_can_be_said(reason):
    for answer in (Answer.NOTHING, Answer.UNDECIDED):
        words = headline(replace(nothing(), verdict=Verdict(answer, reason)))
        assert words.startswith("Nothing hidden was found" if answer is Answer.NOTHING else "Undecided", 0) or (
            reason is Reason.UNSTABLE
        )
        assert words.endswith(".")


def test_a_search_cut_short_is_undecided(noise):
    """Also where all that was tried had found nothing."""
    late = route.examine(noise, lv.BDe(), Plan(), route.Tests(draws=2, resamples=0, power=False), Run(deadline=0.0))
    assert (str(late.verdict), late.verdict.reason) == ("undecided", Reason.TIME)
    assert "Nothing hidden was found" not in verdict(late)
    few = lv.discover(noise, draws=2, resamples=0, work=1, jobs=1)
    assert str(few.verdict) == "undecided"
    assert not few.finished


@pytest.mark.parametrize(("when", "answer"), [(Event.NULL_TABLES, "undecided"), (Event.CANDIDATES, "not tested")])
def test_a_test_cut_short_never_says_that_it_is_at_work(rows, when, answer):
    """Stopped after four draws of eight; or when the last candidate was tried, before any."""
    stop = Stop()

    def tell(what: Told, share: float) -> None:
        if what.event is when and (share == 1.0 or when is Event.NULL_TABLES):
            stop.ask()

    tests = route.Tests(draws=8, resamples=0, held_out=False, power=False)
    found = route.examine(rows, lv.BDe(), Plan(max_hidden=1), tests, Run(progress=tell, stop=stop))
    assert str(found.verdict) == answer
    assert found.verdict.reason is Reason.TIME
    assert len(found.hidden) == 1
    assert "at work" not in verdict(found)


def test_one_draw_is_provisional_and_says_how_many_are_needed(rows):
    found = lv.discover(rows, method="network", draws=1, resamples=0, jobs=1, max_hidden=1)
    assert (str(found.verdict), found.verdict.reason) == ("found", Reason.FEW_DRAWS)
    assert (found.hidden[0].evidence.draws, found.hidden[0].evidence.p_value) == (1, 0.5)
    assert "provisional" in found.headline
    assert "level 0.01 needs 99 tables" in str(found)


def test_of_several_variables_those_that_time_left_out_are_not_at_work(rows):
    """Two stars; stopped when the first is tested to the end, and when both are."""
    rng = np.random.default_rng(8)
    behind = rng.integers(0, 2, 900)
    codes = np.where(rng.random((5, 900)) < 0.87, behind, 1 - behind)
    other = lv.Table.from_codes({f"z{i}": (0, 1) for i in range(5)}, codes)
    both = lv.Table((*rows.columns, *other.columns), np.concatenate([rows.codes, other.codes]))
    tests = route.Tests(draws=4, resamples=0, held_out=False, power=False, level=0.2)
    for last, at_most in ((1, 1), (2, 2)):
        stop, ended = Stop(), []

        def tell(what: Told, share: float, stop=stop, ended=ended, last=last) -> None:
            if what.event is Event.NULL_TABLES and share == 1.0:
                ended.append(what)
            if len(ended) == last and not stop.asked:
                stop.ask()

        found = route.examine(both, lv.BDe(), Plan(max_hidden=3), tests, Run(progress=tell, stop=stop))
        assert len(found.believed) == at_most
        words = "One hidden variable is at work" if at_most == 1 else "2 hidden variables are at work"
        assert verdict(found).startswith(words)
        assert all(each.evidence.draws == 4 for each in found.believed)


def test_what_is_printed_of_a_compressor_is_what_was_compared():
    one = case().hidden[0]
    alike = replace(one, gain=2.2, evidence=Evidence(1.4, (1.9, 1.5, 2.0), 1.0, False, True, Stopped.ALIKE, level=0.01))
    unseen = replace(one, gain=2.2, evidence=evidence_unseen(0.01))
    assert "gains 1.4 nats here; of 3 simulated tables without it 3 gained as much, the largest 2.0" in (
        compressor_words(alike)
    )
    words = compressor_words(unseen)
    assert "gain 2.2 nats; the quick search that simulated tables get finds nothing in the data" in words
    assert "p = 1" in words


def test_without_tests_the_same_variables_are_found_and_not_tested(rows):
    tested = lv.discover(rows, method="network", draws=3, resamples=0, jobs=1, max_hidden=1)
    plain = lv.discover(rows, method="network", evidence=False, jobs=1, max_hidden=1)
    assert (str(tested.verdict), str(plain.verdict)) == ("found", "not tested")
    assert plain.verdict.reason is Reason.NOT_ASKED
    assert [(h.name, h.states, h.neighbours) for h in plain.hidden] == [
        (h.name, h.states, h.neighbours) for h in tested.hidden
    ]
    one = plain.hidden[0]
    assert (one.kind, one.evidence.tested, one.evidence.draws, one.evidence.p_value) == ("class", False, 0, None)
    assert tested.hidden[0].evidence.draws == 3
    assert tested.hidden[0].evidence.held_out is not None
    assert plain.untested == plain.hidden


def test_nothing_is_said_when_everything_was_done(noise):
    found = lv.discover(noise, draws=2, resamples=0, jobs=1)
    assert str(found.verdict) == "nothing"
    assert found.headline.startswith("Nothing hidden was found")
    assert found.finished


def test_causes_that_were_not_reached_leave_it_undecided():
    result = nothing()
    rng = np.random.default_rng(0)
    table = lv.Table.from_codes({f"v{i}": (0, 1) for i in range(5)}, rng.integers(0, 2, (5, 80)))
    late = with_causes(
        table, replace(result, network=lv.learn_structure(table).network), lv.BDe(), Plan(), Run(deadline=0.0)
    )
    assert (str(late.verdict), late.verdict.reason) == ("undecided", Reason.CAUSES_TIME)
    assert headline(late).startswith("Undecided: the time ran out before overlapping causes were compared")


def test_sequences_say_the_same_words():
    rng = np.random.default_rng(1)
    days = lv.read_sequences({"a": rng.integers(0, 2, 60).tolist(), "b": rng.integers(0, 2, 60).tolist()})
    late = find_in_time(days, budget=1e-9)
    assert (str(late.verdict), late.verdict.reason) == ("undecided", Reason.TIME)
    assert str(late).startswith("Undecided: the time ran out")
    done = lv.discover(days, max_hidden=0)
    assert (str(done.verdict), done.verdict.reason) == ("nothing", Reason.NO_CHAIN)
    assert done.headline.startswith("Nothing hidden was found")
    assert done.hidden == done.compressors == done.result.attempts == ()


def test_one_hot_columns_of_a_category_are_nothing_hidden():
    """Five yes/no columns of one category that drives another column: they exclude each other, and that is all."""
    rng = np.random.default_rng(0)
    category = rng.integers(0, 5, 600)
    driven = rng.random(600) < np.array([0.1, 0.3, 0.5, 0.7, 0.9])[category]
    rows = np.array([*(category == k for k in range(5)), driven]).astype(np.int64)
    table = lv.Table.from_codes({**{f"is_{k}": (0, 1) for k in range(5)}, "driven": (0, 1)}, rows)
    found = lv.discover(table, method="network", level=0.05, draws=19, resamples=2, max_hidden=1, jobs=1, seed=0)
    assert str(found.verdict) != "found", str(found)
