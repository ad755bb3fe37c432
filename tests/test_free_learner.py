"""A hidden variable against learners that may use any function of the columns: who wins is known beforehand."""

import numpy as np
import pytest

import leverrier as lv
from leverrier.discovery.evidence.free_learner import against_free_learner, foretelling, foretold
from leverrier.models.graph import Graph
from leverrier.run.run import Run


def star(seed, rows=1500):
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 2, rows)
    return np.array([np.where(rng.random(rows) < 0.7, hidden, rng.integers(0, 3, rows)) for _ in range(6)])


def table_of(codes):
    return lv.Table.from_codes({f"c{i}": tuple(range(int(each.max()) + 1)) for i, each in enumerate(codes)}, codes)


def with_class(table, states=2):
    graph = Graph.from_parents({**dict.fromkeys(table.variables, ("H",)), "H": ()})
    return lv.fit(graph, table, hidden={"H": states}, starts=3, seed=0).network


@pytest.mark.parametrize("seed", [0, 1])
def test_a_true_hidden_variable_outdoes_every_learner(seed):
    table = table_of(star(seed))
    found = against_free_learner(with_class(table), table.variables, table, lv.BDe(), seed)
    assert found is not None
    assert found.outdone
    assert found.z > 3


def test_learners_that_have_no_time_left_say_nothing():
    """A wide table's learners take minutes: each looks at the end of the budget before it begins."""
    table = table_of(star(0, rows=300))
    network = with_class(table)
    asked = foretelling(network, table.variables, table, lv.BDe(), 0, run=Run(deadline=0.0))
    assert asked is not None
    assert foretold(*asked[0][0]) is None
    assert against_free_learner(network, table.variables, table, lv.BDe(), 0, run=Run(deadline=0.0)) is None


def test_a_patch_on_a_function_of_the_columns_does_not():
    """The last column is the parity of the first three: a class cannot say it, boosted trees can."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, (3, 2000))
    noise = rng.random(2000) < 0.05
    table = table_of(np.vstack([first, first.sum(axis=0) % 2 ^ noise]))
    found = against_free_learner(with_class(table), table.variables, table, lv.BDe(), 0)
    assert found is not None
    assert not found.outdone
    assert found.columns["c3"] < -0.3  # (log 2 less the noise is .49)


def test_the_network_without_it_is_a_learner_too():
    """Two columns that lean on a third: a class that copies the third says no more than the arcs do."""
    rng = np.random.default_rng(5)
    first = rng.integers(0, 3, 1500)
    rest = [np.where(rng.random(1500) < 0.6, first, rng.integers(0, 3, 1500)) for _ in range(3)]
    table = table_of(np.vstack([first, *rest]))
    rival = lv.fit(Graph.from_parents({"c0": (), **dict.fromkeys(["c1", "c2", "c3"], ("c0",))}), table).network
    network = with_class(table, 3)
    alone, beside = (against_free_learner(network, table.variables, table, lv.BDe(), 0, r) for r in (None, rival))
    assert alone is not None
    assert beside is not None
    assert not beside.outdone
    assert beside.advantage <= alone.advantage  # (one more learner can only be better)


def test_holes_weights_and_lone_values_are_taken():
    codes = star(2, 400)
    codes[0, :200] = -1
    table = table_of(codes)
    network = with_class(table)
    found = against_free_learner(network, table.variables, table, lv.BDe(), 0)
    assert found is not None
    assert np.isfinite(found.z)
    counted = against_free_learner(network, table.variables, table.distinct(), lv.BDe(), 0)
    assert counted is not None
    assert np.isfinite(counted.z)
    assert against_free_learner(network, table.variables, table.take(np.arange(30)), lv.BDe(), 0) is None
    lone = codes.copy()
    lone[1] = 0
    lone[1, 0] = 1
    found = against_free_learner(network, ["c1"], table_of(lone), lv.BDe(), 0)
    assert found is not None
