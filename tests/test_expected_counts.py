"""Expected counts of any family against the enumeration of every completion of every row."""

import numpy as np
import pytest

from leverrier.counts import expected_counts as module
from leverrier.counts.expected_counts import ExpectedCounts
from leverrier.counts.family import Family
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.data.table import Table
from leverrier.errors import NetworkError
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from tests.naive.em import completions, expected_table
from tests.naive.networks import random_network


def random_case(rng, n_rows, hidden_share=0.3, hole_share=0.3, max_nodes=7):
    """A random network, the codes of some rows (−1: hole), their weights, and the table that shows them."""
    network = random_network(rng, int(rng.integers(2, max_nodes + 1)))
    names = network.variables
    codes = np.stack([rng.integers(0, network.cardinality(name), n_rows) for name in names])
    hidden = rng.random(len(names)) < hidden_share
    hidden[rng.integers(len(names))] = False
    codes[hidden] = -1
    codes[rng.random(codes.shape) < hole_share] = -1
    weights = rng.integers(1, 4, n_rows).astype(float)
    shown = [int(v) for v in rng.permutation(np.flatnonzero(~hidden))]
    table = Table.from_codes({names[v]: network.states[names[v]] for v in shown}, codes[shown], weights)
    return network, codes, weights, table


def random_family(rng, names):
    picked = [str(name) for name in rng.permutation(names)[: rng.integers(1, min(len(names), 4) + 1)]]
    return Family(picked[0], tuple(picked[1:]))


@pytest.mark.parametrize("largest_joint", [1024, 1], ids=["joints", "clique trees"])
def test_any_family_equals_enumeration(largest_joint, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_JOINT", largest_joint)
    rng = np.random.default_rng(largest_joint)
    for _ in range(40):
        network, codes, weights, table = random_case(rng, 8, hole_share=float(rng.choice([0.0, 0.4])))
        counts = ExpectedCounts(network, table)
        families = [random_family(rng, network.variables) for _ in range(4)]
        for family, found in zip(families, counts.tables(families), strict=True):
            wanted = expected_table(network, codes, weights, family.child, family.parents)
            np.testing.assert_allclose(found, wanted, atol=1e-10)
            assert found.sum() == pytest.approx(weights.sum(), abs=1e-9)


def test_large_groups_pass_through_trees_also_where_no_clique_has_the_family(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_JOINT", 1)
    rng = np.random.default_rng(3)
    chain = {"a": [], **{b: [a] for a, b in zip("abcdefg", "bcdefgh", strict=True)}}
    network = random_network(rng, 8, max_states=3, graph=Graph.from_parents(chain), min_states=2)
    codes = np.full((8, 6), -1)
    codes[[0, 7]] = rng.integers(0, 2, (2, 6))  # six variables hang together in every row
    table = Table.from_codes({name: network.states[name] for name in "ah"}, codes[[0, 7]])
    for family in (Family("g", ("b",)), Family("d", ("b", "f")), Family("b", ("a", "g", "h"))):
        wanted = expected_table(network, codes, np.ones(6), family.child, family.parents)
        np.testing.assert_allclose(ExpectedCounts(network, table).tables([family])[0], wanted, atol=1e-10)


def test_summing_out_a_parent_gives_the_smaller_table():
    rng = np.random.default_rng(0)
    for _ in range(30):
        network, _, _, table = random_case(rng, 40, max_nodes=6)
        counts = ExpectedCounts(network, table)
        family = random_family(rng, network.variables)
        for axis in range(len(family.parents)):
            smaller = Family(family.child, family.parents[:axis] + family.parents[axis + 1 :])
            large, small = counts.tables([family, smaller])
            np.testing.assert_allclose(large.sum(axis=axis), small, atol=1e-9)


def test_nothing_unobserved_gives_observed_counts():
    rng = np.random.default_rng(1)
    network = random_network(rng, 6)
    table = network.sample(200, seed=2)
    families = [random_family(rng, network.variables) for _ in range(10)]
    for ours, plain in zip(
        ExpectedCounts(network, table).tables(families), ObservedCounts(table).tables(families), strict=True
    ):
        np.testing.assert_array_equal(ours, plain)


def test_expand_gives_the_tables_of_every_candidate():
    rng = np.random.default_rng(2)
    for holes in (0.0, 0.3):
        for _ in range(15):
            network, _, _, table = random_case(rng, 30, hole_share=holes)
            names = network.variables
            counts = ExpectedCounts(network, table)
            family = random_family(rng, names)
            members = [names.index(name) for name in (family.child, *family.parents)]
            wanted = np.ones(len(names) + 1, dtype=bool)
            wanted[members] = False
            packed, starts = counts.expand(members[0], members[1:], wanted)
            for v in np.flatnonzero(wanted):
                more = (names[v],) if v < len(names) else ()
                table_of_v = counts.tables([Family(family.child, (*family.parents, *more))])[0]
                np.testing.assert_allclose(packed[starts[v] : starts[v + 1]], table_of_v.ravel(), atol=1e-9)


def test_posteriors_of_every_row_in_order():
    rng = np.random.default_rng(4)
    for _ in range(20):
        network, codes, _, table = random_case(rng, 7, max_nodes=5)
        counts = ExpectedCounts(network, table)
        for v, name in enumerate(network.variables):
            found = counts.posterior(name)
            for i, row in enumerate(codes.T):
                share = np.zeros(network.cardinality(name))
                for states, p in completions(network, row):
                    share[states[v]] += p
                np.testing.assert_allclose(found[i], share / share.sum(), atol=1e-12)


def test_columns_may_have_the_states_in_another_order():
    rng = np.random.default_rng(5)
    network = random_network(rng, 4, min_states=2)
    table = network.sample(50, seed=1)
    first = network.variables[0]
    turned = table.codes.astype(int)
    turned[0] = network.cardinality(first) - 1 - turned[0]
    other = Table.from_codes({**table.states, first: tuple(reversed(network.states[first]))}, turned)
    hidden = network.variables[1]
    family = Family(hidden, (first,))
    a, b = (ExpectedCounts(network, t.drop(hidden)).tables([family])[0] for t in (table, other))
    np.testing.assert_allclose(a, b, atol=1e-12)


def test_an_unknown_variable_and_an_impossible_row_are_said():
    graph = Graph.from_parents({"h": [], "x": ["h"]})
    network = Network.build(graph, {"h": "ab", "x": "cd"}, {"h": [0.5, 0.5], "x": [[1.0, 0.0], [1.0, 0.0]]})
    table = Table.from_codes({"x": ("c", "d")}, np.array([[0, 0, 1]]))
    with pytest.raises(NetworkError, match="no variable 'w'"):
        ExpectedCounts(network, table).tables([Family("w")])
    with pytest.raises(NetworkError, match="some row probability zero"):
        ExpectedCounts(network, table).tables([Family("h")])
