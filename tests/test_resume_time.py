"""Searches through sequences that were stopped and taken up again: bit for bit the one that was never stopped."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import leverrier as lv
from leverrier.cli import progress_bar as progress
from leverrier.cli import run
from leverrier.discovery.time import time_codecs as time_pieces
from leverrier.errors import Cut
from leverrier.run import checkpoint as checkpoints
from leverrier.run.checkpoint import Journal
from leverrier.run.stop import Stop

READ = {"by": "who", "time": "t"}


@pytest.fixture(scope="module")
def diary():
    """A regime that lasts drives three of four columns."""
    rng = np.random.default_rng(4)
    changed = rng.random(200) < 0.03
    regime = np.cumsum(changed) % 2
    high = rng.random((3, 200)) < np.where(regime == 1, 0.88, 0.12)
    cells = {f"x{i}": np.where(row, "hi", "lo") for i, row in enumerate(high)}
    return pd.DataFrame(
        {"who": np.repeat(["a", "b"], 100), "t": np.tile(np.arange(100), 2), **cells, "noise": rng.integers(0, 3, 200)}
    )


@pytest.fixture(scope="module")
def echo():
    """B repeats what A was two slices ago."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300)
    b = np.where(rng.random(300) < 0.9, np.roll(a, 2), rng.integers(0, 2, 300))
    return pd.DataFrame({"who": np.repeat(["x", "y", "z"], 100), "t": np.tile(np.arange(100), 3), "A": a, "B": b})


@pytest.fixture(scope="module", params=["auto", "boyen1999"])
def case(request, diary, echo, tmp_path_factory):
    """The table, the options, and the saved answer of a run that was not disturbed."""
    frame = diary if request.param == "auto" else echo
    options = {**READ, "method": request.param, "seed": 1, "level": 0.05, "draws": 29, "jobs": 1}
    return frame, options, saved(lv.discover(frame, **options), tmp_path_factory.mktemp("whole"))


@pytest.fixture(autouse=True)
def _save_always(monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)
    monkeypatch.setattr(time_pieces, "SLOW", 0.0)  # every fit says where it stands


def saved(found, folder):
    """The file that is saved, but for the seconds."""
    found.save(folder / "found.json")
    return without_seconds(folder / "found.json")


def without_seconds(path):
    content = json.loads(path.read_text())
    assert content["summary"].pop("seconds") == content.pop("seconds") >= 0
    return json.dumps(content)


class Killed(BaseException):
    pass


def dies(after, monkeypatch, how=Killed):
    """The process ends when so many more pieces have been kept."""
    genuine, left = Journal.add, [after]

    def add(self, name, piece):
        genuine(self, name, piece)
        left[0] -= 1
        if left[0] == 0:
            raise how

    monkeypatch.setattr(Journal, "add", add)


def killed_after(pieces, monkeypatch, frame, options):
    """What discover gives; None if it was killed."""
    with monkeypatch.context() as patch:
        dies(pieces, patch)
        try:
            return lv.discover(frame, **options)
        except Killed:
            return None


def test_a_run_killed_after_any_piece_ends_as_the_one_that_was_not(case, tmp_path, monkeypatch):
    frame, options, whole = case
    kills, found, asked = 0, None, {**options, "checkpoint": tmp_path / "kept", "resume": True}
    while found is None:
        found = killed_after(3 + 5 * kills % 7, monkeypatch, frame, asked)
        kills += found is None
    assert kills >= 4
    assert saved(found, tmp_path) == whole
    again = lv.discover(frame, **options, checkpoint=tmp_path / "kept", resume=True)  # nothing is left to do
    assert saved(again, tmp_path) == whole


@pytest.mark.parametrize("after", [1, 13])
def test_a_run_cut_short_answers_and_goes_on(case, tmp_path, monkeypatch, after):
    frame, options, whole = case
    with monkeypatch.context() as patch:
        dies(after, patch, Cut)
        cut = lv.discover(frame, **options, checkpoint=tmp_path / "kept")
    stop, told = Stop(), []

    def tell(*what):
        told.append(what)
        if len(told) == after // 3 + 2:
            stop.ask()

    asked = lv.discover(frame, **options, checkpoint=tmp_path / "kept", resume=True, stop=stop, progress=tell)
    for found in (cut, asked):
        assert found.finished == (saved(found, tmp_path) == whole)
        assert np.isfinite(found.bits_per_slice())
        assert str(lv.load(tmp_path / "found.json")) == str(found)
    assert not cut.finished
    assert saved(lv.discover(frame, **options, checkpoint=tmp_path / "kept", resume=True), tmp_path) == whole


