"""The space of mixed columns: scores, atoms, margins, and the exact change of variables."""

import numpy as np
import pytest
from scipy import stats

import leverrier as lv
from leverrier.learning.mixed.mixed_space import make_space, number_column, state_column
from leverrier.models.curve import Curve
from leverrier.models.margin import Margin


def column(x, seed=0):
    return number_column("x", np.asarray(x, dtype=float), np.random.default_rng(seed))


def test_scores_are_normal_whatever_the_units():
    rng = np.random.default_rng(0)
    x = rng.standard_t(3, 501)
    scores = column(x).scores
    np.testing.assert_allclose(np.sort(scores), stats.norm.ppf((np.arange(501) + 0.5) / 501))
    np.testing.assert_array_equal(scores, column(np.exp(x)).scores)
    assert stats.spearmanr(scores, x).statistic == pytest.approx(1)


def test_ties_are_broken_at_random_from_the_seed():
    x = np.round(np.random.default_rng(0).standard_normal(400), 1)
    first, again, other = column(x, 1), column(x, 1), column(x, 2)
    np.testing.assert_array_equal(first.scores, again.scores)
    assert not np.array_equal(first.scores, other.scores)
    assert not first.discrete
    for value in np.unique(x):  # a tie stays within its ranks
        here = x == value
        assert first.scores[here].max() < np.append(first.scores[x > value], np.inf).min()


def test_holes_stay_holes():
    x = np.random.default_rng(0).standard_normal(100)
    x[::7] = np.nan
    made = column(x)
    np.testing.assert_array_equal(np.isnan(made.scores), np.isnan(x))
    np.testing.assert_array_equal(made.codes < 0, np.isnan(x))
    np.testing.assert_array_equal(np.isnan(made.margin.numbers(made.scores)), np.isnan(x))


@pytest.mark.parametrize("x", [np.arange(500) % 5, np.r_[np.zeros(200), np.random.default_rng(0).exponential(1, 300)]])
def test_atomic_numbers_have_few_codes_aligned_with_their_atoms(x):
    made = column(x)
    assert made.discrete
    assert 2 <= made.n_codes <= 7
    atom = made.codes[x == x.min()]
    assert len(set(atom)) == 1
    assert not np.isin(atom[0], made.codes[x > x.min()])
    assert np.all(np.diff(made.codes[np.argsort(x)]) >= 0)
    np.testing.assert_array_equal(made.margin.codes(made.scores), made.codes)
    np.testing.assert_allclose(made.margin.scores(x), made.scores, atol=1e-9)
    np.testing.assert_allclose(made.margin.numbers(made.scores), x, atol=0.05)


def test_margins_bring_scores_back_to_the_users_units():
    rng = np.random.default_rng(1)
    for x in (rng.lognormal(3, 1, 4000), np.round(rng.normal(50, 9, 4000), 1), rng.poisson(40, 4000).astype(float)):
        made = column(x)
        np.testing.assert_allclose(
            np.quantile(made.margin.numbers(made.scores), [0.1, 0.5, 0.9]), np.quantile(x, [0.1, 0.5, 0.9]), rtol=0.02
        )
        drawn = made.margin.numbers(rng.standard_normal(4000))
        assert stats.ks_2samp(drawn, x).pvalue > 0.001
        assert drawn.min() >= x.min()
        assert drawn.max() <= x.max()
        assert Margin.of_content(made.margin.content()) == made.margin
    assert set(drawn) <= set(range(200))  # counts stay whole


def test_the_second_representation_is_an_exact_change_of_variables():
    x = np.random.default_rng(2).lognormal(0, 1, 1000)
    curve = column(x).bend
    assert curve is not None
    # a density of w becomes one of z that integrates to one
    fine = np.linspace(-200, 200, 400_001)
    dense = np.exp(stats.norm.logpdf(curve(fine), 0.2, 0.7) + curve.log_slope(fine))
    assert np.trapezoid(dense, fine) == pytest.approx(1, abs=1e-4)
    z = np.linspace(-4, 4, 101)
    np.testing.assert_allclose(curve.inverse(curve(z)), z, atol=1e-6)
    step = 1e-6
    np.testing.assert_allclose(np.exp(curve.log_slope(z)), (curve(z + step) - curve(z - step)) / (2 * step), rtol=1e-3)
    assert np.all(np.diff(curve(z)) > 0)
    assert Curve.of_content(curve.content()) == curve


def test_a_raw_shape_like_the_scores_is_left_out():
    rng = np.random.default_rng(3)
    assert column(rng.standard_normal(1000)).bend is None
    assert column(rng.exponential(1, 1000)).bend is not None


def test_bad_columns_are_set_aside_or_refused_in_one_line():
    space = make_space(
        {"flat": np.ones(50), "empty": np.full(50, np.nan), "x": np.arange(50.0)},
        {"one": (np.zeros(50, int), ("a", "b"), False)},
    )
    assert space.names == ("x",)
    assert set(space.aside) == {"flat", "empty", "one"}
    with pytest.raises(lv.TableError, match="infinite in row 3"):
        column([1.0, 2.0, np.inf])


def test_one_value_in_nearly_all_rows_is_two_codes_or_more():
    x = np.zeros(1000)
    x[:10] = np.arange(1, 11)
    made = column(x)
    assert made.discrete
    assert np.all(np.isfinite(made.scores))


def test_ordered_states_have_scores_and_categories_have_none():
    codes = np.arange(60) % 3
    assert state_column("s", codes, ("a", "b", "c"), True).ordered
    assert not state_column("s", codes, ("a", "b", "c"), False).ordered
    likert = state_column("s", codes, ("a", "b", "c"), True)
    np.testing.assert_allclose(likert.bend(codes.astype(float)), likert.scores, atol=1e-9)
