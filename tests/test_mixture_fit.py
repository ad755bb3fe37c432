"""`fit_mixture`: each step against the textbook's formulas, the published fits, the text's experiment, other data."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment

from leverrier.errors import OptionError
from leverrier.learning.mixtures.fit_mixture import fit_mixture
from leverrier.learning.mixtures.mixture_prior import NormalInverseWishart
from leverrier.models.mixture import Mixture
from leverrier.status import Status
from tests.naive import mixture as naive

TEXT = Mixture(
    [0.2, 0.3, 0.5],
    [[0.20, 0.55], [0.45, 0.75], [0.65, 0.35]],
    [[[0.008, 0.004], [0.004, 0.012]], [[0.012, -0.006], [-0.006, 0.008]], [[0.020, 0.008], [0.008, 0.012]]],
)
"""Three components of weights .2, .3 and .5 in the plane, as in the text's figure 20.11 (it gives no other numbers)."""


def table(shared_data, name):
    return pd.read_csv(shared_data / "mixtures" / f"{name}.csv")


def start_near(true, seed):
    rng = np.random.default_rng(seed)
    return Mixture(true.weights[::-1], true.means + rng.normal(size=true.means.shape) * 0.1, true.matrices * 2)


@pytest.mark.parametrize("case", ["complete", "holes", "weights", "both"])
def test_steps_are_the_texts(case):
    x = TEXT.sample(80, seed=3)
    rng = np.random.default_rng(0)
    if case in ("holes", "both"):
        x = np.where(rng.random(x.shape) < 0.25, np.nan, x)
    weights = rng.random(80) * 2 if case in ("weights", "both") else None
    start = start_near(TEXT, 1)
    now = start.weights, start.means, start.matrices
    expected = [naive.log_likelihood(x, *now, weights)]
    for _ in range(3):
        now = naive.em_step(x, *now, weights)
        expected.append(naive.log_likelihood(x, *now, weights))
    found = fit_mixture(x, 3, init=start, prior=None, weights=weights, max_iterations=3, accelerate=False, tolerance=0)
    np.testing.assert_allclose(found.trace, expected, rtol=1e-10)
    order = np.argsort(-now[0])
    np.testing.assert_allclose(found.mixture.weights, now[0][order], rtol=1e-9)
    np.testing.assert_allclose(found.mixture.means, now[1][order], rtol=1e-9)
    np.testing.assert_allclose(found.mixture.covariances, now[2][order], rtol=1e-8)
    assert found.status is Status.ITERATION_LIMIT
    assert not found.status.converged


@pytest.mark.parametrize("kind", ["full", "tied", "diagonal", "spherical"])
@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_no_small_change_of_the_parameters_is_better(kind, holes):
    """At the end of EM the log-likelihood has no slope: checked by moving every parameter a little, both ways."""
    x = TEXT.sample(150, seed=5)
    x = np.where(np.random.default_rng(1).random(x.shape) < holes, np.nan, x)
    found = fit_mixture(x, 2, kind, prior=None, starts=2, tolerance=1e-10).mixture
    best = found.log_likelihood(x)
    step = 1e-4
    for place in np.ndindex(found.means.shape):
        for sign in (1, -1):
            means = found.means.copy()
            means[place] += sign * step
            assert Mixture(found.weights, means, found.covariances, kind).log_likelihood(x) < best
    for factor in (1 + step, 1 - step):
        assert Mixture(found.weights, found.means, found.covariances * factor, kind).log_likelihood(x) < best
    for sign in (1, -1):
        weights = found.weights + sign * np.array([step, -step])
        assert Mixture(weights, found.means, found.covariances, kind).log_likelihood(x) < best


