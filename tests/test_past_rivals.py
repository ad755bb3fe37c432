"""What numbers owe to their own past, in ways that a straight line does not say."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from scipy.stats import nbinom, poisson

import leverrier as lv
from leverrier.data.sequences.panel import panel_of
from leverrier.discovery.regimes.column_roles import number_columns, roles_of
from leverrier.discovery.regimes.free_past import by_ranks, free_bits
from leverrier.discovery.regimes.regime_attempts import examined
from leverrier.discovery.regimes.regime_held_out import Parts, left_out
from leverrier.discovery.regimes.rival_terms import calendar_terms, rival_columns, season_periods
from leverrier.discovery.verdict import Answer, Reason
from leverrier.learning.regimes.regime_em import Designs
from leverrier.learning.slices.slice_design import make_blocks, make_folds
from leverrier.models.regimes.count_emissions import CountEmission
from leverrier.models.regimes.emission import Family
from leverrier.models.regimes.regime_draws import _moved
from leverrier.models.regimes.terms import Term, calendar_part, design, number_terms
from leverrier.run.run import UNBOUNDED


def test_laws_of_counts_against_scipy():
    rng = np.random.default_rng(0)
    y = rng.poisson(6, 300).astype(float)
    y[:3] = [0, 40, 7]
    z = np.column_stack([np.ones(300), rng.normal(size=300)])
    beta, sizes = np.array([[1.2, 0.3], [2.0, -0.2]]), np.array([0.7, 12.0])
    mean = np.exp(z @ beta.T)
    terms = (Term("x"),)
    many = CountEmission("y", Family.NEGATIVE_BINOMIAL, terms, (False,), beta, sizes, np.zeros(2))
    expected = nbinom.logpmf(y[:, None], sizes, sizes / (sizes + mean))
    np.testing.assert_allclose(many.logs(y, z), expected, rtol=1e-10)
    plain = CountEmission("y", Family.POISSON, terms, (False,), beta, np.ones(2), np.zeros(2))
    np.testing.assert_allclose(plain.logs(y, z), poisson.logpmf(y[:, None], mean), rtol=1e-10)
    huge = np.append(y, 1e5)  # (few and large: no table of them is made)
    wide = np.vstack([z, [1.0, 0.0]])
    np.testing.assert_allclose(plain.logs(huge, wide)[:-1], plain.logs(y, z), rtol=1e-12)


def test_a_fitted_size_is_no_worse_than_its_neighbours():
    rng = np.random.default_rng(1)
    y = rng.poisson(4 * rng.gamma(2.0, 0.5, 2000)).astype(float)
    now = CountEmission("y", Family.NEGATIVE_BINOMIAL, (), (), np.array([[1.0]]), np.array([9.0]), np.zeros(1))
    weights, z = np.ones((2000, 1)), np.ones((2000, 1))
    for _ in range(12):
        now = now.fitted(y, z, weights)
    assert now.spread[0] == pytest.approx(2.0, rel=0.25)
    assert now.logs(y, z).sum() >= nbinom.logpmf(y, 2.0, 2.0 / 6.0).sum() - 1.0


def test_counts_that_counts_depend_on_are_taken_by_their_logarithm():
    data = lv.read_sequences({"x": np.arange(30) % 11})
    panel = panel_of(data, ["x"])
    (term,) = number_terms(panel, "x", 1, log=True)
    logs = np.log1p(np.arange(30) % 11)
    found = term.column(panel)[1:] * term.scale + term.centre
    np.testing.assert_allclose(found, logs[:-1], atol=1e-12)
    few = np.array([3, 17, 29])  # (draws ask for a few slices at a time)
    np.testing.assert_allclose(_moved(panel, term, few), design(panel, (term,))[few, 1])


def test_two_seasons_are_both_seen():
    rng = np.random.default_rng(2)
    t = np.arange(600)
    x = np.sin(2 * np.pi * t / 12) + np.sin(2 * np.pi * t / 50 + 1) + rng.normal(size=600)
    panel = panel_of(lv.read_sequences({"x": x}))
    found = sorted(season_periods(panel, "x"))
    assert len(found) == 2
    np.testing.assert_allclose(found, [12, 50], rtol=0.02)


def test_parts_of_the_calendar_are_those_of_datetime():
    rng = np.random.default_rng(0)
    days = np.concatenate(
        [rng.integers(-20000, 30000, 200), rng.integers(-500, 500, 200) + rng.integers(0, 24, 200) / 24]
    )
    dates = [datetime(1970, 1, 1) + timedelta(days=float(day)) for day in days]
    rounded = [one + timedelta(seconds=1) for one in dates]  # (an hour is no binary fraction of a day)
    assert calendar_part(days, "month").tolist() == [one.month - 1 for one in rounded]
    assert calendar_part(days, "weekday").tolist() == [one.weekday() for one in rounded]
    assert calendar_part(days, "hour").tolist() == [one.hour for one in rounded]


def test_dates_offer_their_calendar_and_a_week_has_sharp_edges():
    day = np.arange(700)
    dates = np.datetime64("2023-01-02") + day
    month = dates.astype("datetime64[M]").astype(int) % 12
    week, year = np.array([0.0, 0.2, 0.1, 0.0, 0.8, 2.0, 1.5]), np.random.default_rng(2).normal(size=12)
    said = 3 + week[day % 7] + year[month]
    sales = said + 0.3 * np.random.default_rng(1).normal(size=700)
    panel = panel_of(lv.read_sequences({"date": dates.astype(str), "sales": sales}, time="date"), ["sales"])
    assert list(calendar_terms(panel)) == ["month", "weekday"]
    (one,) = rival_columns(Designs(panel), roles_of(panel))
    assert "month" in {term.part for term in one.emission.terms}
    fitted = one.emission.means(design(panel, one.emission.terms))[:, 0]
    np.testing.assert_allclose(fitted, said, atol=0.25)
    plain = panel_of(lv.read_sequences({"day": day, "sales": sales}, time="day"), ["sales"])
    assert not calendar_terms(plain)
    (other,) = rival_columns(Designs(plain), roles_of(plain))
    assert {round(7 / term.period) for term in other.emission.terms if 0 < term.period < 7.5} == {1, 2, 3}


def test_a_column_with_a_limit_has_no_density():
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    data = lv.read_sequences({"x": np.maximum(x, -0.5), "y": x, "n": rng.poisson(8, 400)})
    assert number_columns(data) == {"y", "n"}


def test_ranks_leave_categories_counts_and_holes_alone():
    rng = np.random.default_rng(4)
    x = np.exp(rng.normal(size=200))
    x[7] = np.nan
    data = lv.read_sequences({"x": x, "n": rng.poisson(8, 200), "c": rng.choice(["a", "b"], 200)})
    panel = panel_of(data, ["x", "n"])
    scores = by_ranks(panel)
    assert scores is not None
    np.testing.assert_array_equal(scores.values["n"], panel.values["n"])
    np.testing.assert_array_equal(scores.values["c"], panel.values["c"])
    seen = ~np.isnan(x)
    np.testing.assert_array_equal(np.isnan(scores.values["x"]), ~seen)
    np.testing.assert_array_equal(np.argsort(scores.values["x"][seen]), np.argsort(x[seen]))
    assert by_ranks(panel_of(data.select(["c"]))) is None


def test_what_is_only_a_matter_of_scale_is_no_hidden_state():
    """A noisy map between 0 and 1: its noise is skewed near the bounds, and a state would seem to follow it."""
    rng = np.random.default_rng([11, 1])
    x = np.zeros(650)
    for t in range(1, 650):
        x[t] = 1 / (1 + np.exp(-(4 * x[t - 1] - 2 + 0.7 * rng.normal())))
    found = lv.discover({"x": x[50:]}, method="sequences", draws=9, level=0.1)
    assert found.verdict.answer is Answer.NOTHING
    assert found.verdict.reason in (Reason.SCALE, Reason.NOT_CLEARER)


def test_trees_over_the_past_say_what_a_straight_line_does_not():
    rng = np.random.default_rng(5)
    x = np.zeros(900)
    for t in range(1, 900):
        x[t] = 2.0 * np.cos(2.0 * x[t - 1]) + 0.4 * rng.normal()
    data = lv.read_sequences({"x": x})
    panel = panel_of(data)
    parts = make_folds(data, 5, 0)
    cut = Parts(parts, make_blocks(data, parts))
    rival = examined(panel, data.table.columns, roles_of(panel), 0, moving=False, staying=False).rival
    line, free = left_out(rival, panel, cut, UNBOUNDED), free_bits(rival, panel, cut, UNBOUNDED)
    assert line is not None
    assert free is not None
    assert free.mean() < line.mean() - 0.5
