"""Weights, clusters, strata, groups, residuals; input that cannot be fitted as asked: clear lines, finite answers."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import leverrier as lv
from leverrier.cli.group import cli
from leverrier.errors import TableError
from leverrier.learning.classes.fitting.class_spec import Sampling
from tests.classes_cases import COLUMNS, bakk


@pytest.fixture(scope="module")
def frame():
    return bakk(900, 0.9, np.random.default_rng(5))[0]


def test_sampling_weights_of_one_size_change_nothing_but_the_kind_of_error(frame):
    plain = lv.latent_classes(frame[[*COLUMNS, "predictor"]], states=3, predictors="predictor", errors_from="robust")
    weighed = lv.latent_classes(
        frame[[*COLUMNS, "predictor"]], states=3, predictors="predictor", weights=np.full(len(frame), 7.0)
    )
    assert weighed.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-5)
    errors = [np.array(r.coefficients.column("standard_error")) for r in (plain, weighed)]
    np.testing.assert_allclose(errors[1], errors[0] * np.sqrt(900 / 899), rtol=1e-4)


def test_every_row_twice_in_one_cluster_is_the_row_once(frame):
    """Errors of clusters of equal rows must be those of the single rows: the doubled table has no more to say."""
    once = lv.latent_classes(frame[COLUMNS], states=3, groups=np.arange(len(frame)))
    both = pd.concat([frame[COLUMNS], frame[COLUMNS]])
    twice = lv.latent_classes(both, states=3, groups=np.tile(np.arange(len(frame)), 2))
    for name in (*COLUMNS, "class"):
        np.testing.assert_allclose(twice.standard_errors[name], once.standard_errors[name], rtol=1e-3, atol=1e-6)
    naive = lv.latent_classes(both, states=3)
    assert np.all(naive.standard_errors["class"] < 0.8 * twice.standard_errors["class"])


def test_the_linearised_variance_of_a_stratified_cluster_total_by_hand():
    rng = np.random.default_rng(0)
    strata, clusters = np.repeat([0, 1], 20), np.repeat(np.arange(10), 4)
    influence = rng.standard_normal((40, 2))
    found = Sampling(np.ones(40), True, clusters, strata).spread(influence)
    wanted = np.zeros((2, 2))
    for stratum in (0, 1):
        totals = [influence[clusters == c].sum(axis=0) for c in range(5 * stratum, 5 * stratum + 5)]
        wanted += 5 * np.cov(np.array(totals).T)
    np.testing.assert_allclose(found, wanted)


def test_groups_with_one_profile_and_with_two():
    rng = np.random.default_rng(2)
    frame, member = bakk(1600, 0.9, rng)
    frame = frame[COLUMNS].copy()
    frame["sex"] = rng.choice(["f", "m"], len(frame))
    same = lv.latent_classes(frame, states=3, by_group="sex", starts=5)
    assert same.invariance.where(model="equal")[0].p_value > 0.01
    assert same.invariance[0].parameters - same.invariance.where(model="equal")[0].parameters == 18
    assert {row.group for row in same.sizes} == {None, "f", "m"}
    other = frame.copy()
    turned = (other["sex"] == "m") & (member == 0)
    other.loc[turned, "x0"] = np.where(rng.random(int(turned.sum())) < 0.3, "yes", "no")
    differ = lv.latent_classes(other, states=3, by_group="sex", starts=5)
    assert differ.study.invariance.free_columns == ("x0",)
    assert [row.model for row in differ.invariance][:3] == ["free", "partly: x0 free", "equal"]
    assert differ.invariance.where(model="equal")[0].p_value < 1e-4
    assert differ.invariance.where(model="partly: x0 free")[0].p_value > 0.01


def test_a_pair_that_depends_is_seen_and_freed():
    rng = np.random.default_rng(4)
    frame, _ = bakk(1500, 0.9, rng)
    frame = frame[COLUMNS].copy()
    copied = rng.random(len(frame)) < 0.4
    frame.loc[copied, "x4"] = frame.loc[copied, "x3"]
    plain = lv.latent_classes(frame, states=3, starts=5)
    worst = plain.residuals[0]
    assert {worst.first, worst.second} == {"x3", "x4"}
    assert worst.p_value < 1e-6
    freed = lv.latent_classes(frame, states=3, dependent=[("x3", "x4")], starts=5)
    gain = 2 * (freed.log_likelihood - plain.log_likelihood)
    assert gain > 20
    assert set(freed.network.parents("x4")) == {"class", "x3"}
    assert freed.network.log_likelihood(lv.read_table(frame)) == pytest.approx(freed.log_likelihood, abs=1e-4)
    searched = lv.latent_classes(frame, states=3, dependent="search", starts=5)
    assert searched.study.fitted.spec.items[4].on == ("x3",)


def test_residual_p_values_are_uniform_where_nothing_is_left():
    found = []
    for seed in range(30):
        frame, _ = bakk(500, 0.9, np.random.default_rng(100 + seed))
        result = lv.latent_classes(frame[COLUMNS], states=3, starts=1)
        found.append(next(row.p_value for row in result.residuals if {row.first, row.second} == {"x0", "x4"}))
    assert 0.35 < np.mean(found) < 0.65
    assert np.mean(np.array(found) < 0.05) < 0.2


def test_kinds_in_one_model_are_recovered():
    rng = np.random.default_rng(8)
    member = (rng.random(1500) < 0.4).astype(int)
    frame = pd.DataFrame(
        {
            "visits": rng.poisson(np.array([1, 4])[member]),
            "claims": rng.negative_binomial(2, 2 / (2 + np.array([1.0, 5.0])[member])),
            "pay": rng.normal(np.array([10, 14])[member], np.array([1, 2])[member]),
            "score": np.clip(rng.normal(np.array([0, 1.5])[member], 1), -1, 2),
            "grade": rng.binomial(4, np.array([0.3, 0.7])[member]),
            "agree": rng.binomial(3, np.array([0.3, 0.7])[member]),
            "town": np.where(rng.random(1500) < np.array([0.2, 0.7])[member], "a", "b"),
        }
    )
    kinds = {
        "visits": "poisson",
        "claims": "negative binomial",
        "pay": "normal",
        "score": "censored",
        "grade": "ordinal",
        "agree": "cumulative",
    }
    result = lv.latent_classes(frame, states=2, indicators=kinds, starts=4)
    low, high = result.profiles["0"], result.profiles["1"]
    assert (low["visits"]["mean"], high["visits"]["mean"]) == pytest.approx((1, 4), rel=0.15)
    assert (low["claims"]["mean"], high["claims"]["mean"]) == pytest.approx((1, 5), rel=0.2)
    assert (low["pay"]["deviation"], high["pay"]["deviation"]) == pytest.approx((1, 2), rel=0.15)
    assert (low["score"]["mean"], high["score"]["mean"]) == pytest.approx((0, 1.5), abs=0.15)
    assert high["town"]["a"] == pytest.approx(0.7, abs=0.08)
    grades = sum(grade * share for grade, share in low["grade"].items())
    assert grades == pytest.approx(4 * 0.3, abs=0.15)
    for _, errors in result.standard_errors.items():
        assert np.all(np.isfinite(errors))
    with pytest.raises(lv.OptionError, match="has no table"):
        _ = result.network


def test_a_mixture_of_regressions_is_recovered():
    rng = np.random.default_rng(1)
    x, member = rng.uniform(0, 10, 800), (rng.random(800) < 0.4).astype(int)
    y = np.array([2.0, 20.0])[member] + np.array([3.0, -1.0])[member] * x + rng.normal(0, 1.5, 800)
    frame = pd.DataFrame({"x": x, "y": y})
    result = lv.latent_classes(frame, states=2, indicators={"y": "normal"}, regress={"y": ["x"]}, starts=6)
    found = [row.estimate for row in result.regressions]
    np.testing.assert_allclose(found, [2, 3, 20, -1], atol=0.6)
    assert all(row.standard_error < 0.5 for row in result.regressions)


def test_a_predictor_that_separates_is_said_and_everything_is_finite():
    rng = np.random.default_rng(0)
    member = np.repeat([0, 1], 150)
    frame = pd.DataFrame(np.where(rng.random((300, 5)) < np.array([0.02, 0.98])[member][:, None], "y", "n"))
    frame.columns = list("abcde")
    frame["side"] = np.where(member == 1, 1.0, -1.0) + rng.uniform(-0.1, 0.1, 300)
    for steps in (1, "ml"):
        result = lv.latent_classes(frame, states=2, predictors="side", steps=steps, starts=4)
        assert np.isfinite(result.log_likelihood)
        assert np.all(np.isfinite(result.coefficients.column("estimate")))
        assert np.all(np.isfinite(result.posterior))
        assert any("no finite maximum" in note for note in result.notes), steps
        assert result.tests.where(method="likelihood ratio")[0].p_value < 1e-6


def test_a_small_group_is_spoken_of():
    rng = np.random.default_rng(0)
    frame, _ = bakk(400, 0.9, rng)
    frame = frame[COLUMNS].copy()
    frame["land"] = ["a"] * 390 + ["b"] * 10
    result = lv.latent_classes(frame, states=2, by_group="land", starts=3)
    assert any("only 10 rows have land = b" in note for note in result.notes)
    assert all(np.isfinite(row.log_likelihood) for row in result.invariance)


def test_weights_of_zero_and_missing():
    frame, _ = bakk(300, 0.9, np.random.default_rng(0))
    frame = frame[COLUMNS].copy()
    frame["w"] = 1.0
    frame.loc[:29, "w"] = 0.0
    result = lv.latent_classes(frame, states=2, weights="w", starts=3)
    assert any("30 rows of weight 0 are not used" in note for note in result.notes)
    assert result.posterior.shape == (300, 2)
    assert np.all(np.isfinite(result.posterior))
    fewer = lv.latent_classes(frame.iloc[30:], states=2, weights="w", starts=3)
    assert result.log_likelihood == pytest.approx(fewer.log_likelihood, abs=1e-4)
    frame.loc[3, "w"] = np.nan
    with pytest.raises(TableError, match="weight of row 4 is nan"):
        lv.latent_classes(frame, states=2, weights="w")


def test_more_classes_than_patterns():
    frame = pd.DataFrame({"a": ["x", "y"] * 30, "b": ["u", "u", "v"] * 20})
    result = lv.latent_classes(frame, states=6, groups=np.arange(60), starts=3)
    assert any("6 classes for 4 different rows" in note for note in result.notes)
    assert np.isfinite(result.log_likelihood)
    assert np.all(np.isfinite(result.posterior))


def test_what_is_not_identified_is_named():
    """Two binary columns cannot tell two classes: 5 parameters, 3 cells."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(["x", "y"], 400), "b": rng.choice(["u", "v"], 400, p=[0.3, 0.7])})
    result = lv.latent_classes(frame, states=2, starts=3)
    assert any("not identified" in note for note in result.notes)