@pytest.mark.parametrize(
    ("name", "k", "kind", "df", "published"),
    [  # log-likelihoods and 2·log-likelihood − df·log n as published with mclust: see the project's list of oracles
        ("galaxies", 3, "full", 8, -441.6122),
        ("faithful", 3, "tied", 11, -2314.316),
        ("faithful", 2, "full", 11, -2322.1917),
        ("iris", 1, "full", 14, -829.9782),
        ("iris", 2, "full", 29, -574.0178),
        ("iris", 3, "full", 44, -580.84),
        ("iris", 4, "full", 59, -628.9642),
        ("iris", 5, "full", 74, -683.8194),
    ],
)
def test_published_fits_are_reached(shared_data, name, k, kind, df, published):
    x = table(shared_data, name).select_dtypes("number") / (1000 if name == "galaxies" else 1)
    found = fit_mixture(x, k, kind, prior=None)
    assert found.status.converged
    assert found.mixture.dimension == df
    bic = 2 * found.log_likelihood - df * np.log(len(x))
    assert bic >= published - 5e-5
    assert found.table[0].bic == pytest.approx(-bic)
    if name == "galaxies":
        assert found.log_likelihood == pytest.approx(-203.1792, abs=5e-5)


def test_the_texts_experiment():
    """500 points of weights .2, .3, .5: log-likelihood above the true model's, rising at every step; close to it."""
    x = TEXT.sample(500, seed=2)
    found = fit_mixture(x, 3, prior=None)
    assert found.log_likelihood > TEXT.log_likelihood(x)
    assert np.all(np.diff(found.trace) > 0)
    assert found.trace[-1] == found.log_likelihood == pytest.approx(found.mixture.log_likelihood(x), abs=1e-8)
    distance = np.linalg.norm(TEXT.means[:, None] - found.mixture.means[None], axis=2)
    _, order = linear_sum_assignment(distance)
    close = found.mixture.select(order)
    assert np.abs(close.weights - TEXT.weights).max() < 0.05
    assert np.abs(close.means - TEXT.means).max() < 0.03
    assert np.abs(close.covariances - TEXT.covariances).max() < 0.005


@pytest.mark.parametrize("prior", ["weak", None])
def test_a_hundred_random_starts(prior):
    x = TEXT.sample(500, seed=2)
    found = fit_mixture(x, 3, starts=100, init="random", prior=prior)
    assert len(found.starts) == 100
    assert all(np.isfinite(start.value) and start.status.converged for start in found.starts)
    assert found.starts.best_count > 50
    assert found.log_likelihood > TEXT.log_likelihood(x)
    assert max(start.value for start in found.starts) == found.trace[-1]


def test_the_number_of_components_is_found():
    x = TEXT.sample(800, seed=1)
    found = fit_mixture(x)
    assert found.components == 3
    assert found.criterion == "bic"
    assert [row.components for row in found.table] == list(range(1, len(found.table) + 1))
    row = found.table[2]
    posterior = found.mixture.posterior(x)
    assert row.aic == pytest.approx(-2 * found.log_likelihood + 2 * 17)
    assert row.bic == pytest.approx(-2 * found.log_likelihood + 17 * np.log(800))
    assert row.icl == pytest.approx(row.bic - 2 * np.log(posterior.max(axis=1)).sum(), abs=1e-6)
    assert fit_mixture(np.random.default_rng(0).normal(size=(300, 2))).components == 1


def test_a_range_keeps_its_ends(shared_data):
    x = table(shared_data, "faithful")
    found = fit_mixture(x, range(2, 5), criterion="icl", starts=2)
    assert [row.components for row in found.table] == [2, 3, 4]
    assert found.table[found.components - 2].icl == min(row.icl for row in found.table)
    assert found.mixture.names == ("eruptions", "waiting")
    assert found.table.row(3) is found.table[1]
    assert found.table.column("parameters") == [11, 17, 23]
    assert [line.split()[0] for line in str(found.table).splitlines()] == ["components", "2", "3", "4"]
    assert found.table.to_dicts()[0]["status"] == "converged"
    with pytest.raises(OptionError, match="5 components were not tried"):
        found.table.row(5)


