"""The mixture as a value: densities, posteriors, samples and counts of parameters, against SciPy and by law."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from leverrier.data.matrix import as_matrix
from leverrier.errors import InputError, OptionError, TableError
from leverrier.models.mixture import Mixture
from tests.naive import mixture as naive


def some_mixture(k=3, d=3, seed=0, **options):
    rng = np.random.default_rng(seed)
    spread = rng.normal(size=(k, d, d))
    weights = rng.random(k) + 0.5
    covariances = spread @ spread.transpose(0, 2, 1) + 0.2 * np.eye(d)
    return Mixture(weights / weights.sum(), rng.normal(size=(k, d)) * 2, covariances, **options)


def with_holes(x, share, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(x.shape) < share, np.nan, x)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 9])
def test_densities_and_posteriors_are_scipys(d):
    m = some_mixture(d=d, seed=d)
    x = m.sample(70, seed=1)
    args = m.weights, m.means, m.matrices
    assert m.log_likelihood(x) == pytest.approx(naive.log_likelihood(x, *args), abs=1e-9)
    np.testing.assert_allclose(m.posterior(x), naive.posterior(x, *args), atol=1e-12)
    np.testing.assert_allclose(m.row_log_likelihood(x).sum(), m.log_likelihood(x))


@pytest.mark.parametrize("d", [1, 2, 5])
def test_holes_are_summed_out_exactly(d):
    m = some_mixture(d=d, seed=d)
    x = with_holes(m.sample(60, seed=1), 0.4)
    x[7] = np.nan
    args = m.weights, m.means, m.matrices
    assert m.log_likelihood(x) == pytest.approx(naive.log_likelihood(x, *args), abs=1e-9)
    np.testing.assert_allclose(m.posterior(x), naive.posterior(x, *args), atol=1e-12)
    np.testing.assert_allclose(m.posterior(x)[7], m.weights, atol=1e-12)
    assert m.row_log_likelihood(x)[7] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("kind", ["tied", "diagonal", "spherical"])
def test_every_kind_agrees_with_its_matrices(kind):
    rng = np.random.default_rng(0)
    tied = np.array([[2.0, 0.5], [0.5, 1.0]])
    given = {"tied": tied, "diagonal": rng.random((3, 2)) + 0.1, "spherical": rng.random(3) + 0.1}
    m = Mixture([0.2, 0.3, 0.5], rng.normal(size=(3, 2)), given[kind], kind)
    full = Mixture(m.weights, m.means, m.matrices)
    x = with_holes(full.sample(50, seed=2), 0.2)
    assert m.log_likelihood(x) == pytest.approx(full.log_likelihood(x), abs=1e-10)
    np.testing.assert_allclose(m.posterior(x), full.posterior(x), atol=1e-12)
    assert Mixture(m.weights, m.means, m.matrices, kind) == m


def test_a_density_sums_to_one():
    m = some_mixture(d=2, seed=4)
    side = np.linspace(-25, 25, 500)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    assert np.exp(m.row_log_likelihood(grid)).sum() * (side[1] - side[0]) ** 2 == pytest.approx(1, abs=1e-6)


def test_dimension_counts_free_parameters():
    k, d = 3, 4
    cases = {"full": (k, d, d), "tied": (d, d), "diagonal": (k, d), "spherical": (k,)}
    free = {"full": 2 + 12 + 30, "tied": 2 + 12 + 10, "diagonal": 2 + 12 + 12, "spherical": 2 + 12 + 3}
    for kind, shape in cases.items():
        own = np.broadcast_to(np.eye(d), shape) if kind in ("full", "tied") else np.ones(shape)
        assert Mixture(np.full(k, 1 / k), np.arange(12.0).reshape(k, d), own, kind).dimension == free[kind]


@pytest.mark.parametrize("kind", ["full", "diagonal"])
def test_samples_have_the_moments_of_the_mixture(kind):
    m = some_mixture(d=2, seed=3)
    if kind == "diagonal":
        m = Mixture(m.weights, m.means, np.diagonal(m.matrices, axis1=1, axis2=2), kind)
    n = 200_000
    x, labels = m.sample_labelled(n, seed=5)
    mean = m.weights @ m.means
    centred = m.means - mean
    covariance = np.einsum("c,cij->ij", m.weights, m.matrices) + np.einsum("c,ci,cj->ij", m.weights, centred, centred)
    error = np.sqrt(np.diagonal(covariance) / n)
    assert np.all(np.abs(x.mean(axis=0) - mean) < 5 * error)
    np.testing.assert_allclose(np.cov(x.T), covariance, rtol=0.03, atol=0.03)
    np.testing.assert_allclose(np.bincount(labels) / n, m.weights, atol=0.01)
    assert np.array_equal(m.sample(10, seed=1), m.sample(10, seed=1))


def test_units_do_not_matter():
    m = some_mixture(d=3, seed=6)
    x = m.sample(40, seed=0)
    units = np.array([1e-12, 1.0, 1e12])
    other = Mixture(m.weights, m.means * units, m.matrices * np.outer(units, units))
    np.testing.assert_allclose(other.posterior(x * units), m.posterior(x), rtol=1e-9, atol=1e-12)
    expected = m.row_log_likelihood(x) - np.log(units).sum()
    np.testing.assert_allclose(other.row_log_likelihood(x * units), expected, rtol=1e-9)


def test_a_row_far_from_everything_has_a_posterior():
    m = some_mixture(d=2, seed=7)
    found = m.posterior(np.array([[1e9, -1e9], [0, 1e100]]))
    assert np.all(np.isfinite(found))
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_frames_are_read_by_name():
    m = some_mixture(d=2, seed=1, names=("a", "b"))
    x = m.sample(9, seed=0)
    frame = pd.DataFrame({"b": x[:, 1], "text": ["?"] * 9, "a": x[:, 0]})
    np.testing.assert_allclose(m.posterior(frame), m.posterior(x))
    np.testing.assert_allclose(m.posterior(frame[["b"]]), m.posterior(np.column_stack([np.full(9, np.nan), x[:, 1]])))
    with pytest.raises(TableError, match="none agrees"):
        m.posterior(frame[["text"]].assign(text=1.0))
    with pytest.raises(TableError, match="3 columns and the model 2"):
        m.posterior(np.zeros((4, 3)))


def test_every_kind_of_frame_gives_the_same_numbers():
    x = np.random.default_rng(0).normal(size=(20, 2))
    x[3, 1] = np.nan
    columns = {"a": x[:, 0], "b": [None if np.isnan(cell) else cell for cell in x[:, 1]]}
    frame = pd.DataFrame(x, columns=["a", "b"])
    for given in (
        frame,
        frame.convert_dtypes(),
        pl.DataFrame(columns),
        pl.LazyFrame(columns),
        pa.table(columns),
        columns,
        np.ma.masked_invalid(x),
        x.astype(object),
        x.tolist(),
        np.asfortranarray(x),
        pd.DataFrame(x),
    ):
        np.testing.assert_array_equal(as_matrix(given).values, x)
    with pytest.raises(TableError, match="two columns are named 'a'"):
        as_matrix(pd.DataFrame(x, columns=["a", "a"]))


def test_weights_multiply_rows():
    m = some_mixture(d=2)
    x = m.sample(5, seed=0)
    assert m.log_likelihood(x, [0, 1, 2, 3, 0.5]) == pytest.approx(m.row_log_likelihood(x) @ [0, 1, 2, 3, 0.5])
    with pytest.raises(TableError, match="weight of row 2"):
        m.log_likelihood(x, [1, -1, 1, 1, 1])


def test_it_cannot_be_changed():
    m = some_mixture()
    with pytest.raises(ValueError, match="read-only"):
        m.means[0] = 0
    assert m == Mixture(m.weights, m.means, m.covariances)
    assert hash(m) == hash(Mixture(m.weights, m.means, m.covariances))
    assert m.select([2, 0, 1]) != m


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"weights": [0.5, 0.6]}, "sum to 1"),
        ({"weights": [1.0]}, "1 weights for 2 means"),
        ({"kind": "round"}, "expected one of"),
        ({"covariances": np.zeros((2, 2, 2))}, "not positive"),
        ({"covariances": np.ones((2, 2, 2))}, "not positive definite"),
        ({"covariances": np.array([[[1, 0.5], [0, 1]]] * 2)}, "not symmetric"),
        ({"covariances": np.ones(5)}, "shape"),
        ({"covariances": np.array([np.eye(2), 2 * np.eye(2)]), "kind": "tied"}, "not tied"),
        ({"means": [[np.nan, 0], [0, 0]]}, "finite"),
        ({"names": ("a",)}, "1 names for 2"),
    ],
)
def test_what_is_no_mixture_is_refused(change, words):
    good = {"weights": [0.5, 0.5], "means": np.zeros((2, 2)), "covariances": np.array([np.eye(2)] * 2)}
    Mixture(**good)
    with pytest.raises(OptionError, match=words):
        Mixture(**{**good, **change})


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ([["a", "b"]], "no table of numbers"),
        ([[1.0, np.inf]], "infinite in row 1"),
        ([[1.0, 1e200]], "cannot be squared"),
        (np.zeros((0, 2)), "no rows"),
        (np.zeros((2, 2, 2)), "expected"),
        (3.0, "cannot read numbers"),
        ({"x1": [1.0], "x2": ["low"]}, "'low' in row 1"),
    ],
)
def test_what_is_no_data_is_refused(x, words):
    with pytest.raises(InputError, match=words):
        some_mixture(d=2).log_likelihood(x)
