"""Counts against the slow twin, whatever way they are counted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leverrier.data.table import Table
from leverrier.errors import TableError, TooLargeError
from leverrier.statistics import observed
from leverrier.statistics.family import Family
from leverrier.statistics.observed import ObservedCounts
from leverrier.statistics.packed import expand
from tests.naive.counts import count_table


def random_table(rng, n_variables=5, n_rows=200, holes=0.0, weighted=False, most_states=4):
    states = {f"v{i}": tuple(range(int(rng.integers(1, most_states + 1)))) for i in range(n_variables)}
    codes = np.stack([rng.integers(0, len(labels), n_rows) for labels in states.values()])
    codes[rng.random(codes.shape) < holes] = -1
    weights = rng.random(n_rows) * 3 if weighted else None
    return Table.from_codes(states, codes, weights)


def as_rows(table):
    return [[None if code == table.missing else int(code) for code in row] for row in table.codes.T]


def expected(table, child, parents):
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    cells = count_table(as_rows(table), weights, child, parents, table.cardinalities)
    shape = tuple(table.cardinalities[[*parents, child]])
    return np.array([cells[cell] for cell in np.ndindex(*shape)]).reshape(shape)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), holes=st.sampled_from([0.0, 0.3]), weighted=st.booleans())
def test_tables_equal_counting_row_by_row(seed, holes, weighted):
    rng = np.random.default_rng(seed)
    table = random_table(rng, n_rows=int(rng.integers(0, 300)), holes=holes, weighted=weighted)
    counts = ObservedCounts(table)
    child, *parents = rng.permutation(5)[: rng.integers(1, 6)].tolist()
    family = Family(f"v{child}", tuple(f"v{p}" for p in parents))
    np.testing.assert_allclose(counts.tables([family])[0], expected(table, child, parents), atol=1e-9)


@pytest.mark.parametrize("cells", [0, 768])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_expanding_equals_asking_for_each_family(monkeypatch, cells, holes):
    """By bitmaps and by histograms (cells = 0 forbids bitmaps), candidates one by one and together."""
    monkeypatch.setattr(observed, "BITMAP_CELLS", cells)
    rng = np.random.default_rng(1)
    table = random_table(rng, n_variables=6, n_rows=500, holes=holes)
    counts = ObservedCounts(table)
    wanted = np.array([False, False, True, True, True, True, True])
    packed = expand(counts, table.variables, 0, (1,), wanted)
    for v in np.flatnonzero(wanted):
        parents = (1, int(v)) if v < 6 else (1,)
        got = packed.counts[packed.starts[v] : packed.starts[v + 1]]
        np.testing.assert_array_equal(got, expected(table, 0, parents).ravel())


def test_threads_give_the_same_counts(monkeypatch):
    monkeypatch.setattr(observed, "THREADED_ROWS", 10)
    table = random_table(np.random.default_rng(2), n_variables=8, n_rows=300)
    wanted = np.ones(9, dtype=bool)
    wanted[[0, 1]] = False
    one = ObservedCounts(table, threads=1).expand(0, (1,), wanted)
    two = ObservedCounts(table, threads=2).expand(0, (1,), wanted)
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


def test_rows_beyond_one_block_of_words_are_counted():
    table = random_table(np.random.default_rng(3), n_variables=3, n_rows=256 * 64 + 77)
    np.testing.assert_array_equal(ObservedCounts(table).tables([Family("v0", ("v1", "v2"))])[0],
                                  expected(table, 0, [1, 2]))  # fmt: skip


def test_many_states_and_many_parents_are_ranked_not_allocated():
    rng = np.random.default_rng(4)
    states = {f"v{i}": tuple(range(200)) for i in range(7)}
    table = Table.from_codes(states, rng.integers(0, 200, (7, 50)))
    counts = ObservedCounts(table)
    packed, starts = counts.expand(0, (1, 2, 3, 4), np.array([False] * 5 + [True, True, True]))
    assert starts[-1] <= 50 * 200 * (200 + 200 + 1)
    assert packed.sum() == 150
    with pytest.raises(TooLargeError, match="fewer parents"):
        counts.tables([Family("v0", ("v1", "v2", "v3", "v4"))])


def test_an_unknown_column_is_one_clear_line():
    counts = ObservedCounts(random_table(np.random.default_rng(5)))
    with pytest.raises(TableError, match="no column 'height'"):
        counts.tables([Family("height", ())])
