"""Families of numbers: densities that integrate to one, draws that agree with them, contents that come back."""

import numpy as np
import pytest
from scipy import stats

from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.learning.mixed.mixed_space import make_space
from leverrier.learning.mixed.score_logits import multinomial, ordered
from leverrier.models.families.number_content import number_family
from leverrier.report.words.family_words import family_words

SHAPES = {
    "linear": lambda a, b, r: 0.7 * a + 0.5 * b + r.standard_normal(len(a)),
    "squares": lambda a, b, r: a**2 + 0.5 * b + 0.7 * r.standard_normal(len(a)),
    "threshold": lambda a, b, r: 2.0 * (a > 0.3) + b + 0.6 * r.standard_normal(len(a)),
    "product": lambda a, b, r: a * b + 0.4 * r.standard_normal(len(a)),
    "maximum": lambda a, b, r: np.maximum(a, b) + 0.3 * r.standard_normal(len(a)),
    "lognormal": lambda a, b, r: np.exp(0.7 * a + 0.4 * b + 0.5 * r.standard_normal(len(a))),
    "scatter": lambda a, b, r: 0.5 * b + np.exp(0.6 * a) * r.standard_normal(len(a)),
    "heavy tails": lambda a, b, r: 0.7 * a + 0.4 * b + 0.6 * r.standard_t(3, len(a)),
    "skewed": lambda a, b, r: 0.7 * a + 0.4 * b + r.exponential(1, len(a)),
    "crossed": lambda a, b, r: 1.5 * np.sign(a * b) + 0.7 * r.standard_normal(len(a)),
    "zeros": lambda a, b, r: np.where(
        r.random(len(a)) < 1 / (1 + np.exp(-a)), 0.0, np.exp(b + r.standard_normal(len(a)))
    ),
}


def table(shape, n=1000, seed=0):
    r = np.random.default_rng(seed)
    a, b = r.standard_normal(n), r.standard_normal(n)
    numbers = {"a": a, "b": np.exp(b), "y": SHAPES[shape](a, b, r)}
    states = {"s": ((r.random(n) < 1 / (1 + np.exp(-2 * a))).astype(int) + (b > 1), ("u", "v", "w"), True)}
    return make_space(numbers, states, seed=seed)


@pytest.fixture(scope="module")
def fits():
    found = {}
    for shape in SHAPES:
        scores = MixedScores(table(shape))
        found[shape] = scores, scores.fitted(2, (0, 1))
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_the_log_likelihood_is_that_of_the_value_and_the_value_comes_back(shape, fits):
    scores, fitted = fits[shape]
    cells = [column.cells for column in scores.space.columns]
    logs = fitted.family.log_density(cells[2], cells[:2])
    assert fitted.log_likelihood == pytest.approx(logs.sum(), rel=1e-9)
    again = number_family(fitted.family.content())
    assert again == fitted.family
    np.testing.assert_array_equal(again.log_density(cells[2], cells[:2]), logs)
    assert "y" in family_words(fitted.family, "y", ["a", "b"])
    assert fitted.paid >= 0.5 * np.log(1000) * min(fitted.family.dimension, 3)


@pytest.mark.parametrize("shape", SHAPES)
def test_densities_are_of_mass_one_and_draws_follow_them(shape, fits):
    scores, fitted = fits[shape]
    if scores.space.columns[2].discrete:
        parents = [np.array([0.4, -1.0]), np.array([0.1, 0.5])]
        assert np.exp(fitted.family.log_probabilities(parents, 2)).sum(axis=1) == pytest.approx(1)
        return
    grid = np.linspace(-60, 60, 120_001)
    for a, b in ((0.3, -0.5), (-1.2, 0.8)):
        parents = [np.full(len(grid), a), np.full(len(grid), b)]
        dense = np.exp(fitted.family.log_density(grid, parents))
        assert np.trapezoid(dense, grid) == pytest.approx(1, abs=5e-3)
        rng = np.random.default_rng(1)
        drawn = fitted.family.draw([np.full(4000, a), np.full(4000, b)], 4000, rng)
        upto = np.interp(np.sort(drawn), grid, np.cumsum(dense) * (grid[1] - grid[0]))
        assert stats.kstest(upto, "uniform").pvalue > 1e-4


@pytest.mark.parametrize(
    ("shape", "kinds"),
    [
        ("linear", {"linear"}),
        ("squares", {"squares", "hinges"}),
        ("product", {"products"}),
        ("maximum", {"products"}),
        ("crossed", {"tree"}),
        ("lognormal", {"linear"}),
    ],
)
def test_the_shape_that_made_the_rows_wins(shape, kinds, fits):
    assert fits[shape][1].family.kind in kinds


def test_scatter_and_noise_are_part_of_the_choice(fits):
    assert fits["scatter"][1].family.spread.follows == 0
    assert fits["heavy tails"][1].family.noise.dimension > 0
    assert fits["skewed"][1].family.noise.dimension > 0
    assert fits["linear"][1].family.noise.dimension == 0


