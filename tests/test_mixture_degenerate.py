"""Data that plain EM fails on: a usable answer or one clear line, never an infinity, a NaN or a traceback."""

import numpy as np
import pytest

from leverrier.errors import InputError
from leverrier.learning.mixtures.fit_mixture import fit_mixture
from leverrier.models.mixture import Mixture

RNG = np.random.default_rng(1)
TWO = np.vstack([RNG.normal(0, 1, (60, 3)), RNG.normal(4, 1, (60, 3))])
KINDS = ("full", "tied", "diagonal", "spherical")


def with_outlier(distance):
    x = TWO.copy()
    x[0] = distance
    return x


def answer_or_line(x, *args, **options):
    """The fit, or None after one clear line."""
    try:
        return fit_mixture(x, *args, **options)
    except InputError as problem:
        line = str(problem)
    assert "\n" not in line
    assert len(line) > 40
    return None


DATA = {
    "duplicated rows": (np.repeat(TWO[50:70], 10, axis=0), 3),
    "few distinct rows": (np.repeat(TWO[58:61], 20, axis=0), 3),
    "more components than distinct rows": (np.repeat(TWO[58:61], 20, axis=0), 5),
    "a constant column": (np.column_stack([TWO, np.ones(120)]), 2),
    "fewer rows than columns": (RNG.normal(size=(5, 10)), 2),
    "as many components as rows": (TWO[:6], 6),
    "an outlier at 1e3": (with_outlier(1e3), 2),
    "an outlier at 1e12": (with_outlier(1e12), 3),
    "one component and an outlier at 1e12": (with_outlier(1e12), 1),
    "collinear columns": (np.column_stack([TWO, TWO @ [1, 2, 3]]), 2),
    "nearly collinear columns": (np.column_stack([TWO, TWO @ [1, 2, 3] + 1e-7 * RNG.normal(size=120)]), 2),
    "the same column twice": (TWO[:, [0, 0, 1]], 2),
    "scale 1e-12": (TWO * 1e-12, 2),
    "scale 1e12": (TWO * 1e12, 2),
    "every scale": (TWO * [1e-12, 1, 1e12], 2),
    "a long way from 0": (TWO + 1e9, 2),
    "whole numbers": (np.round(TWO), 4),
    "zeros and ones": ((TWO > 2).astype(float), 3),
    "a column mostly 0": (np.column_stack([TWO, np.where(RNG.random(120) < 0.9, 0, RNG.normal(size=120))]), 3),
    "two rows": (TWO[:2], 2),
    "one row": (TWO[:1], 1),
    "a column of holes": (np.column_stack([TWO, np.full(120, np.nan)]), 2),
    "mostly holes": (np.where(RNG.random(TWO.shape) < 0.7, np.nan, TWO), 2),
    "a tight group in a wide one": (np.vstack([RNG.normal(0, 1e-5, (60, 2)), RNG.normal(1, 1, (60, 2))]), 2),
}


@pytest.mark.parametrize("prior", ["weak", None])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DATA)
def test_a_usable_answer_or_one_clear_line(name, kind, prior):
    x, k = DATA[name]
    found = answer_or_line(x, k, kind, prior=prior)
    if found is None:
        return
    m = found.mixture
    for numbers in (m.weights, m.means, m.covariances, found.trace, found.likelihoods, m.posterior(x)):
        assert np.all(np.isfinite(numbers))
    np.testing.assert_allclose(m.posterior(x).sum(axis=1), 1)
    assert np.all(np.linalg.eigvalsh(m.matrices) > -1e-12 * np.trace(m.matrices, axis1=1, axis2=2)[:, None])
    assert np.all(np.diff(found.trace) >= -1e-9 - 1e-9 * np.abs(found.trace[:-1]))
    # Means in the rows' own units are rounded there: far from 0 that costs a few digits of the log-likelihood.
    assert m.log_likelihood(x) == pytest.approx(found.log_likelihood, rel=1e-6, abs=1e-6)