def test_the_prior_is_the_one_it_says(shared_data):
    """The log posterior is the log-likelihood plus the inverse-Wishart density, and EM stands at its top."""
    x = table(shared_data, "faithful").to_numpy()
    prior = NormalInverseWishart(x.mean(axis=0), 0.0, 3.0, np.cov(x.T))
    found = fit_mixture(x, 2, prior=prior, tolerance=1e-10)

    def log_posterior(m):
        return m.log_likelihood(x) + sum(naive.penalty(own, prior.scale, prior.strength) for own in m.matrices)

    assert found.log_posterior == pytest.approx(log_posterior(found.mixture), abs=1e-7)
    m = found.mixture
    for factor in (0.999, 1.001):
        assert log_posterior(Mixture(m.weights, m.means, m.covariances * factor)) < found.log_posterior
        assert log_posterior(Mixture(m.weights, m.means * factor, m.covariances)) < found.log_posterior
    assert np.all(np.diff(found.trace) > -1e-9)
    assert found.likelihoods[-1] == found.log_likelihood


@pytest.mark.parametrize("kind", ["full", "tied", "diagonal", "spherical"])
def test_a_prior_on_the_means_is_climbed_too(kind):
    x = TEXT.sample(120, seed=4)
    prior = NormalInverseWishart([0.5, 0.5], 5.0, 4.0, np.array([[0.02, 0.005], [0.005, 0.03]]))
    free = fit_mixture(x, 2, kind, prior=NormalInverseWishart([0.5, 0.5], 0.0, 4.0, prior.scale)).mixture
    found = fit_mixture(x, 2, kind, prior=prior, tolerance=1e-9)
    assert np.all(np.diff(found.trace) > -1e-9)
    assert np.abs(found.mixture.means - 0.5).sum() < np.abs(free.means - 0.5).sum()


def test_the_weak_prior_is_weak():
    x = TEXT.sample(500, seed=2)
    with_it, without = fit_mixture(x, 3), fit_mixture(x, 3, prior=None)
    assert 0 <= without.log_likelihood - with_it.log_likelihood < 0.1
    assert with_it.log_posterior is not None
    assert without.log_posterior is None
    assert with_it.prior.strength == 1


def test_weights_are_repeated_rows():
    x = TEXT.sample(60, seed=8)
    counts = np.random.default_rng(0).integers(0, 4, 60)
    start = start_near(TEXT, 2)
    options = {"init": start, "prior": None, "max_iterations": 20, "accelerate": False, "tolerance": 0}
    some = fit_mixture(x, 3, weights=counts, **options)
    rows = fit_mixture(np.repeat(x, counts, axis=0), 3, **options)
    np.testing.assert_allclose(some.trace, rows.trace, rtol=1e-9)
    np.testing.assert_allclose(some.mixture.means, rows.mixture.means, rtol=1e-8)


@pytest.mark.parametrize("kind", ["full", "diagonal"])
def test_holes_cost_little_when_they_are_few(kind):
    x = TEXT.sample(600, seed=2)
    holed = np.where(np.random.default_rng(3).random(x.shape) < 0.1, np.nan, x)
    whole, found = fit_mixture(x, 3, kind), fit_mixture(holed, 3, kind)
    assert found.status.converged
    assert found.log_likelihood == pytest.approx(found.mixture.log_likelihood(holed), abs=1e-7)
    np.testing.assert_allclose(found.mixture.means, whole.mixture.means, atol=0.05)


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("kind", ["full", "diagonal"])
def test_threads_do_not_change_a_bit(kind, holes):
    x = TEXT.sample(60_000, seed=0)
    x = np.hstack([x, x[:, ::-1] + np.random.default_rng(0).normal(size=x.shape)])
    if holes:
        x[::7, 1] = np.nan
        x[::11, 2:] = np.nan
    runs = [fit_mixture(x, 3, kind, starts=1, max_iterations=5, jobs=jobs) for jobs in (1, 2, 3)]
    assert runs[0].trace == runs[1].trace == runs[2].trace
    assert runs[0].mixture == runs[1].mixture == runs[2].mixture


