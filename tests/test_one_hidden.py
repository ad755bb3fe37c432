"""The compiled climb takes the steps of structural EM as written out in Python (`climb_structure`)."""

import math

import numpy as np
import pytest
from scipy.special import gammaln

import leverrier as lv
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.discovery.places.ground import Ground
from leverrier.discovery.places.region import Passed, _climbed_in_general, cut_out, try_region
from leverrier.kernels.climbs.soft_scores import log_gamma_soft, score_child, score_own
from leverrier.learning.em.cheeseman_stutz import cheeseman_stutz
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.known_table import KnownTable
from leverrier.learning.structure.score import family_score
from leverrier.models.graph import Graph

MOST_CELLS = 2**12


def ground_of(table, score=None, **options):
    return Ground(table, FamilyScores(ObservedCounts(table), score or lv.BDe(), MOST_CELLS), **options)


def star(seed, states=3, children=5, rows=600):
    """Columns with one cause behind them, and two that hang on one of the columns."""
    rng = np.random.default_rng(seed)
    cause = rng.integers(0, states, rows)
    columns = [np.where(rng.random(rows) < 0.25, rng.integers(0, 3, rows), cause % 3) for _ in range(children)]
    columns += [np.where(rng.random(rows) < 0.3, rng.integers(0, 2, rows), columns[0] % 2) for _ in range(2)]
    return lv.Table.from_codes({f"c{i}": (0, 1, 2)[: 3 if i < children else 2] for i in range(len(columns))}, columns)


def placed(table, members, arcs=()):
    parents = {name: [] for name in table.variables}
    for p, c in arcs:
        parents[c].append(p)
    for name in members:
        parents[name].append("H")
    return Graph.from_parents({**parents, "H": ()})


def slowly(ground, graph, states, region, *, starts, rounds, tolerance=0.01, seen=None):
    cut = cut_out(ground, graph, {"H": states}, region)
    return _climbed_in_general(ground, cut, None, starts, rounds, tolerance, seen, 3)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("states", [2, 3, 5])
def test_climb_ends_where_the_slow_one_does(seed, states):
    table = star(seed)
    graph = placed(table, ["c0", "c1", "c2"], [("c0", "c5"), ("c5", "c6"), ("c3", "c4")])
    ground, region = ground_of(table), ["c0", "c1", "c2", "c3", "c5"]
    slow = slowly(ground, graph, states, region, starts=2, rounds=30)
    fast = try_region(ground, graph, {"H": states}, region, starts=2, tolerance=0.01, seed=3)
    within = 1e-6 if states < 4 else 0.01  # (EM's tolerance: on a flat hill rounding decides where within it steps end)
    assert fast.score == pytest.approx(slow.score, abs=within)
    assert {v: set(fast.graph.parents(v)) for v in graph} == {v: set(slow.graph.parents(v)) for v in graph}


@pytest.mark.parametrize("score", [lv.BDe(0.5), lv.BDeu(10.0)], ids=lambda s: s.name)
@pytest.mark.parametrize("most", [None, 2])
def test_other_priors_and_a_bound_on_parents(score, most):
    table = star(11)
    graph = placed(table, ["c0", "c1", "c2", "c3"], [("c0", "c5"), ("c0", "c6")])
    ground = ground_of(table, score, max_parents=most)
    slow = slowly(ground, graph, 2, table.variables, starts=1, rounds=30)
    fast = try_region(ground, graph, {"H": 2}, table.variables, tolerance=0.01, seed=3)
    assert fast.score == pytest.approx(slow.score, abs=1e-6)
    assert most is None or all(len(fast.graph.parents(v)) <= most for v in fast.graph)


def test_score_is_that_of_the_whole_network_by_another_way():
    table = star(5)
    ground = ground_of(table)
    tried = try_region(ground, placed(table, ["c0", "c1", "c2"]), {"H": 3}, table.variables, tolerance=1e-9, seed=1)
    assert tried.columns == table.variables
    assert tried.score == pytest.approx(cheeseman_stutz(tried.network, table, lv.BDe()), abs=1e-3)
    posterior = ground.posterior(tried, "H")
    assert posterior.sum(axis=1) == pytest.approx(np.ones(table.n_rows))