USABLE = set(DATA) - {"a constant column", "one row", "a column of holes"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(USABLE))
def test_with_the_prior_there_is_always_an_answer(name, kind):
    x, k = DATA[name]
    assert fit_mixture(x, k, kind).components == k


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a constant column", "column 'x4' holds only the value 1"),
        ("one row", "1 row"),
        ("a column of holes", "column 'x4' has no numbers"),
    ],
)
def test_what_no_gaussian_can_have_is_said(name, words):
    with pytest.raises(InputError, match=words):
        fit_mixture(*DATA[name])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("collinear columns", "column 'x4' is determined by the others"),
        ("fewer rows than columns", "5 rows cannot fill a covariance matrix of 10 columns"),
        ("as many components as rows", "collapsed"),
    ],
)
def test_where_the_likelihood_has_no_maximum_it_is_said(name, words):
    x, k = DATA[name]
    with pytest.raises(InputError, match=words):
        fit_mixture(x, k, prior=None)


def test_scale_changes_nothing_but_the_units():
    plain = fit_mixture(TWO, 2)
    for scale in (1e-12, 1e12):
        other = fit_mixture(TWO * scale, 2)
        np.testing.assert_allclose(other.mixture.means, plain.mixture.means * scale, rtol=1e-9)
        np.testing.assert_allclose(other.mixture.covariances, plain.mixture.covariances * scale**2, rtol=1e-8)
        assert other.log_likelihood == pytest.approx(plain.log_likelihood - 360 * np.log(scale))


def test_an_outlier_gets_a_component_of_its_own_and_it_is_said():
    found = fit_mixture(with_outlier(1e12), 3)
    assert found.mixture.weights[2] == pytest.approx(1 / 120, abs=1e-6)
    assert found.mixture.means[2] == pytest.approx(1e12)
    np.testing.assert_allclose(sorted(found.mixture.means[:2, 0]), [0, 4], atol=0.5)
    assert any("component 3 stands on about 1.0 rows" in event for event in found.events)


def test_a_collapse_is_cured_and_said():
    """A start with one component on a single row: plain EM would end at an infinite likelihood there."""
    x = TWO[:, :2]
    tiny = np.array([np.eye(2), 1e-4 * np.eye(2)])
    start = Mixture([0.9, 0.1], [[2.0, 2.0], x[5]], tiny)
    found = fit_mixture(x, 2, init=start, prior=None)
    assert any("collapsed" in event and "restarted" in event for event in found.events)
    best = fit_mixture(x, 2, prior=None)
    assert found.log_likelihood == pytest.approx(best.log_likelihood, abs=1e-4)


def test_two_components_that_begin_as_one_are_parted():
    """Identical components share every row evenly and EM alone never parts them."""
    x = TWO[:, :2]
    same = Mixture([0.5, 0.5], [[2.0, 2.0]] * 2, np.array([5 * np.eye(2)] * 2))
    found = fit_mixture(x, 2, init=same)
    assert found.log_likelihood > fit_mixture(x, 1).log_likelihood + 50
    assert any("two components ended as one" in event for event in found.events)


def test_components_that_nothing_supports_are_said():
    x, k = DATA["more components than distinct rows"]
    found = fit_mixture(x, k)
    assert sum("has no rows" in event for event in found.events) == 2
    assert fit_mixture(x, range(1, k + 1)).components == 3


def test_no_choice_falls_on_a_number_that_failed():
    x = np.repeat(TWO[50:62, :2], 3, axis=0)
    found = fit_mixture(x, range(1, 9), prior=None)
    failed = [row for row in found.table if row.status is None]
    assert failed, "some number of components must be too many for twelve distinct rows"
    assert all("collapsed" in row.note and row.bic == np.inf for row in failed)
    assert np.isfinite(found.log_likelihood)


def test_random_small_tables():
    """Anything small: never a traceback, never a number that is none."""
    rng = np.random.default_rng(7)
    answers = 0
    for _ in range(120):
        n, d, k = rng.integers(1, 12), rng.integers(1, 4), rng.integers(1, 5)
        x = np.round(rng.standard_t(1, size=(n, d)) * rng.choice([1e-6, 1, 1e6]), rng.integers(-1, 3))
        x[rng.random(x.shape) < rng.choice([0, 0.2])] = np.nan
        found = answer_or_line(x, k, rng.choice(KINDS), prior=rng.choice(["weak", None]), starts=2)
        if found is None:
            continue
        answers += 1
        assert np.all(np.isfinite(found.mixture.posterior(x)))
        assert np.isfinite(found.log_likelihood)
    assert answers > 30