def test_a_budget_of_nothing_keeps_nothing_that_is_half_done(case, tmp_path):
    frame, options, whole = case
    found = lv.discover(frame, **options, checkpoint=tmp_path / "kept", budget=1e-6)
    assert not found.finished
    assert "budget" in str(found)
    assert saved(lv.discover(frame, **options, checkpoint=tmp_path / "kept", resume=True), tmp_path) == whole


def test_other_data_grouping_or_options_are_refused(case, tmp_path, monkeypatch):
    frame, options, _ = case
    killed_after(2, monkeypatch, frame, {**options, "checkpoint": tmp_path})
    column = frame.columns[2]
    other = frame.assign(**{column: frame[column].to_numpy()[::-1]})
    later = frame.assign(t=frame["t"] + 1)
    together = frame.assign(who="one", t=np.arange(len(frame)))
    changes = [(data, {}) for data in (frame.iloc[:-10], other, later, together)]
    changes += [(frame, {"seed": 2}), (frame, {"ignore": [column]}), (frame, {"by": None, "time": None})]
    changes.append((frame, {"max_parents": 3} if options["method"] == "boyen1999" else {"max_hidden": 1}))
    for data, change in changes:
        asked = {**options, "method": {"auto": "sequences"}.get(options["method"], options["method"]), **change}
        with pytest.raises(lv.OptionError, match="other data or options"):
            lv.discover(data, **asked, checkpoint=tmp_path, resume=True)
    with pytest.raises(lv.OptionError, match="checkpoint"):
        lv.discover(frame, **options, resume=True)


def test_a_damaged_checkpoint_gives_way_to_the_one_before(case, tmp_path, monkeypatch):
    frame, options, whole = case
    killed_after(6, monkeypatch, frame, {**options, "checkpoint": tmp_path / "kept"})
    newest = max((tmp_path / "kept").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    newest.write_bytes(newest.read_bytes()[:-7] + b"damaged")
    assert saved(lv.discover(frame, **options, checkpoint=tmp_path / "kept", resume=True), tmp_path) == whole


def started(path, *more):
    code = (
        "import sys; from leverrier.run import checkpoint as c; c.EVERY = 0.0; from leverrier.cli import run; "
        "sys.exit(run(sys.argv[1:]))"
    )
    asked = ["discover", str(path), "--by", "who", "--time", "t", "--seed", "1", *more]
    return subprocess.Popen(
        [sys.executable, "-c", code, *asked],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def until_something_is_kept(process, folder, seconds):
    """Wait for the first checkpoint, and a little longer."""
    deadline = time.monotonic() + 60
    while not list(folder.glob("discover.[01]")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(seconds)


def test_the_command_is_killed_interrupted_and_resumed(case, tmp_path, capsys):
    frame, options, _ = case
    method = ["--method", options["method"]]
    folder = tmp_path / "run.leverrier.checkpoint"
    frame.to_csv(tmp_path / "whole.csv", index=False)
    frame.to_csv(tmp_path / "run.csv", index=False)
    assert run(["discover", str(tmp_path / "whole.csv"), "--by", "who", "--time", "t", "--seed", "1", *method]) == 0
    assert not (tmp_path / "whole.leverrier.checkpoint").exists()
    for seconds in (0.0, 0.15):
        victim = started(tmp_path / "run.csv", *method, "--resume")
        until_something_is_kept(victim, folder, seconds)
        victim.kill()
        victim.communicate()
    interrupted = started(tmp_path / "run.csv", *method, "--resume")
    time.sleep(0.5)
    until_something_is_kept(interrupted, folder, 0.05)
    interrupted.send_signal(signal.SIGINT)
    _, error = interrupted.communicate(timeout=60)
    assert interrupted.returncode in (0, 130)  # (0: it was done already)
    assert "Traceback" not in error
    capsys.readouterr()
    if interrupted.returncode == 130:
        assert folder.exists()
        again = ["discover", str(tmp_path / "run.csv"), "--by", "who", "--time", "t", "--seed", "1", *method]
        assert run([*again, "--resume"]) == 0
    assert without_seconds(tmp_path / "run.leverrier.json") == without_seconds(tmp_path / "whole.leverrier.json")
    assert not folder.exists()
    assert sorted(os.listdir(tmp_path)) == sorted(
        f"{name}{end}" for name in ("run", "whole") for end in (".csv", ".leverrier.html", ".leverrier.json")
    )


def test_what_follows_a_polite_end_is_not_cut(monkeypatch):
    """After Ctrl-C the clock runs on: saving what was found must not be taken for work."""
    monkeypatch.setattr(progress, "POLITE", 0.05)
    with progress.Interruptible(True, cuts=True) as polite:
        signal.raise_signal(signal.SIGINT)
    try:
        time.sleep(0.2)
    finally:
        progress.calm()
    assert polite.stop.asked
