"""Structural EM: it finds what was wrong, its bound never falls, and holes cost no rows."""

import numpy as np
import pytest

import leverrier as lv
from leverrier.data.table import Table
from leverrier.errors import OptionError
from leverrier.learning.structure.structural_em import structural_em
from leverrier.models.graph import Graph
from leverrier.models.network import Network


def star(seed=0, children=5, states=2, extra=2):
    """A hidden root with sharp children, and columns that hang on the first child alone."""
    rng = np.random.default_rng(seed)
    names = [f"c{i}" for i in range(children)]
    parents = {"h": [], **{name: ["h"] for name in names}, **{f"e{i}": ["c0"] for i in range(extra)}}
    labels = {node: tuple(str(k) for k in range(states if node == "h" else 2)) for node in parents}
    tables = {"h": np.full(states, 1 / states)}
    for node in names:
        tables[node] = np.stack([[p, 1 - p] for p in np.linspace(0.1, 0.9, states)])
    for i in range(extra):
        tables[f"e{i}"] = rng.permutation([[0.8, 0.2], [0.25, 0.75]])
    return Network.build(Graph.from_parents(parents), labels, tables)


def test_a_wrong_parent_is_replaced_by_the_right_one():
    """One column hidden; in the start graph a child hangs on the wrong column."""
    truth = star()
    data = truth.sample(3000, seed=1).drop("h")
    wrong = truth.graph.with_parents({"c4": ("e1",), "e0": ("c3",)})
    found = structural_em(wrong, data, hidden={"h": 2}, seed=0)
    skeleton = {frozenset(edge) for edge in found.graph.edges}
    assert skeleton == {frozenset(edge) for edge in truth.edges}
    assert found.score > found.trace[0]


@pytest.mark.parametrize("method", ["vb", "em"])
def test_the_bound_never_falls(method):
    for seed in range(4):
        data = star(seed).sample(400, seed=seed).drop("h")
        start = Graph.from_edges(("h", *data.variables), [("h", name) for name in data.variables])
        found = structural_em(start, data, hidden={"h": 3}, method=method, restarts=2, seed=seed)
        assert (np.diff(found.trace) > 0).all()
        assert found.score == pytest.approx(found.trace[-1])


def test_the_region_and_required_arcs_are_kept():
    truth = star()
    data = truth.sample(1500, seed=2).drop("h")
    start = truth.graph.with_parents({"c1": (), "e0": ("c3",), "e1": ("c3",)})
    found = structural_em(start, data, hidden={"h": 2}, region=["h", "c1", "c2"], required=[("h", "c2")])
    assert "c1" in found.graph.neighbours("h")
    assert "h" in found.graph.parents("c2")
    assert found.graph.parents("e0") == ("c3",)
    assert found.graph.parents("e1") == ("c3",)


def test_learning_from_holes_uses_every_row_and_says_so():
    """With a fifth of the cells gone, the graph and the parameters come back close to the truth."""
    truth = lv.datasets.network("asia")
    full = truth.sample(4000, seed=3)
    rng = np.random.default_rng(4)
    codes = np.where(rng.random(full.codes.shape) < 0.2, full.missing, full.codes).astype(full.codes.dtype)
    holed = Table(full.columns, codes)
    found = lv.learn_structure(holed)
    assert any("structural EM" in note for note in found.notes)
    test = truth.sample(4000, seed=5)
    best = truth.log_likelihood(test)
    assert best - found.network.log_likelihood(test) < 0.01 * test.n_rows
    available = lv.learn_structure(holed, holes="available")
    assert any("as asked" in note for note in available.notes)
    assert best - available.network.log_likelihood(test) < 0.02 * test.n_rows
    bic = lv.learn_structure(holed, score=lv.BIC())
    assert len(bic.network.edges) <= 12


def test_without_holes_or_hidden_variables_the_bound_is_the_plain_score():
    data = lv.datasets.network("asia").sample(500, seed=0)
    graph = lv.datasets.network("asia").graph
    found = structural_em(graph, data, region=[])
    assert found.score == pytest.approx(lv.score(graph, data, score=lv.BDe(1)), abs=1e-6)


def test_what_is_hidden_must_have_a_place_and_a_size():
    data = star().sample(50, seed=0).drop("h")
    with pytest.raises(OptionError, match="no node of the network"):
        structural_em(Graph.from_edges(data.variables, []), data, hidden={"h": 2})
    with pytest.raises(OptionError, match="how many states"):
        structural_em(star().graph, data)
