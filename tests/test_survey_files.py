"""Files of SPSS, Stata and SAS: value labels are states, order and level are kept, user-missing codes are holes; and a
round trip through `write_table` loses nothing, by what another program (pyreadstat) reads in both files."""

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from click.testing import CliRunner

import leverrier as lv
from leverrier.cli.group import cli
from leverrier.data.quality.noticed import Notice
from leverrier.errors import TableError

N = 80
LABELS = {
    "smokes": {1.0: "Yes", 2.0: "No", 9.0: "Refused"},
    "mood": {1.0: "bad", 2.0: "so so", 3.0: "good", 4.0: "great", 98.0: "Don't know"},
    "often": {1.0: "never", 7.0: "always"},
}
ASKED = {"smokes": "Do you smoke?", "mood": "How are you?"}
MISSING = {"smokes": [9.0], "mood": [{"lo": 97.0, "hi": 99.0}], "age": [999.0]}
MEASURE = {"smokes": "nominal", "mood": "ordinal", "often": "ordinal", "age": "scale"}


def cells():
    rng = np.random.default_rng(0)
    data = {
        "smokes": rng.choice([1.0, 2.0], N),
        "mood": rng.choice([1.0, 2.0, 3.0], N),
        "often": rng.integers(1, 8, N).astype(float),
        "age": np.round(rng.uniform(18, 80, N), 1),
    }
    data["smokes"][:3], data["mood"][3:5], data["age"][5:6] = 9.0, 98.0, 999.0
    data["mood"][10] = np.nan
    return pd.DataFrame(data)


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        cells(),
        str(path),
        column_labels=ASKED,
        variable_value_labels=LABELS,
        missing_ranges=MISSING,
        variable_measure=MEASURE,
    )
    return path


def test_labels_are_states_in_order_and_codes_for_missing_are_holes(survey):
    table = lv.read_table(survey)
    assert table.states["smokes"] == ("Yes", "No")
    assert table.states["mood"] == ("bad", "so so", "good")
    assert table.states["often"] == ("never", "2", "3", "4", "5", "6", "always")
    assert [each.kind for each in table.columns] == ["category", "ordered", "ordered", "binned"]
    assert [each.label for each in table.columns] == ["Do you smoke?", "How are you?", "", ""]
    assert table.n_missing == 3 + 2 + 1 + 1
    assert np.nanmax(table.numbers["age"]) < 80
    assert {each.columns[0]: each.count for each in table.noticed if each.kind is Notice.USER_MISSING} == {
        "smokes": 3,
        "mood": 2,
        "age": 1,
    }


@pytest.mark.parametrize("suffix", [".sav", ".zsav"])
def test_a_round_trip_loses_nothing(survey, tmp_path, suffix):
    again = tmp_path / f"again{suffix}"
    lv.write_table(lv.read_table(survey), again)
    (first, said), (second, then) = (
        pyreadstat.read_sav(str(path), user_missing=True, output_format="pandas") for path in (survey, again)
    )
    pd.testing.assert_frame_equal(first, second)
    for name in ("column_names_to_labels", "variable_value_labels", "missing_ranges", "variable_measure"):
        assert getattr(said, name) == getattr(then, name), name
    one, other = lv.read_table(survey), lv.read_table(again)
    assert one.columns == other.columns
    assert np.array_equal(one.codes, other.codes)


def test_some_rows_keep_their_reasons(survey, tmp_path):
    rows = np.array([4, 1, 60])
    lv.write_table(lv.read_table(survey).take(rows), tmp_path / "some.sav")
    found, _ = pyreadstat.read_sav(str(tmp_path / "some.sav"), user_missing=True)
    assert found["mood"][0] == 98.0
    assert found["smokes"][1] == 9.0


def test_stata_and_the_others(tmp_path):
    data = cells()[["smokes", "often"]].astype(int)
    path = tmp_path / "t.dta"
    pyreadstat.write_dta(data, str(path), variable_value_labels={"smokes": {1: "Yes", 2: "No", 9: "Refused"}})
    table = lv.read_table(path)
    assert table.states["smokes"] == ("Yes", "No", "Refused")
    lv.write_table(table, tmp_path / "again.dta")
    assert lv.read_table(tmp_path / "again.dta").states == table.states
    for suffix, write in ((".por", pyreadstat.write_por), (".xpt", pyreadstat.write_xport)):
        write(data.astype(float), str(tmp_path / f"t{suffix}"))
        names = {name.lower() for name in lv.read_table(tmp_path / f"t{suffix}").variables}
        assert names == {"smokes", "often"}


def test_a_table_that_came_from_elsewhere_goes_out_with_labels(tmp_path):
    table = lv.read_table(
        {"a": ["x", "y"] * 20, "b": [1, 2, 3, 4] * 10, "c": np.linspace(0, 1, 40), "d": [True, False] * 20}
    )
    lv.write_table(table, tmp_path / "t.sav")
    again = lv.read_table(tmp_path / "t.sav")
    assert again.states["a"] == ("x", "y")
    assert again.states["b"] == (1, 2, 3, 4)
    assert np.array_equal(again.numbers["c"], table.numbers["c"])
    lv.write_table(table, tmp_path / "t.jsonl")
    assert lv.read_table(tmp_path / "t.jsonl").states == table.states


def test_labels_and_codes_on_the_command_line(survey, tmp_path):
    said = CliRunner().invoke(cli, ["check", str(survey)], standalone_mode=False, catch_exceptions=False)
    assert "bad, so so, good" in said.stdout
    assert "'9 Refused'" in said.stdout
    words = ["discover", str(survey), "--no-evidence", "--static", "-o", str(tmp_path / "r.html"), "--jobs", "1"]
    CliRunner().invoke(cli, [*words, "--save", str(tmp_path / "s.json")], standalone_mode=False, catch_exceptions=False)
    found = lv.load(tmp_path / "s.json").result.shape
    assert [each.label for each in found.variables[:2]] == ["Do you smoke?", "How are you?"]
    assert found.holes == 7
    assert Notice.USER_MISSING in {each.kind for each in found.quality}


def test_half_a_file_is_said(survey, tmp_path):
    half = tmp_path / "half.sav"
    half.write_bytes(survey.read_bytes()[:300])
    with pytest.raises(TableError, match=r"half\.sav"):
        lv.read_table(half)
