"""Tests of one class more: Vuong's distribution against what is known of it, the bootstrap's early end."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

import leverrier as lv
from leverrier.learning.classes.analysis import class_number
from leverrier.learning.classes.analysis.class_number import bootstrap_ratio, vlmr, weighted_chi2


@pytest.mark.parametrize("at", [0.5, 3.0, 9.0])
def test_weighted_sums_of_squares_have_the_distribution_they_should(at):
    assert weighted_chi2(np.ones(3), at) == pytest.approx(chi2.sf(at, 3), abs=1e-4)
    assert weighted_chi2(np.array([2.0, 2.0]), at) == pytest.approx(np.exp(-at / 4), abs=1e-4)
    assert weighted_chi2(np.array([1.0, 1e-12, 0.0]), at) == pytest.approx(chi2.sf(at, 1), abs=1e-5)
    assert weighted_chi2(np.ones(30), 4 * at) == pytest.approx(chi2.sf(4 * at, 30), abs=1e-5)
    assert weighted_chi2(np.array([1.0, 1e-4]), at) == pytest.approx(chi2.sf(at, 1), abs=1e-3)
    rng = np.random.default_rng(0)
    drawn = rng.chisquare(1, (400_000, 3)) @ np.array([1.5, 0.7, -0.4])
    assert weighted_chi2(np.array([1.5, 0.7, -0.4]), at) == pytest.approx(np.mean(drawn > at), abs=3e-3)


def test_vuong_is_the_chi_squared_test_where_models_are_regular():
    """One class, a number with and without a regressor that does nothing: nested models with no mixture about them, for
    which Vuong's weights are 1 (for each parameter more) and 0."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"y": rng.normal(size=2000).round(4), "x": rng.normal(size=2000).round(4)})
    plain = lv.latent_classes(frame[["y"]], states=1, indicators={"y": "normal"})
    more = lv.latent_classes(frame, states=1, indicators={"y": "normal"}, regress={"y": ["x"]})
    test, adjusted = vlmr(plain.study.fitted, more.study.fitted)
    assert test.degrees_of_freedom == 1
    assert test.statistic == pytest.approx(2 * (more.log_likelihood - plain.log_likelihood))
    slope = more.regressions.where(term="x")[0]
    assert test.statistic == pytest.approx(slope.z**2, rel=0.01)  # (Wald's, of the same question)
    assert test.p_value == pytest.approx(chi2.sf(test.statistic, 1), abs=0.02)
    assert adjusted.statistic == pytest.approx(test.statistic / (1 + 1 / np.log(2000)))  # [lo2001 eq. 15]


def test_the_bootstrap_ends_once_enough_drawn_tables_gain_as_much():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({name: rng.choice(["u", "v"], 80) for name in "abcd"})
    result = lv.latent_classes(frame, states=[1, 2], steps=1, starts=4)
    asked = []

    class Gained:
        """Stands for a fit: only its log-likelihood and its number of classes are asked for."""

        log_likelihood, classes = result.study.fitted.log_likelihood + 5.0, result.study.fitted.classes + 1

    def refit(_spec, classes, _seed):
        asked.append(classes)
        return 10.0 * (classes == Gained.classes) * (len(asked) % 8 < 4)  # (every other table gains 10 nats)

    p = bootstrap_ratio(result.study.fitted, Gained, 500, 0, refit)
    assert p == pytest.approx(0.5, abs=0.1)
    assert len(asked) <= 2 * (2 * class_number.ENOUGH + 4)
