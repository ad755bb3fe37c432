"""What a column is taken for, whichever library it comes from, and how to overrule it."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from leverrier.data.reading.read_table import describe_columns, read_table
from leverrier.errors import OptionError, TableError

HOLE = 255


def column(table, name):
    """The labels of a column, None for holes."""
    states = table.states[name]
    return [None if code == table.missing else states[code] for code in table.column(name)]


CELLS = {"text": ["b", None, "a", "b", "a"], "flag": [True, False, None, True, True], "count": [3, 1, None, 1, 10]}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table, lambda cells: pl.DataFrame(cells).lazy()])
def test_every_library_gives_the_same_table(make):
    table = read_table(make(CELLS))
    assert table.variables == ("text", "flag", "count")
    assert table.states == {"text": ("a", "b"), "flag": (False, True), "count": (1, 3, 10)}
    assert [each.kind for each in table.columns] == ["category", "boolean", "integer"]
    assert {name: column(table, name) for name in CELLS} == CELLS
    assert table.notes == ()


@pytest.mark.parametrize(
    ("series", "labels"),
    [
        (pd.Series(["x", None, "y"]), ["x", None, "y"]),
        (pd.Series(["x", "", " \t", "y"]), ["x", None, None, "y"]),
        (pd.Series([1, 2, None]), [1, 2, None]),  # pandas makes floats of these
        (pd.array([1, None, 2], dtype="Int64"), [1, None, 2]),
        (pd.array([True, None, False], dtype="boolean"), [True, None, False]),
        (pd.Series([True, None, False], dtype=object), [True, None, False]),
        (pd.Series(["x", None, "y"], dtype="string"), ["x", None, "y"]),
        (pd.Series(["x", np.nan, "y"], dtype=object), ["x", None, "y"]),
        (pd.Series([b"x", None, b"y"], dtype=object), ["x", None, "y"]),
        (np.array([np.True_, np.False_]), [True, False]),
        (np.array(["x", "", "y"]), ["x", None, "y"]),
        (np.array([b"x", b"y"]), ["x", "y"]),
        (np.ma.array([1, 2, 3], mask=[False, True, False]), [1, None, 3]),
        ([np.int64(2), 1, None], [2, 1, None]),
        (range(3), [0, 1, 2]),
        (pl.Series(["x", None, "y"], dtype=pl.Categorical), ["x", None, "y"]),
        (pl.Series([b"x", None, b"y"]), ["x", None, "y"]),
        (pl.Series([1, None, 2], dtype=pl.UInt8), [1, None, 2]),
        (pl.Series([datetime.time(1), datetime.time(2)]), [1, 2]),  # (hours since midnight)
        (pa.chunked_array([["x", None], ["y"]]), ["x", None, "y"]),
        (pa.chunked_array([pa.array([0, None, 2], pa.uint16())]), [0, None, 2]),
        (pa.chunked_array([pa.array(["x", None, "y"]).dictionary_encode()]), ["x", None, "y"]),
    ],
)
def test_every_dress_of_a_column(series, labels):
    assert column(read_table({"c": series}), "c") == labels


def test_states_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    plain = {"s": rng.choice(list("dbca"), 60), "n": rng.choice([30, 4, 100], 60), "x": rng.normal(size=60)}
    order = rng.permutation(60)
    cells, shuffled = ({name: values[rows] for name, values in plain.items()} for rows in (np.arange(60), order))
    for each in (cells, shuffled):  # these two number their categories as they meet them
        each["d"] = pa.chunked_array([pa.array(each["s"]).dictionary_encode()])
        each["p"] = pl.Series(each["s"], dtype=pl.Categorical)
    one, other = read_table(cells), read_table(shuffled)
    assert one.columns == other.columns
    assert np.array_equal(one.codes[:, order], other.codes)
    assert one.states["s"] == ("a", "b", "c", "d") == one.states["d"] == one.states["p"]
    assert one.states["n"] == (4, 30, 100)


def test_categories_keep_the_order_somebody_chose():
    frame = pd.DataFrame(
        {
            "free": pd.Categorical(["u", "v", None, "u"], categories=["v", "u"]),
            "ordered": pd.Categorical(["lo", "hi", "lo", "mid"], categories=["lo", "mid", "hi"], ordered=True),
            "numbers": pd.Categorical([3, 1, 3, None], categories=[3, 1]),
        }
    )
    table = read_table(frame)
    assert table.states == {"free": ("v", "u"), "ordered": ("lo", "mid", "hi"), "numbers": (3, 1)}
    assert [column.kind for column in table.columns] == ["category", "ordered", "category"]
    polars = read_table(pl.DataFrame({"o": pl.Series(["u", "v", None], dtype=pl.Enum(["v", "u"]))}))
    assert (polars.states["o"], polars.columns[0].kind) == (("v", "u"), "ordered")
    codes = pa.array([0, 1, None], pa.int8())
    arrow = read_table(pa.table({"o": pa.DictionaryArray.from_arrays(codes, ["z", "a"], ordered=True)}))
    assert (arrow.states["o"], arrow.columns[0].kind) == (("z", "a"), "ordered")


def test_categories_that_no_row_has_are_left_out_and_said():
    table = read_table(pd.DataFrame({"c": pd.Categorical(["u", "v"], categories=["v", "w", "u"])}))
    assert table.states["c"] == ("v", "u")
    assert "'c': categories that no row has are left out: 'w'." in table.notes
    kept = read_table({"c": ["u", "v"]}, types={"c": ["v", "w", "u"]})
    assert kept.states["c"] == ("v", "w", "u")
    assert kept.columns[0].kind == "ordered"


def test_mixed_columns_are_text_and_said():
    table = read_table({"c": [1, "a", None, "1"]})
    assert column(table, "c") == ["1", "a", None, "1"]
    assert table.notes[0] == "'c' holds values of type int, str, taken as text."


def test_names_that_are_not_text_become_text():
    frame = pd.DataFrame({5: ["a", "b"], (1, 2): [0, 1]})
    assert read_table(frame).variables == ("5", "(1, 2)")
    assert read_table(frame, types={5: "ignore"}, bins={(1, 2): [0.5]}).states == {"(1, 2)": ("< 0.5", "≥ 0.5")}


def test_an_array_is_rows_by_columns():
    table = read_table(np.array([[0, 1], [1, 1], [0, 0]]))
    assert table.variables == ("x1", "x2")
    assert table.codes.tolist() == [[0, 1, 0], [1, 1, 0]]


# --- what is set aside ------------------------------------------------------------------------------------------


def test_useless_columns_are_set_aside_and_said():
    n = 120
    frame = {
        "good": ["a", "b"] * 60,
        "row": list(range(n)),
        "row1": list(range(1, n + 1)),
        "key": [1000 + 7 * i for i in range(n)],
        "name": [f"person {i // 2}" for i in range(n - 20)] + [f"other {i}" for i in range(20)],
        "constant": ["x"] * n,
        "checked": ["x", None] * 60,
        "empty": [None] * n,
        "blank": [""] * n,
        "day": [datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(n)],
        "income": [1000.5 + i for i in range(n)],
    }
    table = read_table(frame)
    assert table.variables == ("good", "income")
    assert list(table.aside) == ["row", "row1", "key", "name", "constant", "checked", "empty", "blank", "day"]
    assert table.aside["row"] == "it numbers the rows from 0 to 119"
    assert table.aside["key"] == "it looks like an identifier: 120 whole numbers that never repeat"
    assert table.aside["name"] == "it looks like an identifier: 70 different values in 120 cells"
    assert table.aside["checked"] == "it has only the value 'x' and 60 holes"
    assert table.aside["blank"] == "it is empty"
    for name, reason in table.aside.items():
        assert any(note.startswith(f"{name!r} is set aside: {reason}") for note in table.notes)


def test_text_with_too_many_values_is_set_aside():
    table = read_table({"good": [0, 1] * 600, "words": [f"w{i % 300}" for i in range(1200)]})
    assert table.aside["words"] == "it has 300 different values, more than 255 states"
    kept = read_table({"words": [f"w{i % 300}" for i in range(1200)]}, types={"words": "category"})
    assert kept.codes.dtype == np.uint16


def test_what_is_said_tells_how_to_overrule_it():
    n = 60
    frame = {"key": [f"k{i}" for i in range(n)], "same": ["x"] * n, "row": list(range(n)), "b": [0, 1] * 30}
    notes = read_table(frame).notes
    assert any("types={'same': 'category'} keeps it" in note for note in notes)
    table = read_table(frame, types={"key": "category", "same": "category", "row": "number"})
    assert table.variables == ("key", "same", "row", "b")
    assert [len(table.states[name]) for name in table.variables] == [60, 1, 5, 2]
    assert table.aside == {}


def test_small_tables_are_not_taken_for_identifiers():
    table = read_table({"a": [1, 2, 3], "b": ["x", "y", "z"], "c": list(range(3))})
    assert table.variables == ("a", "b", "c")


def test_ignored_columns_are_not_even_looked_at():
    table = read_table({"a": [0, 1], "nested": [[1], [2]], "c": [1, 2]}, ignore=["nested"], types={"c": "ignore"})
    assert table.aside == {"nested": "ignored, as asked", "c": "ignored, as asked"}
    assert read_table({"a": [0, 1], "b": [0, 1]}, ignore="b").variables == ("a",)


def test_one_variable_is_allowed_and_said():
    assert read_table({"a": [0, 1]}).notes[-1].startswith("only 'a' is left")


# --- overruling -------------------------------------------------------------------------------------------------


def test_types_overrule():
    frame = {"pitch": list(range(60, 80)) * 3, "b": ["yes", "no", "Y"] * 20, "grade": ["1", "2", "10"] * 20}
    table = read_table(frame, types={"pitch": "category", "b": "boolean", "grade": ["1", "2", "10"]})
    assert table.states["pitch"] == tuple(range(60, 80))
    assert column(table, "b")[:3] == [True, False, True]
    assert table.states["grade"] == ("1", "2", "10")
    ordered = read_table(frame, types={"pitch": "ordered"})
    assert (ordered.columns[0].kind, ordered.states["pitch"][0]) == ("ordered", 60)


def test_text_can_be_told_to_be_numbers():
    table = read_table({"x": ["1.5", "2", "10", None, "1.50"]}, types={"x": "number"}, bins=2)
    assert table.columns[0].kind == "binned"
    assert table.column("x").tolist() == [0, 1, 1, HOLE, 0]
    with pytest.raises(TableError, match=r"'x' is to be numbers and holds 'many' in row 2; missing=\['many'\]"):
        read_table({"x": ["1", "many", "3"]}, types={"x": "number"})
    table = read_table({"x": ["1", "many", "3", "NaN"]}, types={"x": "number"}, missing=["many"])
    assert table.column("x").tolist() == [0, HOLE, 1, HOLE]
    assert read_table({"x": ["1.5", "nan"]}, like=table).column("x").tolist() == [0, HOLE]


def test_dates_can_be_cut_into_bins():
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(100)]
    table = read_table(
        {"d": days, "e": [datetime.datetime(2020, 1, 1)] * 50 + [None] * 50}, types={"d": "number"}, bins=2
    )
    cut = np.datetime64("1970-01-01") + np.timedelta64(int(table.columns[0].cuts[0]), "D")
    assert table.states["d"] == (f"< {cut}", f"≥ {cut}")
    assert np.count_nonzero(table.column("d") == 0) == 50
    named = read_table({"d": days[:3]}, types={"d": "category"})
    assert named.states["d"] == ("2020-01-01", "2020-01-02", "2020-01-03")


def test_more_values_can_mean_a_hole():
    frame = {"a": [1, -9, 2, 1], "b": ["x", "NA", "y", "-9"], "c": [0.5, -9.0, 1.5, 2.5]}
    table = read_table(frame, missing=[-9, "NA"])
    assert column(table, "a") == [1, None, 2, 1]
    assert column(table, "b") == ["x", None, "y", None]
    assert table.column("c")[1] == HOLE
    assert column(read_table({"b": ["x", "NA", "y"]}, missing="NA"), "b") == ["x", None, "y"]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"types": {"a": "integer?"}}, OptionError, "expected one of category, caseless, ordered, "),
        ({"types": {"z": "category"}}, TableError, "types= names the column 'z', which is not there"),
        ({"ignore": ["z"]}, TableError, "ignore= names the column 'z'"),
        ({"bins": {"z": 3}}, TableError, "bins= names the column 'z'"),
        ({"weights": "z"}, TableError, "weights= names the column 'z'"),
        ({"types": {"a": []}}, OptionError, "states"),
        ({"types": {"a": ["x", "x"]}}, OptionError, "must differ"),
        ({"types": {"b": ["p"]}}, TableError, "column 'b' holds 'q' in row 2"),
        ({"types": {"b": "boolean"}}, TableError, "column 'b' holds 'p' in row 1"),
        ({"bins": {"a": 1}}, OptionError, "at least 2 bins"),
        ({"bins": {"a": [3, 2]}}, OptionError, "ascending"),
        ({"bins": {"a": 3}, "bin_rule": "golden"}, OptionError, 'expected "quantile" or "width"'),
        ({"unseen": "drop"}, OptionError, 'expected "error" or "hole"'),
    ],
)
def test_options_that_make_no_sense_are_said(options, error, words):
    with pytest.raises(error, match=words):
        read_table({"a": [1, 2, 3], "b": ["p", "q", "p"]}, **options)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({}, "the dict has no columns"),
        ({"a": []}, "the dict has no rows, only the columns 'a'"),
        ({"a": [1, 2], "b": [1]}, "'a' has 2 cells and 'b' has 1"),
        ({"a": "word"}, "column 'a' is str, expected a list"),
        ({"a": [[1], [2]]}, r"nested values \(list\): ignore=\['a'\]"),
        ({"a": [1, 1]}, "has no usable column .*only the value 1.*types= overrules"),
        ({"a": np.zeros((2, 2))}, "shape"),
        (5, "cannot read a table from builtins.int"),
        (np.zeros(3), "expected .rows, columns."),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "the pandas frame: two columns are named 'a'"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "two columns are named '1'"),
        (pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), "two columns are named 'a'"),
        (pl.DataFrame({"a": [[1], [2]]}), "nested values"),
        (pl.DataFrame({"a": []}), "no rows"),
        (pd.DataFrame(), "no columns"),
    ],
)
def test_bad_sources_are_one_clear_line(source, words):
    with pytest.raises(TableError, match=words) as problem:
        read_table(source)
    assert "\n" not in str(problem.value)


# --- weights ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_a_column_of_weights(make):
    table = read_table(make({"a": ["x", "y", "x"], "n": [3.0, 0.0, 2.5]}), weights="n")
    assert table.variables == ("a",)
    assert table.n_rows == 3
    assert table.weights.tolist() == [3, 0, 2.5]
    assert read_table({"a": ["x", "y"]}, weights=[1, 2]).total == 3


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, -1, 2], "the weight of row 2 is -1"),
        ([1, 2, None], "the weight of row 3 is nan"),
        ([np.inf, 2, 1], "the weight of row 1 is inf"),
        ([0, 0, 0], "all weights are 0"),
        (["a", "b", "c"], "'n' is to be numbers and holds 'a' in row 1"),
    ],
)
def test_weights_must_be_weights(weights, words):
    with pytest.raises(TableError, match=words):
        read_table({"a": ["x", "y", "x"], "n": weights}, weights="n")
    with pytest.raises(TableError, match="2 weights for 3 rows"):
        read_table({"a": ["x", "y", "x"]}, weights=[1, 2])


# --- describe_columns -------------------------------------------------------------------------------------------


def test_decisions_are_told_without_encoding():
    frame = {
        "a": ["x", "y", None] * 20,
        "id": [f"k{i}" for i in range(60)],
        "x": [decimal.Decimal(i) / 3 for i in range(60)],
        "n": [1.0] * 60,
    }
    told = describe_columns(frame, weights="n")
    assert [(d.name, d.came, d.distinct, d.holes, d.decision) for d in told] == [
        ("a", "text", 2, 20, "category"),
        ("id", "text", 60, 0, "aside"),
        ("x", "number", 60, 0, "binned"),
        ("n", "number", 1, 0, "weights"),
    ]
    assert all(decision.reason for decision in told)
    table = read_table(frame, weights="n")
    assert table.columns == tuple(d.variable for d in told if d.variable is not None)
