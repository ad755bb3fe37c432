"""Features of slices against a twin that walks through each sequence."""

import numpy as np
import pytest

from leverrier.data.sequences.slice_features import (
    LEVELS,
    SPANS,
    Lag,
    Memory,
    feature_table,
    lag_features,
    memory_features,
)
from leverrier.data.table import Table, Variable
from tests.naive import slice_features as naive

STARTS = np.array([0, 1, 30, 90])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    x = np.repeat(rng.integers(0, 4, 60), rng.integers(1, 5, 60))[:90]
    return Table((Variable("x", (1, 2, 4, 8), "integer"),), x[None].astype(np.uint8))


def past_of(table, t):
    begin = STARTS[np.searchsorted(STARTS, t, side="right") - 1]
    return table.codes[0, begin:t].tolist()


def codes(table, feature):
    return feature_table(table, STARTS, [feature]).codes[0].tolist()


@pytest.mark.parametrize("back", [1, 2, 5])
def test_lags(table, back):
    found = codes(table, Lag("x", back))
    for t in range(90):
        past = past_of(table, t)
        assert found[t] == (past[-back] if len(past) >= back else 4)


@pytest.mark.parametrize("span", [4, 16])
def test_moving_averages(table, span):
    found = codes(table, Memory("x", "average", span))
    for t in range(90):
        value = naive.average(past_of(table, t), span, 4)
        assert found[t] == (LEVELS if value is None else min(int(value * LEVELS + 1e-12), LEVELS - 1))


def test_run_lengths(table):
    found = codes(table, Memory("x", "run"))
    for t in range(90):
        past = past_of(table, t)
        assert found[t] == (np.searchsorted(SPANS, naive.run(past)) if past else len(SPANS) + 1)


def test_slices_since_a_state(table):
    found = codes(table, Memory("x", "since", state=2))
    for t in range(90):
        past = past_of(table, t)
        gap = naive.since(past, 2)
        never = len(SPANS) if gap is None else np.searchsorted(SPANS, gap)
        assert found[t] == (never if past else len(SPANS) + 1)


def test_the_state_before_the_last_change(table):
    found = codes(table, Memory("x", "before"))
    for t in range(90):
        past = past_of(table, t)
        value = naive.before(past) if past else None
        assert found[t] == (4 if value is None else value)


def test_sums_of_numbers_are_of_the_labels(table):
    found = codes(table, Memory("x", "total", 5))
    labels = (1, 2, 4, 8)
    for t in range(90):
        assert found[t] == naive.total([labels[c] for c in past_of(table, t)], 5)


def test_steps(table):
    found = codes(table, Memory("x", "step", 2))
    for t in range(90):
        past = past_of(table, t)
        assert found[t] == (past[-1] - past[-3] + 3 if len(past) >= 3 else 7)


def test_nothing_looks_at_its_own_slice_or_later(table):
    features = (*lag_features(("x",), 3), *memory_features(table))
    before = feature_table(table, STARTS, features).codes
    changed = table.codes.copy()
    changed[0, 60:] = (changed[0, 60:] + 1) % 4
    after = feature_table(Table(table.columns, changed), STARTS, features).codes
    assert np.array_equal(before[:, :61], after[:, :61])
    assert not np.array_equal(before[:, 61:], after[:, 61:])
