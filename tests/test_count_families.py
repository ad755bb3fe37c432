"""Families of counts: laws against scipy's, densities that are whole, fits against a general climb, the search."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize
from scipy.special import gammaln, ndtr, ndtri

import leverrier as lv
from leverrier.errors import NetworkError
from leverrier.learning.mixed.count_fit import _Wholes, counted_of, fit_counts
from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.learning.mixed.mixed_space import make_space
from leverrier.models.families.number_content import number_family
from leverrier.models.families.number_count import CountLaw
from leverrier.report.words.family_words import family_words

KINDS = {"Poisson": "plain", "negative binomial": "spread", "zero-inflated Poisson": "zeros"}
LAWS = [CountLaw(), CountLaw(size=2.3), CountLaw(zeros=0.25)]


def drawn(kind, rows=1500, seed=0, level=2.2):
    rng = np.random.default_rng(seed)
    a, s = rng.normal(size=rows), rng.integers(0, 2, rows)
    mean = np.exp(level + 0.5 * a - 0.4 * s)
    if kind == "spread":
        mean = mean * rng.gamma(2.0, 0.5, rows)
    y = rng.poisson(mean).astype(float)
    if kind == "zeros":
        y[rng.random(rows) < 0.25] = 0.0
    return {"a": a, "s": np.array(["no", "yes"])[s], "y": y}


def space(table, seed=0):
    codes = (table["s"] == "yes").astype(int)
    return make_space({"a": table["a"], "y": table["y"]}, {"s": (codes, ("no", "yes"), False)}, ("a", "s", "y"), seed)


@pytest.mark.parametrize("law", LAWS)
def test_laws_are_those_of_another_package(law):
    y, mean = np.arange(40.0), np.full(40, 3.7)
    other = stats.poisson(3.7) if law.size is None else stats.nbinom(law.size, law.size / (law.size + 3.7))
    chance = law.zeros * (y == 0) + (1 - law.zeros) * other.pmf(y)
    assert np.exp(law.log_chance(y, mean)) == pytest.approx(chance, abs=1e-12)
    assert law.up_to(y, mean) == pytest.approx(np.cumsum(chance), abs=1e-10)
    assert law.up_to(np.array([-1.0, np.inf]), mean[:2]).tolist() == [0.0, 1.0]
    values = law.draw(np.full(40_000, 3.7), np.random.default_rng(0))
    assert np.bincount(values.astype(int), minlength=40)[:12] / 40_000 == pytest.approx(chance[:12], abs=0.01)


@pytest.mark.parametrize("law", LAWS)
def test_rows_summed_by_number_are_the_sum_of_rows(law):
    rng = np.random.default_rng(4)
    along = rng.normal(1.0, 0.7, 300)
    y = rng.poisson(np.exp(along)).astype(float)
    summed = _Wholes(y).log_chance(law, along, np.exp(along))
    assert summed == pytest.approx(law.log_chance(y, np.exp(along)).sum(), rel=1e-12)
    few = law.log_chance(y[:5] + 20.0, np.exp(along[:5]))  # (more numbers than rows)
    more = law.log_chance(np.tile(y[:5] + 20.0, 20), np.tile(np.exp(along[:5]), 20))
    assert np.tile(few, 20) == pytest.approx(more, rel=1e-12)


@pytest.mark.parametrize("level", [2.2, 0.6])  # (of low counts one value is in many rows: they are codes)
@pytest.mark.parametrize("law", LAWS)
def test_a_density_of_counts_is_whole(law, level):
    column = space(drawn("plain", level=level)).columns[2]
    counted = counted_of(column)
    assert counted is not None
    assert bool(counted.cuts) == column.discrete == (level < 1)
    mean = np.array([2.0, 6.0, 15.0])
    if counted.cuts:
        edges = np.concatenate([[0.0], ndtr(np.array(counted.cuts)), [1.0]])
        at = ndtri((edges[1:] + edges[:-1]) / 2)
        total = sum(np.exp(counted.log_density(law, np.full(3, z), mean)) for z in at)
        assert total == pytest.approx(1.0, abs=1e-6)
        return
    share = (np.arange(20_000) + 0.5) / 20_000
    z = ndtri(share)
    for each in mean:
        density = counted.log_density(law, z, np.full(len(z), each)) + 0.5 * (np.log(2 * np.pi) + z * z)
        assert np.exp(density).mean() == pytest.approx(1.0, abs=0.01)


def test_numbers_that_were_never_seen_belong_to_the_nearest_value():
    table = drawn("plain")
    table["y"][:3] = 95.0
    counted = counted_of(space(table).columns[2])
    rng = np.random.default_rng(1)
    back = counted.numbers(counted.scores(np.array([0.0, 94.0, 500.0]), rng))
    assert back[1:].tolist() == [95.0, 95.0]
    assert set(counted.numbers(counted.scores(rng.integers(0, 200, 300).astype(float), rng))) <= set(counted.values)


@pytest.mark.parametrize("kind", KINDS)
def test_the_law_that_made_a_count_is_found_and_told(kind):
    rows = 5000 if kind == "negative binomial" else 1500
    table = drawn(KINDS[kind], rows)
    scores = MixedScores(space(table))
    best = scores.fitted(2, (0, 1))
    assert best.family.kind == kind
    cells = [column.cells for column in scores.space.columns]
    logs = best.family.log_density(cells[2], cells[:2])
    assert best.log_likelihood == pytest.approx(logs.sum(), abs=1e-6)
    again = number_family(best.family.content())
    assert again == best.family
    assert np.array_equal(again.log_density(cells[2], cells[:2]), logs)
    said = family_words(best.family, "y", ["a", "s"])
    assert "+a" in said
    assert "s in one range or state" in said
    if not scores.space.columns[2].discrete:
        assert best.residuals.std() == pytest.approx(1.0, abs=0.06)
    if kind == "negative binomial":
        assert best.family.law.size == pytest.approx(2.0, rel=0.25)
    if kind == "zero-inflated Poisson":
        assert best.family.law.zeros == pytest.approx(0.25, abs=0.04)
    drawn_again = best.family.counted.numbers(best.family.draw(cells[:2], rows, np.random.default_rng(2)))
    assert drawn_again.mean() == pytest.approx(table["y"].mean(), rel=0.06)
    assert (drawn_again == 0).mean() == pytest.approx((table["y"] == 0).mean(), abs=0.03)


@pytest.mark.parametrize("kind", ["Poisson", "negative binomial"])
def test_coefficients_are_where_a_general_climb_ends(kind):
    table = drawn(KINDS[kind], level=3.0)
    scores = MixedScores(space(table))
    family = fit_counts(scores.design, 2, (0, 1))[0].family
    assert family.kind == kind
    cells = [column.cells for column in scores.space.columns]
    x = np.stack([np.ones(1500), *(term.column(cells[:2], family.parent_curves) for term in family.terms)])
    y, count = table["y"], len(x)

    def minus(theta):
        mean = np.exp(theta[:count] @ x)
        if kind == "Poisson":
            return mean.sum() - y @ np.log(mean) + 0.5e-3 * (theta[1:count] ** 2).sum()
        r = np.exp(theta[count])
        logs = gammaln(y + r) - gammaln(r) - gammaln(y + 1) + r * np.log(r / (r + mean)) + y * np.log(mean / (r + mean))
        return -logs.sum() + 0.5e-3 * (theta[1:count] ** 2).sum()

    begun = [np.log(y.mean()), *[0.0] * (count - 1), *([0.0] if kind != "Poisson" else [])]
    best = minimize(minus, begun, method="BFGS").x
    assert np.array(family.coefficients) == pytest.approx(best[:count], abs=0.01)
    if kind != "Poisson":
        assert family.law.size == pytest.approx(np.exp(best[count]), rel=0.12)  # (the size is looked for on a grid)


def test_a_network_of_counts_is_learned_saved_drawn_and_explained(tmp_path):
    table = drawn("plain")
    network = lv.learn_structure(table, families="auto", seed=0).network
    assert network.kind("y") == "Poisson"
    assert network.explain("y").startswith("y is a Poisson count; the log of its mean: ")
    lv.write_network(network, tmp_path / "model.json")
    assert lv.read_mixed_network(tmp_path / "model.json") == network
    y = network.sample(2000, seed=1).raw["y"]
    assert np.array_equal(y, np.round(y))
    assert y.min() >= 0
    assert y.var() == pytest.approx(table["y"].var(), rel=0.25)
    assert np.isfinite(network.row_log_likelihood(table)).all()
    told = network.predict({"a": table["a"][:5], "s": table["s"][:5], "y": np.full(5, np.nan)}, "y")
    assert np.all(told["low"] <= told["mean"])
    assert np.all(told["mean"] <= told["high"])


def test_no_counts_where_there_are_none():
    rng = np.random.default_rng(3)
    below = {"a": rng.normal(size=300), "s": np.repeat(["no", "yes"], 150), "y": rng.poisson(9, 300) - 4.0}
    assert counted_of(space(below).columns[2]) is None
    assert counted_of(space({**below, "y": rng.normal(size=300)}).columns[2]) is None
    assert counted_of(space({**below, "y": rng.integers(0, 5000, 300).astype(float)}).columns[2]) is None


def test_a_damaged_count_is_refused_in_a_line():
    best = MixedScores(space(drawn("plain"))).fitted(2, (0, 1)).family
    with pytest.raises(NetworkError, match="is not whole"):
        number_family({**best.content(), "edges": []})
