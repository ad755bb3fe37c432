"""Predictors and outcomes in one step and in three: known truths, errors that hold, tests that mean something."""

import numpy as np
import pytest

import leverrier as lv
from leverrier.errors import OptionError
from tests.classes_cases import COLUMNS, MEANS, SLOPES, bakk, in_order


@pytest.fixture(scope="module")
def frame():
    return bakk(3000, 0.9, np.random.default_rng(3))[0]


def slopes_of(result):
    """The predictor's coefficient of every class in Bakk's order, against his first."""
    order = in_order(result)
    own = {row.state_class: row.estimate for row in result.coefficients if row.predictor == "predictor"} | {0: 0.0}
    return np.array([own[k] - own[order[0]] for k in order])


@pytest.mark.parametrize("steps", [1, "ml", "bch"])
def test_the_predictors_effect_is_found(frame, steps):
    result = lv.latent_classes(frame[[*COLUMNS, "predictor"]], states=3, predictors="predictor", steps=steps, starts=5)
    np.testing.assert_allclose(slopes_of(result), SLOPES, atol=0.2)
    wald = result.tests.where(about="predictor", method="Wald")[0]
    assert wald.degrees_of_freedom == 2
    assert wald.p_value < 1e-6
    ratio = result.tests.where(about="predictor", method="likelihood ratio")
    assert len(ratio) == (0 if steps == "bch" else 1)
    if len(ratio):
        assert ratio[0].statistic > 50


@pytest.mark.parametrize("steps", [1, "ml", "bch"])
def test_the_outcomes_means_are_found(frame, steps):
    columns = [*COLUMNS, "outcome"]
    result = lv.latent_classes(frame[columns], states=3, outcomes="outcome", steps=steps, starts=5)
    order = in_order(result)
    rows = result.outcomes.where(of="mean")
    np.testing.assert_allclose([rows[k].estimate for k in order], MEANS, atol=0.15)
    inside = [rows[k].lower < mean < rows[k].upper for k, mean in zip(order, MEANS, strict=True)]
    assert sum(inside) >= 2
    assert result.tests.where(about="outcome")[0].p_value < 1e-10
    assert len(result.tests.where(about="outcome")) == 1 + 3  # all classes, and every pair


def test_three_steps_leave_the_classes_alone(frame):
    plain = lv.latent_classes(frame[COLUMNS], states=3, starts=5)
    more = lv.latent_classes(
        frame[[*COLUMNS, "predictor", "outcome"]], states=3, predictors="predictor", outcomes="outcome", starts=5
    )
    assert more.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-4)
    np.testing.assert_allclose(more.shares, plain.shares, atol=1e-4)
    assert [row.best_count for row in more.table] == [row.best_count for row in plain.table]


def test_bch_is_the_weighted_mean_by_hand(frame):
    """Weights D⁻¹[assigned, class], as Bolck, Croon and Hagenaars have it."""
    result = lv.latent_classes(frame[[*COLUMNS, "outcome"]], states=3, outcomes="outcome", steps="bch", starts=5)
    posterior = result.posterior
    assigned = np.eye(3)[posterior.argmax(axis=1)]
    error = (posterior.T @ assigned) / posterior.sum(axis=0)[:, None]
    used = result.study.classification.to_invert
    np.testing.assert_allclose(used, error, atol=0.01)  # (with 3,000 rows well told the fit leaves little open)
    weights = assigned @ np.linalg.inv(used)
    means = weights.T @ frame["outcome"].to_numpy() / weights.sum(axis=0)
    np.testing.assert_allclose([row.estimate for row in result.outcomes], means, atol=1e-5)


def test_three_step_errors_are_larger_than_if_classes_were_known():
    """Assigned rows tell less than known classes do: errors must say so, the more the worse classes are told apart."""
    for apart, least in ((0.9, 1.0), (0.8, 1.15)):
        frame, member = bakk(2000, apart, np.random.default_rng(11))
        result = lv.latent_classes(frame[[*COLUMNS, "outcome"]], states=3, outcomes="outcome", steps="ml", starts=5)
        order = in_order(result)
        errors = np.array([result.outcomes[k].standard_error for k in order])
        known = 1 / np.sqrt(np.bincount(member))
        assert np.all(errors > least * known)
        assert np.all(errors < 3 * known)


