"""Beginnings of classes beside a spread that all classes share."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from leverrier.counts.label_agreement import adjusted_rand
from leverrier.data.reading.read_table import read_table
from leverrier.learning.behind import shared_spread
from leverrier.learning.behind.completed import joined_places
from leverrier.learning.behind.shared_spread import rank_scores, shared_spreads, whitened
from leverrier.learning.mixed.learn_mixed import space_of


def columns_of(table):
    return space_of(read_table(table)).columns


def gradient_and_class(rng, rows=1000):
    """A strong gradient that all columns follow, and a class across it."""
    h = rng.random(rows) < 0.5
    along = 3 * rng.normal(size=rows)
    signs = np.array([1, 1, -1, -1])
    x = along[:, None] + 1.3 * np.outer(h - 0.5, signs) + 0.5 * rng.normal(size=(rows, 4))
    return {f"x{j}": x[:, j] for j in range(4)}, h


def test_a_class_across_the_main_direction_is_begun_with():
    table, h = gradient_and_class(np.random.default_rng(0))
    columns = columns_of(table)
    begun = shared_spreads(columns, (2,), np.random.default_rng(1))
    assert adjusted_rand(h, begun[0].argmax(axis=1)) > 0.9
    first = np.linalg.svd(whitened(rank_scores(columns, np.random.default_rng(1))))[0][:, 0]
    assert adjusted_rand(h, first > np.median(first)) < 0.5  # (directions alone do not show it)


def test_nothing_is_begun_with_where_one_gaussian_is_enough():
    rng = np.random.default_rng(2)
    a = rng.normal(size=2000)
    table = {"a": a, "b": a + rng.normal(size=2000), "c": np.exp(a - rng.normal(size=2000)), "d": rng.normal(size=2000)}
    assert shared_spreads(columns_of(table), (2, 3, 4), rng) == []


def test_steps_of_a_column_are_no_class():
    """Two states, and grades: their scores have no gaps, for ties are broken at random."""
    rng = np.random.default_rng(3)
    a = rng.normal(size=2000)
    table = {"yes": np.where(a > 0, "yes", "no"), "grade": np.digitize(a, [-1, 0, 1]), "x": rng.normal(size=2000)}
    scores = rank_scores(columns_of(table), rng)
    assert np.sort(scores, axis=0) == pytest.approx(np.sort(scores[:, [0]], axis=0) * np.ones((1, scores.shape[1])))


def test_the_value_is_the_likelihood_of_a_mixture_with_one_covariance(monkeypatch):
    """Against densities row by row; and without the floor EM never falls."""
    monkeypatch.setattr(shared_spread, "FLOOR", 0.0)
    table, _ = gradient_and_class(np.random.default_rng(4), 300)
    z = whitened(rank_scores(columns_of(table), np.random.default_rng(4)))
    values = []
    for steps in range(6, 16):
        monkeypatch.setattr(shared_spread, "STEPS", steps)
        value, share = shared_spread._run(z, 2, np.random.default_rng(5))
        values.append(value)
    assert (np.diff(values) > -1e-9).all()
    monkeypatch.setattr(shared_spread, "CLOSE", -np.inf)
    monkeypatch.setattr(shared_spread, "STEPS", 400)
    value, share = shared_spread._run(z, 2, np.random.default_rng(5))
    weights, centres = share.mean(axis=0), (share.T @ z) / share.sum(axis=0)[:, None]
    within = np.eye(z.shape[1]) - (centres * weights[:, None]).T @ centres
    logs = [np.log(w) + multivariate_normal(c, within).logpdf(z) for w, c in zip(weights, centres, strict=True)]
    constant = 0.5 * z.size * np.log(2 * np.pi)
    assert value == pytest.approx(float(logsumexp(logs, axis=0).sum()) + constant, abs=1e-5)


def test_places_are_joined_two_by_two():
    posterior = np.random.default_rng(6).dirichlet(np.ones(3), 20)
    joined = joined_places(posterior)
    assert len(joined) == 3
    for each, (alone, a, b) in zip(joined, [(2, 0, 1), (1, 0, 2), (0, 1, 2)], strict=True):
        assert each == pytest.approx(np.column_stack([posterior[:, alone], posterior[:, a] + posterior[:, b]]))
