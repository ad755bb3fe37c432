"""Hugin's .net and GeNIe's .xdsl: what is written is what is read, bit for bit, and another program agrees."""

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings

import leverrier as lv
from leverrier.cli.group import cli
from leverrier.errors import FormatError, TooLargeError
from leverrier.formats.genie_xdsl import dumps_xdsl, loads_xdsl
from leverrier.formats.hugin_net import dumps_net, loads_net
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from tests.test_formats_round_trip import names, networks, texts

FORMATS = {"net": (dumps_net, loads_net), "xdsl": (dumps_xdsl, loads_xdsl)}

HUGIN = """
% made by hand
net { node_size = (80 40); name = "wet grass"; }
discrete node Rain { label = "it \\"rains\\"; } %"; position = (1 2); states = ("yes" "no"); }
node Grass
{
  states = ("wet" "da\\\\mp" "dry");
}
node Hose { states = (on off); }
potential (Rain) { data = (0.2 0.8); }
potential (Hose | ) { data = ( 1 0 ); }
potential (Grass | Rain Hose)
{
  data = (((0.7 0.2 0.1)   % rain, hose
           (0.6 0.3 0.1))
          ((0.5 0.3 0.2) (0 0.1 9e-1)));
}
"""
GENIE = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="grass" numsamples="1000">
 <nodes>
  <cpt id="Rain"><state id="yes"/><state id="no"/><probabilities>0.2 0.8</probabilities></cpt>
  <deterministic id="Hose"><state id="on"/><state id="off"/>
   <parents>Rain</parents><resultingstates>off on</resultingstates></deterministic>
  <cpt id="Grass"><state id="wet"/><state id="dry"/><parents>Rain Hose</parents>
   <probabilities>1 0 0.9 0.1 <!-- no rain -->
    0.8 0.2 0 1</probabilities></cpt>
 </nodes>
 <extensions><genie version="1.0" name="g"><node id="Rain"><name>It rains</name></node></genie></extensions>
