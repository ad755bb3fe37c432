"""Structural EM with families of any kind: what a child costs then, where it stands, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import leverrier as lv
from leverrier.models.graph import Graph

ITEMS = [f"y{i}" for i in range(5)]
STAR = Graph.from_parents({**{item: ["H"] for item in ITEMS}, "x": [], "H": []})


def graded(seed: int, rows: int) -> tuple[dict[str, list[str]], np.ndarray]:
    """Five items of eight grades: a class and an observed column shift all of them, by a logit."""
    rng = np.random.default_rng(seed)
    hidden, x = rng.integers(0, 2, rows), rng.integers(0, 5, rows)
    table = {"x": [str(k) for k in x]}
    for item in ITEMS:
        value = 1.3 * (2 * hidden - 1) + 0.4 * (x - 2) + rng.logistic(0, 0.8, rows)
        table[item] = [str(k) for k in np.searchsorted(np.linspace(-2.5, 2.5, 7), value)]
    return table, hidden


@pytest.fixture(scope="module")
def both():
    table, _ = graded(4, 2000)
    return [lv.structural_em(STAR, table, hidden={"H": 2}, families=kinds) for kinds in ("tables", "auto")]


def test_children_that_are_logits_are_said_by_logits_and_their_observed_parent_is_seen(both):
    tables, auto = both
    assert {auto.network.kind(item) for item in ITEMS} == {"ordered logit"}
    assert all("x" in auto.network.parents(item) or item in auto.network.parents("x") for item in ITEMS)
    assert not all("x" in tables.network.parents(item) for item in ITEMS)  # a table of 5 · 2 · 8 cells is too dear
    assert auto.network.dimension < tables.network.dimension


def test_fresh_rows_are_foretold_better_and_the_class_is_told_better(both):
    table, hidden = graded(5, 4000)
    likelihoods, agreed = [], []
    for found in both:
        likelihoods.append(found.network.log_likelihood(table) / 4000)
        said = found.network.posterior(table, "H").argmax(axis=1)
        agreed.append(max(np.mean(said == hidden), np.mean(said != hidden)))
    assert likelihoods[1] > likelihoods[0] + 0.1
    assert agreed[1] > agreed[0]


def test_the_score_never_falls_and_posteriors_are_the_networks_own(both):
    tables, auto = both
    assert auto.score > tables.score
    assert np.all(np.diff(auto.trace) > 0)
    table, _ = graded(4, 2000)
    assert np.allclose(auto.posterior("H"), auto.network.posterior(table, "H"))
    assert auto.log_likelihood == pytest.approx(auto.network.log_likelihood(table))


def test_without_rounds_the_graph_stays():
    table, _ = graded(6, 800)
    found = lv.structural_em(STAR, table, hidden={"H": 2}, families="auto", max_rounds=0)
    assert set(found.graph.edges) == set(STAR.edges)
    assert any(found.network.kind(item) == "ordered logit" for item in ITEMS)


def test_nothing_hidden_is_the_search_with_kinds():
    """No hidden variable: the score is that of `learn_structure` for the same graph, family by family."""
    table, _ = graded(7, 600)
    graph = Graph.from_parents({**{item: ["x"] for item in ITEMS}, "x": []})
    found = lv.structural_em(graph, table, families="auto", max_rounds=0, score=lv.BDe())
    same = lv.learn_structure(table, families="auto", score=lv.BDe(), start=graph, max_moves=0, method="hill-climb")
    assert set(same.network.graph.edges) == set(graph.edges)
    assert found.score == pytest.approx(same.score, abs=1e-6)


@pytest.mark.parametrize(
    ("how", "said"), [({"families": "all"}, "expected"), ({"families": "auto", "score": lv.BIC()}, "score")]
)
def test_what_does_not_go_together_is_refused(how, said):
    table, _ = graded(8, 50)
    with pytest.raises(lv.OptionError, match=said):
        lv.structural_em(STAR, table, hidden={"H": 2}, max_rounds=0, **how)


def test_empty_cells_are_refused():
    table, _ = graded(8, 50)
    table["y0"][3] = None  # type: ignore[call-overload]
    with pytest.raises(lv.OptionError, match="empty cells"):
        lv.structural_em(STAR, table, hidden={"H": 2}, families="auto", max_rounds=0)
