"""Graphs and networks as values: counts of parameters, blankets, separation, marginalising, drawing rows."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from leverrier import datasets
from leverrier.errors import NetworkError, OptionError, TooLargeError
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from tests.naive.networks import dependence, joint, random_graph, random_network

seeds = st.integers(0, 2**32 - 1)
several = settings(max_examples=40, deadline=None)


def uniform(parents, sizes):
    graph = Graph.from_parents(parents)
    states = {node: [f"s{k}" for k in range(sizes[node])] for node in graph}
    shapes = {node: [sizes[other] for other in (*graph.parents(node), node)] for node in graph}
    return Network.build(graph, states, {node: np.full(shape, 1 / shape[-1]) for node, shape in shapes.items()})


def subsets(items):
    return itertools.chain.from_iterable(itertools.combinations(items, size) for size in range(len(items) + 1))


# --- parameters and marginalising ----------------------------------------------------------------------------


def test_heart_disease_has_78_parameters_and_708_without_it():
    heart = datasets.network("heart")
    assert heart.dimension == 78  # [aima figure 20.10]
    assert heart.without("HeartDisease").dimension == 708


def test_elidans_example_has_17_parameters_and_59_without_the_hidden_one():
    causes, effects = ["X1", "X2", "X3"], ["Y1", "Y2", "Y3"]
    parents = {**{x: [] for x in causes}, "H": causes, **{y: ["H"] for y in effects}}
    network = uniform(parents, dict.fromkeys(parents, 2))
    assert network.dimension == 17  # [elidan2000 figure 1]
    without = network.without("H")
    assert without.dimension == 59
    assert len(without.edges) == 12


@several
@given(seeds)
def test_marginalising_leaves_the_distribution_of_the_rest(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, 6, zeros=0.2)
    node = str(rng.choice(network.variables))
    rest = network.without(node)
    assert rest.variables == tuple(v for v in network.variables if v != node)
    np.testing.assert_allclose(joint(rest), joint(network).sum(axis=network.variables.index(node)), atol=1e-12)


@several
@given(seeds)
def test_the_graph_without_a_node_claims_no_independence_that_was_not_there(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 5)
    node = str(rng.choice(graph.nodes))
    rest = graph.without(node)
    for x, y in itertools.combinations(rest.nodes, 2):
        for z in subsets([v for v in rest.nodes if v not in (x, y)]):
            if rest.d_separated(x, y, z):
                assert graph.d_separated(x, y, z), (graph, node, x, y, z)


@several
@given(seeds)
def test_the_literal_rule_adds_the_clique_and_the_parents_arrows_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 6)
    node = str(rng.choice(graph.nodes))
    above, below = graph.parents(node), graph.children(node)
    found = set(graph.without(node, rule="elidan2000").edges)
    assert {edge for edge in graph.edges if node not in edge} <= found
    assert {(p, c) for p in above for c in below} <= found
    added = found - set(graph.edges) - {(p, c) for p in above for c in below}
    linked = {frozenset(edge) for edge in found}
    assert all(frozenset(pair) in linked for pair in itertools.combinations(below, 2))
    assert all(a in below and b in below for a, b in added)


def test_the_literal_rule_is_no_independence_map_when_a_child_has_another_parent():
    graph = Graph.from_parents({"P": [], "H": [], "A": ["P", "H"], "B": ["H"]})
    assert not graph.d_separated("P", "B", ["A"])
    assert graph.without("H", rule="elidan2000").d_separated("P", "B", ["A"])
    assert not graph.without("H").d_separated("P", "B", ["A"])


def test_marginalising_into_a_table_that_is_too_large_is_refused():
    parents = {f"x{i}": [] for i in range(26)} | {"h": []}
    parents |= {f"y{i}": ["h", f"x{2 * i}", f"x{2 * i + 1}"] for i in range(13)}
    network = uniform(parents, dict.fromkeys(parents, 2))
    with pytest.raises(TooLargeError, match=r"graph\.without"):
        network.without("h")
    assert len(network.graph.without("h").parents("y12")) == 26 + 12


# --- blanket and separation ------------------------------------------------------------------------------------


@several
@given(seeds)
def test_the_blanket_is_the_smallest_set_that_separates_a_node_from_the_rest(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 7)
    node = str(rng.choice(graph.nodes))
    blanket = graph.blanket(node)
    others = [v for v in graph.nodes if v != node and v not in blanket]
    assert not others or graph.d_separated(node, others, blanket)
    for member in blanket:
        rest = [v for v in graph.nodes if v not in (node, member)]
        assert not graph.d_separated(node, member, rest)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(seeds)
def test_separation_in_the_graph_is_independence_in_the_distribution(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng, 5, min_states=2)
    table = joint(network)
    place = {name: axis for axis, name in enumerate(network.variables)}
    for x, y in itertools.combinations(network.variables, 2):
        for z in subsets([v for v in network.variables if v not in (x, y)]):
            gap = dependence(table, place[x], place[y], [place[v] for v in z])
            if network.graph.d_separated(x, y, z):
                assert gap < 1e-14
            else:  # with random tables an arrow that matters not at all does not happen
                assert gap > 1e-14


def test_the_moral_graph_marries_parents():
    graph = Graph.from_parents({"a": [], "b": [], "c": ["a", "b"], "d": ["c"]})
    assert graph.moral() == {"a": {"b", "c"}, "b": {"a", "c"}, "c": {"a", "b", "d"}, "d": {"c"}}


def test_separation_wants_known_and_disjoint_nodes():
    graph = Graph.from_parents({"a": [], "b": ["a"]})
    with pytest.raises(NetworkError, match="no node 'q'"):
        graph.d_separated("a", "q")
    with pytest.raises(NetworkError, match="'a' stands on two sides"):
        graph.d_separated("a", "b", "a")


# --- what is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({"a": ["c"], "b": ["a"], "c": ["b"]}, r"cycle: (a → b → c → a|b → c → a → b|c → a → b → c)"),
        ({"a": ["a"]}, "cycle: a → a"),
        ({"a": ["z"]}, "'a' has a parent 'z'"),
        ({"a": [], "b": ["a", "a"]}, "'b' names a parent twice"),
    ],
)
def test_a_graph_that_is_none(parents, message):
    with pytest.raises(NetworkError, match=message):
        Graph.from_parents(parents)


@pytest.mark.parametrize(
    ("states", "table", "message"),
    [
        (["x", "y"], [0.5, 0.4], "not a distribution"),
        (["x", "y"], [1.5, -0.5], "not a distribution"),
        (["x", "y"], [np.nan, 1.0], "not a distribution"),
        (["x", "y"], [np.inf, -np.inf], "not a distribution"),
        (["x", "y", "z"], [0.5, 0.5], r"shape \(2,\), expected \(3,\)"),
        (["x", "x"], [0.5, 0.5], "the state 'x' twice"),
        ([], [], "no states"),
    ],
)
def test_a_network_that_is_none(states, table, message):
    with pytest.raises(NetworkError, match=message):
        Network.build(Graph.from_parents({"a": []}), {"a": states}, {"a": table})


def test_a_network_needs_states_and_a_table_for_every_node():
    graph = Graph.from_parents({"a": [], "b": []})
    with pytest.raises(NetworkError, match="'b' has no states"):
        Network.build(graph, {"a": "xy"}, {"a": [0.5, 0.5], "b": [0.5, 0.5]})
    with pytest.raises(NetworkError, match="'b' has no table"):
        Network.build(graph, {"a": "xy", "b": "xy"}, {"a": [0.5, 0.5]})


# --- a value ----------------------------------------------------------------------------------------------------


def test_nothing_outside_can_change_a_network():
    given_table, given_states, notes = np.array([0.25, 0.75]), {"a": ["x", "y"]}, {"name": "n"}
    network = Network(Graph.from_parents({"a": []}), given_states, {"a": given_table}, notes)
    given_table[:] = [1, 0]
    given_states["a"].append("z")
    notes["name"] = "other"
    assert network.cpt("a").tolist() == [0.25, 0.75]
    assert network.states == {"a": ("x", "y")}
    assert network.notes == {"name": "n"}
    with pytest.raises(ValueError, match="read-only"):
        network.cpt("a")[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        network.cpt("a").flags.writeable = True
    for mapping in (network.states, network.tables, network.notes, network.graph.parent_map, network.graph.child_map):
        with pytest.raises(TypeError):
            mapping["a"] = ()


def test_equal_networks_are_equal_through_pickling_and_copying():
    network = datasets.network("asia")
    for other in (pickle.loads(pickle.dumps(network)), copy.deepcopy(network), datasets.network("asia")):
        assert other == network
        assert hash(other) == hash(network)
        assert other.notes == network.notes
        assert not other.cpt("lung").flags.writeable
    assert network.with_tables({"asia": np.array([0.02, 0.98])}) != network
    assert network.relabelled({"asia": ["visited", "not"]}) != network
    assert network.without("xray") != network
    assert network != "asia"


@several
@given(seeds)
def test_building_twice_changes_nothing(seed):
    network = random_network(np.random.default_rng(seed), 5, max_states=7)
    assert Network.build(network.graph, network.states, network.tables) == network


def test_rows_that_nearly_sum_to_one_are_made_to():
    network = Network.build(Graph.from_parents({"a": []}), {"a": "xyz"}, {"a": [0.3333333, 0.3333333, 0.3333333]})
    np.testing.assert_allclose(network.cpt("a"), 1 / 3, rtol=1e-15)


# --- drawing rows -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rows_are_drawn_as_often_as_the_distribution_says(seed):
    network = random_network(np.random.default_rng(seed), 5, zeros=0.2)
    expected = joint(network).ravel()
    n_rows = 200_000
    table = network.sample(n_rows, seed=seed)
    sizes = [network.cardinality(name) for name in network.variables]
    cells = np.ravel_multi_index(tuple(table.codes.astype(np.int64)), sizes)
    found = np.bincount(cells, minlength=len(expected))
    assert found[expected == 0].sum() == 0
    large = expected * n_rows >= 5  # rarer cells are counted together
    observed = np.append(found[large], found[~large].sum())
    wanted = np.append(expected[large], expected[~large].sum()) * n_rows
    kept = wanted > 0
    assert stats.chisquare(observed[kept], wanted[kept]).pvalue > 1e-3


def test_a_seed_draws_the_same_rows_and_another_seed_others():
    network = datasets.network("asia")
    first = network.sample(500, seed=7)
    assert np.array_equal(first.codes, network.sample(500, seed=7).codes)
    assert np.array_equal(first.codes, network.sample(500, seed=np.random.default_rng(7)).codes)
    assert not np.array_equal(first.codes, network.sample(500, seed=8).codes)


def test_the_drawn_table_has_the_networks_variables_and_states():
    network = datasets.network("child")
    table = network.sample(20, seed=0)
    assert table.variables == network.variables
    assert table.states == network.states
    assert (table.n_rows, table.n_missing) == (20, 0)
    assert network.sample(0, seed=0).n_rows == 0
    with pytest.raises(OptionError, match="-3 rows"):
        network.sample(-3)


def test_a_state_that_cannot_be_is_never_drawn_whatever_rounding_leaves():
    row = np.append(np.full(10, 0.1), 0.0)
    assert np.cumsum(row)[-1] < 1  # so that a draw can lie above every cumulative sum
    network = Network.build(Graph.from_parents({"a": []}), {"a": range(11)}, {"a": row})

    class Highest(np.random.Generator):
        def random(self, size=None, *_):
            return np.full(size, np.nextafter(1.0, 0.0))

    assert network.sample(3, seed=Highest(np.random.PCG64(0))).codes.tolist() == [[9, 9, 9]]