@pytest.mark.parametrize("shape", ["linear", "squares", "product", "heavy tails", "lognormal", "threshold", "maximum"])
def test_fresh_rows_are_worth_nearly_what_the_truth_says(shape, fits):
    """What the parents tell, in nats a row, against the truth's own: the generating density over the margin's."""
    truth = {
        "linear": lambda y, a, b: stats.norm.logpdf(y, 0.7 * a + 0.5 * b),
        "squares": lambda y, a, b: stats.norm.logpdf(y, a**2 + 0.5 * b, 0.7),
        "product": lambda y, a, b: stats.norm.logpdf(y, a * b, 0.4),
        "heavy tails": lambda y, a, b: stats.t.logpdf((y - 0.7 * a - 0.4 * b) / 0.6, 3) - np.log(0.6),
        "lognormal": lambda y, a, b: stats.norm.logpdf(np.log(y), 0.7 * a + 0.4 * b, 0.5) - np.log(y),
        "threshold": lambda y, a, b: stats.norm.logpdf(y, 2.0 * (a > 0.3) + b, 0.6),
        "maximum": lambda y, a, b: stats.norm.logpdf(y, np.maximum(a, b), 0.3),
    }[shape]
    r = np.random.default_rng(99)
    a, b, others = r.standard_normal(800), r.standard_normal(800), r.standard_normal((2, 3000))
    y = SHAPES[shape](a, b, r)
    margin = np.array([np.logaddexp.reduce(truth(each, *others)) - np.log(3000) for each in y])
    told = np.mean(truth(y, a, b) - margin)
    scores, fitted = fits[shape]
    z = [c.margin.scores(v) for c, v in zip(scores.space.columns, (a, np.exp(b), y), strict=False)]
    z = [np.clip(each, -3.5, 3.5) for each in z]  # beyond the rows that were seen
    ours = np.mean(fitted.family.log_density(z[2], z[:2]) - scores.fitted(2, ()).family.log_density(z[2], []))
    # steps stand at tenths of a parent's rows: a threshold between two of them costs a little more
    assert told - ours < (0.08 if shape == "threshold" else 0.05)


def test_logits_reach_the_maximum_that_scipy_finds():
    from scipy import optimize

    r = np.random.default_rng(0)
    n = 300
    x = np.vstack([np.ones(n), r.standard_normal((2, n))])
    codes = np.searchsorted([-0.5, 0.7], x[1] + r.logistic(size=n))
    _, logs, _ = multinomial(x, codes, 3)

    def minus(flat):
        sums = np.vstack([np.zeros(n), flat.reshape(2, 3) @ x])
        return -(sums[codes, np.arange(n)] - np.logaddexp.reduce(sums, axis=0)).sum()

    assert logs == pytest.approx(-optimize.minimize(minus, np.zeros(6)).fun, abs=0.05)
    thresholds, slopes, logs, _ = ordered(x[1:], codes, 3)

    def minus_ordered(theta):
        edges = np.array([-np.inf, theta[0], theta[0] + np.exp(theta[1]), np.inf])
        along = theta[2:] @ x[1:]
        shares = stats.logistic.cdf(edges[codes + 1] - along) - stats.logistic.cdf(edges[codes] - along)
        return -np.log(np.maximum(shares, 1e-300)).sum()

    best = optimize.minimize(minus_ordered, np.array([0.0, 0.0, 0.0, 0.0]))
    assert logs == pytest.approx(-best.fun, abs=0.05)
    assert slopes == pytest.approx(best.x[2:], abs=0.02)
    assert thresholds[0] == pytest.approx(best.x[0], abs=0.02)


@pytest.mark.parametrize("apart", [0.0, 0.6])
def test_two_categories_decide_together(apart):
    """The oracle is the mean, and where scatters differ the deviation, of each pair of states: no line in either
    category alone comes near it."""
    r = np.random.default_rng(7)
    a, b = r.integers(0, 3, 1500), r.integers(0, 4, 1500)
    means, scales = r.permutation(12).reshape(3, 4) / 2, np.exp(apart * r.standard_normal((3, 4)))
    y = means[a, b] + 0.5 * scales[a, b] * r.standard_normal(1500)
    states = {"a": (a, ("u", "v", "w"), False), "b": (b, ("p", "q", "r", "s"), False)}
    space = make_space({"y": y}, states, seed=7)
    at = {name: place for place, name in enumerate(space.names)}
    fitted = MixedScores(space).fitted(at["y"], (at["a"], at["b"]))
    cells = [space.columns[at[name]].cells for name in ("a", "b")]
    z = space.columns[at["y"]].scores
    pair = 4 * a + b
    rows = np.bincount(pair)
    within = (z - (np.bincount(pair, z) / rows)[pair]) ** 2
    variance = np.bincount(pair, within) / rows if apart else np.full(12, within.mean())
    best = -0.5 * float(rows @ np.log(2 * np.pi * variance)) - 0.5 * len(z)
    assert fitted.log_likelihood > best - 15  # (a pair that is no worse told by its neighbours is left out)
    assert fitted.family.dimension <= 30
    assert fitted.log_likelihood == pytest.approx(float(fitted.family.log_density(z, cells).sum()), abs=1e-6)
    again = number_family(fitted.family.content())
    assert again == fitted.family
    assert "b" in family_words(fitted.family, "y", ["a", "b"])
