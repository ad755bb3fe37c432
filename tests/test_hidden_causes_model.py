"""The overlapping-causes model as a value: its law, its priors, and exact answers for rows."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, chisquare, poisson

from leverrier.errors import OptionError, TableError, TooLargeError
from leverrier.models.noisy_or.causes_prior import Beta, BetaBernoulli, Gamma, IndianBuffet, harmonic
from leverrier.models.noisy_or.causes_rows import infer_row
from leverrier.models.noisy_or.noisy_or_model import HiddenCauses, hidden_causes, read_cells
from tests.naive import hidden_causes as slow

LINKS = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], np.uint8)


@pytest.fixture
def model():
    return HiddenCauses(LINKS, 0.05, np.array([0.9, 0.6, 0.8]), np.array([0.1, 0.3, 0.5]))


def by_enumeration(model, row):
    """log P(row) and the posterior of its causes, from the definition."""
    weights, states = [], list(itertools.product((0, 1), repeat=model.n_causes))
    for state in states:
        chance = 1.0
        for on, p in zip(state, model.p, strict=True):
            chance *= p if on else 1 - p
        for i, x in enumerate(row):
            if np.isnan(x):
                continue
            off = 1 - model.epsilon
            for k, on in enumerate(state):
                if on and model.links[i, k]:
                    off *= 1 - model.lam[k]
            chance *= 1 - off if x else off
        weights.append(chance)
    weights = np.array(weights)
    return math.log(weights.sum()), weights @ np.array(states) / weights.sum()


def by_its_causes(model, row):
    """Summed over the row's own causes or ones, as where there are many signs."""
    cells = read_cells(row[None])[0]
    return infer_row(cells, model.links.astype(bool), model.epsilon, np.log1p(-model.lam), model.p)[0]


def test_rows_with_holes_are_answered_as_by_enumeration(model):
    rows = np.array(list(itertools.product((0.0, 1.0, np.nan), repeat=5)))[::7]
    logs, posterior = model.row_log_likelihoods(rows), model.posterior(rows)
    for row, log, chances in zip(rows, logs, posterior, strict=True):
        expected = by_enumeration(model, row)
        assert log == pytest.approx(expected[0], abs=1e-12)
        np.testing.assert_allclose(chances, expected[1], atol=1e-12)


def test_many_causes_of_few_ones_are_summed_over_the_ones():
    """Quickscore against the sum over causes: 14 causes, two to six ones, holes among the rest."""
    rng = np.random.default_rng(8)
    links = (rng.random((7, 14)) < 0.4).astype(np.uint8)
    many = HiddenCauses(links, 0.03, rng.uniform(0.2, 0.95, 14), rng.uniform(0.05, 0.5, 14))
    rows = np.array([[1, 1, 0, 0, 0, 0, np.nan], [1, 1, 1, 0, 1, 0, 0], [1, 0, 1, 1, 1, 1, 1]])
    logs, posterior = many.row_log_likelihoods(rows), many.posterior(rows)
    for row, log, chances in zip(rows, logs, posterior, strict=True):
        expected = by_enumeration(many, row)
        assert log == pytest.approx(expected[0], abs=1e-12)
        assert by_its_causes(many, row) == pytest.approx(expected[0], abs=1e-8)
        np.testing.assert_allclose(chances, expected[1], atol=1e-8)


def test_a_sum_that_cancels_is_left_to_the_sum_over_causes():
    """Ones that almost never come: the terms agree in nearly all digits, and the answer is still right."""
    rare = HiddenCauses(np.ones((6, 13), np.uint8), 1e-7, np.full(13, 1e-4), np.full(13, 1e-3))
    row = np.ones((1, 6))
    expected = by_enumeration(rare, row[0])[0]
    assert by_its_causes(rare, row[0]) == pytest.approx(expected, rel=1e-9)
    assert rare.log_likelihood(row) == pytest.approx(expected, rel=1e-12)


def test_thirty_causes_alike_are_as_many_active_ones_as_a_binomial_law_says():
    model = HiddenCauses(np.ones((5, 30), np.uint8), 0.02, np.full(30, 0.3), np.full(30, 0.1))
    rows = np.array(list(itertools.product((0, 1), repeat=5)))
    off = 0.98 * 0.7 ** np.arange(31)
    ones = rows.sum(axis=1)[:, None]
    expected = (off ** (5 - ones) * (1 - off) ** ones) @ binom.pmf(np.arange(31), 30, 0.1)
    np.testing.assert_allclose(np.exp(model.row_log_likelihoods(rows)), expected, rtol=1e-12)


def test_all_rows_together_have_probability_one(model):
    rows = np.array(list(itertools.product((0, 1), repeat=5)))
    assert np.exp(model.row_log_likelihoods(rows)).sum() == pytest.approx(1.0, abs=1e-12)


def test_sampling_the_causes_of_rows_agrees_with_summing_them(model):
    rows = np.array([[1, 1, 0, 0, 1], [0, 1, 1, 1, 0], [1, np.nan, 0, 0, np.nan]])
    sampled = model.posterior(rows, exact=False, sweeps=5000, seed=3)
    np.testing.assert_allclose(sampled, model.posterior(rows), atol=0.04)


def test_samples_have_the_rates_that_the_model_says(model):
    x, active = model.sample(20_000, seed=1)
    assert active.mean(axis=0) == pytest.approx(model.p, abs=0.015)
    rates = [np.exp(model.row_log_likelihoods(np.where(np.arange(5) == i, 1.0, np.nan)[None]))[0] for i in range(5)]
    assert x.mean(axis=0) == pytest.approx(rates, abs=0.015)


