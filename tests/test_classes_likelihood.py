"""Scores and information of latent class models against differences of the log-likelihood, for every kind of column."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import nbinom, norm, poisson

from leverrier.learning.classes.fitting.class_climb import climbed_from
from leverrier.learning.classes.fitting.class_covariance import ClassCovariance, ErrorsFrom
from leverrier.learning.classes.fitting.class_spec import ClassSpec, Sampling
from leverrier.learning.classes.parts.class_likelihood import make_likelihood
from leverrier.learning.classes.parts.indicator import IndicatorKind as Kind
from leverrier.learning.classes.parts.indicator import Role
from leverrier.learning.classes.parts.indicator_making import Item, make_indicators
from leverrier.learning.classes.parts.terms import constant

ROWS = 40


def random_item(rng, name, kind):
    """A column of this kind with holes, now and then with designs of its own and shared ones."""
    own = shared = None
    if rng.random() < 0.5:
        own = np.column_stack([np.ones(ROWS), rng.standard_normal(ROWS)])
    if rng.random() < 0.5:
        shared = rng.standard_normal((ROWS, 1))
    designs = {
        "own": own,
        "own_names": ("1",) if own is None else ("1", "t"),
        "shared": shared,
        "shared_names": () if shared is None else ("s",),
    }
    if kind.categorical:
        states = int(rng.integers(2, 5))
        values = rng.integers(0, states, ROWS).astype(float)
        values[rng.random(ROWS) < 0.1] = np.nan
        return Item(name, kind, values, tuple(range(states)), **designs)
    if kind.count:
        return Item(name, kind, rng.poisson(2, ROWS).astype(float), **designs)
    values = rng.normal(5, 3, ROWS)
    limits = (-np.inf, np.inf)
    if kind is Kind.CENSORED:
        limits = (3.0, 8.0)
        values = np.clip(values, *limits)
    return Item(name, kind, values, shift=5.0, scale=3.0, limits=limits, **designs)


def random_model(seed):
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(1, 4))
    kinds = list(Kind)
    items = [random_item(rng, f"x{j}", kinds[(seed + j) % len(kinds)]) for j in range(int(rng.integers(1, 4)))]
    x = np.column_stack([np.ones(ROWS), rng.integers(0, 3, ROWS)]).astype(float)
    indicators = make_indicators(items, classes, rng.dirichlet(np.ones(classes), ROWS))
    likelihood = make_likelihood(classes, x, ("1", "x"), indicators, rng.uniform(0.5, 2, ROWS))
    theta = rng.normal(0, 0.4, likelihood.size)
    for place, parameter in enumerate(likelihood.parameters):
        if parameter.role is Role.THRESHOLD:
            theta[place] = 0.8 * [p for p in likelihood.parameters if p.column == parameter.column].index(parameter)
    return likelihood, theta


@pytest.mark.parametrize("seed", range(24))
def test_scores_and_information_are_the_derivatives(seed):
    likelihood, theta = random_model(seed)
    step = 1e-5
    gradient = likelihood.value_and_gradient(theta)[1]
    rises = [
        (likelihood.value(theta + step * e) - likelihood.value(theta - step * e)) / (2 * step)
        for e in np.eye(len(theta))
    ]
    np.testing.assert_allclose(gradient, rises, atol=1e-6 * max(1, np.abs(gradient).max()))
    np.testing.assert_allclose(likelihood.weights @ likelihood.scores(theta), gradient, atol=1e-9)
    bends = [
        (likelihood.value_and_gradient(theta - step * e)[1] - likelihood.value_and_gradient(theta + step * e)[1])
        / (2 * step)
        for e in np.eye(len(theta))
    ]
    information = likelihood.information(theta)
    np.testing.assert_allclose(information, bends, atol=1e-7 * max(1, np.abs(information).max()))


def test_densities_are_those_of_scipy():
    values = np.arange(6.0)
    count = make_indicators([Item("c", Kind.NEGATIVE_BINOMIAL, values)], 1)[0]
    theta = np.array([0.7, 0.3])
    size, mean = np.exp(0.3), np.exp(0.7)
    np.testing.assert_allclose(count.log_density(theta)[:, 0], nbinom.logpmf(values, size, size / (size + mean)))
    rate = make_indicators([Item("c", Kind.POISSON, values)], 1)[0]
    np.testing.assert_allclose(rate.log_density(theta[:1])[:, 0], poisson.logpmf(values, mean))
    held = make_indicators([Item("c", Kind.CENSORED, values, limits=(0.0, 5.0))], 1)[0]
    found = held.log_density(np.array([2.0, np.log(1.5)]))[:, 0]
    inner = norm.logpdf(values[1:-1], 2, 1.5)
    np.testing.assert_allclose(found, [norm.logcdf(0, 2, 1.5), *inner, norm.logsf(5, 2, 1.5)])


def test_an_em_step_never_loses_and_the_climb_ends_level():
    rng = np.random.default_rng(5)
    member = rng.random(400) < 0.4
    items = (
        Item("visits", Kind.POISSON, rng.poisson(np.where(member, 6, 1)).astype(float)),
        Item("pay", Kind.NORMAL, rng.normal(np.where(member, 2, 0), 1)),
        Item("likes", Kind.CUMULATIVE, rng.binomial(3, np.where(member, 0.8, 0.3)).astype(float), (0, 1, 2, 3)),
    )
    spec = ClassSpec(items, constant(400), Sampling(np.ones(400)))
    likelihood = spec.likelihood(2)
    shares = rng.dirichlet(np.ones(2), len(likelihood.weights))
    theta, before = likelihood.begun(shares), -np.inf
    for _ in range(30):
        value = likelihood.value(theta)
        assert value >= before - 1e-9
        theta, before = likelihood.improve(theta), value
    fitted = climbed_from(spec, 2, np.column_stack([~member, member]) * 0.8 + 0.1)
    assert np.abs(fitted.likelihood.value_and_gradient(fitted.theta)[1]).max() < 1e-4
    rates = np.exp(fitted.likelihood.part(fitted.theta, 1))
    np.testing.assert_allclose(rates, [1, 6], rtol=0.15)


def test_one_class_of_normals_has_textbook_errors():
    """The mean's error is s/√n, that of the log deviation 1/√(2n); robust and score errors are near them."""
    values = np.random.default_rng(0).normal(10, 3, 2000)
    item = Item("x", Kind.NORMAL, values, shift=10.0, scale=3.0)
    fitted = climbed_from(ClassSpec((item,), constant(2000), Sampling(np.ones(2000))), 1, np.ones((2000, 1)))
    found = ClassCovariance(fitted)
    wanted = [values.std() / 3 / np.sqrt(2000), 1 / np.sqrt(4000)]
    np.testing.assert_allclose(np.sqrt(np.diag(found.matrix(ErrorsFrom.OBSERVED))), wanted, rtol=1e-6)
    for kind in (ErrorsFrom.ROBUST, ErrorsFrom.SCORES):
        np.testing.assert_allclose(np.sqrt(np.diag(found.matrix(kind))), wanted, rtol=0.06)
    assert fitted.log_likelihood == pytest.approx(norm.logpdf(values, values.mean(), values.std()).sum())


def test_the_likelihood_by_hand():
    """Two classes, a logit on x, a nominal column and a count, one row with a hole: summed out by hand."""
    items = [
        Item("a", Kind.NOMINAL, np.array([0.0, 1.0, np.nan]), ("n", "y")),
        Item("c", Kind.POISSON, np.array([2.0, 0.0, 1.0])),
    ]
    x = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    likelihood = make_likelihood(2, x, ("1", "x"), make_indicators(items, 2), np.array([1.0, 2.0, 1.0]))
    theta = np.array([0.2, -0.5, 0.4, -1.0, 0.1, 0.9])
    total = 0.0
    for row, weight in enumerate([1.0, 2.0, 1.0]):
        each = []
        for k, (high, rate) in enumerate([(0.4, 0.1), (-1.0, 0.9)]):
            value = k * (0.2 - 0.5 * row) - np.log1p(np.exp(0.2 - 0.5 * row))
            if row < 2:
                value += high * items[0].values[row] - np.log1p(np.exp(high))
            count = items[1].values[row]
            each.append(value + count * rate - np.exp(rate) - gammaln(count + 1))
        total += weight * logsumexp(each)
    assert likelihood.value(theta) == pytest.approx(total, rel=1e-12)
