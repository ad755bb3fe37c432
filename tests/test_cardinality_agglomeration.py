"""Merging states on count vectors against the slow twin that completes the rows and rescores every family."""

import numpy as np
import pytest
from scipy.special import gammaln

from leverrier.counts.assigned_counts import AssignedCounts, completed
from leverrier.counts.family import Family
from leverrier.data.table import Table
from leverrier.discovery.states.agglomeration import agglomerate
from leverrier.discovery.states.first_states import first_states
from leverrier.errors import TableError
from leverrier.kernels.em import state_merging
from leverrier.learning.structure.score import BIC, BDe, BDeu, LogLikelihood, family_score
from leverrier.models.graph import Graph
from tests.naive import agglomeration as slow


def random_case(seed, n_rows=11, holes=0.0, weighted=True, parents_of_hidden=None):
    """A graph around H with parents, children and spouses, and rows over its blanket and one bystander."""
    rng = np.random.default_rng(seed)
    above = rng.integers(0, 3) if parents_of_hidden is None else parents_of_hidden
    parents = {f"p{i}": [] for i in range(above)}
    parents["H"] = list(parents)
    for i in range(rng.integers(1, 4)):
        above = ["H"]
        if rng.random() < 0.5:
            parents[f"s{i}"] = []
            above.insert(int(rng.integers(0, 2)), f"s{i}")
        if i and rng.random() < 0.5:
            above.append(f"c{i - 1}")
        parents[f"c{i}"] = above
    parents["bystander"] = ["c0"]
    states = {name: int(rng.integers(2, 4)) for name in parents if name != "H"}
    codes = np.stack([rng.integers(0, states[name], n_rows) for name in states])
    codes[rng.random(codes.shape) < holes] = -1
    weights = rng.uniform(0.5, 3.0, n_rows) if weighted else None
    table = Table.from_codes({name: range(k) for name, k in states.items()}, codes, weights)
    rows = [
        {name: (None if code < 0 else int(code)) for name, code in zip(states, column, strict=True)}
        for column in codes.T
    ]
    return Graph.from_parents(parents), table, parents, states, rows, np.ones(n_rows) if weights is None else weights


def families_of(graph, hidden="H"):
    return [Family(node, graph.parents(node)) for node in (hidden, *graph.children(hidden))]


def rescored(graph, table, labels, score):
    """The score of the families that hold H, from the completed table: no count vectors, no gains."""
    counts = AssignedCounts(table, {"H": labels})
    return sum(family_score(score, each, counts.total) for each in counts.tables(families_of(graph)))


SCORES = [
    pytest.param(BDe(1.0), slow.bde(1.0), id="BDe"),
    pytest.param(BDe(0.3), slow.bde(0.3), id="BDe 0.3"),
    pytest.param(BDeu(2.0), slow.bdeu(2.0), id="BDeu"),
    pytest.param(BIC(), None, id="BIC"),
]


@pytest.mark.parametrize(("score", "rule"), SCORES)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("holes", [0.0, 0.15], ids=["complete", "holes"])
def test_every_merge_is_the_best_of_all_pairs_rescored(score, rule, seed, holes):
    graph, table, parents, states, rows, weights = random_case(seed, holes=holes)
    rule = rule or slow.bic(weights.sum())
    found = agglomerate(first_states(graph, table, "H"), score)
    assert slow.partition(found.assignment(found.n_first).tolist()) == slow.partition(
        slow.first_assignment(rows, parents, "H")
    )
    for (k, _), (_, value) in zip(found.path, found.path[1:], strict=False):
        best, _ = slow.best_merge(rows, weights, found.assignment(k).tolist(), parents, states, "H", rule)
        assert value == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_path_is_that_of_the_slow_twin(seed):
    """Without parents every pair of states shares a cell, and with real weights no two gains are equal."""
    graph, table, parents, states, rows, weights = random_case(seed, parents_of_hidden=0)
    found = agglomerate(first_states(graph, table, "H"), BDe())
    expected = slow.agglomerate(rows, weights, parents, states, "H", slow.bde(1.0))
    assert [k for k, _ in found.path] == [k for k, _, _ in expected]
    np.testing.assert_allclose([s for _, s in found.path], [s for _, s, _ in expected], rtol=0, atol=1e-9)
    for k, _, partition in expected:
        assert slow.partition(found.assignment(k).tolist()) == partition


