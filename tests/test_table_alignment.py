"""New data in a fitted table's states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leverrier.data.label_alignment import align, realign
from leverrier.data.labels import text_of
from leverrier.data.reading.read_table import as_table, read_table
from leverrier.data.table import Table, Variable
from leverrier.errors import OptionError, TableError
from tests.naive.alignment import naive_align


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_aligning_is_looking_up_each_label(data):
    label = st.sampled_from(["a", "b", "c", 0, 1, "0", "1", "true", "FALSE", "x y"])
    columns = data.draw(st.dictionaries(st.sampled_from("pqrs"), st.lists(label, min_size=1, unique=True), min_size=1))
    wanted = data.draw(st.dictionaries(st.sampled_from("pqrst"), st.lists(label, min_size=1, unique=True), min_size=1))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    codes = np.array([rng.integers(-1, len(states), 12) for states in columns.values()])
    table = Table.from_codes(columns, codes)
    naive = naive_align(table, wanted)
    if any(code is None for row in naive for code in row):
        with pytest.raises(TableError, match="which is none of its states"):
            align(table, wanted)
    else:
        assert align(table, wanted).tolist() == naive
    holes = align(table, wanted, unseen="hole")
    assert holes.tolist() == [[-1 if code is None else code for code in row] for row in naive]


def test_labels_meet_by_text_where_types_differ():
    table = Table.from_codes({"a": [0, 1], "b": [True, False], "c": [1.0, 2.5]}, np.array([[0, 1], [0, 1], [0, 1]]))
    states = {"a": ("1", "0"), "b": ("FALSE", "TRUE"), "c": ("2.5", "1")}
    assert align(table, states).tolist() == [[1, 0], [1, 0], [1, 0]]
    assert text_of(np.float64(3.0)) == text_of("3") == text_of(3) == "3"
    assert text_of(np.True_) == text_of("True") == "true"


def test_equal_labels_win_over_equal_text():
    table = Table.from_codes({"a": ["1", 1]}, np.array([[0, 1]]))
    assert align(table, {"a": (1, "1")}).tolist() == [[1, 0]]


def test_an_unseen_label_names_column_row_and_remedy():
    table = Table.from_codes({"a": ["x", "y", "z"]}, np.array([[0, 1, 2, 2]]))
    with pytest.raises(TableError, match=r"column 'a' holds 'z' in row 3, .* \('x', 'y'\); unseen=\"hole\""):
        align(table, {"a": ("x", "y")})


def test_a_state_that_no_row_has_is_no_harm():
    table = Table.from_codes({"a": ["x", "y", "z"]}, np.array([[0, 1]]))
    assert align(table, {"a": ("y", "x")}).tolist() == [[1, 0]]


def test_unseen_is_one_of_two_words():
    with pytest.raises(OptionError, match='expected "error" or "hole"'):
        align(Table.from_codes({"a": [0, 1]}, np.array([[0]])), {"a": (0, 1)}, unseen="drop")


def test_realigning_keeps_exactly_the_variables_asked_for_and_says_so():
    codes, weights = np.array([[0, 1, -1], [0, 0, 1]]), np.array([1.0, 2.0, 3.0])
    table = Table.from_codes({"a": ["x", "y"], "z": [0, 1]}, codes, weights)
    found = realign(table, [Variable("b", (0, 1)), Variable("a", ("y", "x"))])
    assert found.variables == ("b", "a")
    assert found.codes.tolist() == [[255] * 3, [1, 0, 255]]
    assert found.weights.tolist() == [1.0, 2.0, 3.0]
    assert "all holes: 'b'" in found.notes[0]
    assert "left out: 'z'" in found.notes[1]


def test_a_table_that_fits_is_returned_as_it_is():
    table = read_table({"a": ["x", "y"], "b": [0, 1]})
    assert as_table(table) is table
    assert as_table(table, table.states) is table
    assert as_table(table, {"b": (0, 1), "a": ("x", "y")}).variables == ("b", "a")


def test_data_with_none_of_the_columns_is_an_error():
    table = read_table({"a": ["x", "y"]})
    with pytest.raises(TableError, match=r"none of the columns 'b' is in the data, which has 'a'"):
        as_table(table, {"b": (0, 1)})
    with pytest.raises(TableError, match="none of the columns"):
        as_table({"a": ["x", "y"]}, {"b": (0, 1)})


# --- read_table(like=…) ----------------------------------------------------------------------------------------


@pytest.fixture
def fitted() -> Table:
    rng = np.random.default_rng(0)
    return read_table({"x": rng.normal(size=200), "s": rng.choice(["lo", "hi"], 200), "n": rng.integers(0, 3, 200)})


def test_new_data_uses_the_cuts_and_states_of_the_old(fitted):
    cuts = fitted.columns[0].cuts
    edge = [cuts[0] - 1e-9, cuts[0], cuts[-1] - 1e-9, cuts[-1], -np.inf, np.inf, np.nan]
    new = read_table({"n": [2, 1, 0, 0, 0, 0, 0], "extra": list("abcdefg"), "x": edge}, like=fitted)
    assert new.columns == fitted.columns
    assert new.column("x").tolist() == [0, 1, 3, 4, 0, 4, 255]
    assert new.column("n").tolist() == [2, 1, 0, 0, 0, 0, 0]
    assert new.column("s").tolist() == [255] * 7
    assert any("all holes: 's'" in note for note in new.notes)
    assert any("left out: 'extra'" in note for note in new.notes)


def test_a_single_row_is_read_like_the_table(fitted):
    new = read_table({"x": [0.0], "s": ["hi"], "n": ["2"]}, like=fitted)
    assert new.codes.shape == (3, 1)
    assert new.states["n"][new.column("n")[0]] == 2


def test_an_unseen_label_is_an_error_or_a_hole_by_choice(fitted):
    data = {"x": [0.0, 0.0], "s": ["hi", "middling"], "n": [0, 7]}
    with pytest.raises(TableError, match="column 's' holds 'middling' in row 2"):
        read_table(data, like=fitted)
    found = read_table(data, like=fitted, unseen="hole")
    assert found.column("s").tolist() == [fitted.states["s"].index("hi"), 255]
    assert found.column("n").tolist() == [0, 255]
    assert any("'middling'" in note for note in found.notes)


def test_bins_are_also_found_by_their_names(fitted):
    labels = list(fitted.states["x"])
    found = read_table({"x": labels, "s": ["hi"] * 5, "n": [0] * 5}, like=fitted)
    assert found.column("x").tolist() == [0, 1, 2, 3, 4]


def test_states_may_be_given_without_a_table():
    found = read_table({"v": [3, 1, 2, 15]}, states={"v": range(1, 16)})
    assert found.column("v").tolist() == [2, 0, 1, 14]
    assert read_table({"v": ["TRUE", "false"]}, states={"v": (False, True)}).column("v").tolist() == [1, 0]


def test_like_and_states_together_are_refused(fitted):
    with pytest.raises(OptionError, match="give one"):
        read_table({"x": [0.0]}, like=fitted, states=fitted.states)
    with pytest.raises(OptionError, match="known already"):
        read_table({"x": [0.0]}, like=fitted, types={"x": "category"})
    with pytest.raises(OptionError, match="a Table already"):
        read_table(fitted, ignore=["x"])
