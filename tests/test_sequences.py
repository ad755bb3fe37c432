"""Sequences from whatever a user has."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from leverrier.data.sequences.read_sequences import Sequences, as_sequences, read_sequences
from leverrier.data.table import Table
from leverrier.errors import OptionError, TableError


def diary():
    return pd.DataFrame(
        {
            "patient": list("bbaabb"),
            "day": [1, 2, 5, 3, 3, 5],
            "mood": ["low", "high", "low", None, "low", "high"],
            "pulse": [60.5, 71.25, 66.5, 70.0, np.nan, 64.0],
        }
    )


def test_rows_are_told_apart_sorted_and_gaps_filled():
    found = read_sequences(diary(), by="patient", time="day")
    assert found.names == ("b", "a")
    assert found.starts.tolist() == [0, 5, 8]
    assert found.times.tolist() == [1, 2, 3, 4, 5, 3, 4, 5]
    assert found.rows.tolist() == [0, 1, 4, -1, 5, 3, -1, 2]
    mood = found.table.to_pandas()["mood"].tolist()
    assert [x if isinstance(x, str) else None for x in mood] == ["low", "high", "low", None, "high", None, None, "low"]
    np.testing.assert_array_equal(found.numbers["pulse"], [60.5, 71.25, np.nan, np.nan, 64, 70, np.nan, 66.5])
    assert any("sorted by time" in note for note in found.notes)
    assert any("2 gaps in time, 2 slices of step 1" in note for note in found.notes)


def test_what_was_computed_comes_back_in_the_order_of_the_rows():
    found = read_sequences(diary(), by="patient", time="day")
    np.testing.assert_array_equal(found.by_row(found.times), [1, 2, 5, 3, 3, 5])


def test_gaps_can_split_or_be_ignored():
    split = read_sequences(diary(), by="patient", time="day", gaps="split")
    assert split.names == ("b", "b", "a", "a")
    assert split.lengths.tolist() == [3, 1, 1, 1]
    assert not np.any(split.rows < 0)
    ignored = read_sequences(diary(), by="patient", time="day", gaps="ignore")
    assert ignored.lengths.tolist() == [4, 2]
    assert not any("gap" in note for note in ignored.notes)


def test_every_frame_gives_the_same(tmp_path):
    frame = diary()
    path = tmp_path / "diary.csv"
    frame.to_csv(path, index=False)
    one = read_sequences(frame, by="patient", time="day")
    for source in (pl.from_pandas(frame), frame.to_dict("list"), str(path)):
        other = read_sequences(source, by="patient", time="day")
        np.testing.assert_array_equal(other.table.codes, one.table.codes)
        np.testing.assert_array_equal(other.starts, one.starts)
        np.testing.assert_array_equal(other.numbers["pulse"], one.numbers["pulse"])


def test_times_may_be_dates_or_text():
    days = ["2024-03-01", "2024-02-28", "2024-03-02"]
    for times in (days, pd.to_datetime(days), [datetime.date.fromisoformat(day) for day in days]):
        found = read_sequences({"when": times, "x": ["a", "b", "a"]}, time="when")
        assert found.time_kind == "date"
        assert found.rows.tolist() == [1, -1, 0, 2], "2024 is a leap year"
        assert found.time_text(1) == "2024-02-29"
    text = read_sequences({"when": ["w2", "w1", "w3"], "x": ["a", "b", "a"]}, time="when")
    assert text.time_kind == "text"
    assert text.rows.tolist() == [1, 0, 2]
    assert text.time_text(0) == "w1"
    months = read_sequences({"when": ["2024-01-31", "2024-02-29", "2024-03-31"], "x": list("aba")}, time="when")
    assert months.n_slices == 3
    assert any("not evenly spaced" in note for note in months.notes)


def test_several_columns_tell_sequences_apart():
    frame = pd.DataFrame({"ward": [1, 1, 2, 2], "bed": [1, 2, 1, 1], "x": list("abab")})
    found = read_sequences(frame, by=["ward", "bed"])
    assert found.names == ((1, 1), (1, 2), (2, 1))
    assert found.lengths.tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    ("frame", "options", "said"),
    [
        ({"t": [1, 1], "x": ["a", "b"]}, {"time": "t"}, "rows 1 and 2 have the same time 1"),
        ({"s": ["u", "u"], "t": [2, 2], "x": ["a", "b"]}, {"by": "s", "time": "t"}, "have the same time 2"),
        ({"t": [1, None], "x": ["a", "b"]}, {"time": "t"}, "is missing in row 2"),
        ({"s": ["u", None], "x": ["a", "b"]}, {"by": "s"}, "by='s' is missing in row 2"),
        ({"x": ["a", "b"]}, {"by": "patient"}, "no column 'patient'"),
        ({"t": [0, 1, 10**9], "x": ["a", "b", "a"]}, {"time": "t"}, 'gaps="split"'),
    ],
)
def test_bad_input_is_one_clear_line(frame, options, said):
    with pytest.raises(TableError, match=r"(?s)^[^\n]*$") as problem:
        read_sequences(frame, **options)
    assert said in str(problem.value)


def test_options_are_checked():
    with pytest.raises(OptionError, match="gaps='drop'"):
        read_sequences(diary(), by="patient", time="day", gaps="drop")
    with pytest.raises(OptionError, match="one sequence"):
        read_sequences(Table.from_codes({"x": "ab"}, np.zeros((1, 2), int)), by="x")


def test_windows_put_lags_in_columns():
    codes = np.array([[0, 1, 2, 0, 1], [1, 1, 0, 0, 1]])
    found = Sequences.from_table(Table.from_codes({"x": range(3), "y": range(2)}, codes), [0, 3, 5])
    table = found.windows(1)
    assert table.variables == ("x", "y", "x[-1]", "y[-1]")
    np.testing.assert_array_equal(table.codes, [[1, 2, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0]])
    whole = found.windows(2, partial=True)
    assert whole.n_rows == 5
    hole = whole.missing
    np.testing.assert_array_equal(whole.column("x[-1]"), [hole, 0, 1, hole, 0])
    np.testing.assert_array_equal(whole.column("x[-2]"), [hole, hole, 0, hole, hole])
    with pytest.raises(TableError, match="no sequence is longer than 3"):
        found.windows(3)


def test_parts_of_sequences():
    found = read_sequences(diary(), by="patient", time="day")
    early, late = found.split(3)
    assert early.times.tolist() == [1, 2]
    assert late.names == ("b", "a")
    assert late.lengths.tolist() == [3, 3]
    first, rest = found.split(slices=6)
    assert first.lengths.tolist() == [5, 1]
    assert rest.lengths.tolist() == [2]
    again = found.take([1, 1])
    assert again.names == ("a", "a")
    assert [part.n_slices for part in found] == [5, 3]
    assert found.stretches([(1, 3), (4, 7)]).lengths.tolist() == [2, 1, 2]
    with pytest.raises(OptionError, match="no slices are left"):
        found.take([])


def test_other_bins_are_cut_again_from_the_numbers():
    rng = np.random.default_rng(0)
    first = read_sequences({"x": rng.normal(size=200), "y": rng.integers(0, 2, 200)})
    second = read_sequences({"x": rng.normal(3, 2, size=100), "y": rng.integers(0, 2, 100)})
    found = as_sequences(second, first.states)
    cuts = np.array(first.table.columns[0].cuts)
    np.testing.assert_array_equal(found.table.column("x"), np.searchsorted(cuts, second.numbers["x"], side="right"))


def test_a_label_never_seen_in_training_is_an_error_or_a_hole():
    first = read_sequences({"x": list("abab")})
    with pytest.raises(TableError, match="column 'x' holds 'c' in row 2"):
        read_sequences({"x": list("acb")}, like=first)
    assert read_sequences({"x": list("acb")}, like=first, unseen="hole").table.n_missing == 1
