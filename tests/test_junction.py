"""The junction tree against full enumeration, against laws it must obey, and against other ways to the same number."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest

from leverrier.errors import OptionError, TooLargeError
from leverrier.inference.exact.calibrated import Calibrated
from leverrier.inference.exact.elimination import triangulate
from leverrier.inference.exact.factors import Factor
from leverrier.inference.exact.junction import JunctionTree
from leverrier.inference.exact.propagation import LOGS
from tests.naive import enumeration


def random_network(rng, most=7):
    """A Bayesian network with cardinalities 1 to 4, zeros among its entries, and its variables in any order."""
    n = int(rng.integers(2, most + 1))
    cardinalities = rng.integers(1, 5, n).tolist()
    order = rng.permutation(n).tolist()
    factors = []
    for position, child in enumerate(order):
        some = min(position, int(rng.integers(0, 4)))
        scope = (*rng.choice(order[:position], some, replace=False).tolist(), child) if some else (child,)
        values = rng.random([cardinalities[v] for v in scope])
        values[(rng.random(values.shape) < 0.2) & (values < values.max(axis=-1, keepdims=True))] = 0.0
        factors.append(Factor(scope, values / values.sum(axis=-1, keepdims=True)))
    return cardinalities, factors


def random_evidence(rng, cardinalities, rows):
    codes = np.array([rng.integers(0, c, rows) for c in cardinalities])
    return np.where(rng.random(codes.shape) < rng.uniform(0.2, 1.0), -1, codes)


def grid(k):
    right = [(i * k + j, i * k + j + 1) for i in range(k) for j in range(k - 1)]
    down = [(i * k + j, i * k + k + j) for i in range(k - 1) for j in range(k)]
    return right + down


def tree_for(cardinalities, factors, **options):
    return JunctionTree.build(cardinalities, [factor.scope for factor in factors], **options)


@pytest.mark.parametrize("seed", range(20))
def test_everything_equals_enumeration_on_two_thousand_random_networks(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        cardinalities, factors = random_network(rng)
        evidence = random_evidence(rng, cardinalities, 6)
        model = (cardinalities, factors, evidence)
        tree = tree_for(cardinalities, factors)
        answer = tree.calibrate(factors, evidence)
        np.testing.assert_allclose(answer.log_evidence, enumeration.log_evidence(*model), rtol=0, atol=1e-10)
        pair = tuple(rng.choice(len(cardinalities), 2, replace=False).tolist())  # often in no common clique
        clique = tree.cliques[int(rng.integers(len(tree.cliques)))]
        for variables in (pair, clique):
            expected = enumeration.posterior(*model, variables)
            np.testing.assert_allclose(answer.marginal(variables), expected, rtol=0, atol=1e-10)
        codes, best = answer.most_probable()
        np.testing.assert_allclose(best, enumeration.most_probable(*model)[1], rtol=0, atol=1e-10)
        seen = evidence >= 0
        assert np.array_equal(codes[seen], evidence[seen])
        possible = best > -np.inf
        np.testing.assert_allclose(
            tree.calibrate(factors, codes[:, possible]).log_evidence, best[possible], rtol=0, atol=1e-10
        )


@pytest.mark.parametrize("seed", range(5))
def test_patterns_done_together_and_rows_by_chunks_change_nothing(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr("leverrier.inference.exact.junction.FEW_PATTERNS", 2)
    monkeypatch.setattr("leverrier.inference.exact.junction.OWN_TREE", 300)
    monkeypatch.setattr("leverrier.inference.exact.calibrated.CHUNK_CELLS", 200)
    monkeypatch.setattr("leverrier.inference.exact.calibrated.KEPT_CELLS", 500)
    monkeypatch.setattr("leverrier.inference.exact.clique_merging.MERGED_CELLS", 100)
    for _ in range(20):
        cardinalities, factors = random_network(rng)
        evidence = random_evidence(rng, cardinalities, 40)
        model = (cardinalities, factors, evidence)
        answer = tree_for(cardinalities, factors, max_cells=500).calibrate(factors, evidence)
        np.testing.assert_allclose(answer.log_evidence, enumeration.log_evidence(*model), rtol=0, atol=1e-10)
        three = tuple(rng.permutation(len(cardinalities))[:3].tolist())
        expected = enumeration.posterior(*model, three)
        np.testing.assert_allclose(answer.marginal(three), expected, rtol=0, atol=1e-10)
        np.testing.assert_allclose(answer.most_probable()[1], enumeration.most_probable(*model)[1], rtol=0, atol=1e-10)


def test_any_set_of_variables_even_all_of_them():
    rng = np.random.default_rng(1)
    for _ in range(60):
        cardinalities, factors = random_network(rng, most=6)
        evidence = random_evidence(rng, cardinalities, 3)
        answer = tree_for(cardinalities, factors).calibrate(factors, evidence)
        for size in range(len(cardinalities) + 1):
            variables = tuple(rng.permutation(len(cardinalities))[:size].tolist())
            expected = enumeration.posterior(cardinalities, factors, evidence, variables)
            np.testing.assert_allclose(answer.marginal(variables), expected, rtol=0, atol=1e-10)


def test_probabilities_of_all_completions_sum_to_one():
    rng = np.random.default_rng(2)
    for _ in range(50):
        cardinalities, factors = random_network(rng, most=6)
        tree = tree_for(cardinalities, factors)
        every = enumeration.all_completions(cardinalities, [-1] * len(cardinalities))
        every[rng.integers(len(cardinalities))] = -1  # each completion of the others, that one summed out
        every = np.unique(every, axis=1)
        assert np.exp(tree.calibrate(factors, every).log_evidence).sum() == pytest.approx(1, abs=1e-12)


def test_factors_need_not_be_probabilities_nor_touch_every_variable():
    rng = np.random.default_rng(3)
    for _ in range(100):
        n = int(rng.integers(1, 6))
        cardinalities = rng.integers(1, 4, n).tolist()
        factors = [Factor((), np.array(2.5))]
        for _ in range(int(rng.integers(0, 5))):
            scope = tuple(rng.permutation(n)[: int(rng.integers(0, 3))].tolist())
            factors.append(Factor(scope, rng.gamma(0.5, 1e3, [cardinalities[v] for v in scope])))
        expected = enumeration.log_evidence(cardinalities, factors, np.full((n, 1), -1))
        got = tree_for(cardinalities, factors).calibrate(factors).log_evidence
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-10)


def test_values_by_row():
    rng = np.random.default_rng(4)
    cardinalities, rows = [2, 3, 2, 3], 30
    shared = [Factor(scope, rng.random((2, 3))) for scope in ((0, 1), (2, 1), (2, 3))]
    own = [Factor((1,), rng.random((rows, 3))), Factor((3, 2), rng.random((rows, 3, 2)))]
    evidence = random_evidence(rng, cardinalities, rows)
    answer = tree_for(cardinalities, [*shared, *own]).calibrate([*shared, *own], evidence)
    for i in range(rows):
        model = (cardinalities, [*shared, *(Factor(f.scope, f.values[i]) for f in own)], evidence[:, [i]])
        assert answer.log_evidence[i] == pytest.approx(enumeration.log_evidence(*model)[0], abs=1e-10)
        np.testing.assert_allclose(answer.marginal((0, 3))[i], enumeration.posterior(*model, (0, 3))[0], atol=1e-10)


def test_cliques_hold_every_scope_and_every_forced_cluster_and_form_a_junction_tree():
    rng = np.random.default_rng(5)
    for _ in range(200):
        n = int(rng.integers(1, 15))
        cardinalities = rng.integers(1, 4, n).tolist()
        scopes = [tuple(rng.permutation(n)[: int(rng.integers(1, 4))].tolist()) for _ in range(int(rng.integers(0, n)))]
        clusters = [tuple(rng.permutation(n)[: int(rng.integers(1, 5))].tolist())]
        tree = JunctionTree.build(cardinalities, scopes, clusters)
        cliques = [set(clique) for clique in tree.cliques]
        assert all(any(set(scope) <= clique for clique in cliques) for scope in (*scopes, *clusters))
        assert not any(a < b for a, b in itertools.permutations(cliques, 2))  # maximal only
        graph = nx.Graph((child, parent) for child, parent in enumerate(tree.layout.parents) if parent >= 0)
        graph.add_nodes_from(range(len(cliques)))
        assert nx.is_tree(graph)
        for variable in range(n):
            assert nx.is_connected(graph.subgraph(i for i, clique in enumerate(cliques) if variable in clique))
        every = nx.Graph()
        every.add_nodes_from(range(len(cliques)))
        every.add_weighted_edges_from(
            (i, j, len(cliques[i] & cliques[j])) for i, j in itertools.combinations(range(len(cliques)), 2)
        )
        heaviest = nx.maximum_spanning_tree(every).size(weight="weight")
        assert sum(map(len, tree.layout.separators)) == heaviest
        assert tree.cells == sum(math.prod(cardinalities[v] for v in clique) for clique in cliques)


def test_treewidth_of_graphs_whose_treewidth_is_known():
    path = [(i, i + 1) for i in range(19)]
    assert triangulate([2] * 20, path).width == 1
    assert triangulate([2] * 20, [*path, (19, 0)]).width == 2
    assert triangulate([2] * 6, list(itertools.combinations(range(6), 2))).width == 5
    assert triangulate([2] * 9, grid(3)).width == 3
    assert triangulate([3] * 4, []).width == 0


def test_grid_of_144_variables_equals_the_transfer_matrix():
    k = 12
    rng = np.random.default_rng(6)
    factors = [Factor(scope, rng.random((2, 2)) + 0.1) for scope in grid(k)]
    answer = tree_for([2] * k * k, factors).calibrate(factors)
    values = {factor.scope: factor.values for factor in factors}
    total = np.ones([2] * k)  # one row of the grid after another, all 2¹² states of it at once
    for i in range(k):
        for j in range(k if i else 0):
            total = np.moveaxis(np.tensordot(total, values[(i - 1) * k + j, i * k + j], (j, 0)), -1, j)
        for j in range(k - 1):
            beside = values[i * k + j, i * k + j + 1]
            total = total * beside.reshape([2 if axis in (j, j + 1) else 1 for axis in range(k)])
    assert answer.log_evidence[0] == pytest.approx(math.log(total.sum()), abs=1e-10)


def test_grid_of_1600_variables_is_refused_with_its_size():
    with pytest.raises(TooLargeError, match=r'largest clique: \d\d variables, .*cells.*method="approximate"'):
        JunctionTree.build([2] * 1600, grid(40))


def test_evidence_may_make_small_what_is_too_large():
    """A grid of 1600 variables is hopeless; with all but one observed it is four factors."""
    k = 40
    rng = np.random.default_rng(10)
    factors = [Factor(scope, rng.random((2, 2)) + 0.1) for scope in grid(k)]
    tree = JunctionTree.build([2] * k * k, grid(k), whole=False)
    with pytest.raises(TooLargeError):
        tree.calibrate(factors)
    evidence = rng.integers(0, 2, (k * k, 1))
    hole = 5 * k + 7
    evidence[hole] = -1
    answer = tree.calibrate(factors, evidence)
    weights = np.ones(2)
    for factor in factors:
        if hole in factor.scope:
            other = next(v for v in factor.scope if v != hole)
            weights *= factor.values.take(evidence[other, 0], axis=factor.scope.index(other))
    np.testing.assert_allclose(answer.marginal((hole,))[0], weights / weights.sum(), atol=1e-12)


def test_long_chain_equals_the_forward_pass():
    rng = np.random.default_rng(7)
    n, states = 600, 3
    first = Factor((0,), np.array([0.5, 0.3, 0.2]))
    moves = [Factor((t, t + 1), rng.dirichlet([0.3] * states, states)) for t in range(n - 1)]
    factors = [first, *moves]
    evidence = np.full((n, 2), -1)
    evidence[::7, 0] = rng.integers(0, states, len(evidence[::7]))
    answer = tree_for([states] * n, factors).calibrate(factors, evidence)
    for row in range(2):
        alpha, total = first.values, 0.0
        for t in range(n):
            alpha = alpha if t == 0 else alpha @ moves[t - 1].values
            alpha = alpha * (np.arange(states) == evidence[t, row]) if evidence[t, row] >= 0 else alpha
            total, alpha = total + math.log(alpha.sum()), alpha / alpha.sum()
        assert answer.log_evidence[row] == pytest.approx(total, abs=1e-9)
        np.testing.assert_allclose(answer.marginal((n - 1,))[row], alpha, atol=1e-10)


def test_a_thousand_features_against_each_other_do_not_underflow():
    """Half the features say one class by e^700, the other half the other by e^720: linear numbers lose both."""
    n = 800
    one = np.array([[0.9, 0.1], [0.1 * math.exp(-0.5), 1 - 0.1 * math.exp(-0.5)]])
    factors = [Factor((0,), np.array([0.5, 0.5]))]
    factors += [Factor((0, i), one if i % 2 else one[::-1]) for i in range(1, n)]
    evidence = np.zeros((n, 2), dtype=int)
    evidence[0] = -1
    evidence[n // 3 :, 1] = -1
    answer = tree_for([2] * n, factors).calibrate(factors, evidence)
    for row in range(2):
        by_class = np.full(2, math.log(0.5))
        for factor in factors[1:]:
            if evidence[factor.scope[1], row] >= 0:
                by_class += np.log(factor.values[:, 0])
        assert answer.log_evidence[row] == pytest.approx(np.logaddexp(*by_class), abs=1e-9)
        expected = np.exp(by_class - np.logaddexp(*by_class))
        np.testing.assert_allclose(answer.marginal((0,))[row], expected, rtol=1e-9)


def test_messages_that_contradict_each_other_by_more_than_doubles_hold():
    """Two branches of 40 copies each, one for every state by 1e-400: only logarithms can weigh them."""
    factors, n = [Factor((0,), np.array([0.5, 0.5]))], 1
    slant = np.array([[1.0, 0.0], [0.0, 1.0]])
    for favoured in (0, 1):
        factors.append(Factor((0, n), slant))  # a middle variable equal to the first
        middle, n = n, n + 1
        for _ in range(40):
            likely = np.array([[1 - 1e-10, 1e-10], [1e-10, 1 - 1e-10]])
            factors.append(Factor((middle, n), likely if favoured == 0 else likely[::-1]))
            n += 1
    factors.append(Factor((0, n), np.array([[0.25, 0.75], [0.75, 0.25]])))
    n += 1
    evidence = np.zeros((n, 1), dtype=int)
    evidence[[0, 1, 42]] = -1
    answer = tree_for([2] * n, factors).calibrate(factors, evidence)
    assert [run.algebra for batch in answer.batches for _, run in batch.collected(answer.codes)][-1] is LOGS
    expected = math.log(0.5) + 40 * (math.log(1e-10) + math.log1p(-1e-10))
    assert answer.log_evidence[0] == pytest.approx(expected, abs=1e-8)
    np.testing.assert_allclose(answer.marginal((0,)), [[0.25, 0.75]], atol=1e-10)
    np.testing.assert_allclose(answer.marginal((1, 42))[0], np.diag([0.25, 0.75]), atol=1e-10)
    assert answer.most_probable()[0][[0, 1, 42], 0].tolist() == [1, 1, 1]
    assert set(answer.sample(np.random.default_rng(0))[[0, 1, 42], 0].tolist()) <= {0, 1}


def test_impossible_evidence_is_minus_infinity_and_has_no_posterior():
    factors = [
        Factor((0,), np.array([1.0, 0.0])),
        Factor((0, 1), np.array([[1.0, 0.0], [0.5, 0.5]])),
        Factor((2,), np.array([0.3, 0.7])),
    ]
    evidence = np.array([[-1, -1, 1], [1, 0, -1], [-1, -1, -1]])
    answer = tree_for([2, 2, 2], factors).calibrate(factors, evidence)
    np.testing.assert_allclose(answer.log_evidence, [-math.inf, 0.0, -math.inf], atol=1e-12)
    np.testing.assert_allclose(answer.marginal((2,)), [[0, 0], [0.3, 0.7], [0, 0]], atol=1e-12)
    np.testing.assert_allclose(answer.marginal((2, 0)).sum(axis=(1, 2)), [0, 1, 0], atol=1e-12)
    codes, best = answer.most_probable()
    assert codes.tolist() == [[-1, 0, 1], [1, 0, -1], [-1, 1, -1]]
    np.testing.assert_allclose(best, [-math.inf, math.log(0.7), -math.inf], atol=1e-12)
    assert answer.sample(np.random.default_rng(0))[:, [0, 2]].tolist() == evidence[:, [0, 2]].tolist()


def test_draws_follow_the_posterior():
    rng = np.random.default_rng(8)
    for _ in range(5):
        cardinalities, factors = random_network(rng, most=5)
        row = random_evidence(rng, cardinalities, 1)
        if enumeration.log_evidence(cardinalities, factors, row)[0] == -np.inf:
            continue
        every = tuple(range(len(cardinalities)))
        expected = enumeration.posterior(cardinalities, factors, row, every)[0].ravel()
        n = 40_000
        answer = tree_for(cardinalities, factors).calibrate(factors, np.repeat(row, n, axis=1))
        drawn = np.bincount(np.ravel_multi_index(answer.sample(rng), cardinalities), minlength=expected.size) / n
        assert drawn[expected == 0].sum() == 0
        error = (drawn - expected) / np.sqrt(np.maximum(expected * (1 - expected) / n, 1e-9))
        assert np.abs(error).max() < 5  # at most a few hundred cells: five standard errors do not happen


def test_separated_variables_are_independent():
    """0 → 1 → 2 ← 3: given 1, variables 0 and 2 are independent; 0 and 3 are, until 2 is seen without 1."""
    rng = np.random.default_rng(9)
    factors = [
        Factor((0,), rng.dirichlet([1] * 3)),
        Factor((0, 1), rng.dirichlet([1] * 2, 3)),
        Factor((3,), rng.dirichlet([1] * 2)),
        Factor((1, 3, 2), rng.dirichlet([1] * 2, (2, 2))),
    ]
    evidence = np.array([[-1, -1, -1], [1, -1, -1], [-1, -1, 1], [-1, -1, -1]])
    answer = tree_for([3, 2, 2, 2], factors).calibrate(factors, evidence)

    def dependence(pair):
        joint = answer.marginal(pair)
        return np.abs(joint - joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)).max(axis=(1, 2))

    assert dependence((0, 2))[0] < 1e-15
    assert dependence((0, 2))[1] > 1e-3
    assert (dependence((0, 3)) < 1e-15).tolist() == [True, True, False]


def test_what_is_observed_leaves_the_tree():
    """A clique of 30 binary variables has 2³⁰ cells; with all but three observed, 8."""
    child = 30
    tree = JunctionTree.build([2] * 31, [(*range(12), child), *((v, child) for v in range(12, 30))])
    observed = frozenset(range(2, 30))
    assert tree._tree(observed).cells == 8
    assert tree._tree(observed) is tree._tree(observed)


def test_a_posterior_too_large_is_refused_before_it_is_allocated():
    n = 60
    factors = [Factor((t, t + 1), np.ones((2, 2))) for t in range(n - 1)]
    answer = tree_for([2] * n, factors).calibrate(factors)
    with pytest.raises(TooLargeError, match="cells a row"):
        answer.marginal(tuple(range(40)))
    star = [Factor((0, i), np.ones((2, 2))) for i in range(1, n)]
    small: Calibrated = tree_for([2] * n, star, max_cells=1000).calibrate(star)
    np.testing.assert_allclose(small.marginal(tuple(range(1, 9)))[0], np.full([2] * 8, 2.0**-8))


@pytest.mark.parametrize(
    ("evidence", "message"),
    [(np.zeros((3, 4), dtype=int), "evidence has shape"), (np.array([[2], [0]]), "variable 0 has state 2")],
)
def test_bad_evidence_gets_one_clear_line(evidence, message):
    factors = [Factor((0, 1), np.ones((2, 2)))]
    with pytest.raises(OptionError, match=message):
        tree_for([2, 2], factors).calibrate(factors, evidence)


def test_bad_factors_get_one_clear_line():
    tree = JunctionTree.build([2, 2, 3], [(0, 1)])
    with pytest.raises(OptionError, match="shape"):
        tree.calibrate([Factor((0, 1), np.ones((2, 3)))])
    with pytest.raises(OptionError, match="no scope holds"):
        tree.calibrate([Factor((0, 2), np.ones((2, 3)))])
    with pytest.raises(OptionError, match="different numbers"):
        tree.calibrate([]).marginal((0, 0))


def test_no_rows_and_no_variables():
    factors = [Factor((0, 1), np.full((2, 2), 0.25))]
    empty = tree_for([2, 2], factors).calibrate(factors, np.zeros((2, 0), dtype=int))
    assert empty.log_evidence.shape == (0,)
    assert empty.marginal((1, 0)).shape == (0, 2, 2)
    assert empty.most_probable()[0].shape == (2, 0)
    nothing = JunctionTree.build([], []).calibrate([Factor((), np.array(0.5))])
    assert nothing.log_evidence.tolist() == [math.log(0.5)]
