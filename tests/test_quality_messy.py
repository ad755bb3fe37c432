"""Ordinary tables with several faults at once, and tables that only look like them: nothing misread in silence, nobody
innocent accused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import leverrier as lv
from leverrier.data.quality.noticed import Notice
from leverrier.report.words.quality_words import quality_lines

ROWS = 300


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"u": rng.normal(size=ROWS).round(2), "v": rng.choice(["l", "m", "h"], ROWS)})


def found(frame, kind):
    return [each for each in lv.read_table(frame).quality if each.kind is kind]


def test_codes_at_both_ends_of_a_scale(data):
    rng = np.random.default_rng(1)
    data["score"] = rng.integers(1, 11, ROWS)
    data.loc[:9, "score"] = -9
    data.loc[10:19, "score"] = 99
    (each,) = found(data, Notice.SENTINEL)
    assert each.values == (-9, 99)
    assert each.count == 20


def test_a_scale_from_minus_ten_to_ten_has_no_codes(data):
    data["score"] = np.random.default_rng(1).integers(-10, 11, ROWS)
    assert not found(data, Notice.SENTINEL)


def test_a_category_in_columns_with_rows_that_have_none_of_them(data):
    colour = np.random.default_rng(2).integers(0, 3, ROWS)
    for place, name in enumerate(("red", "green", "blue")):
        data[f"colour_{name}"] = (colour == place).astype(float)
    data.loc[5:12, ["colour_red", "colour_green", "colour_blue"]] = np.nan
    (each,) = found(data, Notice.ONE_HOT)
    assert each.columns == ("colour_red", "colour_green", "colour_blue")
    assert each.name == "colour"


def test_a_category_with_a_level_left_out(data):
    colour = np.random.default_rng(2).integers(0, 4, ROWS)
    for place, name in enumerate(("red", "green", "blue")):
        data[f"colour_{name}"] = (colour == place).astype(int)
    (each,) = found(data, Notice.ONE_HOT)
    assert each.count == int((colour == 3).sum())
    (line,) = [line for line in quality_lines([each]) if "level left out" in line]
    assert "colour" in line
    table = lv.read_table(data, join={each.name: list(each.columns)})
    assert set(table.states["colour"]) == {"red", "green", "blue", "none"}


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_yes_no_columns_that_begin_alike_are_no_category(data, share):
    rng = np.random.default_rng(3)
    for name in ("fever", "cough", "rash"):
        data[f"symptom_{name}"] = (rng.random(ROWS) < share).astype(int)
    assert not found(data, Notice.ONE_HOT)


def test_two_questions_that_each_let_a_third_be_skipped(data):
    rng = np.random.default_rng(4)
    data["children"] = rng.choice(["yes", "no"], ROWS)
    data["lives_alone"] = rng.choice(["yes", "no"], ROWS, p=[0.3, 0.7])
    data["school"] = rng.choice(["state", "private"], ROWS)
    data.loc[(data["children"] == "no") | (data["lives_alone"] == "yes"), "school"] = None
    both = {(each.name, each.values) for each in found(data, Notice.SKIP)}
    assert both == {("children", ("no",)), ("lives_alone", ("yes",))}


def test_holes_that_nothing_implies_are_no_skipped_question(data):
    rng = np.random.default_rng(5)
    data["sex"] = rng.choice(["f", "m"], ROWS)
    data["pay"] = rng.choice(["low", "high"], ROWS)
    data.loc[rng.random(ROWS) < np.where(data["sex"] == "f", 0.7, 0.3), "pay"] = None
    assert not found(data, Notice.SKIP)


@pytest.mark.parametrize("digits", [0, 1])
def test_a_total_that_was_rounded(data, digits):
    rng = np.random.default_rng(6)
    data["a"], data["b"] = rng.uniform(0, 50, (2, ROWS)).round(1 + digits)
    data["flag"] = rng.integers(0, 2, ROWS)
    data["total"] = (data["a"] + data["b"]).round(digits)
    (each,) = found(data, Notice.TOTAL)
    assert each.columns == ("total", "a", "b")
    assert "but for rounding" in quality_lines([each])[0]


def test_a_total_with_something_of_its_own_is_none(data):
    rng = np.random.default_rng(6)
    data["a"], data["b"] = rng.uniform(0, 50, (2, ROWS)).round(1)
    data["total"] = (data["a"] + data["b"] + rng.normal(0, 1, ROWS)).round(1)
    assert not found(data, Notice.TOTAL)


def test_a_number_copied_but_for_a_few_cells(data):
    data["copy"] = data["u"]
    data.loc[[3, 50, 77], "copy"] = 20.0
    (each,) = found(data, Notice.NEAR_DUPLICATE)
    assert each.columns == ("u", "copy")
    assert each.share == pytest.approx(297 / 300)


def test_rows_entered_twice_leave_an_identifier_one(data):
    data.insert(0, "id", np.arange(1000, 1000 + ROWS))
    data = pd.concat([data, data.iloc[5:9]], ignore_index=True)
    assert "identifier" in lv.read_table(data).aside["id"]
    data["years_paid"] = np.random.default_rng(0).permutation(len(data)) + 1000
    data.loc[3, "years_paid"] = data.loc[4, "years_paid"]
    assert "years_paid" not in lv.read_table(data).aside  # (it ends in "id")
    assert "patientId" in lv.read_table(data.rename(columns={"years_paid": "patientId"})).aside


def test_dates_written_in_several_ways_are_said_and_are_no_identifier(data, tmp_path):
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(np.random.default_rng(7).integers(0, 900, ROWS), unit="D")
    data["visit"] = [day.strftime("%d/%m/%Y" if i % 9 else "%Y-%m-%d") for i, day in enumerate(days)]
    data.to_csv(tmp_path / "visits.csv", index=False)
    for source in (data, tmp_path / "visits.csv"):
        (each,) = found(source, Notice.MIXED_DATES)
        assert len(each.values) == 2
        assert lv.read_table(source).aside["visit"] == "it holds dates written in several ways"


def test_numbers_but_for_a_few_words(data, tmp_path):
    rng = np.random.default_rng(8)
    data["age"] = rng.integers(18, 90, ROWS).astype(str)
    data.loc[:7, "age"] = "k.A."
    data.loc[8:12, "age"] = "-"
    data.to_csv(tmp_path / "ages.csv", index=False)
    (each,) = found(tmp_path / "ages.csv", Notice.WORDS_IN_NUMBERS)
    assert (each.values, each.count) == (("-", "k.A."), 13)
    table = lv.read_table(tmp_path / "ages.csv", missing=list(each.values))
    assert np.isnan(table.numbers["age"]).sum() == 13


def test_grades_with_a_word_are_no_numbers(data, tmp_path):
    data["rooms"] = np.random.default_rng(9).choice(["1", "2", "3", "4", "more"], ROWS)
    data["code"] = np.random.default_rng(9).choice([f"A{k}" for k in range(30)], ROWS)
    data.to_csv(tmp_path / "rooms.csv", index=False)
    assert not found(tmp_path / "rooms.csv", Notice.WORDS_IN_NUMBERS)


def test_the_report_has_a_panel_of_what_was_noticed(data, tmp_path):
    data["score"] = np.random.default_rng(1).integers(1, 11, ROWS)
    data.loc[:9, "score"] = -9
    data["country"] = "DE"
    found = lv.discover(data, evidence=False, max_hidden=0, jobs=1, progress=False)
    found.save(tmp_path / "found.json")
    for each in (found, lv.load(tmp_path / "found.json")):
        page = Path(each.report(tmp_path / "page.html")).read_text(encoding="utf-8")
        panel = page[page.index("able to change the answer") : page.index("Also noticed")]
        assert "stand far from all other numbers" in panel
        assert "has only one value" in page[page.index("Also noticed") :]


def test_a_last_row_of_sums(data):
    data["score"] = np.random.default_rng(1).integers(1, 60, ROWS)
    assert not found(data, Notice.SUM_ROW)
    data.loc[ROWS] = {"score": data["score"].sum()}
    (each,) = found(data, Notice.SUM_ROW)
    assert each.columns == ("score",)
