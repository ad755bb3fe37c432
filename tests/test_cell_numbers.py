"""Cells of tables over configurations, numbered as sorting the configurations' states would number them."""

import numpy as np
import pytest

from leverrier.kernels.counts.cell_numbers import number_cells, place_seeds

MISSING = 255


def slowly(codes, scope, keyed):
    """By configuration, its rank among the tuples of states that occur; −1 where the scope has a hole."""
    seen = [m for m in range(codes.shape[1]) if MISSING not in codes[list(scope), m]]
    tuples = {m: tuple(codes[v, m] for v in scope[:keyed]) for m in seen}
    rank = {each: at for at, each in enumerate(sorted(set(tuples.values())))}
    return np.array([rank[tuples[m]] if m in tuples else -1 for m in range(codes.shape[1])]), len(rank)


@pytest.mark.parametrize(("columns", "states"), [(4, 3), (7, 9), (3, 200)], ids=["few", "many columns", "many states"])
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_cells_are_numbered_as_sorting_would(columns, states, holes):
    """Nine states of seven columns are more keys than are looked up at once: those before are ranked first."""
    rng = np.random.default_rng(columns)
    codes = rng.integers(0, states, (columns, 400)).astype(np.uint8)
    codes[rng.random(codes.shape) < holes] = MISSING
    scopes = [(), (1,), tuple(rng.permutation(columns)), tuple(range(columns)), (2, 0)]
    keyed = [0, 1, columns, columns - 1, 1]
    cells, begins = np.empty((len(scopes), 400), dtype=np.int64), np.empty(len(scopes) + 1, dtype=np.int64)
    number_cells(
        codes,
        np.full(columns, states),
        MISSING,
        np.array([v for scope in scopes for v in scope]),
        np.cumsum([0, *map(len, scopes)]),
        np.array(keyed),
        cells,
        begins,
    )
    for f, (scope, first) in enumerate(zip(scopes, keyed, strict=True)):
        expected, found = slowly(codes, scope, first)
        np.testing.assert_array_equal(cells[f], np.where(expected < 0, -1, expected + begins[f]))
        assert begins[f + 1] - begins[f] == found
    weights, seeds = rng.random(400), np.array([7, 2, 399])
    counts = np.zeros((begins[-1], 3))
    place_seeds(cells, weights, seeds, counts)
    for i, m in enumerate(seeds):
        held = cells[:, m][cells[:, m] >= 0]
        np.testing.assert_array_equal(np.flatnonzero(counts[:, i]), np.sort(held))
        np.testing.assert_allclose(counts[held, i], weights[m])