def test_a_category_and_a_count_as_outcomes(frame):
    rng = np.random.default_rng(0)
    more = frame[COLUMNS].copy()
    more["vote"] = np.where(frame["outcome"] > 0, "left", "right")
    more["visits"] = rng.poisson(np.exp(frame["outcome"].clip(-1, 2)))
    result = lv.latent_classes(
        more, states=3, outcomes=["vote", "visits"], indicators=None, starts=5, steps="ml", seed=1
    )
    vote = result.outcomes.where(outcome="vote")
    assert sum(row.estimate for row in vote.where(state_class=0)) == pytest.approx(1)
    assert result.tests.where(about="vote", what="same in every class")[0].degrees_of_freedom == 2
    assert result.tests.where(about="visits", what="same in every class")[0].p_value < 1e-6


def test_a_predictor_of_nothing_has_uniform_p_values():
    """One step, Wald: 16 tables with a predictor drawn apart; the mean of p is near a half."""
    found = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        frame, _ = bakk(300, 0.9, rng)
        frame["noise"] = rng.standard_normal(300)
        result = lv.latent_classes(frame[[*COLUMNS, "noise"]], states=3, predictors="noise", starts=1)
        found.append(result.tests.where(about="noise", method="likelihood ratio")[0].p_value)
    assert 0.28 < np.mean(found) < 0.72


def test_bad_options():
    frame, _ = bakk(100, 0.9, np.random.default_rng(0))
    with pytest.raises(OptionError, match='expected 1, "ml" or "bch"'):
        lv.latent_classes(frame, states=2, predictors="predictor", steps="two")
    with pytest.raises(lv.TableError, match="no column 'age'"):
        lv.latent_classes(frame, states=2, predictors="age")
    with pytest.raises(OptionError, match="level=2"):
        lv.latent_classes(frame, states=2, predictors="predictor", level=2)
    with pytest.raises(OptionError, match="two different indicators"):
        lv.latent_classes(frame[COLUMNS], states=2, dependent=[("x0", "x0")])
    with pytest.raises(OptionError, match="no kind of indicator"):
        lv.latent_classes(frame[COLUMNS], states=2, indicators={"x0": "gamma"})


@pytest.mark.parametrize(("apart", "rows", "said"), [(0.8, 500, True), (0.9, 500, False), (0.8, 4000, False)])
def test_three_steps_with_badly_told_classes_are_warned_of(apart, rows, said):
    drawn, _ = bakk(rows, apart, np.random.default_rng(1))
    result = lv.latent_classes(drawn[[*COLUMNS, "outcome"]], states=3, outcomes="outcome", starts=4, jobs=1)
    assert any("steps=1" in note for note in result.notes) == said
    assert len(result.outcomes) == 3  # (what is said beside them is none of them)
    assert len(result.tests.where(about="outcome")) == 4


def test_error_rates_are_right_on_average_where_classes_are_badly_told():
    """Rows of known classes: how many a fit of 500 rows assigns wrongly, and how many it says that it does."""
    said, plain, true = [], [], []
    for seed in range(25):
        frame, member = bakk(500, 0.8, np.random.default_rng(seed))
        result = lv.latent_classes(frame[[*COLUMNS, "outcome"]], states=3, outcomes="outcome", starts=2, jobs=1)
        order = in_order(result)
        assigned = np.array([order.index(k) for k in result.posterior.argmax(axis=1)])
        true.append(np.mean(assigned != member))
        plain.append(1 - result.posterior.max(axis=1).mean())
        said.append(result.study.classification.wrong)
    assert np.mean(plain) < np.mean(true) - 0.015  # the fault: a fit takes its rows for better told than they are
    assert abs(np.mean(said) - np.mean(true)) < 0.01


def test_drawn_rows_are_fitted_by_counting_as_they_are_by_climbs(frame):
    """Bootstrapped p-values of three steps take the quick fits: they must end where the climbs end."""
    from leverrier.learning.classes.analysis import class_analysis as analysis
    from leverrier.learning.classes.fitting.class_climb import fit_classes

    kept = {}

    def keep(roles, settings):
        kept["refit"] = counting(roles, settings)
        return kept["refit"]

    counting, analysis._counting = analysis._counting, keep
    try:
        holed = frame[[*COLUMNS, "outcome"]].copy()
        holed.loc[[3, 5], "x1"] = None
        result = lv.latent_classes(holed, states=[2, 3], outcomes="outcome", starts=8, bootstrap=2, jobs=1)
    finally:
        analysis._counting = counting
    spec = result.study.fitted.spec
    for classes in (1, 2, 3):
        climbed = fit_classes(spec, classes, 4, 0).log_likelihood
        assert kept["refit"](spec, classes, 0) == pytest.approx(climbed, abs=1e-3)
    assert result.table.row(3).bootstrap_p == pytest.approx(1 / 3)
