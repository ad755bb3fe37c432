"""The snippets of docs/time.md run as written, and the pictures are pictures."""

import re
from pathlib import Path

import numpy as np
import pytest

from leverrier.errors import OptionError
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.report.charts.dynamic_charts import forecast_chart, state_ribbon


def test_the_documented_snippets_run(tmp_path, monkeypatch, capsys):
    text = (Path(__file__).parents[1] / "docs" / "time.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL)):
        exec(compile(block, f"docs/time.md, block {number}", "exec"), names)
    assert names["found"].states == 2
    assert names["ahead"].probabilities["cough"].shape == (6, 5, 2)
    assert np.all(names["ahead"].numbers["pulse"].low < names["ahead"].numbers["pulse"].high)
    assert names["found"].posterior.shape == (720, 2)
    said = capsys.readouterr().out
    assert "One hidden variable is at work" in said
    assert (tmp_path / "diary.html").stat().st_size < 3_000_000
    assert "Sequences(6 of 720 slices in all, 2 variables)" in said
    assert re.search(r"HiddenMarkov\(2 states, chosen by bic among \[1, 2, 3, 4\]", said)
    assert "[0.818" in said
    assert "[0.883" in said
    for name in ("ribbon", "dwell", "forecast", "bits", "graph"):
        assert (tmp_path / f"{name}.svg").read_text().startswith("<svg")


def test_pictures_say_what_they_cannot_draw():
    network = DynamicNetwork.from_tables({"x": "ab"}, {"x": ((), [0.5, 0.5])}, {"x": ((), [0.5, 0.5])})
    data = network.sample(20, seed=0)
    with pytest.raises(OptionError, match="no hidden variable"):
        state_ribbon(network, data)
    with pytest.raises(OptionError, match="sequence=3"):
        state_ribbon(network, data, "x", sequence=3)
    with pytest.raises(OptionError, match="history=0"):
        forecast_chart(network, data, "x", history=0)
    with pytest.raises(OptionError, match="no variable 'y'"):
        forecast_chart(network, data, "y")
