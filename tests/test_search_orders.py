"""Search over orders, against every order, and against the searches it is to improve on."""

from __future__ import annotations

import numpy as np
import pytest

import leverrier as lv
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.kernels.search.order_climb import undominated
from leverrier.learning.structure.constraints import as_parents, make_problem
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.order_search import Ordered, climb_orders, settle
from leverrier.learning.structure.parent_sets import ParentSets
from leverrier.learning.structure.problem import Parents, Problem, SearchLog
from leverrier.learning.structure.strong_search import fixed_point
from leverrier.models.graph import Graph
from tests.naive.orders import best_total


def problem_of(table: lv.Table, **limits: object) -> Problem:
    scores = FamilyScores(ObservedCounts(table), lv.BDe(), 4096)
    empty = Graph.from_edges(scores.names, ())
    options = {"required": (), "forbidden": (), "region": None, "max_parents": None, "max_candidates": None} | limits
    return make_problem(scores, empty, **options)  # pyright: ignore[reportArgumentType]


def climbed(problem: Problem, start: Parents, turns: int, seed: int = 0) -> Parents:
    begin = Ordered.of(start, problem.scores.total(start))
    return settle(ParentSets(problem), begin, turns, np.random.default_rng(seed), SearchLog()).graph


@pytest.mark.parametrize("seed", range(6))
def test_the_best_order_of_all_is_found(seed: int) -> None:
    columns = [f"V{i}" for i in (3, 1, 6, 0, 5, 2, 4)]
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 3, (400, 7))
    base[:, 3] = (base[:, 0] + base[:, 1]) % 3
    base[:, 4] = (base[:, 3] + (rng.random(400) < 0.2)) % 3
    base[:, 6] = np.where(rng.random(400) < 0.7, base[:, 4], base[:, 5])
    table = lv.read_table({name: base[:, k].tolist() for k, name in enumerate(columns)})
    problem = problem_of(table)
    sets = ParentSets(problem)
    for child in range(7):
        for above in range(2**7):
            if not above >> child & 1 and above.bit_count() <= 2:
                problem.gaining(child, above)
    sets.take_known()
    known = sets.known([0] * 7)
    by_node: list[dict[int, float]] = [{} for _ in range(7)]
    for v in range(7):
        places = range(int(known.starts[v]), int(known.starts[v + 1]))
        by_node[v] = {int(known.masks[s, 0]): float(known.scores[s]) for s in places}
    begin = Ordered.of([0] * 7, problem.scores.total([0] * 7))
    found = climb_orders(known, begin, 100, np.random.default_rng(seed))
    assert found.score == pytest.approx(best_total(by_node), abs=1e-7)
    assert found.score == pytest.approx(problem.scores.total(found.graph), abs=1e-7)


def test_never_below_the_start_and_far_above_it_where_tables_are_nearly_deterministic() -> None:
    table = lv.datasets.network("insurance").sample(2000, seed=1)
    problem = problem_of(table)
    start = fixed_point(problem, [0] * problem.n_nodes, SearchLog())
    found = climbed(problem, start, 100)
    assert problem.scores.total(found) > problem.scores.total(start) + 20
    Graph.from_parents({str(v): [str(p) for p in range(27) if above >> p & 1] for v, above in enumerate(found)})


def test_what_is_required_and_forbidden_holds() -> None:
    table = lv.datasets.network("asia").sample(2000, seed=3)
    edges = {"required": [("dysp", "smoke")], "forbidden": [("lung", "either"), ("either", "lung")], "max_parents": 2}
    problem = problem_of(table, **edges)
    start = as_parents(problem.scores.names, Graph.from_edges(problem.scores.names, ()), [("dysp", "smoke")])
    found = climbed(problem, start, 50)
    assert all(problem.permits_family(child, parents) for child, parents in enumerate(found))
    learnt = lv.learn_structure(table, lv.BDe(), method="best", **edges).network  # pyright: ignore[reportArgumentType]
    assert "dysp" in learnt.parents("smoke")
    assert "lung" not in learnt.parents("either")


def test_more_than_64_columns() -> None:
    rng = np.random.default_rng(5)
    cells = rng.integers(0, 2, (300, 70))
    cells[:, 69] = cells[:, 0] ^ (rng.random(300) < 0.1)
    table = lv.read_table({f"c{k}": cells[:, k].tolist() for k in range(70)})
    problem = problem_of(table)
    found = climbed(problem, [0] * 70, 5)
    assert found[69] >> 0 & 1 or found[0] >> 69 & 1
    assert problem.scores.total(found) > problem.scores.total([0] * 70)


def test_only_sets_that_no_subset_beats_are_kept() -> None:
    masks = np.array([[0b011], [0b111], [0b100], [0b110], [0b000]], dtype=np.uint64)
    kept = np.zeros(5, dtype=np.bool_)
    assert undominated(masks, np.array([5.0, 4.0, 3.0, 3.0, 1.0]), kept) == 3
    assert kept.tolist() == [True, False, True, False, True]