def test_the_same_seed_gives_the_same_answer():
    x = TEXT.sample(200, seed=0)
    a, b, c = (fit_mixture(x, 4, init="random", starts=3, seed=seed) for seed in (1, 1, 2))
    assert a.mixture == b.mixture
    assert a.starts == b.starts
    assert [start.value for start in a.starts] != [start.value for start in c.starts]


def test_many_columns_agree_with_scikit_learn():
    from sklearn.mixture import GaussianMixture
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(0)
    k, d, n = 3, 23, 1500
    x = rng.normal(size=(k, d))[rng.integers(0, k, n)] * 2 + rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    start = Mixture(np.full(k, 1 / k), x[:k], np.broadcast_to(np.cov(x.T), (k, d, d)))
    other = GaussianMixture(
        k,
        tol=0,
        reg_covar=0,
        max_iter=30,
        weights_init=start.weights,
        means_init=start.means,
        precisions_init=np.linalg.inv(start.matrices),
        init_params="random_from_data",
    )
    with threadpool_limits(1), pytest.warns(match="converge"):
        other.fit(x)
    ours = fit_mixture(x, k, init=start, prior=None, max_iterations=30, accelerate=False, tolerance=0)
    assert ours.log_likelihood == pytest.approx(other.score(x) * n, rel=1e-9)
    order = np.argsort(-other.weights_)
    np.testing.assert_allclose(ours.mixture.covariances, other.covariances_[order], rtol=1e-6, atol=1e-8)


def test_a_start_can_be_given():
    x = TEXT.sample(300, seed=0)
    means = fit_mixture(x, 3, init=TEXT.means)
    again = fit_mixture(x, init=means.mixture)
    assert len(means.starts) == len(again.starts) == 1
    assert again.components == 3
    assert again.iterations < means.iterations
    with pytest.raises(OptionError, match="must agree"):
        fit_mixture(x, 2, init=TEXT)
    with pytest.raises(OptionError, match="shape"):
        fit_mixture(x, 3, init=np.zeros((3, 5)))


def test_a_budget_is_kept_and_said():
    x = TEXT.sample(2000, seed=0)
    found = fit_mixture(x, 6, budget=0.0, tolerance=0)
    assert found.status is Status.BUDGET
    assert np.isfinite(found.log_likelihood)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"components": 0}, "at least 1"),
        ({"components": 301}, "301 components for 300 rows"),
        ({"components": "some"}, "auto"),
        ({"components": 2.5}, "expected a number"),
        ({"covariance": "round"}, "covariance="),
        ({"init": "best"}, "init="),
        ({"prior": 3}, "prior="),
        ({"prior": NormalInverseWishart([0], 0, 3, [[1]])}, "over 1 columns"),
        ({"criterion": "cic"}, "criterion="),
        ({"starts": 0}, "starts=0"),
        ({"tolerance": -1}, "tolerance="),
        ({"weights": np.zeros(300)}, "all weights are 0"),
        ({"columns": ["a"]}, "an array has none"),
    ],
)
def test_odd_options_are_refused(options, words):
    with pytest.raises(Exception, match=words) as caught:
        fit_mixture(TEXT.sample(300, seed=0), **{"components": 2, **options})
    assert type(caught.value).__module__ == "leverrier.errors"
    assert "\n" not in str(caught.value)


def test_files_and_frames(shared_data, tmp_path):
    frame = table(shared_data, "faithful")
    path = tmp_path / "faithful.csv"
    frame.to_csv(path, index=False)
    a, b, c = (fit_mixture(x, 2, starts=1) for x in (frame, path, {name: list(frame[name]) for name in frame}))
    assert a.mixture == b.mixture == c.mixture
    iris = shared_data / "mixtures" / "iris.csv"
    with pytest.raises(Exception, match="column 'Species' holds 'setosa' in row 1"):
        fit_mixture(iris, 2)
    assert fit_mixture(iris, 2, columns=["Petal.Length", "Petal.Width"], starts=1).mixture.n_columns == 2
