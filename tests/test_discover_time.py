"""The one door for sequences."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import leverrier as lv
from leverrier.cli import run


@pytest.fixture(scope="module")
def diary() -> tuple[pd.DataFrame, np.ndarray]:
    """A regime that lasts about forty days drives three of four columns; two patients, rows shuffled."""
    rng = np.random.default_rng(4)
    frames, regimes = [], []
    for patient in ("ann", "bob"):
        h = np.zeros(500, dtype=np.int64)
        for t in range(1, 500):
            h[t] = h[t - 1] if rng.random() < 0.975 else 1 - h[t - 1]
        columns = {f"x{i}": np.where(rng.random(500) < np.where(h == 1, 0.85, 0.15), "hi", "lo") for i in range(3)}
        noise = np.where(rng.random(500) < 0.5, "hi", "lo")
        frames.append(pd.DataFrame({"patient": patient, "day": np.arange(500), **columns, "noise": noise}))
        regimes.append(h)
    order = rng.permutation(1000)
    return pd.concat(frames, ignore_index=True).iloc[order], np.concatenate(regimes)[order]


@pytest.fixture(scope="module")
def found(diary):
    return lv.discover(diary[0], by="patient", time="day", seed=0, level=0.1, draws=9)


def test_a_regime_is_found_and_every_row_gets_its_state(diary, found):
    frame, regime = diary
    assert str(found.verdict) == "found"
    h = found.hidden[0]
    assert h.states == 2
    assert set(h.children) == {"x0", "x1", "x2"}
    assert h.gain > 0
    assert h.evidence.held_out_interval[0] > 0
    states = found.posterior(frame).to_numpy().argmax(axis=1)
    assert max((states == regime).mean(), (states != regime).mean()) > 0.95
    assert np.allclose(found.posterior(), found.posterior(frame), atol=1e-8)
    added = found.add_to(frame)
    assert list(added.index) == list(frame.index)
    assert (added[h.name].to_numpy() == states).all()
    assert "hidden variable is at work" in str(found)
    folds = found.result.time.folds
    assert sum(fold.slices for fold in folds) == 1000
    gain = sum(fold.slices * (fold.observed - fold.hidden) for fold in folds) / 1000
    assert gain == pytest.approx(found.result.time.gain)


def test_what_is_saved_is_the_same_after_loading(diary, found, tmp_path):
    frame, _ = diary
    found.save(tmp_path / "diary.json")
    back = lv.load(tmp_path / "diary.json")
    assert str(back) == str(found)
    assert back.bits_per_slice(frame) == found.bits_per_slice(frame)
    assert np.array_equal(back.posterior(frame), found.posterior(frame))
    assert back.result.time.table == found.result.time.table
    assert back.result.along == found.result.along
    assert back.hidden[0].evidence == found.hidden[0].evidence
    with pytest.raises(lv.OptionError, match="give the data"):
        back.posterior()
    assert _without_numbers(back, tmp_path) == _without_numbers(found, tmp_path)
    content = (tmp_path / "diary.json").read_text()
    (tmp_path / "hurt.json").write_text(content.replace('"folds"', '"fold"'))
    with pytest.raises(lv.FormatError, match="folds"):
        lv.load(tmp_path / "hurt.json")


def _without_numbers(found, folder):
    """The report, but for the numbers that make names unique within a page."""
    found.report(folder / "report.html")
    return re.sub(r"c[0-9]+-|(?<=gradient_)[0-9]+|(?<=clip)[0-9]+", "", (folder / "report.html").read_text())


def test_a_value_never_seen_is_a_hole(diary, found):
    frame = diary[0].copy()
    frame.loc[frame.index[7], "x0"] = "never"
    with pytest.raises(lv.TableError, match="'never' in row 8"):
        found.posterior(frame)
    with pytest.warns(UserWarning, match="labels never seen"):
        states = found.posterior(frame, unseen="hole")
    assert np.isfinite(states).all(axis=None)
    with pytest.warns(UserWarning, match="labels never seen"):
        bits = found.bits_per_slice(frame)
    assert bits < found.bits_per_slice(diary[0])  # (one cell less to be told)


@pytest.fixture(scope="module")
def echo():
    """B repeats what A was two slices ago, in three sequences."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 600)
    b = np.where(rng.random(600) < 0.9, np.roll(a, 2), rng.integers(0, 2, 600))
    return pd.DataFrame({"who": np.repeat(["x", "y", "z"], 200), "t": np.tile(np.arange(200), 3), "A": a, "B": b})


