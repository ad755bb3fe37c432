"""Sequences drawn with their own columns, where that is asked for: and only there is the data in the page."""

import json
from pathlib import Path

import numpy as np
import pytest

import leverrier as lv
from leverrier.discovery.time.along_time import Ribbon, Span
from leverrier.report.charts.over_columns import column_line, over_columns


@pytest.fixture(scope="module")
def diary():
    rng = np.random.default_rng(4)
    spell = np.tile(np.repeat([0, 1, 0, 1], 30), 2)
    data = {"patient": np.repeat(["ann", "bob"], 120), "day": np.tile(np.arange(120), 2)}
    for name in ("pain", "sleep", "mood"):
        data[name] = np.where(rng.random(240) < np.where(spell == 1, 0.85, 0.15), "yes", "no")
    return lv.discover(data, by="patient", time="day", draws=4, level=0.2, seed=0, jobs=1)


def test_the_page_holds_the_data_only_if_asked(diary, tmp_path):
    plain = Path(diary.report(tmp_path / "plain.html", live=False)).read_text(encoding="utf-8")
    drawn = Path(diary.report(tmp_path / "drawn.html", live=False, rows=True)).read_text(encoding="utf-8")
    assert "holds no rows of the data" in plain
    assert "below the data of each sequence" not in plain
    assert "holds no rows" not in drawn
    assert "below the data of each sequence" in drawn


def test_a_page_on_sequences_has_one_unit_and_no_slices(diary, tmp_path):
    text = Path(diary.report(tmp_path / "page.html", live=False)).read_text(encoding="utf-8")
    words = text[text.index("<main") :]
    for said in (" slice", " bits", "z above"):
        assert said not in words, words[words.index(said) - 80 : words.index(said) + 40]
    assert "nats" in words


def test_columns_are_the_sequences_own():
    rows = {"who": ["a"] * 5, "day": [3, 4, 5, 6, 7], "mood": ["x", "y", None, "y", "x"]}
    one = lv.read_sequences(rows, by="who", time="day")
    values = json.loads(column_line(one, "mood").to_json())["data"]["values"]
    assert [(each["time"], each["value"]) for each in values] == [(3, "x"), (4, "y"), (6, "y"), (7, "x")]
    some = json.loads(column_line(one, "mood", (4, 7)).to_json())["data"]["values"]
    assert [each["time"] for each in some] == [4, 6]
    ribbon = Ribbon("H", "a", (Span(3, 5, 0, 1.0), Span(5, 8, 1, 0.9)), 5, 0)
    chart = json.loads(over_columns(ribbon, ["s", "t"], one, ["mood"], "day").to_json())
    assert len(chart["vconcat"]) == 2


def test_tables_and_saved_files_have_no_sequences_to_draw(diary, tmp_path):
    diary.save(tmp_path / "found.json")
    with pytest.raises(lv.OptionError, match="not in the saved file"):
        lv.load(tmp_path / "found.json").report(tmp_path / "page.html", rows=True)
    table = lv.datasets.network("asia").sample(60, seed=1)
    found = lv.discover(table, evidence=False, max_hidden=0, jobs=1)
    with pytest.raises(lv.OptionError, match="of a table"):
        found.report(tmp_path / "page.html", rows=True)
    assert np.all([not path.name.endswith("page.html") for path in tmp_path.iterdir()])
