"""Structure search against enumeration of all graphs, and its promises."""

import networkx as nx
import numpy as np
import pytest

import leverrier as lv
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.errors import NetworkError, OptionError
from leverrier.kernels.search.equivalence import essential, extend, orient
from leverrier.learning.structure.family_scores import FamilyScores
from leverrier.learning.structure.score import BDeu
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.status import Status
from tests.naive.graphs import all_dags, classes, signature


def random_network(rng, n, most_states=3, chance=0.5, sharp=0.5):
    names = [f"v{i}" for i in range(n)]
    parents = {c: [p for p in names[:i] if rng.random() < chance][:3] for i, c in enumerate(names)}
    states = {name: tuple(range(int(rng.integers(2, most_states + 1)))) for name in names}
    tables = {
        c: rng.dirichlet(np.full(len(states[c]), sharp), size=tuple(len(states[p]) for p in above))
        for c, above in parents.items()
    }
    return Network.build(Graph.from_parents(parents), states, tables)


def arcs_of(matrix):
    return frozenset((int(a), int(b)) for a, b in np.argwhere(matrix))


def matrix_of(n, arcs):
    matrix = np.zeros((n, n), dtype=np.uint8)
    for a, b in arcs:
        matrix[a, b] = 1
    return matrix


@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_class_of_every_graph_is_the_union_of_its_members(n):
    for members in classes(n).values():
        union = sum(matrix_of(n, arcs).astype(int) for arcs in members) > 0
        for arcs in members:
            found = np.empty((n, n), dtype=np.uint8)
            essential(matrix_of(n, arcs), found)
            assert (found == union).all()
            dag = np.empty_like(found)
            assert extend(found, dag)
            assert signature(arcs_of(dag)) == signature(arcs)


def test_orienting_one_arc_leaves_exactly_the_members_that_agree():
    """Meek's rules against enumeration: what all agreeing members share is directed, no less and no more."""
    n = 4
    for members in classes(n).values():
        union = (sum(matrix_of(n, arcs).astype(int) for arcs in members) > 0).astype(np.uint8)
        for a in range(n):
            for b in range(n):
                if a == b or not union[a, b]:
                    continue
                allowed = np.ones((n, n), dtype=np.bool_)
                allowed[b, a] = False
                agreeing = [arcs for arcs in members if (b, a) not in arcs]
                arcs = union.copy()
                assert orient(arcs, allowed) == bool(agreeing)
                if agreeing:
                    assert (arcs == (sum(matrix_of(n, m).astype(int) for m in agreeing) > 0)).all()


def test_the_strong_search_finds_the_best_of_all_graphs():
    """Four columns: every graph is scored; the strong search must reach the best in every sample."""
    rng = np.random.default_rng(0)
    for seed in range(25):
        table = random_network(rng, 4).sample(400, seed=seed)
        scores = FamilyScores(ObservedCounts(table), BDeu(1), 10**6)
        best = max(scores.total([sum(1 << a for a, b in arcs if b == v) for v in range(4)]) for arcs in all_dags(4))
        found = lv.learn_structure(table, score=lv.BDeu(1), method="best", rounds=10)
        assert found.score == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("method", ["auto", "best", "ges", "hill-climb"])
def test_the_result_is_what_it_says(method):
    net = random_network(np.random.default_rng(1), 8)
    table = net.sample(1000, seed=1)
    found = lv.learn_structure(table, method=method, max_parents=2, rounds=5)
    assert found.score == pytest.approx(lv.score(found.network, table, score=lv.BDeu()), abs=1e-8)
    assert found.score >= lv.score(Graph.from_edges(table.variables, []), table)
    assert max(len(found.network.parents(v)) for v in table.variables) <= 2
    assert found.status is Status.CONVERGED
    again = lv.learn_structure(table, method=method, max_parents=2, rounds=5)
    assert again.network.edges == found.network.edges


@pytest.mark.parametrize("method", ["auto", "ges"])
def test_the_order_of_the_columns_does_not_matter(method):
    rng = np.random.default_rng(2)
    for seed in range(5):
        table = random_network(rng, 9, chance=0.3).sample(1500, seed=seed)
        score = lv.learn_structure(table, method=method).score
        for _ in range(3):
            shuffled = table.select(rng.permutation(table.variables))
            assert lv.learn_structure(shuffled, method=method).score == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize("method", ["auto", "best", "ges", "hill-climb"])
def test_constraints_hold(method):
    rng = np.random.default_rng(3)
    for seed in range(6):
        table = random_network(rng, 7).sample(800, seed=seed)
        names = list(rng.permutation(table.variables))
        required = [(names[0], names[1]), (names[1], names[2])]
        forbidden = [(names[3], names[4]), (names[5], names[6]), (names[6], names[5])]
        found = lv.learn_structure(
            table, method=method, required=required, forbidden=forbidden, rounds=4, restarts=2, tabu=2, seed=seed
        )
        edges = set(found.network.edges)
        assert edges >= set(required)
        assert not edges & set(forbidden)