def test_bootstrap_and_information_agree(frame):
    result = lv.latent_classes(frame[COLUMNS], states=3, groups=np.arange(len(frame)), errors=25, starts=4)
    other = lv.latent_classes(frame[COLUMNS], states=3, starts=4)
    np.testing.assert_allclose(result.standard_errors["class"], other.standard_errors["class"], rtol=0.5)


def test_the_command_line_writes_a_page(tmp_path, frame):
    path = tmp_path / "survey.csv"
    frame.assign(w=1.5, house=np.arange(len(frame)) // 3).to_csv(path, index=False)
    options = "--states 2-3 --starts 3 --predictors predictor --outcomes outcome --weights w --groups house --static"
    done = CliRunner().invoke(cli, ["classes", str(path), *options.split(), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    assert told["states"] == 3
    assert {row["predictor"] for row in told["coefficients"]} == {"(constant)", "predictor"}
    page = (tmp_path / "survey.classes.html").read_text()
    for word in ("What explains the class", "What the class explains", "Tests", "leave unexplained"):
        assert word in page
    bad = CliRunner().invoke(cli, ["classes", str(path), "--predictors", "nobody"])
    assert bad.exit_code != 0


def test_few_rows_have_their_test_of_equal_profiles_scaled_by_drawing():
    rng = np.random.default_rng(20_000)
    few = bakk(300, 0.9, rng)[0][COLUMNS].assign(sex=rng.choice(["f", "m"], 300))
    result = lv.latent_classes(few, states=3, by_group="sex", starts=4, jobs=1)
    draws, factor = result.study.invariance.scaled
    row = result.invariance.where(model="equal", against="free")[0]
    plain = 2 * (result.invariance.where(model="free")[0].log_likelihood - row.log_likelihood)
    assert row.statistic * factor == pytest.approx(plain)
    assert 0.9 < factor < 1.5
    assert any(f"in {draws} tables drawn" in note for note in result.notes)
    again = lv.latent_classes(few, states=3, by_group="sex", starts=4, jobs=1)
    assert again.invariance.where(model="equal", against="free")[0].p_value == row.p_value


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"groups": "nope"}, "groups= names the column 'nope'"),
        ({"by_group": "nope"}, "by_group= names the column 'nope'"),
        ({"predictors": "x0", "outcomes": "x0"}, "explain the classes and be explained"),
        ({"ignore": ["x0,x1"], "predictors": "x2"}, "x0"),
    ],
)
def test_mistaken_columns_are_named_by_the_option_that_named_them(frame, options, words):
    with pytest.raises(lv.LeverrierError, match=words) as raised:
        lv.latent_classes(frame[COLUMNS], states=2, **options)
    assert "types=" not in str(raised.value)


def test_more_classes_than_patterns_are_printed_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few = pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "u", "v", "v"] * 10})
        result = lv.latent_classes(few, states=7, starts=4, steps=1, jobs=1)
        assert "more classes than anything" in str(result)
