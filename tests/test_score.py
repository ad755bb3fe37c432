"""Scores against published figures, the slow twin and score equivalence."""

import numpy as np
import pytest

import leverrier as lv
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.errors import InputError, OptionError, TableError
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.score import AIC, BIC, BDe, BDeu, LogLikelihood, family_score
from leverrier.models.graph import Graph
from tests.naive.counts import count_table, dirichlet_score, log_likelihood
from tests.naive.graphs import all_dags, classes
from tests.test_counts import as_rows, random_table

TOY = Table.from_codes(
    {"A": (0, 1), "B": (0, 1), "C": (0, 1), "D": ("X", "Y", "Z")},
    np.array([[0, 0, 1], [0, 1, 0], [1, 1, 0], [0, 1, 2]]),
)
M1 = Graph.from_edges("ABCD", [("A", "C"), ("B", "C"), ("D", "B")])
M2 = Graph.from_edges("ABCD", [("C", "A"), ("C", "B"), ("A", "D")])


@pytest.mark.parametrize(
    ("graph", "rule", "published"),
    [
        (M1, BDeu(10), -9.907103407446435),
        (M1, BIC(), -10.698440814229318),
        (M1, AIC(), -15.205379370888767),
        (M1, BDe(1), -10.73813429536977),
        (M2, BDeu(10), -9.839964104608821),
        (M2, BIC(), -9.625886526130714),
        (M2, AIC(), -13.68213122712422),
        (M2, BDe(1), -10.345091707260167),
    ],
)
def test_published_scores_of_a_three_row_table(graph, rule, published):
    """Figures that another package's tests compare with R's bnlearn (oracles.tsv)."""
    assert lv.score(graph, TOY, score=rule) == pytest.approx(published, abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_families_equal_the_slow_twin(weighted):
    table = random_table(np.random.default_rng(0), n_rows=5000, weighted=weighted)
    counts, r = ObservedCounts(table), table.cardinalities
    weights = table.weights if weighted else np.ones(table.n_rows)
    for child, parents in [(0, []), (1, [0]), (2, [0, 4]), (3, [1, 2, 4])]:
        cells = count_table(as_rows(table), weights, child, parents, r)
        q = int(np.prod(r[parents]))
        free = (r[child] - 1) * q
        bits = sum(1 << p for p in parents)
        for rule, slow in [
            (BDeu(3), dirichlet_score(cells, r[child], 3 / (q * r[child]))),
            (BDe(0.5), dirichlet_score(cells, r[child], 0.5)),
            (LogLikelihood(), log_likelihood(cells, r[child])),
            (BIC(), log_likelihood(cells, r[child]) - 0.5 * np.log(table.total) * free),
            (AIC(), log_likelihood(cells, r[child]) - free),
        ]:
            scores = FamilyScores(counts, rule, max_cells=10**6)
            assert scores.family(child, bits) == pytest.approx(slow, abs=1e-8)
            assert scores.expand(child, bits)[-1] == pytest.approx(slow, abs=1e-8)
            array = np.array(list(cells.values())).reshape((*r[parents], r[child]))
            assert family_score(rule, array, table.total) == pytest.approx(slow, abs=1e-8)


@pytest.mark.parametrize("rule", [BDeu(1), BDeu(10), BIC(), AIC(), LogLikelihood()])
def test_equivalent_graphs_score_alike(rule):
    """Over every class of graphs of four nodes, to 1e-9."""
    table = random_table(np.random.default_rng(1), n_variables=4, n_rows=300)
    scores = FamilyScores(ObservedCounts(table), rule, max_cells=10**6)
    for members in classes(4).values():
        totals = [scores.total([sum(1 << a for a, b in arcs if b == v) for v in range(4)]) for arcs in members]
        assert np.ptp(totals) < 1e-9


def test_the_score_with_a_constant_pseudo_count_is_not_equivalent():
    """The check above can fail: K2's prior does tell equivalent graphs apart."""
    table = random_table(np.random.default_rng(1), n_variables=4, n_rows=300)
    scores = FamilyScores(ObservedCounts(table), BDe(1), max_cells=10**6)
    spread = max(
        np.ptp([scores.total([sum(1 << a for a, b in arcs if b == v) for v in range(4)]) for arcs in members])
        for members in classes(4).values()
    )
    assert spread > 0.01


def test_counts_beyond_the_table_of_rises_are_exact(monkeypatch):
    import leverrier.learning.structure.score_increments as module

    table = random_table(np.random.default_rng(2), n_rows=4000)
    exact = FamilyScores(ObservedCounts(table), BDeu(1), 10**6).expand(0, 2)
    monkeypatch.setattr(module, "TABLED_COUNTS", 7)
    np.testing.assert_allclose(FamilyScores(ObservedCounts(table), BDeu(1), 10**6).expand(0, 2), exact, rtol=1e-13)


def test_tables_over_the_cap_are_refused_not_scored():
    table = random_table(np.random.default_rng(3), most_states=4)
    r = table.cardinalities
    scores = FamilyScores(ObservedCounts(table), BDeu(1), max_cells=int(r[0] * r[1]))
    expanded = scores.expand(0, 1 << 1)
    for v in range(2, 5):
        assert np.isfinite(expanded[v]) == (r[v] == 1)
    assert np.isfinite(expanded[-1])


def test_bad_questions_get_one_clear_line():
    with pytest.raises(OptionError, match="positive"):
        BDeu(0)
    with pytest.raises(OptionError, match="positive"):
        BDe(float("nan"))
    with pytest.raises(TableError, match="no column 'Z'"):
        lv.score(Graph.from_edges("AZ", [("A", "Z")]), TOY)
    with pytest.raises(InputError, match="network was expected"):
        lv.score("A->B", TOY)


def test_there_are_543_graphs_and_185_classes_of_four_nodes():
    """The naive enumeration itself, against the known numbers."""
    assert len(all_dags(4)) == 543
    assert len(classes(4)) == 185
