"""To and from networkx, pgmpy and pyAgrum: the same arrows, states and numbers, asked in their own words."""

import itertools
import sys
import warnings
from types import SimpleNamespace

import networkx
import numpy as np
import pytest

from leverrier import datasets
from leverrier.errors import MissingExtraError, NetworkError
from leverrier.formats.interop import from_networkx, from_pgmpy, from_pyagrum, to_networkx, to_pgmpy, to_pyagrum
from leverrier.formats.network_files import read_network, write_network
from leverrier.models.graph import Graph
from leverrier.models.network import Network

PUBLISHED = [
    "alarm",
    "andes",
    "asia",
    "cancer",
    "child",
    "earthquake",
    "hailfinder",
    "insurance",
    "munin1",
    "sachs",
    "survey",
    "water",
    "win95pts",
]
pytestmark = pytest.mark.filterwarnings("ignore")  # of other packages


def optional(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"{name} is not installed: pip install leverrier[interop]")


@pytest.fixture
def pgmpy():
    return optional("pgmpy.models") and optional("pgmpy.readwrite")


@pytest.fixture
def gum():
    return optional("pyagrum")


def lopsided(labels=None):
    """Two, three and four states, parents not in the order of the nodes: no two axes can be taken for each other."""
    graph = Graph.from_parents({"C": ["B", "A"], "A": [], "B": ["A"]})
    states = {"C": ["c0", "c1", "c2", "c3"], "A": ["a0", "a1"], "B": ["b0", "b1", "b2"]}
    rng = np.random.default_rng(5)
    tables = {"C": rng.dirichlet(np.ones(4), (3, 2)), "A": rng.dirichlet(np.ones(2)), "B": rng.dirichlet(np.ones(3), 2)}
    return Network.build(graph, {**states, **(labels or {})}, tables)


def assert_same_distributions(found, network, within=1e-12):
    """Equal tables, whatever the order of the parents."""
    assert set(found.variables) == set(network.variables)
    for name in network.variables:
        assert found.states[name] == network.states[name]
        theirs, ours = (*found.parents(name), name), (*network.parents(name), name)
        assert set(theirs) == set(ours)
        table = found.cpt(name).transpose([theirs.index(other) for other in ours])
        np.testing.assert_allclose(table, network.cpt(name), rtol=0, atol=within, err_msg=name)


# --- networkx ---------------------------------------------------------------------------------------------------


def test_networkx_keeps_nodes_arrows_and_the_order_of_parents():
    network = lopsided()
    graph = to_networkx(network)
    assert isinstance(graph, networkx.DiGraph)
    assert set(graph.edges) == {("B", "C"), ("A", "C"), ("A", "B")}
    assert from_networkx(graph) == network.graph
    assert from_networkx(to_networkx(network.graph)) == network.graph
    win95 = datasets.network("win95pts").graph
    assert from_networkx(to_networkx(win95)) == win95


def test_networkx_graphs_that_are_no_networks():
    with pytest.raises(NetworkError, match="no directions"):
        from_networkx(networkx.Graph([("a", "b")]))
    with pytest.raises(NetworkError, match="cycle"):
        from_networkx(networkx.DiGraph([("a", "b"), ("b", "a")]))
    with pytest.raises(NetworkError, match="given twice"):
        from_networkx(networkx.DiGraph([(1, "1")]))
    assert from_networkx(networkx.DiGraph([(1, 2)])).edges == (("1", "2"),)


# --- what is not installed, and what is not theirs ------------------------------------------------------------------


def test_a_missing_package_names_the_extra_that_brings_it(monkeypatch):
    for name in ("pgmpy", "pgmpy.models", "pgmpy.factors", "pgmpy.factors.discrete", "pyagrum", "pyAgrum"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"pgmpy is not installed: pip install leverrier\[interop\]"):
        to_pgmpy(lopsided())
    with pytest.raises(MissingExtraError, match=r"pyAgrum is not installed: pip install leverrier\[interop\]"):
        to_pyagrum(lopsided())


def test_objects_that_are_not_networks():
    with pytest.raises(NetworkError, match="str is not a pgmpy network"):
        from_pgmpy("asia")
    with pytest.raises(NetworkError, match="str is not a pyAgrum network"):
        from_pyagrum("asia")


def test_a_pgmpy_table_may_list_a_parents_states_in_its_own_order():
    """Stand-ins with pgmpy's attributes: the child's table knows its parent's states in reverse."""
    child = SimpleNamespace(
        variables=["b", 0], values=np.array([[0.1, 0.4], [0.9, 0.6]]), state_names={"b": ["x", "y"], 0: ["no", "yes"]}
    )
    root = SimpleNamespace(variables=[0], values=np.array([0.3, 0.7]), state_names={0: ["yes", "no"]})
    found = from_pgmpy(SimpleNamespace(nodes=["b", 0], get_cpds={"b": child, 0: root}.get))
    assert found.parents("b") == ("0",)
    assert found.states["0"] == ("yes", "no")
    assert found.cpt("b").tolist() == [[0.4, 0.6], [0.1, 0.9]]
    with pytest.raises(NetworkError, match="no table of probabilities for 'b'"):
        from_pgmpy(SimpleNamespace(nodes=["b"], get_cpds=lambda _: None))