</smile>
"""


def backwards():
    """Names and states that are no identifiers, in an order with children first."""
    graph = Graph((("b c", ("a",)), ("a", ()), ("x_b_c", ("a", "b c"))))
    states = {"b c": ["< 5", "<5"], "a": ["", " ü\\"], "x_b_c": ['say "x"', "&amp;", "]]>"]}
    rng = np.random.default_rng(0)
    shapes = {"b c": (2, 2), "a": (2,), "x_b_c": (2, 2, 3)}
    return Network.build(graph, states, {n: rng.dirichlet(np.ones(s[-1]), s[:-1]) for n, s in shapes.items()})


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("name", ["asia", "alarm", "child", "hailfinder", "odd"])
def test_networks_come_back_bit_for_bit(suffix, name, tmp_path):
    network = backwards() if name == "odd" else lv.datasets.network(name)
    path = tmp_path / f"m.{suffix}"
    for packed in (path, tmp_path / f"m.{suffix}.gz"):
        lv.write_network(network, packed)
        assert lv.read_network(packed) == network
    written = path.read_bytes()
    lv.write_network(lv.read_network(path), path)
    assert path.read_bytes() == written


@pytest.mark.parametrize("suffix", FORMATS)
@settings(max_examples=40, deadline=None)
@given(network=networks(texts, names))
def test_any_name_and_label_is_held(suffix, network):
    dumps, loads = FORMATS[suffix]
    assert loads(dumps(network)) == network


def test_hugin_as_others_write_it():
    network = loads_net(HUGIN)
    assert network.notes["name"] == "wet grass"
    assert network.states == {"Rain": ("yes", "no"), "Grass": ("wet", "da\\mp", "dry"), "Hose": ("on", "off")}
    assert network.parents("Grass") == ("Rain", "Hose")
    assert network.cpt("Grass")[0, 1].tolist() == [0.6, 0.3, 0.1]
    assert network.cpt("Grass")[1, 0].tolist() == [0.5, 0.3, 0.2]
    assert loads_net(HUGIN.replace("\n", "\r\n")) == network


def test_genie_as_others_write_it():
    network = loads_xdsl(GENIE)
    assert network.cpt("Hose").tolist() == [[0, 1], [1, 0]]
    assert network.cpt("Grass")[0, 1].tolist() == [0.9, 0.1]
    assert network.cpt("Grass")[1, 0].tolist() == [0.8, 0.2]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_pyagrum_reads_ours_and_we_read_its(suffix, name, tmp_path):
    gum = pytest.importorskip("pyagrum")
    network = lv.datasets.network(name)
    lv.write_network(network, tmp_path / f"ours.{suffix}")
    model = gum.loadBN(str(tmp_path / f"ours.{suffix}"))
    theirs = lv.from_pyagrum(model)
    gum.saveBN(model, str(tmp_path / f"theirs.{suffix}"))
    for other in (theirs, lv.read_network(tmp_path / f"theirs.{suffix}")):
        assert set(other.variables) == set(network.variables)
        for variable in network.variables:
            assert set(other.parents(variable)) == set(network.parents(variable))
            if suffix == "xdsl" and len(network.parents(variable)) > 1:
                continue  # (pyAgrum 3.3 lets the first parent change fastest, GeNIe the last: see the next test)
            assert other.states[variable] == network.states[variable]
            order = [other.parents(variable).index(parent) for parent in network.parents(variable)]
            found = np.transpose(other.cpt(variable), [*order, len(order)])
            assert np.allclose(found, network.cpt(variable), atol=1e-5)


def test_the_order_of_parents_is_that_of_the_first_tutorial_of_smile():
    """There `Forecast` has the parents Success and Economy, added in this order, and each number has its meaning."""
    table = "0.7 0.29 0.01 0.65 0.3 0.05 0.6 0.3 0.1 0.15 0.3 0.55 0.1 0.3 0.6 0.05 0.25 0.7"
    nodes = {
        "Economy": ("Up Flat Down", "", "0.2 0.7 0.1"),
        "Success": ("Success Failure", "Economy", "0.3 0.7 0.2 0.8 0.1 0.9"),
        "Forecast": ("Good Moderate Poor", "Success Economy", table),
    }
    text = "".join(
        f'<cpt id="{name}">' + "".join(f'<state id="{state}"/>' for state in states.split()) + "<parents>"
        f"{parents}</parents><probabilities>{numbers}</probabilities></cpt>"
        for name, (states, parents, numbers) in nodes.items()
    )
    network = loads_xdsl(f"<smile><nodes>{text}</nodes></smile>")
    good = {(0, 0): 0.7, (0, 1): 0.65, (0, 2): 0.6, (1, 0): 0.15, (1, 1): 0.1, (1, 2): 0.05}  # success, economy
    assert {place: network.cpt("Forecast")[place][0] for place in good} == good


def test_convert(tmp_path):
    for source, target in (
        ("child", "b.xdsl"),
        (str(tmp_path / "b.xdsl"), "c.net"),
        (str(tmp_path / "c.net"), "d.bif"),
    ):
        done = CliRunner().invoke(cli, ["convert", source, str(tmp_path / target)])
        assert done.exit_code == 0, done.output
    assert lv.read_network(tmp_path / "d.bif") == lv.datasets.network("child")


NODE = 'node a { states = ("x" "y"); }\n'
CPT = '<smile id="n">\n<nodes>\n<cpt id="a"><state id="x"/><state id="y"/>'
MANY = "".join(f"node v{i} {{ states = ({' '.join('0123456789')}); }}\n" for i in range(12))
BAD = [
    ("net", "", "no variables", None),
    ("net", "id,age\n", "'id,age' was found where net or node or potential was expected", 1),
    ("net", "\n}", "'}' was found where net or node or potential was expected", 2),
    ("net", 'node a {\n states = ("x', "the quote that begins here is not closed", 2),
    ("net", NODE + "potential (a) { data = (0.5 0.5)", "the file ends where a probability or ')' was expected", 2),
    ("net", NODE + "potential (a) {\n data = (0.5 nan); }", "'nan' is not finite", 3),
    ("net", NODE + "potential (a) {\n data = (0.5\n -1); }", "negative", 4),
    ("net", NODE + "potential (a) { data = (0.5 0.4); }", "sum to 0.9, expected 1", 2),
    ("net", NODE + "potential (a) { data = 0.5)) 0.5; }", "a ')' too many", 2),
    ("net", NODE + "potential (a) { data = (1); }", "has 1 numbers, expected 2", 2),
    ("net", NODE + "potential (a) { }", "has no 'data'", 2),
    ("net", NODE + "potential (a | b) { data = (1 0); }", "the parent 'b', which is not a variable", 2),
    ("net", NODE + "potential (a b) { data = (1 0); }", "a potential of 2 nodes", 2),
    ("net", NODE + "potential (a) { model_data = (1 0); }", "a model in place of data", 2),
    ("net", NODE + NODE, "declared twice, first at line 1", 2),
    ("net", NODE + "utility u { }", "only discrete chance nodes are read", 2),
    ("net", "node a {\n}", "has no states", 1),
    ("net", NODE, "'a' has no table", 1),
    ("net", MANY + f"potential (v0 | {' '.join(f'v{i}' for i in range(1, 12))}) {{ data = (1); }}", "cells", 13),
    ("xdsl", "", "not well-formed XML", 1),
    ("xdsl", "<BIF/>", "begins with <BIF>, <smile> was expected", 1),
    ("xdsl", "<smile><nodes></nodes></smile>", "no variables", None),
    ("xdsl", CPT, "not well-formed XML", 3),
    ("xdsl", CPT + "</cpt></nodes></smile>", "'a' has no <probabilities>", 3),
    ("xdsl", CPT + "<probabilities>\n1\nx</probabilities></cpt></nodes></smile>", "'x' is not a number", 5),
    ("xdsl", CPT + "<probabilities>1</probabilities></cpt></nodes></smile>", "expected 2", 3),
    ("xdsl", CPT.replace("cpt", "noisymax"), "only chance tables", 3),
    ("xdsl", CPT.replace(' id="x"', ""), "a <state> without an id", 3),
    (
        "xdsl",
        CPT + "<probabilities>1 0</probabilities></cpt></nodes>\n<extensions><leverrier>"
        '<node id="a">[1</node></leverrier></extensions></smile>',
        "damaged",
        4,
    ),
    ("xdsl", '<!DOCTYPE s [<!ENTITY a "b">]><smile/>', "declares an entity", 1),
    ("xdsl", '<!DOCTYPE s SYSTEM "http://example.org/x"><smile/>', "outside the file", 1),
]


@pytest.mark.parametrize(("suffix", "text", "words", "line"), BAD, ids=[f"{each[0]} {each[2]}" for each in BAD])
def test_a_bad_file_gives_one_line_with_its_place(suffix, text, words, line, tmp_path):
    path = tmp_path / f"bad.{suffix}"
    path.write_text(text, encoding="utf-8")
    with pytest.raises((FormatError, TooLargeError)) as caught:
        lv.read_network(path)
    said = str(caught.value)
    assert words in said
    assert "\n" not in said
    assert said.startswith(f"{path}:{line}: " if line else f"{path}: ")
