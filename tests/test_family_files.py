"""Networks whose families are more than tables, in files: JSON keeps them, the others write them out and say so."""

import json

import numpy as np
import pytest

import leverrier as lv
from leverrier.errors import FormatError
from leverrier.formats.network_json import dumps_json, loads_json
from leverrier.models.families.column_function import ColumnFunction
from leverrier.models.families.state_logit import LogitKind
from leverrier.models.families.state_lumps import LumpsKind
from leverrier.models.families.state_max import NoisyMaxKind
from leverrier.models.families.state_offset import OffsetKind
from leverrier.models.families.state_table import LookupKind, TableKind
from leverrier.models.families.state_tree import TreeKind
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from leverrier.models.slices.code_tree import Tree

RNG = np.random.default_rng(4)
VALUE = ((0.0, 1.0, 2.0), (0.0, 1.0, 2.0))


def _tree() -> TreeKind:
    parts = [np.array(part) for part in ([0, -1, -1], [0, 0, 0], [2, 0, 0], [1, -1, -1], [2, -1, -1])]
    counts = np.array([[5.0, 5, 5], [4, 1, 1], [1, 4, 4]])
    tree = Tree(parts[0], parts[1], parts[2], parts[3], parts[4], counts)
    return TreeKind((ColumnFunction("sum", (0, 1), VALUE),), tree, RNG.dirichlet(np.ones(3), 3))


def _logit(columns: int) -> LogitKind:
    basis = np.array([[-1.0], [0.1], [1.3]]) if columns == 1 else np.eye(3)[:, 1:]
    terms = (np.array([[-1.0], [0.0], [1.0]]), np.eye(3)[:, 1:].copy())
    return LogitKind(terms, ((0, 1),), basis, RNG.normal(size=2 + 4 * columns))


KINDS = {
    "tree": _tree(),
    "logit": _logit(2),
    "ordered logit": _logit(1),
    "noisy-max": NoisyMaxKind((0, 1, 2), (0, 2), (3, 3), RNG.dirichlet(np.ones(3), 5)),
    "difference": OffsetKind(
        ColumnFunction("difference", (0, 1), VALUE),
        np.arange(3.0),
        np.array([-1.0, 0.0, 2.0]),
        RNG.dirichlet(np.ones(3)),
        RNG.dirichlet(np.ones(3)),
    ),
    "lookup": LookupKind((3, 3), np.array([0, 4, 8]), np.array([2, 1, 0]), 0.07, RNG.dirichlet(np.ones(3))),
    "lumps": LumpsKind(RNG.dirichlet(np.ones(3), (2, 2)), (np.array([0, 1, 0]), np.array([1, 0, 0]))),
    "table": TableKind(RNG.dirichlet(np.ones(3), (3, 3))),
}


def _network(kind: str) -> Network:
    states = {"a": ("x", "y", "z"), "b": (0, 1, 2), "c": (True, False, "maybe")}
    graph = Graph.from_parents({"a": (), "b": ("a",), "c": ("a", "b")})
    tables = {"a": RNG.dirichlet(np.ones(3)), "b": RNG.dirichlet(np.ones(3), 3), "c": np.full((3, 3, 3), 1 / 3)}
    return Network(graph, states, tables).with_families({"c": KINDS[kind]})


@pytest.mark.parametrize("kind", KINDS)
def test_json_keeps_a_family_whole_and_the_others_write_its_table_and_say_so(kind, tmp_path):
    network = _network(kind)
    assert network.kind("c") == kind
    lv.write_network(network, tmp_path / "n.json")
    again = lv.read_network(tmp_path / "n.json")
    assert again == network
    assert again.families == network.families
    assert again.kind("c") == kind
    assert again.dimension == network.dimension
    assert np.array_equal(again.cpt("c"), network.cpt("c"))
    entry = json.loads((tmp_path / "n.json").read_text())["variables"][2]
    assert "table" not in entry
    for suffix in ("bif", "xml"):
        path = tmp_path / f"n.{suffix}"
        lv.write_network(network, path)
        assert f"written out from a {kind}" in path.read_text()
        plain = lv.read_network(path)
        assert not plain.families
        assert np.array_equal(plain.cpt("c"), network.cpt("c"))


def test_a_network_of_tables_is_written_as_before():
    network = _network("tree").with_tables({"c": np.full((3, 3, 3), 1 / 3)})
    assert "family" not in dumps_json(network)
    assert loads_json(dumps_json(network)) == network


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "oracle"}, "a family of kind 'oracle'"),
        ({"kind": "logit"}, "a logit cannot be read"),
        ({"probabilities": [[2.0, 0, 0]] * 3}, "does not give distributions"),
        ({"probabilities": [[1.0, 0]] * 3}, "cannot be read"),
        ({"left": [7, -1, -1]}, "do not fit together"),
        ({"left": [10**40, -1, -1]}, "cannot be read"),
        ({"features": [{"name": "sum", "parents": [0, 9], "values": [[0, 1], [0, 1]]}]}, "cannot be read"),
    ],
)
def test_a_family_that_does_not_fit_is_refused_in_one_line(change, message):
    content = json.loads(dumps_json(_network("tree")))
    content["variables"][2]["family"] |= change
    with pytest.raises(FormatError, match=message) as caught:
        loads_json(json.dumps(content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("entry", "message"),
    [({"family": 3}, "an object in place of a table was expected, but it is 3"), ({"table": []}, "a table beside it")],
)
def test_a_variable_has_a_table_or_a_family(entry, message):
    content = json.loads(dumps_json(_network("tree")))
    content["variables"][2] |= entry
    with pytest.raises(FormatError, match=message):
        loads_json(json.dumps(content))
