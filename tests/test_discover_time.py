"""The one door for sequences."""

from __future__ import annotations

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


def test_a_regime_is_found_and_every_row_gets_its_state(diary, tmp_path):
    frame, regime = diary
    found = lv.discover(frame, by="patient", time="day", seed=0)
    assert found.verdict == "hidden"
    h = found.hidden[0]
    assert h.states == 2
    assert set(h.children) == {"x0", "x1", "x2"}
    assert h.gain > 0
    assert h.evidence.held_out_interval[0] > 0
    states = found.posterior(frame).argmax(axis=1)
    assert max((states == regime).mean(), (states != regime).mean()) > 0.95
    added = found.add_to(frame)
    assert list(added.index) == list(frame.index)
    assert (added[h.name].to_numpy() == states).all()
    found.report(tmp_path / "diary.html")
    assert "H1 over time" in (tmp_path / "diary.html").read_text()
    assert "hidden variable is at work" in str(found)


def test_on_the_command_line(diary, tmp_path, capsys):
    frame, _ = diary
    frame.to_csv(tmp_path / "diary.csv", index=False)
    arguments = ["discover", str(tmp_path / "diary.csv"), "--by", "patient", "--time", "day"]
    assert run(arguments) == 0
    assert "hidden variable is at work" in capsys.readouterr().out
    assert (tmp_path / "diary.leverrier.html").exists()


def test_weights_are_for_tables(diary):
    with pytest.raises(lv.OptionError, match="weights"):
        lv.discover(diary[0], by="patient", time="day", weights="x0")
