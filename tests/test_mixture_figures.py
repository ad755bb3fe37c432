"""The pictures show what the numbers say: read back from the chart itself."""

import io

import numpy as np
import pytest

from leverrier.errors import OptionError
from leverrier.learning.mixtures.fit_mixture import fit_mixture
from leverrier.models.mixture import Mixture
from leverrier.report.charts.mixture_charts import climb_figure, ellipse, mixture_figure

TRUE = Mixture([0.4, 0.6], [[0.0, 0.0, 1.0], [5.0, 1.0, 0.0]], np.array([np.diag([1.0, 2.0, 1.0]), np.eye(3)]))
X = TRUE.sample(150, seed=0)


@pytest.fixture(scope="module")
def fitted():
    return fit_mixture(X, 2)


def values_of(spec):
    """All the rows of data anywhere in a chart."""
    if isinstance(spec, dict):
        found = spec["data"]["values"] if "data" in spec and "values" in spec["data"] else []
        return found + [row for part in spec.values() for row in values_of(part)]
    return [row for part in spec for row in values_of(part)] if isinstance(spec, list) else []


def test_an_ellipse_lies_at_its_distance():
    mean, covariance = np.array([1.0, -2.0]), np.array([[2.0, 0.7], [0.7, 0.5]])
    away = ellipse(mean, covariance, 2.0) - mean
    np.testing.assert_allclose(np.einsum("ij,jk,ik->i", away, np.linalg.inv(covariance), away), 4.0)


def test_points_have_the_colour_of_their_component(fitted):
    rows = values_of(mixture_figure(fitted, X, columns=["x3", "x1"]).to_dict())
    points = [row for row in rows if "component" in row and "ring" not in row]
    labels = fitted.mixture.assign(X)
    assert [(row["x"], row["y"], row["component"]) for row in points] == [
        (row[2], row[0], str(label + 1)) for row, label in zip(X, labels, strict=True)
    ]


def test_three_panels_with_the_true_model(fitted):
    spec = mixture_figure(fitted, X, true=TRUE).to_dict()
    assert [panel["title"] for panel in spec["hconcat"]] == ["The model", "150 points", "The model found"]


def test_holes_are_not_drawn(fitted):
    holed = X.copy()
    holed[:50, 0] = np.nan
    rows = values_of(mixture_figure(fitted, holed).to_dict())
    assert sum("component" in row and "ring" not in row for row in rows) == 100


def test_the_climb_and_the_true_line(fitted):
    rows = values_of(climb_figure(fitted, TRUE, X).to_dict())
    assert [row["log-likelihood"] for row in rows if "text" not in row] == list(fitted.likelihoods)
    assert {row["log-likelihood"] for row in rows if "text" in row} == {TRUE.log_likelihood(X)}
    with pytest.raises(OptionError, match="give x"):
        climb_figure(fitted, TRUE)


def test_densities_of_one_column_sum_to_the_mixture(fitted):
    rows = values_of(mixture_figure(fitted, X, columns="x1").to_dict())
    curves = {}
    for row in rows:
        if "what" in row:
            curves.setdefault(row["what"], []).append(row["density"])
    np.testing.assert_allclose(np.add(curves["component 1"], curves["component 2"]), curves["mixture"])
    bars = [row for row in rows if "end" in row]
    assert sum((bar["end"] - bar["x"]) * bar["density"] for bar in bars) == pytest.approx(1)


def test_a_picture_can_be_written(fitted):
    out = io.BytesIO()
    mixture_figure(fitted, X, true=TRUE).save(out, format="png")
    assert out.getvalue().startswith(b"\x89PNG")


def test_columns_that_are_not_there_are_refused(fitted):
    with pytest.raises(OptionError, match="'y'"):
        mixture_figure(fitted, X, columns=["y"])
    with pytest.raises(OptionError, match="one or two"):
        mixture_figure(fitted, X, columns=["x1", "x2", "x3"])
