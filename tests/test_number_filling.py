"""Empty cells of numbers drawn for the search: from one Gaussian given the row, unless a bend is clear."""

import numpy as np
import pytest

import leverrier as lv
from leverrier.discovery.numbers import number_filling
from leverrier.discovery.numbers.number_filling import PlainScores, drawn_given_row, filled
from leverrier.discovery.numbers.number_rule import weigh
from leverrier.learning.mixed.learn_mixed import space_of
from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.models.mixture import Mixture


def holed(table, rng, share=0.2):
    return {name: np.where(rng.random(len(x)) < share, np.nan, x) for name, x in table.items()}


def test_drawn_cells_have_the_law_of_the_hole_given_the_row():
    """The oracle is the precision matrix: given all others, a variable has precision Λ_jj and mean −Λ_jo x_o / Λ_jj."""
    covariance = np.array([[1.0, 0.6, -0.3], [0.6, 2.0, 0.5], [-0.3, 0.5, 1.5]])
    mean, precision = np.array([0.5, -1.0, 2.0]), np.linalg.inv(covariance)
    gaussian = Mixture(np.ones(1), mean[None], covariance[None])
    row = np.array([1.2, np.nan, 0.4])
    drawn = drawn_given_row(np.tile(row, (40_000, 1)), gaussian, np.random.default_rng(0))
    expected = mean[1] - (precision[1, 0] * (1.2 - mean[0]) + precision[1, 2] * (0.4 - mean[2])) / precision[1, 1]
    deviation = 1 / np.sqrt(precision[1, 1])
    assert drawn[:, 1].mean() == pytest.approx(expected, abs=4 * deviation / 200)
    assert drawn[:, 1].var() == pytest.approx(deviation**2, rel=0.03)
    assert (drawn[:, [0, 2]] == [1.2, 0.4]).all()
    empty = drawn_given_row(np.full((40_000, 3), np.nan), gaussian, np.random.default_rng(1))
    assert np.cov(empty.T) == pytest.approx(covariance, abs=0.06)


def test_one_factor_is_still_seen_where_a_fifth_of_the_cells_is_empty():
    rng = np.random.default_rng(2)
    f = rng.normal(size=1000)
    table = {f"x{j}": 0.8 * f + 0.6 * rng.normal(size=1000) for j in range(5)}
    found = weigh(filled(space_of(lv.read_table(holed(table, rng))), 0), 0)
    assert found.told == "continuum"
    assert set(found.chosen.children) == set(table)


def test_a_clear_bend_is_in_the_drawn_cells(monkeypatch):
    rng = np.random.default_rng(3)
    x = rng.normal(size=600)
    table = holed({"x": x, "y": x**2 + 0.3 * rng.normal(size=600), "z": rng.normal(size=600)}, rng)
    space = space_of(lv.read_table(table))
    monkeypatch.setattr(number_filling, "_by_gaussian", lambda *_: pytest.fail("a Gaussian knows no bend"))
    whole = filled(space, 0)
    holes = space.columns[1].holes
    x, y = (column.scores for column in whole.columns[:2])
    ends = np.abs(x[holes]) > 1.2
    assert y[holes][ends].mean() > y[holes][~ends].mean() + 1


def test_lines_alone_score_what_a_regression_scores():
    """Where nothing is bent both scores are the same; where something is, lines are behind."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=400)
    space = space_of(lv.read_table({"x": x, "y": 0.5 * x + rng.normal(size=400), "z": x**2 + rng.normal(size=400)}))
    rich, plain = MixedScores(space), PlainScores(space)
    assert plain.family(1, (0,)) == pytest.approx(rich.family(1, (0,)))
    assert plain.family(2, (0,)) < rich.family(2, (0,)) - 50
