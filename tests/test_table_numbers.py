"""A table keeps the numbers of its columns beside their states, whatever is done to it."""

import pickle

import numpy as np
import pytest

from leverrier.data.memory_limit import PROGRAM, bytes_needed
from leverrier.data.reading import scanning
from leverrier.data.reading.read_table import read_table
from leverrier.data.table import Table
from leverrier.data.variable import free_name
from leverrier.data.writing.write_table import write_table
from leverrier.errors import TableError

X = np.array([1.5, np.nan, 2.25, -3.0, 1.5, 8.0])
N = [3, 1, None, 2, 3, 1]


def source() -> dict:
    return {"x": X, "n": N, "s": list("abacba"), "age": [23, 41, 37, 58, 23, 64]}


def small() -> Table:
    return read_table(source(), bins={"x": 2, "age": 3})


def test_numbers_are_those_that_came():
    table = small()
    assert list(table.numbers) == ["x", "n", "age"]
    np.testing.assert_array_equal(table.numbers["x"], X)
    np.testing.assert_array_equal(table.numbers["n"], [3, 1, np.nan, 2, 3, 1])
    assert len(table.numbers) == 3
    assert "s" not in table.numbers
    with pytest.raises(KeyError):
        _ = table.numbers["s"]
    assert [each.ordered for each in table.columns] == [True, True, False, True]


@pytest.mark.parametrize("tall", [50_000, 0])
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_files_bring_their_numbers_and_take_them_back(tmp_path, monkeypatch, tall, name):
    monkeypatch.setattr(scanning, "_TALL", tall)
    table = small()
    write_table(table, tmp_path / name)
    back = read_table(tmp_path / name, like=table)
    assert np.array_equal(back.codes, table.codes)
    for column in ("x", "n", "age"):
        np.testing.assert_array_equal(back.numbers[column], table.numbers[column])


def test_rows_and_columns_keep_their_numbers_together():
    table = small()
    rows = np.array([3, 3, 0])
    np.testing.assert_array_equal(table.take(rows).numbers["x"], X[rows])
    np.testing.assert_array_equal(table.take(X > 0).numbers["x"], X[X > 0])
    assert list(table.select(["age", "s"]).numbers) == ["age"]
    assert list(table.drop("x").numbers) == ["n", "age"]
    there = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(there.numbers["x"], X)
    assert list(table.without_numbers().numbers) == ["n"]


def test_rows_that_are_counted_keep_only_what_their_states_tell():
    counted = small().distinct()
    assert list(counted.numbers) == ["n"]
    assert counted.numbers["n"].shape == (counted.n_rows,)


def test_codes_alone_have_no_numbers():
    table = Table.from_codes({"a": [0, 1], "b": ["x", "y"]}, np.array([[0, 1], [1, 0]]))
    assert dict(table.numbers) == {}


def test_numbers_of_another_length_are_refused():
    table = small()
    with pytest.raises(TableError, match="one a row of a column is needed"):
        Table(table.columns, table.codes, raw={"x": X[:2]})
    with pytest.raises(TableError, match="one a row of a column is needed"):
        Table(table.columns, table.codes, raw={"y": X})


def test_numbers_go_out_as_numbers():
    table = small()
    pandas = table.to_pandas()
    assert [str(kind) for kind in pandas.dtypes] == ["float64", "Int64", "str", "int64"]
    np.testing.assert_array_equal(pandas["x"], X)
    polars = table.to_polars()
    assert polars["x"].to_list() == [1.5, None, 2.25, -3.0, 1.5, 8.0]
    assert polars["age"].to_list() == [23, 41, 37, 58, 23, 64]
    assert table.to_pyarrow()["x"].to_pylist() == polars["x"].to_list()
    assert str(table.distinct().to_pandas()["x"].dtype) == "category"


def test_text_that_is_asked_to_be_numbers_and_holes_that_were_marked():
    table = read_table({"x": ["1", "2.5", "-9", "4"], "y": list("abab")}, types={"x": "number"}, missing=[-9])
    np.testing.assert_array_equal(table.numbers["x"], [1, 2.5, np.nan, 4])


def test_dates_and_categories_are_no_numbers():
    days = np.array(["2024-01-01", "2024-03-01", "2024-06-01", "2024-09-01"], dtype="M8[D]")
    table = read_table({"when": days, "code": [7, 8, 7, 8]}, types={"when": "number", "code": "category"})
    assert dict(table.numbers) == {}
    assert table.columns[1].kind == "category"


def test_numbers_that_do_not_fit_are_given_up_and_said():
    rng = np.random.default_rng(0)
    cells = {"x": rng.normal(size=1000), "y": rng.normal(size=1000)}
    columns = read_table(cells).columns
    enough = int(bytes_needed(columns, 1000))
    assert list(read_table(cells, max_memory=enough + 16_000).numbers) == ["x", "y"]
    table = read_table(cells, max_memory=enough + 1)
    assert table.n_rows == 1000
    assert not table.counted
    assert not table.numbers
    assert "only the bins of 'x', 'y' are kept, not the numbers: they take 16 kB" in table.notes[-1]
    counted = read_table(cells, max_memory=PROGRAM + 20_000)
    assert counted.counted
    assert not counted.numbers
    assert counted.notes[-1].endswith("equal rows are counted.")


def test_other_bins_are_cut_from_the_numbers():
    fine = read_table(source(), bins={"x": 4, "age": 3})
    np.testing.assert_array_equal(read_table(fine, like=small()).codes, small().codes)
    again = read_table(fine, states=small().states)
    np.testing.assert_array_equal(again.codes, small().codes)
    np.testing.assert_array_equal(again.numbers["x"], X)


def test_a_free_name_is_free_whatever_is_taken():
    assert free_name("H1", ["a"]) == "H1"
    assert free_name("H1", ["H1", "H1_"]) == "H1__"
    assert free_name("H1", iter(["H1_", "H1", "H1__"])) == "H1___"