@pytest.mark.parametrize("score", [BDe(1.0), BDe(0.2), BDeu(1.0), BIC()], ids=lambda s: s.name)
@pytest.mark.parametrize("seed", range(6))
def test_gains_are_differences_of_whole_scores(score, seed):
    graph, table, *_ = random_case(100 + seed, n_rows=300, weighted=False)
    found = agglomerate(first_states(graph, table, "H"), score)
    for k, value in found.path:
        assert value == pytest.approx(rescored(graph, table, found.assignment(k), score), abs=1e-9)
    gains = [merge.gain for merge in found.merges]
    np.testing.assert_allclose(gains, np.diff([s for _, s in found.path]), rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_pair_is_ranked_the_same_whatever_the_other_states_are(seed):
    """Local decomposability: Δ(i, j) − Δ(i, l) does not change when two others merge."""
    graph, table, *_ = random_case(200 + seed, n_rows=200, weighted=False)
    first = first_states(graph, table, "H")
    rng = np.random.default_rng(seed)
    assert len(first) >= 6  # (or there are no others to merge)
    i, j, l, a, b = rng.choice(len(first), 5, replace=False)

    def gain(labels, x, y):
        dense = np.unique(np.where(labels == y, x, labels), return_inverse=True)[1]
        return rescored(graph, table, dense, BDe()) - rescored(
            graph, table, np.unique(labels, return_inverse=True)[1], BDe()
        )

    before = first.index
    after = np.where(before == b, a, before)
    assert gain(before, i, j) - gain(before, i, l) == pytest.approx(gain(after, i, j) - gain(after, i, l), abs=1e-8)
    assert agglomerate(first, BDe()).decomposable
    assert not agglomerate(first, BDeu()).decomposable


def test_one_state_scores_like_the_graph_without_the_variable():
    graph, table, *_ = random_case(7, n_rows=400, weighted=False)
    found = agglomerate(first_states(graph, table, "H"), BDe())
    counts = AssignedCounts(table, {})
    without = [Family(c, tuple(p for p in graph.parents(c) if p != "H")) for c in graph.children("H")]
    expected = sum(family_score(BDe(), each, counts.total) for each in counts.tables(without))
    assert found.path[-1] == (1, pytest.approx(expected, abs=1e-8))


def test_the_merge_tree_holds_every_first_state_once():
    graph, table, *_ = random_case(3, n_rows=300)
    found = agglomerate(first_states(graph, table, "H"), BDe())
    n = found.n_first
    used = [node for merge in found.merges for node in (merge.left, merge.right)]
    assert sorted(used) == list(range(2 * n - 2))
    assert [merge.node for merge in found.merges] == list(range(n, 2 * n - 1))
    for k in (n, n // 2, 2, 1):
        assert len(found.nodes(k)) == k
        labels = found.labels(k)
        assert set(labels.tolist()) == set(range(k))
        sizes = np.bincount(labels, found.first.weights)
        assert np.all(np.diff(sizes) <= 1e-9), "state 0 is the most frequent"
    for k in range(1, n):  # a level's states are unions of the next level's
        finer, coarser = found.labels(k + 1), found.labels(k)
        assert len(set(zip(finer.tolist(), coarser.tolist(), strict=True))) == k + 1


def test_too_many_configurations_begin_together_and_end_the_same():
    """With room for few states the rarest join a frequent one; every level is still a true score."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 3000)
    codes = np.stack([(rng.random(3000) < np.array([0.05, 0.5, 0.95])[np.roll([0, 1, 2], i)[truth]]) for i in range(8)])
    table = Table.from_codes({f"c{i}": (0, 1) for i in range(8)}, codes.astype(int))
    graph = Graph.from_parents({"H": [], **{f"c{i}": ["H"] for i in range(8)}})
    first = first_states(graph, table, "H")
    found = agglomerate(first, BDe(), most=40)
    assert found.n_first == 40 < len(first)
    for k, value in found.path:
        assert value == pytest.approx(rescored(graph, table, found.assignment(k), BDe()), abs=1e-7)


@pytest.mark.parametrize("most", [12, 256])
def test_rises_that_are_looked_up_are_those_computed(most, monkeypatch):
    """Whole numbers of rows are looked up; the same merges come of computing each rise by its formula."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, (4, 300)) * (rng.random((4, 300)) < 0.6)
    graph = Graph.from_parents({"H": ["c0"], "c1": ["H"], "c2": ["H", "c1"], "c3": ["H"], "c0": []})
    table = Table.from_codes({f"c{i}": (0, 1, 2) for i in range(4)}, codes)
    first = first_states(graph, table, "H")
    looked_up = agglomerate(first, BDe(), most=most)
    assert first.rises(BDe()).shape[1] == 301
    monkeypatch.setattr("leverrier.discovery.states.first_states.MOST_LOOKED_UP", 0)
    computed = agglomerate(first, BDe(), most=most)
    np.testing.assert_array_equal(looked_up.place, computed.place)
    np.testing.assert_allclose(looked_up.shares, computed.shares, rtol=0, atol=1e-9)


def test_weights_are_repeated_rows():
    graph, table, *_ = random_case(11, n_rows=60, weighted=False, holes=0.1)
    times = np.random.default_rng(1).integers(1, 5, 60)
    weighted = Table(table.columns, table.codes, times.astype(float))
    repeated = table.take(np.repeat(np.arange(60), times))
    one, other = (agglomerate(first_states(graph, t, "H"), BDe()) for t in (weighted, repeated))
    np.testing.assert_allclose([s for _, s in one.path], [s for _, s in other.path], rtol=0, atol=1e-9)


def test_the_order_of_rows_does_not_matter():
    graph, table, *_ = random_case(12, n_rows=500, weighted=False)
    shuffled = table.take(np.random.default_rng(0).permutation(500))
    one, other = (agglomerate(first_states(graph, t, "H"), BDe()) for t in (table, shuffled))
    assert one.path == other.path
    assert one.merges == other.merges


def test_likelihood_alone_never_gains_by_merging():
    graph, table, *_ = random_case(13, n_rows=200, weighted=False)
    counts = agglomerate(first_states(graph, table, "H"), LogLikelihood())
    children = [
        sum(
            family_score(LogLikelihood(), each, 1.0)
            for each in AssignedCounts(table, {"H": counts.assignment(k)}).tables(families_of(graph)[1:])
        )
        for k, _ in counts.path
    ]
    assert children[0] == pytest.approx(0.0, abs=1e-9), "at the start the children are a function of the state"
    assert np.all(np.diff(children) <= 1e-9)


def test_completed_tables_keep_holes_and_widen_cells():
    table = Table.from_codes({"a": (0, 1)}, np.array([[0, -1, 1]]))
    wide = completed(table, {"H": np.array([0, 1, 299])})
    assert wide.codes.dtype == np.uint16
    assert wide.n_missing == 1
    assert wide.column("a").tolist() == [0, wide.missing, 1]
    with pytest.raises(TableError, match="is a column"):
        completed(table, {"a": np.array([0, 0, 0])})
    with pytest.raises(TableError, match="one state for each of 3 rows"):
        completed(table, {"H": np.array([0, 0])})


def test_a_merged_state_with_most_rows_looks_up_no_count_beyond_the_last(monkeypatch):
    """Without the compiler, so that a look beyond the end is an error and not whatever lies in memory there."""
    monkeypatch.setattr(state_merging, "add_rises", state_merging.add_rises.py_func)
    rises = np.array([gammaln(1.0 + np.arange(11.0))])  # ten rows, prior count 1
    counts = np.array([[7.0, 2.0, 1.0], [3.0, 0.0, 4.0]])
    priors = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0]])
    values, gains, before = np.where(counts > 0, gammaln(1 + counts), 0.0), np.empty(3), counts.copy()
    state_merging.state_gains.py_func(0, 3, counts, priors, rises, values, gains)
    assert np.array_equal(counts, before)
    one = gammaln(1 + 9.0) - gammaln(1 + 7.0) - gammaln(1 + 2.0)
    two = gammaln(1 + 8.0) - gammaln(1 + 7.0) - (gammaln(1 + 7.0) - gammaln(1 + 3.0) - gammaln(1 + 4.0))
    assert gains[1:] == pytest.approx([one, two])