def test_the_sources_loop_through_the_one_door(echo, tmp_path):
    found = lv.discover(echo, by="who", time="t", method="boyen1999", seed=0)
    assert found.result.time.method == "boyen1999"
    assert [(one.of, one.depth) for one in found.result.time.hidden][:1] == [("A", 1)]
    assert found.hidden[0].evidence.tested
    assert "began as A of 2 time steps back" in str(found)
    assert "held-out blocks" in str(found)
    found.save(tmp_path / "echo.json")
    back = lv.load(tmp_path / "echo.json")
    assert str(back) == str(found)
    assert back.bits_per_slice(echo) == found.bits_per_slice()
    assert np.array_equal(back.posterior(echo), found.posterior())
    assert back.add_to(echo)["A memory 1"].isin(["0", "1"]).all()
    untested = lv.discover(echo, by="who", time="t", method="boyen1999", evidence=False)
    assert str(untested.verdict) == "not tested"
    assert str(untested).startswith("Not tested")


def test_on_the_command_line(diary, tmp_path, capsys):
    frame, _ = diary
    path = tmp_path / "diary.csv"
    frame[frame["day"] < 150].to_csv(path, index=False)
    assert run(["discover", str(path), "--by", "patient", "--time", "day", "--level", "0.1", "--draws", "9"]) == 0
    assert "hidden variable is at work" in capsys.readouterr().out
    assert (tmp_path / "diary.leverrier.html").exists()
    out = tmp_path / "states.csv"
    assert run(["posterior", str(tmp_path / "diary.leverrier.json"), str(path), "-o", str(out)]) == 0
    states = pd.read_csv(out)
    assert len(states) == 300
    assert states["H1_probability"].between(0.5, 1).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"weights": "x0"}, "weights"),
        ({"method": "network"}, "for tables"),
        ({"max_parents": 2}, "max_parents"),
        ({"method": "boyen1999", "max_hidden": 2}, "max_hidden"),
        ({"by": "nobody"}, "nobody"),
    ],
)
def test_what_sequences_cannot_take_is_one_line(diary, options, said):
    with pytest.raises(lv.LeverrierError, match=said) as problem:
        lv.discover(diary[0], **{"by": "patient", "time": "day", **options})
    assert "\n" not in str(problem.value)


def test_odd_sequences(diary, tmp_path, capsys):
    """Length 1, one sequence of few columns, rows of holes: answers. Two rows at one time, no cell at all: one line."""
    frame = diary[0].sort_values(["patient", "day"]).head(60).reset_index(drop=True)
    alone = frame.assign(patient=np.arange(60), day=0)
    assert str(lv.discover(alone, by="patient", time="day").verdict) == "nothing"
    with pytest.raises(lv.TableError, match="three slices"):
        lv.discover(alone, by="patient", time="day", method="boyen1999")
    holes = frame.copy()
    holes.loc[10:14, ["x0", "x1", "x2", "noise"]] = None
    found = lv.discover(holes.iloc[::-1], by="patient", time="day", max_hidden=0)
    assert found.hidden == ()
    assert np.isfinite(found.bits_per_slice())
    assert lv.discover(frame[["x0", "noise"]], method="sequences", max_hidden=0).sequences.n_slices == 60
    twice = pd.concat([frame, frame.iloc[[5]]])
    twice.to_csv(tmp_path / "twice.csv", index=False)
    assert run(["discover", str(tmp_path / "twice.csv"), "--by", "patient", "--time", "day"]) == 2
    problem = capsys.readouterr().err
    assert "5" in problem
    assert problem.count("\n") == 1
    empty = frame.assign(x0=None, x1=None, x2=None, noise=None)
    with pytest.raises(lv.TableError):
        lv.discover(empty, by="patient", time="day")
