"""Groups of rows that the columns show: what is a group, what is none, and that the test of a valley is one"""

import numpy as np
import pytest
from scipy.stats import binom

import leverrier as lv
from leverrier.data.reading.read_table import read_table
from leverrier.discovery.numbers.row_groups import LEVEL, Strips, row_groups
from leverrier.learning.mixed.learn_mixed import space_of


def groups(columns, seed=0):
    return row_groups(space_of(read_table({name: np.asarray(x) for name, x in columns.items()})), seed)


def humps(rng, rows, share, apart, columns=3):
    h = rng.random(rows) < share
    return {f"x{j}": rng.normal(size=rows) + apart * h for j in range(columns)}, h


def test_two_clouds_are_two_groups_of_their_sizes():
    table, h = humps(np.random.default_rng(1), 300, 0.3, 4.0)
    seen = groups(table)
    assert seen is not None
    assert seen.rows == pytest.approx((int((~h).sum()), int(h.sum())), abs=8)
    assert set(seen.columns) == set(table)
    assert seen.p_value < LEVEL
    assert seen.components == (2,)


def test_three_clouds_are_three():
    rng = np.random.default_rng(2)
    k = rng.integers(0, 3, 300)
    centres = np.array([[0, 0], [7, 0], [0, 7]])
    x = rng.normal(size=(300, 2)) + centres[k]
    seen = groups({"a": x[:, 0], "b": x[:, 1]})
    assert seen is not None
    assert sorted(seen.rows) == sorted(np.bincount(k))


def shapes(rng, rows):
    x = rng.normal(size=rows)
    u = rng.uniform(size=rows)
    yield "lognormal", {f"x{j}": np.exp(rng.normal(size=rows)) for j in range(3)}
    yield "heavy tails", {f"x{j}": rng.standard_t(3, size=rows) for j in range(4)}
    yield "a bow", {"x": x, "y": x**2 + 0.2 * rng.normal(size=rows), "z": x + rng.normal(size=rows)}
    yield "a wave", {"x": u, "y": np.sin(6 * u) + 0.2 * rng.normal(size=rows)}
    yield "one column's own humps", {"x": humps(rng, rows, 0.5, 6.0, 1)[0]["x0"], "y": x, "z": rng.normal(size=rows)}
    yield "many columns, few rows", {f"x{j}": rng.normal(size=rows) for j in range(12)}
    yield "a fan", {"x": u, "y": u * rng.normal(size=rows), "z": u**2 * rng.normal(size=rows)}


@pytest.mark.parametrize("seed", [0, 1])
def test_shapes_that_gaussians_must_be_pieced_together_for_are_no_groups(seed):
    rng = np.random.default_rng(seed)
    told = {name: groups(table, seed) for name, table in shapes(rng, 200)}
    assert {name for name, seen in told.items() if seen is not None} == set()


def test_three_strips_of_one_hump_hold_least_on_the_outside():
    """The inequality that the test rests on: of three neighbouring strips of equal width on one hump the middle one
    is never below both others."""
    rng = np.random.default_rng(3)
    samples = [rng.normal(size=40_000), rng.exponential(size=40_000), rng.beta(2, 5, size=40_000)]
    for x in samples:
        for middle in np.quantile(x, [0.1, 0.3, 0.5, 0.7, 0.9]):
            below, between, above = Strips(np.ones(1), float(middle), 0.1).counts(x[:, None])
            # (so by more than chance)
            assert max(binom.cdf(between, between + below, 0.5), binom.cdf(between, between + above, 0.5)) > 1e-4


def test_a_table_of_two_columns_with_two_regimes_says_both():
    """Two columns cannot tell a hidden regime from an arc; that rows fall into two groups can still be said."""
    table, h = humps(np.random.default_rng(4), 250, 0.35, 5.0, 2)
    found = lv.discover(table, jobs=1)
    assert not found.verdict.found
    assert not found.hidden
    assert f"2 groups, of {int((~h).sum())} and {int(h.sum())} rows" in found.headline