def test_a_context_keeps_its_arcs_and_closes_no_cycle():
    """c1 → c6 → c5 outside the region: c5 must stay no ancestor of c1 within it."""
    table = star(7)
    graph = placed(table, ["c0", "c1", "c2"], [("c1", "c6"), ("c6", "c5"), ("c5", "c3")])
    ground = ground_of(table)
    for seed in range(4):
        tried = try_region(ground, graph, {"H": 2}, ["c0", "c1", "c2", "c3"], tolerance=0.1, seed=seed)
        assert tried.graph.parents("c5") == ("c6",)
        assert "c5" in tried.graph.parents("c3")  # (Graph itself raises on a cycle)


def test_graphs_that_were_passed_end_a_climb():
    table = star(2)
    ground, graph = ground_of(table), placed(table, ["c0", "c1"], [("c2", "c3"), ("c3", "c4")])
    seen = Passed()
    first = try_region(ground, graph, {"H": 3}, table.variables, tolerance=0.1, seen=seen, seed=3)
    again = try_region(ground, graph, {"H": 3}, table.variables, tolerance=0.1, seen=seen, seed=3)
    slow = Passed()
    before = slowly(ground, graph, 3, table.variables, starts=1, rounds=30, tolerance=0.1, seen=slow)
    assert first.score == pytest.approx(before.score, abs=1e-6)
    assert seen.numbers.count == len(slow.graphs) > 0
    assert again.score < first.score  # (it stopped where the first one had been)


def test_weights_count_as_rows():
    table = star(9, rows=200)
    counted = table.distinct()
    graph = placed(table, ["c0", "c1", "c2"])
    ends = [try_region(ground_of(t), graph, {"H": 2}, t.variables, tolerance=0.01) for t in (table, counted)]
    assert ends[0].score == pytest.approx(ends[1].score, abs=1e-6)


def test_what_is_not_compiled_takes_the_general_path():
    table = star(1, rows=150)
    graph = placed(table, ["c0", "c1", "c2"])
    tried = try_region(ground_of(table, lv.BIC()), graph, {"H": 2}, table.variables, max_rounds=2, tolerance=0.1)
    assert math.isfinite(tried.score)


def test_known_table_says_what_was_asked_and_grows():
    """Scores are asked for, whatever they are: here they are no scores of tables at all."""

    class Odd:
        n_nodes = 70

        def family(self, child, parents):
            return child + math.log1p(parents)

        def expand(self, child, parents):
            return np.array([*(self.family(child, parents | 1 << p) for p in range(70)), self.family(child, parents)])

    from leverrier.kernels.climbs.known_families import known_score

    table, odd, places = KnownTable(Odd()), Odd(), np.arange(70)[[3, 69, 64, 0]]
    for child in range(70):
        for parents in (0, 1 << 64, 1 << 69 | 1 << 3, 1, 5, 9):
            table.ask(child, parents, whole=child % 2 == 0)
    key = np.zeros(table.keys.shape[1], dtype=np.int64)

    def known(child, bits):
        return known_score(child, bits, places, table.slots, table.keys, table.scores, table.full, key)

    assert table.count == 420
    assert known(0, 0b0100) == odd.family(3, 1 << 64)
    assert known(2, 0b0011) == odd.family(64, 1 << 69 | 1 << 3)
    assert known(2, 0b0110) == odd.family(64, 1 << 69 | 1 << 64)  # (from the entry with one parent less)
    assert np.isnan(known(0, 0b0110))  # (3 is odd: only what was asked is known)


def test_soft_scores_are_those_of_the_table():
    rng = np.random.default_rng(0)
    counts = rng.gamma(0.3, 20.0, (4, 3, 2, 3)) * (rng.random((4, 3, 2, 3)) < 0.8)  # rows, child, parent, hidden
    padded = np.zeros((4, 3, 2, 4))
    padded[..., :3] = counts
    for score, prior in ((lv.BDe(0.7), [0.7, 0.0]), (lv.BDeu(3.0), [0.0, 3.0])):
        child = score_child(padded.ravel(), 4, 3, 2 * 4, 24.0, np.array(prior))
        assert child == pytest.approx(family_score(score, counts.transpose(0, 2, 3, 1), 1.0), abs=1e-9)
        own = score_own(padded.ravel(), 24, 3, 4, np.array(prior))
        assert own == pytest.approx(family_score(score, counts.reshape(24, 3), 1.0), abs=1e-9)


def test_log_gamma():
    x = np.concatenate([np.linspace(1e-3, 12, 997), [1e2, 1e4, 1e7]])
    assert [log_gamma_soft(v) for v in x] == pytest.approx(gammaln(x), rel=1e-12, abs=1e-12)
