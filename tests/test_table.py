"""The table as a value: choosing columns and rows, and projecting on a few variables."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leverrier.data import table as table_module
from leverrier.data.projection import project
from leverrier.data.table import Table, Variable, code_type
from leverrier.errors import TableError
from tests.naive.projection import naive_project


@pytest.fixture
def table() -> Table:
    codes = np.array([[0, 1, -1, 1, 0], [2, 0, 1, 1, 2], [0, 0, 1, -1, 0]])
    return Table.from_codes({"a": ["no", "yes"], "b": [1, 2, 3], "c": [False, True]}, codes)


def test_a_table_knows_its_shape_states_and_holes(table):
    assert table.variables == ("a", "b", "c")
    assert table.states == {"a": ("no", "yes"), "b": (1, 2, 3), "c": (False, True)}
    assert (table.n_rows, table.n_missing, table.total) == (5, 2, 5.0)
    assert table.codes.dtype == np.uint8
    assert table.codes.flags.c_contiguous
    assert repr(table) == "Table(5 rows, 3 variables, 2 holes)"


def test_cells_cannot_be_changed(table):
    with pytest.raises(ValueError, match="read-only"):
        table.codes[0, 0] = 1


def test_columns_and_rows_are_chosen_in_the_order_asked(table):
    chosen = table.select(["c", "a"])
    assert chosen.variables == ("c", "a")
    assert np.array_equal(chosen.codes, table.codes[[2, 0]])
    assert table.drop("b").variables == ("a", "c")
    rows = table.take(np.array([4, 0, 0]))
    assert np.array_equal(rows.codes, table.codes[:, [4, 0, 0]])
    assert table.take(table.column("c") == 0).n_rows == 3


def test_weights_go_with_the_rows():
    table = Table.from_codes({"a": [0, 1]}, np.array([[0, 1, 0]]), np.array([1.0, 2.0, 0.0]))
    assert table.total == 3
    assert table.take(slice(1, 3)).weights.tolist() == [2.0, 0.0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Table((Variable("a", (0,)), Variable("a", (0,))), np.zeros((2, 1), np.uint8)), "two columns.*'a'"),
        (lambda: Table((Variable("a", (0,)),), np.zeros((2, 1), np.uint8)), "shape"),
        (lambda: Table((Variable("a", (0,)),), np.zeros((1, 2), np.uint8), np.ones(3)), "3 weights for 2 rows"),
        (lambda: code_type(70_000), "70000 states"),
    ],
)
def test_what_makes_no_sense_is_said(make, words):
    with pytest.raises(TableError, match=words):
        make()


def test_a_column_that_is_not_there_is_said(table):
    with pytest.raises(TableError, match="no column 'd'; the columns are 'a', 'b', 'c'"):
        table.select(["d"])
    with pytest.raises(TableError, match="no column 'd'"):
        table.drop("d")


def test_more_than_255_states_take_two_bytes():
    labels = list(range(256))
    table = Table.from_codes({"a": labels}, np.array([[255, -1, 0]]))
    assert table.codes.dtype == np.uint16
    assert table.n_missing == 1
    assert table.codes[0, 0] == 255


def test_the_summary_says_what_there_is(table):
    words = table.summary()
    assert words.startswith("5 rows, 3 variables, 2 holes (13.3% of cells)")
    assert "no, yes  1 hole" in words


def test_a_table_travels_without_its_projections(table):
    table.project(["a", "b"])
    other = pickle.loads(pickle.dumps(table))
    assert other._projections == {}
    assert np.array_equal(other.codes, table.codes)
    assert other.states == table.states


# --- projection -----------------------------------------------------------------------------------------------


def test_a_projection_is_kept_and_the_oldest_is_forgotten(table, monkeypatch):
    first = table.project(["a", "b"])
    assert table.project(["a", "b"]) is first
    monkeypatch.setattr(table_module, "_KEPT_BYTES", 0)
    table.project(["a", "c"])
    assert table.project(["a", "b"]) is not first


def compare(codes, cardinalities, weights=None):
    found = project(codes, np.array(cardinalities, dtype=np.int64), weights)
    missing = int(np.iinfo(codes.dtype).max)
    rows = codes.T.tolist()
    wanted, totals, index = naive_project(rows, [1.0] * len(rows) if weights is None else weights, missing)
    assert [tuple(row) for row in found.configurations.T.tolist()] == wanted
    assert found.index.tolist() == index
    np.testing.assert_allclose(found.weights, totals, rtol=1e-12, atol=0)
    assert found.index.dtype == np.int64
    assert found.configurations.dtype == codes.dtype


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_projection_is_what_a_dict_would_give(data):
    wide = data.draw(st.booleans())
    kind = np.uint16 if wide else np.uint8
    cardinalities = data.draw(st.lists(st.integers(1, 60_000 if wide else 200), max_size=6))
    n_rows = data.draw(st.integers(0, 30))
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    few = [rng.integers(0, c, size=max(1, min(3, c))) for c in cardinalities]  # few values, so that rows repeat
    codes = np.array([rng.choice(values, n_rows) for values in few], dtype=kind).reshape(len(cardinalities), n_rows)
    codes[rng.random(codes.shape) < 0.2] = np.iinfo(kind).max
    weights = rng.integers(0, 4, n_rows).astype(float) if data.draw(st.booleans()) else None
    compare(codes, cardinalities, weights)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_many_columns_do_not_overflow(kind):
    rng = np.random.default_rng(1)
    cardinalities = [200] * 40  # 201⁴⁰ possible rows
    rows = rng.integers(0, 200, (40, 30)).astype(kind)
    codes = rows[:, rng.integers(0, 30, 300)]
    codes[rng.random(codes.shape) < 0.02] = np.iinfo(kind).max
    compare(codes, cardinalities, rng.random(300))


def test_rows_of_weight_nought_keep_their_configuration():
    table = Table.from_codes({"a": [0, 1]}, np.array([[0, 1, 1]]), np.array([2.0, 0.0, 0.0]))
    found = table.project(["a"])
    assert found.configurations.tolist() == [[0, 1]]
    assert found.weights.tolist() == [2.0, 0.0]


def test_projecting_on_nothing_is_one_configuration(table):
    found = table.project([])
    assert len(found) == 1
    assert found.weights.tolist() == [5.0]


def test_a_projection_keeps_the_weight_and_restores_the_rows():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (12, 500))
    table = Table.from_codes({f"x{j}": range(3) for j in range(12)}, codes, rng.random(500))
    found = table.project(("x3", "x1", "x7"))
    assert np.isclose(found.weights.sum(), table.total)
    assert np.array_equal(found.configurations[:, found.index], table.codes[[3, 1, 7]])
