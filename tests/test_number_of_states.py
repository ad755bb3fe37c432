"""The number of states of a hidden variable in its place: arcs that stood in for states give way to them."""

import numpy as np
import pytest

import leverrier as lv
from leverrier.discovery.places.candidate import Candidate
from leverrier.discovery.places.deepening import Found, Screening, centred
from leverrier.discovery.places.number_of_states import settled
from leverrier.discovery.places.search import begin
from leverrier.discovery.plan import Plan
from leverrier.models.graph import Graph
from leverrier.models.network import Network

CHILDREN = tuple(f"x{i}" for i in range(6))


def star(states: int, seed: int) -> Network:
    """Each hidden state prefers another state of each child, in an order of its own for each child."""
    rng = np.random.default_rng([seed, states])
    graph = Graph.from_parents({"H": (), **dict.fromkeys(CHILDREN, ("H",))})
    tables = {"H": np.full(states, 1 / states)}
    for name in CHILDREN:
        table = rng.dirichlet(np.full(4, 2.0), size=states)
        tables[name] = 0.3 * table + 0.7 * np.eye(4)[rng.permutation(4)[np.arange(states) % 4]]
    return Network.build(graph, {"H": tuple("abcd"[:states]), **dict.fromkeys(CHILDREN, tuple("pqrs"))}, tables)


@pytest.mark.parametrize(("true", "start"), [(4, 2), (3, 2), (2, 4)])
def test_the_true_number_is_reached_from_a_wrong_one_held_by_arcs(true, start):
    truth = star(true, 5)
    data = truth.sample(2000, seed=6).drop("H")
    search = begin(data, lv.BDe(), Plan(max_hidden=1))
    screening = Screening(search.ground, search.plan, search.run, search.baseline.graph, search.baseline.score, {}, "H")
    crowded = {"H": (), **{name: ("H", *CHILDREN[max(0, i - 1) : i]) for i, name in enumerate(CHILDREN)}}
    sizes = {"H": start}
    tried = centred(screening, Graph.from_parents(crowded), sizes, rounds=0)
    one = Found("H", tried, sizes, tried.score - screening.score, Candidate(frozenset(CHILDREN), "given"), "given")
    found = settled(screening, one)
    assert found.sizes == {"H": true}
    assert found.tried.score > tried.score
    assert found.tried.graph.neighbours("H") == set(CHILDREN)
    assert not any(set(found.tried.graph.parents(name)) & set(CHILDREN) for name in CHILDREN)
    assert found.gain == pytest.approx(found.tried.score - search.baseline.score)


def test_a_given_number_of_states_is_left_alone():
    data = star(3, 7).sample(2000, seed=8).drop("H")
    found = lv.find_hidden(data, cardinality=2, max_hidden=1)
    assert [each.states for each in found.hidden] == [2]
