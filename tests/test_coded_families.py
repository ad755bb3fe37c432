"""States and codes among numbers by trees, lookups, lumps and noisy-max: the same counts, scores and words."""

import itertools

import numpy as np
import pytest

import leverrier as lv
from leverrier.discovery.numbers.number_rule import Ruling, weigh
from leverrier.learning.mixed.coded_fit import fit_by_codes
from leverrier.learning.mixed.mixed_scores import MixedScores
from leverrier.learning.mixed.mixed_space import make_space
from leverrier.models.families.number_content import number_family
from leverrier.models.families.number_kind import NumberKind
from leverrier.report.words.family_words import family_words


def told_apart(n=2000, seed=0):
    """Four columns of whole numbers 0 to 3, a number, and a column that asks them one after another."""
    r = np.random.default_rng(seed)
    a, b, c, d = r.integers(0, 4, (4, n))
    x = r.standard_normal(n)
    leaf = np.where(a == 2, np.where(b == 1, 0, 1), np.where(c == 0, np.where(x > 0.7, 2, 3), 4))
    shares = np.array([[0.9, 0.05, 0.05], [0.1, 0.1, 0.8], [0.1, 0.85, 0.05], [0.5, 0.1, 0.4], [0.2, 0.6, 0.2]])
    y = (r.random(n)[:, None] > shares[leaf].cumsum(axis=1)).sum(axis=1)
    return {"a": a, "b": b, "c": c, "d": d, "x": x, "y": y}, shares[leaf]


@pytest.fixture(scope="module")
def fitted():
    columns, shares = told_apart()
    scores = MixedScores(make_space({name: own.astype(float) for name, own in columns.items()}, {}))
    return scores, scores.fitted(5, (0, 1, 2, 4)), shares


def test_a_tree_says_what_a_tree_made(fitted):
    scores, found, shares = fitted
    assert isinstance(found.family, NumberKind)
    assert found.family.kind == "tree"
    cells = [scores.space.columns[p].cells for p in (0, 1, 2, 4)]
    logs = found.family.log_density(scores.space.columns[5].cells, cells)
    assert found.log_likelihood == pytest.approx(logs.sum(), rel=1e-9)
    assert found.paid >= 0.5 * np.log(2000) * found.family.dimension
    learned = np.exp(found.family.log_probabilities(cells, 2000))
    assert np.abs(learned - shares).mean() < 0.04  # (x is asked by quantile codes: some rows lie beside its cut)
    assert "distributions, told apart by" in family_words(found.family, "y", ["a", "b", "c", "x"])


def test_it_comes_back_from_plain_values_and_a_damaged_one_is_refused(fitted):
    _, found, _ = fitted
    content = found.family.content()
    assert number_family(content) == found.family
    with pytest.raises(lv.LeverrierError, match="not whole"):
        number_family({**content, "states": 9})
    with pytest.raises(lv.LeverrierError, match="cannot be read"):
        number_family({**content, "parent_bounds": [[0.0]]})


def test_draws_follow_it(fitted):
    _, found, _ = fitted
    n = 20_000
    r = np.random.default_rng(3)
    bounds = [np.array(each) for each in found.family.parent_bounds]
    cells = [np.append(own, own[-1] + 1)[r.integers(0, len(own) + 1, n)] - 1e-9 for own in bounds]
    drawn = found.family.codes(found.family.draw(cells, n, r))
    expected = np.exp(found.family.log_probabilities(cells, n)).mean(axis=0)
    assert np.abs(np.bincount(drawn, minlength=3) / n - expected).max() < 4 * np.sqrt(0.25 / n)


def test_tables_that_are_the_truth_are_not_beaten():
    beaten = []
    for seed in range(10):
        r = np.random.default_rng(seed)
        a, b = r.integers(0, 3, (2, 1500))
        most, what = np.meshgrid([0.45, 0.7, 0.95], np.arange(3))  # (nine rows that all differ: none can be said once)
        shares = np.where(np.arange(3) == what[..., None], most[..., None], (1 - most[..., None]) / 2)
        y = (r.random(1500)[:, None] > shares[a, b].cumsum(axis=1)).sum(axis=1)
        states = {name: (own, ("u", "v", "w"), False) for name, own in (("a", a), ("b", b), ("y", y))}
        scores = MixedScores(make_space({}, states))
        by_codes = fit_by_codes(scores.design, 2, (0, 1), -np.inf)
        assert by_codes is not None
        table = max(each.score for each in _tables(scores))
        beaten.append(by_codes.score - table)
    assert max(beaten) < 3.0


def _tables(scores):
    from leverrier.learning.mixed.state_fit import fit_states

    return [each for each in fit_states(scores.design, 2, (0, 1)) if each.family.kind == "table"]


def test_the_score_of_a_tree_is_below_that_of_its_leaves_told_beforehand(fitted):
    """Whoever is told the leaves pays for neither the questions nor the choice of a kind."""
    scores, found, shares = fitted
    _, leaf = np.unique(shares, axis=0, return_inverse=True)
    codes = scores.space.columns[5].codes
    counts = np.array([np.bincount(codes[leaf.ravel() == k], minlength=3) for k in range(5)], dtype=float)
    logs = (counts * np.log(np.maximum(counts / counts.sum(axis=1, keepdims=True), 1e-300))).sum()
    assert found.score < logs - 0.5 * np.log(2000) * 10
    assert found.score > logs - 0.5 * np.log(2000) * 10 - 80


def test_columns_that_ask_each_other_hide_nothing():
    """Whole numbers 0 to 2 that are labels: every column asks one or two before it, by states, one after another."""
    for seed in range(3):
        r = np.random.default_rng(seed)
        columns = [r.integers(0, 3, 1500) for _ in range(3)]
        for _ in range(6):
            one, other, third = (columns[k] for k in r.choice(len(columns), 3, replace=False))
            leaf = np.where(one == 1, np.where(other == 0, 0, 1), np.where(third == 2, 2, 3))
            shares = r.dirichlet(np.full(3, 0.6), 4)
            columns.append((r.random(1500)[:, None] > shares[leaf].cumsum(axis=1)).sum(axis=1))
        names = [f"c{k}" for k in range(len(columns))]
        states = {name: (own, (0, 1, 2), True) for name, own in zip(names, columns, strict=True)}
        assert weigh(make_space({}, states), 0).told is Ruling.NOTHING


def test_every_configuration_of_its_codes_has_a_distribution(fitted):
    _, found, _ = fitted
    sizes = [len(each) + 1 for each in found.family.parent_bounds]
    grid = np.array(list(itertools.product(*map(range, sizes)))).T
    assert np.allclose(found.family.said.rows(grid).sum(axis=1), 1.0)
