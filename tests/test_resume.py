"""Runs that were cut short and taken up again: bit for bit the run that was never stopped."""

import json
import signal
from dataclasses import replace

import numpy as np
import pytest

import leverrier as lv
from leverrier.api.saved import dump
from leverrier.cli.progress_bar import Interruptible
from leverrier.counts.parted_counts import counts_of
from leverrier.discovery.done import CutShort
from leverrier.errors import Cut
from leverrier.learning.structure.kind_scores import scores_of
from leverrier.run import checkpoint as checkpoints
from leverrier.run.checkpoint_format import unpack
from leverrier.run.stop import Stop
from tests.test_structural_em import star

NETWORK = lv.datasets.network("alarm")
COLUMNS = ["CATECHOL", "CO", "HRBP", "ERRLOWOUTPUT", "HREKG", "HRSAT"]


@pytest.fixture(scope="module")
def rows():
    return NETWORK.sample(300, seed=4).select(COLUMNS)


@pytest.fixture(autouse=True)
def _save_always(monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)


OPTIONS = {"draws": 3, "resamples": 2, "max_hidden": 1, "jobs": 1, "seed": 1}


def digest(found):
    content = json.loads(dump(replace(found.result, seconds=0.0)))
    return json.dumps(content, sort_keys=True)


class Weary:
    """A progress bar that gives up after so many lines."""

    def __init__(self, after, how):
        self.left, self.how = after, how

    def __call__(self, *_):
        self.left -= 1
        if self.left == 0:
            self.how()


def cut():
    raise Cut


class Killed(BaseException):
    pass


def killed():
    raise Killed


def test_a_run_killed_again_and_again_ends_as_the_one_that_was_not(rows, tmp_path):
    whole = lv.discover(rows, **OPTIONS)
    assert digest(lv.discover(rows, **OPTIONS, checkpoint=tmp_path / "a")) == digest(whole)
    again, kills = None, 0
    while again is None:
        try:
            weary = Weary(3 + 3 * kills, killed)
            again = lv.discover(rows, **OPTIONS, checkpoint=tmp_path / "b", resume=True, progress=weary)
        except Killed:
            kills += 1
    assert kills >= 3
    assert digest(again) == digest(whole)
    assert digest(lv.discover(rows, **OPTIONS, checkpoint=tmp_path / "b", resume=True)) == digest(whole)


@pytest.mark.parametrize("after", [1, 5, 12, 25])
def test_a_run_cut_short_answers_and_goes_on(rows, tmp_path, after):
    whole = digest(lv.discover(rows, **OPTIONS))
    stop = Stop()
    found = lv.discover(rows, **OPTIONS, checkpoint=tmp_path, stop=stop, progress=Weary(after, stop.ask))
    hard = lv.discover(rows, **OPTIONS, checkpoint=tmp_path, resume=True, progress=Weary(3, cut))
    for each in (found, hard):
        if digest(each) != whole:
            assert isinstance(each.result.did[-1], CutShort)
        each.network.posterior(rows, COLUMNS[0])
        assert json.loads(dump(each.result))["verdict"] == str(each.verdict)
    assert digest(lv.discover(rows, **OPTIONS, checkpoint=tmp_path, resume=True)) == whole


def test_an_answer_that_is_there_is_not_cut(rows, tmp_path, monkeypatch):
    """The alarm of a budget that the work has noticed by itself rings while the last pieces are saved."""
    leave = checkpoints.Journal.__exit__

    def ringing(journal, *about):
        signal.raise_signal(signal.SIGALRM)
        return leave(journal, *about)

    monkeypatch.setattr(checkpoints.Journal, "__exit__", ringing)
    with Interruptible(True, cuts=True) as run:
        found = lv.discover(rows, **OPTIONS, checkpoint=tmp_path, stop=run.stop)
    assert found.finished


def test_a_budget_of_nothing_answers_too(rows, tmp_path):
    found = lv.discover(rows, **OPTIONS, checkpoint=tmp_path, budget=1e-6)
    assert isinstance(found.result.did[-1], CutShort)
    assert found.result.did[-1].omitted
    whole = lv.discover(rows, **OPTIONS)
    assert digest(lv.discover(rows, **OPTIONS, checkpoint=tmp_path, resume=True)) == digest(whole)


def test_other_data_or_options_are_refused(rows, tmp_path):
    with pytest.raises(Killed):
        lv.discover(rows, **OPTIONS, checkpoint=tmp_path, progress=Weary(4, killed))
    for data, change in ((rows.take(np.arange(299)), {}), (rows, {"seed": 2}), (rows, {"draws": 4})):
        with pytest.raises(lv.OptionError, match="other data or options"):
            lv.discover(data, **{**OPTIONS, **change}, checkpoint=tmp_path, resume=True)
    with pytest.raises(lv.OptionError, match="checkpoint"):
        lv.discover(rows, **OPTIONS, resume=True)


def test_find_hidden_is_resumed_too(rows, tmp_path):
    holes = rows.codes.copy()
    holes[2, ::7] = rows.missing
    table = lv.Table(rows.columns, holes)
    whole = lv.find_hidden(table, max_hidden=2, seed=3)
    with pytest.raises(Killed):
        lv.find_hidden(table, max_hidden=2, seed=3, checkpoint=tmp_path, progress=Weary(6, killed))
    again = lv.find_hidden(table, max_hidden=2, seed=3, checkpoint=tmp_path, resume=True)
    assert again.network == whole.network
    assert (again.score, again.log_likelihood) == (whole.score, whole.log_likelihood)
    pieces = unpack(max(tmp_path.iterdir(), key=lambda path: path.stat().st_mtime_ns).read_bytes())[2]
    assert any(name.startswith("filled") for name in pieces)


@pytest.fixture(scope="module")
def alike() -> lv.Table:
    """Four stars of the same strength side by side: many candidates gain nearly the same."""
    parts = [star(children=4, states=2, extra=0).sample(400, seed=10 + k).drop("h").codes for k in range(4)]
    return lv.Table.from_codes({f"c{v:02}": (0, 1) for v in range(16)}, np.concatenate(parts).astype(np.int64))


def test_a_search_cut_among_equals_ends_as_the_one_that_was_not(alike, tmp_path):
    """Scores that are kept and scores that are worked out again agree to the last bit, whatever was asked before."""
    options = {"method": "network", "evidence": False, "max_hidden": 1, "seed": 0, "jobs": 1}
    whole = lv.discover(alike, **options)
    for work in (9, 20, 23):
        folder = tmp_path / str(work)
        cut_short = lv.discover(alike, **options, work=work, checkpoint=folder)
        assert not cut_short.finished
        again = lv.discover(alike, **options, checkpoint=folder, resume=True)
        assert again.result.attempts == whole.result.attempts
        assert digest(again) == digest(whole)


@pytest.mark.parametrize("kinds", [False, True])
def test_a_steady_score_does_not_depend_on_what_was_asked_before(alike, kinds):
    fresh, used = (scores_of(counts_of(alike), lv.BDe(), 4096, kinds).steady() for _ in range(2))
    for child in range(4):
        for parents in (0b1000000, 0b1100000, 0b11100000):
            used.expand(child, parents)
            used.expand(child, parents & (parents - 1))
            assert used.family(child, parents) == fresh.family(child, parents)
            assert used.family(child, parents) == pytest.approx(float(used.expand(child, parents)[-1]), abs=1e-8)
