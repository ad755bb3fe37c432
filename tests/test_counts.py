"""Counts against the slow twin, whatever way they are counted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leverrier.counts import column_cells as cells_module
from leverrier.counts import observed_counts as observed
from leverrier.counts.column_cells import KEPT_COUNTS
from leverrier.counts.family import Family
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.counts.packed_tables import expand
from leverrier.data.table import Table
from leverrier.errors import TableError, TooLargeError
from leverrier.kernels.counts.cell_sums import POSITIONS
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
    np.testing.assert_array_equal(
        ObservedCounts(table).tables([Family("v0", ("v1", "v2"))])[0], expected(table, 0, [1, 2])
    )


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


def in_cells(cells, counts, v):
    """By configuration of the set, as its example rows show it, the counts of column v's states."""
    places = np.arange(counts.first[v], counts.first[v + 1])
    shown = cells.counts[places // POSITIONS, :, places % POSITIONS].astype(int)
    return np.vstack([shown, cells.sizes - shown.sum(axis=0)])


@pytest.mark.parametrize("kept", [0, KEPT_COUNTS])
@pytest.mark.parametrize("n_rows", [1, 300, 3000])
def test_rows_added_up_equal_counting_row_by_row(monkeypatch, kept, n_rows):
    """Sets split from one column less, or (nothing is kept) from a single column; absent states; more than a block."""
    monkeypatch.setattr(cells_module, "KEPT_COUNTS", kept)
    rng = np.random.default_rng(6)
    states = {f"v{i}": tuple(range(r)) for i, r in enumerate((2, 3, 1, 5, 90, 4))}
    codes = np.stack([np.minimum(rng.geometric(0.4, n_rows), len(labels)) - 1 for labels in states.values()])
    table = Table.from_codes(states, codes)
    counts = ObservedCounts(table).cells
    assert counts is not None
    for columns in ((0,), (4,), (0, 1), (0, 1, 2), (3, 0, 1), (5, 3, 0, 1), (4, 5)):
        cells = counts.cells(sum(1 << v for v in columns))
        assert cells.sizes.sum() == n_rows
        np.testing.assert_array_equal(cells.sizes, np.bincount(cells.place))
        for v in {0, 2, 4, 5} - set(columns):
            naive = expected(table, v, list(columns))
            where = tuple(codes[list(columns)][:, cells.examples])
            np.testing.assert_array_equal(in_cells(cells, counts, v).T, naive[where])
            assert len(cells.sizes) == (naive.sum(axis=-1) > 0).sum()


def test_rows_with_weights_or_holes_are_not_added_up():
    rng = np.random.default_rng(7)
    assert ObservedCounts(random_table(rng, weighted=True)).cells is None
    assert ObservedCounts(random_table(rng, holes=0.2)).cells is None


def test_an_unknown_column_is_one_clear_line():
    counts = ObservedCounts(random_table(np.random.default_rng(5)))
    with pytest.raises(TableError, match="no column 'height'"):
        counts.tables([Family("height", ())])