# --- pgmpy --------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("pgmpy")
def test_pgmpy_sees_our_numbers():
    network = lopsided()
    model = to_pgmpy(network)
    assert model.check_model()
    for name in network.variables:
        scope = (*network.parents(name), name)
        table = model.get_cpds(name)
        for case in itertools.product(*(range(network.cardinality(other)) for other in scope)):
            labels = {other: network.states[other][at] for other, at in zip(scope, case, strict=True)}
            assert table.get_value(**labels) == pytest.approx(network.cpt(name)[case], abs=1e-12)


@pytest.mark.usefixtures("pgmpy")
def test_pgmpy_and_back():
    for network in (
        lopsided(),
        lopsided({"A": [False, True], "B": [3, 1, 2], "C": [0.5, "x", 7, "y z"]}),
        datasets.network("alarm"),
    ):
        assert from_pgmpy(to_pgmpy(network)) == network


@pytest.mark.parametrize("name", PUBLISHED)
def test_pgmpys_reader_finds_what_ours_finds(name, pgmpy, shared_data):
    path = shared_data / "networks" / f"{name}.bif"
    theirs = from_pgmpy(pgmpy.BIFReader(str(path)).get_model())
    assert_same_distributions(theirs, read_network(path))


@pytest.mark.parametrize("name", ["alarm", "asia", "hailfinder"])
def test_pgmpy_reads_what_we_write(name, pgmpy, tmp_path):
    network = datasets.network(name)
    for suffix, reader in (("bif", pgmpy.BIFReader), ("xml", pgmpy.XMLBIFReader)):
        write_network(network, tmp_path / f"ours.{suffix}")
        assert_same_distributions(from_pgmpy(reader(str(tmp_path / f"ours.{suffix}")).get_model()), network)


# --- pyAgrum ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("gum")
def test_pyagrum_sees_our_numbers():
    network = lopsided()
    model = to_pyagrum(network)
    for name in network.variables:
        scope = (*network.parents(name), name)
        table = model.cpt(name)
        for case in itertools.product(*(range(network.cardinality(other)) for other in scope)):
            labels = {other: network.states[other][at] for other, at in zip(scope, case, strict=True)}
            assert table[labels] == pytest.approx(network.cpt(name)[case], abs=1e-12)


@pytest.mark.usefixtures("gum")
def test_pyagrum_and_back():
    for network in (lopsided(), datasets.network("child"), datasets.network("alarm")):
        assert from_pyagrum(to_pyagrum(network)) == network
    numbered = from_pyagrum(to_pyagrum(lopsided({"A": [False, True]})))
    assert numbered.states["A"] == ("False", "True")


def test_we_see_pyagrums_numbers(gum):
    model = gum.fastBN("C{x|y|z}<-A[2];B[4]->C<-D{u|v}")
    network = from_pyagrum(model)
    assert network.states["B"] == ("0", "1", "2", "3")
    for case in itertools.product(*(network.states[other] for other in (*network.parents("C"), "C"))):
        labels = dict(zip((*network.parents("C"), "C"), case, strict=True))
        at = tuple(network.states[other].index(label) for other, label in labels.items())
        assert network.cpt("C")[at] == pytest.approx(model.cpt("C")[labels], abs=1e-12)


@pytest.mark.parametrize("name", ["alarm", "asia", "hailfinder", "insurance", "win95pts"])
def test_pyagrum_reads_what_we_write(name, gum, tmp_path):
    network = datasets.network(name)
    for suffix, within in (("bif", 1e-6), ("bifxml", 1e-12)):  # its BIF reader keeps seven digits
        write_network(network, tmp_path / f"ours.{suffix}")
        assert_same_distributions(from_pyagrum(gum.loadBN(str(tmp_path / f"ours.{suffix}"))), network, within)


def test_we_read_what_pyagrum_writes(gum, tmp_path):
    model = gum.fastBN("C{x|y|z}<-A[2];B[4]->C<-D{u|v}")
    for suffix, within in (("bif", 1e-12), ("bifxml", 1e-5)):  # its XMLBIF writer keeps six digits
        gum.saveBN(model, str(tmp_path / f"theirs.{suffix}"))
        assert_same_distributions(read_network(tmp_path / f"theirs.{suffix}"), from_pyagrum(model), within)
