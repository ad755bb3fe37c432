"""Numbers cut into bins."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leverrier.data.reading.binning import bin_labels, choose_cuts, cuts_of, roundest
from leverrier.data.reading.read_table import read_table
from tests.naive.binning import naive_quantile_gaps

numbers = st.floats(allow_nan=False, width=32) | st.integers(-5, 5).map(float)


@settings(deadline=None)
@given(st.lists(st.tuples(numbers, st.integers(1, 9)), min_size=2, unique_by=lambda pair: pair[0]), st.integers(2, 7))
def test_quantile_cuts_are_the_gaps_nearest_to_the_targets(pairs, bins):
    values, weights = zip(*sorted(pairs), strict=True)
    cuts = choose_cuts(np.array(values), np.array(weights, dtype=float), bins, "quantile")
    gaps = naive_quantile_gaps(values, weights, bins)
    assert len(cuts) == len(gaps)
    for cut, gap in zip(cuts, gaps, strict=True):
        assert values[gap - 1] < cut <= values[gap]


@settings(deadline=None)
@given(st.lists(numbers, min_size=2, unique=True), st.integers(2, 7), st.sampled_from(["quantile", "width"]))
def test_no_bin_is_empty(values, bins, rule):
    values = np.sort(values)
    cuts = choose_cuts(values, np.ones(len(values)), bins, rule)
    assert list(cuts) == sorted(set(cuts))
    counts = np.bincount(np.searchsorted(np.array(cuts), values, side="right"), minlength=len(cuts) + 1)
    assert np.all(counts > 0)
    assert len(counts) <= bins


@settings(deadline=None)
@example(one=8.98846567431158e307, other=float("inf"))
@example(one=1.7976931348623157e308, other=float("inf"))
@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_the_round_cut_parts_its_neighbours(one, other):
    low, high = min(one, other), max(one, other)
    if low < high:
        cut = roundest(low, high)
        assert low < cut <= high
        assert np.isfinite(cut) or low == np.finfo(float).max


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [(3.4, 3.6, 3.5), (4, 5, 5), (17.2, 17.9, 17.5), (38, 42, 40), (-2, 3, 0), (65.98, 66.06, 66)],
)
def test_cuts_have_few_digits(low, high, cut):
    assert roundest(low, high) == cut


def test_labels_show_the_cuts():
    assert bin_labels((3.5, 7.0)) == ("< 3.5", "3.5 – 7", "≥ 7")
    assert bin_labels((1e6,)) == ("< 1000000", "≥ 1000000")


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, unique=True))
def test_cuts_are_read_back_from_the_labels(cuts):
    cuts = tuple(sorted(cuts))
    assert cuts_of(bin_labels(cuts)) == cuts


@pytest.mark.parametrize("states", [("a", "b"), ("< 1", "≥ 2"), ("< 1",), (0, 1), ("< 2", "2 – 1", "≥ 1", "x")])
def test_other_labels_show_no_cuts(states):
    assert cuts_of(states) == ()


def test_numbers_find_their_bins_by_the_labels_alone():
    x = np.random.default_rng(3).normal(size=100)
    table = read_table({"x": x})
    assert np.array_equal(read_table({"x": x}, states=table.states).codes, table.codes)


def test_bins_hold_as_many_rows_each():
    x = np.random.default_rng(0).normal(size=1000)
    table = read_table({"x": x})
    assert np.bincount(table.column("x")).tolist() == [200] * 5
    variable = table.columns[0]
    assert (variable.kind, len(variable.cuts)) == ("binned", 4)
    assert np.allclose(variable.cuts, np.quantile(x, [0.2, 0.4, 0.6, 0.8]), atol=0.02)
    assert table.notes[0] == f"'x' is cut into 5 bins: {', '.join(variable.states)}."


def test_equal_values_are_never_parted():
    x = [0.0] * 60 + list(np.arange(1, 41) + 0.5)
    table = read_table({"x": x})
    assert np.bincount(table.column("x")).tolist() == [60, 20, 20]


def test_many_whole_numbers_are_cut_and_few_are_not():
    assert read_table({"x": list(range(12)) * 5}).columns[0].kind == "integer"
    assert read_table({"x": list(range(13)) * 5}).columns[0].kind == "binned"
    assert read_table({"x": [float(i) for i in range(5)] * 5}).states["x"] == (0, 1, 2, 3, 4)
    assert read_table({"x": [0.5, 1.5] * 5}).columns[0].kind == "binned"


def test_infinities_go_to_the_end_bins_and_nan_is_a_hole():
    x = [*np.linspace(0.1, 1.1, 50), np.inf, -np.inf, np.nan]
    for rule in ("quantile", "width"):
        table = read_table({"x": x}, bin_rule=rule)
        assert table.column("x")[-3:].tolist() == [4, 0, 255]
        assert all(np.isfinite(table.columns[0].cuts))


def test_equal_width():
    x = np.r_[np.linspace(0, 10, 101), 100.0]
    table = read_table({"x": x + 0.001}, bins=4, bin_rule="width")
    assert np.allclose(table.columns[0].cuts, [25], atol=0.1)  # the two empty bins joined the last
    assert np.bincount(table.column("x")).tolist() == [101, 1]


def test_the_number_and_the_cuts_can_be_chosen_by_column():
    rng = np.random.default_rng(1)
    frame = {"a": rng.normal(size=90), "b": rng.normal(size=90), "c": rng.integers(0, 3, 90)}
    table = read_table(frame, bins={"a": 3, "b": [-1, 0, 1], "c": 2})
    assert [len(table.states[name]) for name in "abc"] == [3, 4, 2]
    assert table.states["b"] == ("< -1", "-1 – 0", "0 – 1", "≥ 1")
    assert table.columns[1].cuts == (-1, 0, 1)
    assert np.array_equal(table.column("b"), np.digitize(frame["b"], [-1, 0, 1]))
    assert len(read_table(frame, bins=2).states["a"]) == 2
    assert read_table(frame, bins=[0.0]).states["a"] == ("< 0", "≥ 0")
    assert len(read_table(frame, bins={"a": 3}).states["b"]) == 5


def test_weights_count_like_repeated_rows():
    rng = np.random.default_rng(2)
    x, n = rng.normal(size=80), rng.integers(1, 20, 80)
    weighted = read_table({"x": x, "n": n}, weights="n")
    repeated = read_table({"x": np.repeat(x, n)})
    assert weighted.columns == repeated.columns
    assert np.array_equal(np.repeat(weighted.column("x"), n), repeated.column("x"))
