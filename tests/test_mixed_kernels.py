"""Kernels of mixed columns against their slow twins, and against least squares done by others."""

import itertools

import numpy as np
import pytest
from scipy import stats

from leverrier.kernels.mixed.binned_noise import fill_histogram, fit_binned, mixture_log_likelihood, shape_of
from leverrier.kernels.mixed.linear_splits import best_linear_split
from leverrier.kernels.mixed.subset_sweeps import choose_columns, partial_gains
from tests.naive import mixed as naive


def columns(seed, n=200, k=7):
    rng = np.random.default_rng(seed)
    x = np.vstack([np.ones(n), rng.standard_normal((k, n))])
    x[3] = x[1] + 0.3 * x[2] + 0.1 * x[3]  # nearly collinear
    y = 0.8 * x[1] - 0.5 * x[4] + rng.standard_normal(n)
    return np.vstack([x, y])


@pytest.mark.parametrize("seed", range(6))
def test_columns_are_chosen_as_by_the_slow_twin(seed):
    x = columns(seed)
    gram = x @ x.T
    forced = np.arange(8) == 5
    costs = np.full(8, 0.5 * np.log(200))
    inside, coefficients, rest, paid = choose_columns(gram, forced, costs, 200.0, 4, 4.0, 0.3)
    expected, left, beta = naive.choose_columns(gram, forced, costs, 200, 4, 4.0, 0.3)
    assert inside.tolist() == expected
    assert rest == pytest.approx(left)
    assert {j: pytest.approx(b) for j, b in beta.items()} == {j: coefficients[j] for j in beta}
    assert paid == pytest.approx(costs[0] * (sum(expected) - 1))


def test_a_column_in_the_span_of_others_is_left_out():
    x = columns(0)
    doubled = np.vstack([x[:2], x[1], x[-1]])  # constant, x1, x1 again, y
    forced = np.array([False, True, True])
    inside, _, rest, _ = choose_columns(doubled @ doubled.T, forced, np.zeros(3), 200.0, 3, 4.0, 0.3)
    assert inside.tolist() == [True, True, False]
    assert np.isfinite(rest)


def test_partial_gains_are_those_of_two_regressions():
    x = columns(1)
    inside = np.zeros(9, dtype=bool)
    inside[[0, 1]] = True
    gains = partial_gains(x @ x.T, inside, np.array([8]))
    before = naive.squares_left(x @ x.T, inside)[0]
    for j in (2, 4, 6):
        more = inside.copy()
        more[j] = True
        assert gains[j] == pytest.approx(0.5 * np.log(before / naive.squares_left(x @ x.T, more)[0]), rel=1e-6)
    assert gains[0] == gains[1] == 0


@pytest.mark.parametrize("seed", range(4))
def test_splits_are_those_of_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    n = 150
    codes = np.vstack([rng.integers(0, 8, n), rng.integers(0, 3, n)]).astype(np.uint8)
    x = np.vstack([np.ones(n), rng.standard_normal(n)])
    y = np.where(codes[1] == 1, 1.5 * x[1], 0) + rng.standard_normal(n)
    x = np.vstack([x, y])
    ordered = np.array([True, False])
    found = best_linear_split(x, np.arange(n), codes, np.array([8, 3]), ordered, 10, 4.0, 0.3)
    expected = naive.best_linear_split(x, codes, (8, 3), ordered, 10, 4.0, 0.3)
    assert found[1:3] == expected[1:3]
    assert (found[0], found[3]) == pytest.approx((expected[0], expected[3]))


def test_em_on_a_histogram_is_em_and_never_falls():
    rng = np.random.default_rng(0)
    e = np.where(rng.random(500) < 0.3, rng.normal(2, 0.5, 500), rng.normal(-0.5, 1, 500))
    mean, spread, skewness, excess, low, high = shape_of(e)
    assert (mean, spread) == pytest.approx((e.mean(), e.std()))
    assert (skewness, excess) == pytest.approx((stats.skew(e), stats.kurtosis(e)))
    counts = np.zeros(40)
    fill_histogram(e, low, high, counts)
    np.testing.assert_array_equal(counts, np.histogram(e, 40, (low, high))[0])
    centres = low + (np.arange(40) + 0.5) * (high - low) / 40
    start = np.array([0.5, 0.5]), np.array([-1.0, 1.0]), np.array([1.0, 1.0])
    told = []
    for steps in range(2, 12):
        now = [part.copy() for part in start]
        told.append(fit_binned(centres, counts, *now, 0.05, steps, -np.inf))
        if steps == 2:  # one step whole, the second only told
            twice = naive.em_step(centres, counts, *naive.em_step(centres, counts, *start, 0.05), 0.05)
            for ours, theirs in zip(now, twice, strict=True):
                np.testing.assert_allclose(ours, theirs)
    assert all(later >= sooner for sooner, later in itertools.pairwise(told))
    assert mixture_log_likelihood(e, *start) == pytest.approx(naive.mixture_logs(e, *start).sum())
