"""Groups too large for exact inference, as products of single posteriors: against mean field written out."""

import numpy as np
import pytest

from leverrier.counts import expected_counts as expected
from leverrier.counts.expected_counts import ExpectedCounts
from leverrier.counts.family import Family
from leverrier.counts.observation import Observation, observe
from leverrier.data.table import Table
from leverrier.inference.exact import group_trees as trees
from leverrier.inference.exact import groups
from leverrier.inference.exact.e_step import EStep
from leverrier.learning.em.fit import fit
from leverrier.models.graph import Graph
from tests.naive.mean_field import mean_field
from tests.naive.networks import random_network


@pytest.fixture(autouse=True)
def no_room_for_trees(monkeypatch):
    monkeypatch.setattr(trees, "MOST_CELLS", 0)
    monkeypatch.setattr(groups, "CHEAP", 0)
    monkeypatch.setattr(expected, "LARGEST_JOINT", 1)
    monkeypatch.setattr(Observation.plan, "__defaults__", (1,))


def case(rng, rows=6, hole_share=0.6):
    network = random_network(rng, 6, min_states=2)
    codes = np.stack([rng.integers(0, network.cardinality(name), rows) for name in network.variables])
    codes[rng.random(codes.shape) < hole_share] = -1
    codes[0, 0] = codes[-1, 0] = 0
    weights = rng.integers(1, 4, rows).astype(float)
    return network, codes, Table.from_codes(dict(network.states), codes, weights), weights


def test_posteriors_tables_and_bound_equal_mean_field_written_out():
    rng = np.random.default_rng(1)
    compared = 0
    for _ in range(25):
        network, codes, table, weights = case(rng)
        counts = ExpectedCounts(network, table)
        names = network.variables
        single = {name: np.zeros((codes.shape[1], network.cardinality(name))) for name in names}
        bound = 0.0
        for row in range(codes.shape[1]):
            seen = {v: int(codes[i, row]) for i, v in enumerate(names) if codes[i, row] >= 0}
            unseen = [v for v in network.graph if v not in seen]
            q, value = mean_field(network, seen, unseen)
            bound += weights[row] * value
            for v in names:
                single[v][row] = q[v] if v in q else np.eye(network.cardinality(v))[seen[v]]
        if not counts.approximate:
            continue
        compared += 1
        for v in names:
            np.testing.assert_allclose(counts.posterior(v), single[v], atol=1e-4)
        found = counts.tables([Family(names[0], (names[1],))])[0]
        wanted = np.einsum("r,ra,rb->ab", weights, single[names[1]], single[names[0]])
        np.testing.assert_allclose(found, wanted, atol=1e-3 * weights.sum())
        assert bound <= network.log_likelihood(table) + 1e-9
        seen = observe(network.graph, network.states, table)
        theta = seen.layout.pack([network.tables[node] for node in seen.open_nodes])
        explained = EStep(seen.plan(prune=False, largest_joint=1))(theta, np.zeros(seen.layout.room))
        observed = [*zip(seen.closed_nodes, seen.closed_counts, strict=True)]
        observed += [*zip(seen.open_nodes, seen.open_counts, strict=True)]
        rest = sum(float((n * np.log(network.tables[v])).sum()) for v, n in observed)
        assert explained + rest == pytest.approx(bound, abs=1e-5)
    assert compared > 15


def test_what_is_independent_given_the_row_stays_exact():
    """Two hidden causes that share one child, which says nothing about either: their posterior is a product."""
    graph = Graph.from_parents({"a": [], "b": [], "x": ["a"], "y": ["b"], "z": ["a", "b"]})
    rng = np.random.default_rng(2)
    network = random_network(rng, 5, graph=graph, min_states=2, max_states=2)
    flat = {**network.tables, "z": np.full((2, 2, 2), 0.5)}
    network = type(network).build(graph, network.states, flat)
    table = network.sample(30, seed=3).drop("a", "b")
    counts = ExpectedCounts(network, table)
    assert counts.approximate
    np.testing.assert_allclose(counts.posterior("a"), network.posterior(table, "a"), atol=1e-6)


@pytest.mark.parametrize("method", ["em", "vb"])
def test_em_on_the_bound_never_falls_and_stays_below_the_likelihood(method):
    graph = Graph.from_parents({"a": [], "b": ["a"], "x": ["a"], "y": ["a", "b"], "z": ["b"], "w": ["a", "b"]})
    for seed in range(20):
        rng = np.random.default_rng([seed, 4])
        truth = random_network(rng, 6, graph=graph, min_states=2, max_states=3)
        table = truth.sample(60, seed=seed).drop("a", "b")
        result = fit(graph, table, {"a": 2, "b": 2}, starts=2, method=method, seed=seed)
        assert np.all(np.diff(result.trace) >= -1e-9)
        assert result.approximate
        if method == "em":
            assert result.log_likelihood <= result.network.log_likelihood(table) + 1e-7
