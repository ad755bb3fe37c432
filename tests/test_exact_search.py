"""The best graph of few columns: against every graph there is, family by family, and against the search it replaces."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import leverrier as lv
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.learning.structure.constraints import make_problem
from leverrier.learning.structure.exact_search import best_graph, every_family
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.problem import Parents
from leverrier.models.graph import Graph
from tests.test_search import random_network


def drawn(columns: int, rows: int, seed: int) -> Table:
    return random_network(np.random.default_rng(seed), columns, sharp=0.3).sample(rows, seed=seed)


def scores_of(table: Table, score: lv.BDe | lv.BDeu | lv.BIC, max_cells: int = 2**12) -> FamilyScores:
    return FamilyScores(ObservedCounts(table), score, max_cells)


def acyclic(parents: Parents) -> bool:
    placed = 0
    while ready := [v for v, above in enumerate(parents) if not placed >> v & 1 and not above & ~placed]:
        placed |= sum(1 << v for v in ready)
    return placed == (1 << len(parents)) - 1


def every_graph(columns: int) -> list[Parents]:
    own = [[s for s in range(1 << columns) if not s >> v & 1] for v in range(columns)]
    return [list(graph) for graph in itertools.product(*own) if acyclic(list(graph))]


@pytest.mark.parametrize("score", [lv.BDe(1), lv.BDe(0.5), lv.BIC()], ids=["BDe 1", "BDe 0.5", "BIC"])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_family_has_its_score(score: lv.BDe | lv.BIC, weighted: bool) -> None:
    table = drawn(5, 200, 3)
    if weighted:
        weights = np.random.default_rng(1).integers(1, 5, table.n_rows).astype(np.float64)
        table = Table(table.columns, table.codes, weights)
    scores = scores_of(table, score, max_cells=40)
    found = every_family(scores)
    assert found is not None
    for child, parents in itertools.product(range(5), range(32)):
        allowed = not parents >> child & 1 and scores.fits(child, parents)
        expected = scores.family(child, parents) if allowed else -np.inf
        assert found[child, parents] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("score", [lv.BDe(1), lv.BIC()], ids=["BDe", "BIC"])
@pytest.mark.parametrize("seed", range(3))
def test_no_graph_of_four_columns_is_better(score: lv.BDe | lv.BIC, seed: int) -> None:
    scores = scores_of(drawn(4, 150, seed), score)
    found = best_graph(make_problem(scores, Graph.from_edges(scores.names, ()), (), (), None, None, None))
    assert found is not None
    assert acyclic(found)
    best = max(scores.total(graph) for graph in every_graph(4))
    assert scores.total(found) == pytest.approx(best, abs=1e-9)


def test_arcs_that_must_or_may_not_be_there_are_respected() -> None:
    scores = scores_of(drawn(4, 150, 5), lv.BDe(1))
    a, b, c, d = scores.names
    problem = make_problem(scores, Graph.from_edges(scores.names, ()), [(a, b)], [(c, d), (d, c)], None, 2, None)
    found = best_graph(problem)
    assert found is not None
    allowed = [g for g in every_graph(4) if all(problem.permits_family(v, own) for v, own in enumerate(g))]
    assert found in allowed
    assert scores.total(found) == pytest.approx(max(map(scores.total, allowed)), abs=1e-9)


def test_what_it_is_not_for_is_left_to_the_search() -> None:
    empty = Graph.from_edges(drawn(4, 50, 0).variables, ())
    by_table = make_problem(scores_of(drawn(4, 50, 0), lv.BDeu(1)), empty, (), (), None, None, None)
    assert best_graph(by_table) is None  # prior counts depend on the table
    wide = scores_of(drawn(13, 50, 0), lv.BDe(1))
    assert best_graph(make_problem(wide, Graph.from_edges(wide.names, ()), (), (), None, None, None)) is None