@pytest.mark.parametrize("method", ["auto", "best", "ges", "hill-climb"])
def test_outside_the_region_nothing_changes(method):
    rng = np.random.default_rng(4)
    net = random_network(rng, 8)
    table = net.sample(1000, seed=0)
    start = random_network(np.random.default_rng(5), 8, chance=0.3).graph
    region = {"v1", "v4", "v6", "v7"}
    found = lv.learn_structure(table, method=method, start=start, region=region, rounds=4)
    inside = lambda edges: {e for e in edges if set(e) <= region}  # noqa: E731
    assert set(found.network.edges) - inside(found.network.edges) == set(start.edges) - inside(start.edges)
    assert found.score >= lv.score(start, table) - 1e-9


def test_a_cap_on_cells_is_kept_where_parents_are_not_capped():
    table = random_network(np.random.default_rng(6), 8, most_states=3).sample(3000, seed=0)
    found = lv.learn_structure(table, max_cells=18)
    assert max(found.network.cpt(v).size for v in table.variables) <= 18


def test_constant_columns_and_copies_of_columns_are_met():
    rng = np.random.default_rng(7)
    base = rng.integers(0, 3, 500)
    table = Table.from_codes(
        {"one": ("only",), "a": (0, 1, 2), "copy": (0, 1, 2), "noise": (0, 1)},
        np.stack([np.zeros(500, int), base, base, rng.integers(0, 2, 500)]),
    )
    for method in ("auto", "best", "ges", "hill-climb"):
        found = lv.learn_structure(table, method=method, rounds=3)
        assert {frozenset(e) for e in found.network.edges} == {frozenset(("a", "copy"))}


def test_independent_columns_get_no_arcs():
    rng = np.random.default_rng(8)
    table = Table.from_codes({f"v{i}": (0, 1, 2) for i in range(10)}, rng.integers(0, 3, (10, 2000)))
    assert lv.learn_structure(table).network.edges == ()


def test_budgets_stop_with_a_valid_answer():
    table = random_network(np.random.default_rng(9), 10).sample(1000, seed=0)
    for limits, status in [({"max_moves": 3}, Status.ITERATION_LIMIT), ({"budget": 0.0}, Status.BUDGET)]:
        found = lv.learn_structure(table, method="best", **limits)
        assert found.status is status
        assert found.score == pytest.approx(lv.score(found.network, table, score=lv.BDeu()), abs=1e-8)
    seen = []
    found = lv.learn_structure(table, progress=lambda what, share: seen.append((what, share)))
    assert len(seen) == len(found.trace)
    assert all(np.isnan(share) for _, share in seen)  # nobody knows how many moves there will be


def test_a_start_graph_may_be_a_networkx_graph():
    table = random_network(np.random.default_rng(10), 5).sample(500, seed=0)
    start = nx.DiGraph([("v0", "v1"), ("v1", "v2")])
    start.add_nodes_from(table.variables)
    found = lv.learn_structure(table, start=start, max_moves=0, method="hill-climb")
    assert set(found.network.edges) == {("v0", "v1"), ("v1", "v2")}


def test_potential_parents_limit_the_arcs():
    table = random_network(np.random.default_rng(11), 9, chance=0.4).sample(2000, seed=0)
    found = lv.learn_structure(table, max_candidates=1)
    assert max(len(found.network.parents(v)) for v in table.variables) <= 1


def test_bad_options_get_one_clear_line():
    table = random_network(np.random.default_rng(12), 3).sample(50, seed=0)
    for options, words in [
        ({"method": "magic"}, "expected one of auto, best"),
        ({"required": [("v0", "tall")]}, "no column 'tall'"),
        ({"required": [("v0", "v1")], "forbidden": [("v0", "v1")]}, "both required and forbidden"),
    ]:
        with pytest.raises(OptionError, match=words):
            lv.learn_structure(table, **options)
    with pytest.raises(NetworkError, match="cycle"):
        lv.learn_structure(table, required=[("v0", "v1"), ("v1", "v0")])


def test_columns_never_seen_together_are_not_linked():
    """Available cases: no row shows b and c, so nothing speaks for an arc between them (a score of no rows is 0)."""
    rng = np.random.default_rng(0)
    a, c = rng.integers(0, 2, (2, 400)).astype(float)
    b = np.where(rng.random(400) < 0.9, a, 1 - a)
    b[200:], c[:200] = np.nan, np.nan
    for method in ("hill-climb", "ges", "auto", "best"):
        found = lv.learn_structure({"a": a, "b": b, "c": c}, method=method, holes="available")
        assert {frozenset(edge) for edge in found.network.edges} == {frozenset("ab")}
