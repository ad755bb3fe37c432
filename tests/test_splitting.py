"""One hidden variable that took on the states of two is split along what its children confuse."""

import numpy as np

import leverrier as lv
from leverrier.discovery.places.candidate import Candidate
from leverrier.discovery.places.deepening import Found, Screening, centred
from leverrier.discovery.places.search import begin
from leverrier.discovery.places.splitting import split_in_two
from leverrier.discovery.plan import Plan
from leverrier.models.graph import Graph
from leverrier.models.network import Network

FIRST, SECOND = tuple(f"a{i}" for i in range(5)), tuple(f"b{i}" for i in range(5))


def chained(link: float) -> Network:
    rng = np.random.default_rng(9)
    graph = Graph.from_parents({"G": (), "H": ("G",), **dict.fromkeys(FIRST, ("G",)), **dict.fromkeys(SECOND, ("H",))})
    tables = {"G": np.array([0.55, 0.45]), "H": np.array([[link, 1 - link], [1 - link, link]])}
    for name in (*FIRST, *SECOND):
        strength = rng.uniform(0.75, 0.9)
        tables[name] = np.array([[strength, 1 - strength], [1 - strength, strength]])
    return Network.build(graph, dict.fromkeys(graph, ("no", "yes")), tables)


def one_for_both(data, states):
    """A search that ended with one hidden variable over all columns, and the screening for the next."""
    search = begin(data, lv.BDe(), Plan(max_hidden=2))
    alone = Screening(search.ground, search.plan, search.run, search.baseline.graph, search.baseline.score, {}, "H1")
    graph = Graph.from_parents({"H1": (), **dict.fromkeys(data.variables, ("H1",))})
    tried = centred(alone, graph, {"H1": states}, rounds=0)
    found = Found("H1", tried, {"H1": states}, 0.0, Candidate(frozenset(data.variables), "given"), "given")
    return Screening(search.ground, search.plan, search.run, tried.graph, tried.score, {"H1": states}, "H2"), found


def test_two_linked_variables_come_apart():
    data = chained(0.8).sample(3000, seed=10).drop("G", "H")
    screening, found = one_for_both(data, 4)
    split = split_in_two(screening, found.tried)
    assert split is not None
    graph = split.tried.graph
    assert {frozenset(graph.neighbours(name) & set(data.variables)) for name in ("H1", "H2")} == {
        frozenset(FIRST),
        frozenset(SECOND),
    }
    assert dict(split.sizes) == {"H1": 2, "H2": 2}
    assert split.gain > 0


def test_one_variable_of_four_states_stays_one():
    rng = np.random.default_rng(11)
    names = (*FIRST, *SECOND)
    graph = Graph.from_parents({"G": (), **dict.fromkeys(names, ("G",))})
    tables = {"G": np.full(4, 0.25)} | {n: 0.3 * rng.dirichlet(np.ones(4), 4) + 0.7 * np.eye(4) for n in names}
    truth = Network.build(graph, dict.fromkeys(graph, tuple("pqrs")), tables)
    screening, found = one_for_both(truth.sample(2000, seed=12).drop("G"), 4)
    assert split_in_two(screening, found.tried) is None