def test_log_joint_is_the_definitions(model):
    x, active = model.sample(7, seed=2)
    shared = HiddenCauses(LINKS, 0.05, np.array(0.7), np.array(0.2))
    columns = [(LINKS[:, k], active[:, k]) for k in range(3)]
    assert shared.log_joint(x, active) == pytest.approx(slow.log_joint(x.T, columns, 0.05, 0.7, 0.2))
    prior = IndianBuffet(2.0)
    whole = shared.log_joint(x, active, prior)
    assert whole - shared.log_joint(x, active) == pytest.approx(prior.log_probability(LINKS))


def test_a_buffets_classes_have_probability_one():
    """N = 2: a class is how often the columns 01, 10, 11 occur."""
    columns = [np.array([0, 1]), np.array([1, 0]), np.array([1, 1])]
    total = 0.0
    for counts in itertools.product(range(12), repeat=3):
        links = np.array([c for c, n in zip(columns, counts, strict=True) for _ in range(n)]).reshape(-1, 2).T
        total += math.exp(IndianBuffet(0.8).log_probability(links.astype(np.uint8)))
    assert total == pytest.approx(1.0, abs=1e-6)


def test_finite_matrices_have_probability_one():
    total = 0.0
    for n_causes in (1, 2, 3, 4):
        for bits in itertools.product((0, 1), repeat=2 * n_causes):
            links = np.array(bits, np.uint8).reshape(2, n_causes)
            total += math.exp(BetaBernoulli(1.3, 0.2).log_probability(links))
    assert total == pytest.approx(1 - 0.2**4, abs=1e-9)


def test_buffet_samples_have_poisson_counts():
    rng = np.random.default_rng(5)
    counts = np.array([IndianBuffet(1.2).sample(4, rng).shape[1] for _ in range(4000)])
    mean = 1.2 * harmonic(4)
    expected = poisson.pmf(np.arange(7), mean)
    expected = np.append(expected, 1 - expected.sum())
    assert chisquare(np.bincount(np.minimum(counts, 7), minlength=8), expected * 4000).pvalue > 1e-3


def test_given_the_number_of_causes_sizes_fall_as_one_over_m():
    """The buffet's samples with exactly three causes, by rejection, against the direct draw's law 1/m."""
    rng = np.random.default_rng(6)
    sizes = []
    for _ in range(6000):
        links = IndianBuffet(1.5).sample(4, rng)
        if links.shape[1] == 3:
            sizes += links.sum(axis=0).tolist()
    expected = (1 / np.arange(1, 5)) / harmonic(4)
    assert chisquare(np.bincount(sizes, minlength=5)[1:], expected * len(sizes)).pvalue > 1e-3
    direct = IndianBuffet().sample_given(4, 3000, rng).sum(axis=0)
    assert chisquare(np.bincount(direct, minlength=5)[1:], expected * 3000).pvalue > 1e-3


def test_simulated_tables_are_as_asked_and_repeat():
    x, truth = hidden_causes(n_observed=7, n_causes=5, n_trials=40, seed=3)
    again, _ = hidden_causes(n_observed=7, n_causes=5, n_trials=40, seed=3)
    assert x.shape == (40, 7)
    assert truth.links.shape == (7, 5)
    assert truth.active.shape == (40, 5)
    assert len({tuple(column) for column in truth.links.T}) == 5
    assert truth.links.any(axis=0).all()
    np.testing.assert_array_equal(x, again)


def test_cells_are_read_with_holes_in_every_spelling():
    expected = [[0, 1, 2], [1, 2, 0]]
    for source in (
        np.array([[0, 1, np.nan], [1, np.nan, 0]]),
        [[0, 1, None], [True, None, 0]],
        np.ma.array([[0, 1, 1], [1, 0, 0]], mask=[[0, 0, 1], [0, 1, 0]]),
    ):
        np.testing.assert_array_equal(read_cells(source), expected)


@pytest.mark.parametrize(
    ("cells", "word"), [([[0, 2]], "row 0, column 1 holds 2"), ([0, 1], "two axes"), ([["a", 1]], "0, 1 or missing")]
)
def test_cells_that_are_no_signs_are_named(cells, word):
    with pytest.raises(TableError, match=word):
        read_cells(cells)


@pytest.mark.parametrize(
    "values", [{"epsilon": 0.0}, {"lam": np.array(1.0)}, {"p": np.array([0.1, 0.2])}, {"links": np.array([[2]])}]
)
def test_numbers_that_make_no_model_are_refused(values):
    with pytest.raises(OptionError):
        HiddenCauses(**{"links": LINKS, "epsilon": 0.1, "lam": np.array(0.5), "p": np.array(0.5), **values})


def test_a_model_cannot_be_changed_and_refuses_other_rows(model):
    with pytest.raises(ValueError, match="read-only"):
        model.links[0, 0] = 0
    with pytest.raises(TableError, match="4 signs"):
        model.posterior(np.zeros((2, 4)))


def test_too_many_causes_of_one_row_are_refused_or_sampled():
    model = HiddenCauses(np.ones((20, 25), np.uint8), 0.01, np.array(0.5), np.array(0.2))
    with pytest.raises(TooLargeError, match="exact=False"):
        model.log_likelihood(np.ones((1, 20)))
    assert np.isfinite(model.log_likelihood(np.zeros((1, 20))))  # zeros factorise, however many causes
    assert model.posterior(np.ones((1, 20)), exact=False, sweeps=50).shape == (1, 25)


def test_priors_refuse_what_is_no_prior():
    for make in (lambda: Beta(0, 1), lambda: Gamma(1, -1), lambda: BetaBernoulli(1.0, 1.0)):
        with pytest.raises(OptionError):
            make()
