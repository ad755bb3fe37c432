"""Whatever network is written is what is read, bit for bit; what a format cannot hold is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leverrier import datasets
from leverrier.errors import FormatError, InputError
from leverrier.formats.bif import dumps_bif, loads_bif
from leverrier.formats.network_json import dumps_json, loads_json
from leverrier.formats.xmlbif import dumps_xmlbif, loads_xmlbif
from leverrier.models.graph import Graph
from leverrier.models.network import Network
from tests.naive.networks import random_network

FORMATS = {"bif": (dumps_bif, loads_bif), "xml": (dumps_xmlbif, loads_xmlbif), "json": (dumps_json, loads_json)}
format_names = st.sampled_from(sorted(FORMATS))
several = settings(max_examples=60, deadline=None)
any_text = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=12)
odd_text = st.text(st.sampled_from("aZ09_/.-+<>=%&*'#:\\éλ≥ ,;|()[]{}"), max_size=8)
texts = any_text | odd_text
names = texts.filter(lambda text: text != "")


@st.composite
def networks(draw, labels, names=names):
    """Random graphs and tables (some entries zero, some tiny) under drawn names and labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    chosen = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    plain = random_network(rng, len(chosen), max_states=4, zeros=0.2)
    called = dict(zip(plain.variables, chosen, strict=True))
    graph = Graph(tuple((called[node], tuple(called[p] for p in parents)) for node, parents in plain.graph.families))
    states = {
        called[node]: draw(st.lists(labels, min_size=size, max_size=size, unique=True))
        for node, size in ((node, plain.cardinality(node)) for node in plain.variables)
    }
    tables = {called[node]: table ** draw(st.sampled_from([1, 40])) for node, table in plain.tables.items()}
    tables = {node: table / table.sum(axis=-1, keepdims=True) for node, table in tables.items()}
    return Network.build(graph, states, tables)


@several
@given(networks(texts.filter(lambda text: '"' not in text), names.filter(lambda text: '"' not in text)))
def test_bif_holds_any_label_without_a_quote(network):
    assert loads_bif(dumps_bif(network)) == network


@several
@given(networks(texts.filter(lambda text: text == text.strip(" ")), names.filter(lambda text: text == text.strip(" "))))
def test_xmlbif_holds_any_label_without_blanks_at_its_ends(network):
    text = dumps_xmlbif(network)
    assert loads_xmlbif(text) == network
    assert loads_xmlbif(text.encode()) == network


finite = st.floats(allow_nan=False, allow_infinity=False)
values = st.text(st.characters(exclude_categories=["Cs"])) | st.integers() | st.booleans() | finite


@several
@given(networks(values, st.text(st.characters(exclude_categories=["Cs"]), min_size=1)))
def test_json_holds_any_label_and_its_type(network):
    again = loads_json(dumps_json(network))
    assert again == network
    assert types_of(again) == types_of(network)


@several
@given(networks(st.text(max_size=5) | st.integers() | st.booleans(), st.text(min_size=1, max_size=5)), format_names)
def test_what_a_format_cannot_hold_is_refused_on_writing(network, name):
    dumps, loads = FORMATS[name]
    text, complaint = None, ""
    try:
        text = dumps(network)
    except FormatError as error:
        complaint = str(error)
    assert "\n" not in complaint
    if text is None:
        return
    again = loads(text)
    assert again.graph == network.graph
    assert all(np.array_equal(again.cpt(v), network.cpt(v)) for v in network.variables)
    assert all(list(map(str, again.states[v])) == list(map(str, network.states[v])) for v in network.variables)


def types_of(network):
    return {name: [type(label) for label in labels] for name, labels in network.states.items()}


def one(states, name="a", notes=None):
    table = np.full(len(states), 1 / len(states))
    return Network.build(Graph.from_parents({name: []}), {name: states}, {name: table}, notes)


@pytest.mark.parametrize(
    ("network", "dumps", "message"),
    [
        (one(['say "hi"', "b"]), dumps_bif, r"""'say "hi"' cannot be written as BIF.*no place there for '"'"""),
        (one(["two\nlines", "b"]), dumps_bif, r"'two\\nlines' cannot be written as BIF"),
        (one(["a", "b"], "nul\0"), dumps_bif, r"'nul\\x00' cannot be written as BIF"),
        (one([" a", "b"]), dumps_xmlbif, "' a' cannot be written as XMLBIF.*no place there for ' '"),
        (one(["a", "b\x07"]), dumps_xmlbif, r"'b\\x07' cannot be written as XMLBIF"),
        (one([1, "1"]), dumps_bif, "two states of 'a' are both written '1' in BIF"),
        (one([True, "True"]), dumps_xmlbif, "two states of 'a' are both written 'True' in XMLBIF"),
        (one([float("inf"), 1.0]), dumps_json, "the state inf of 'a' cannot be written as JSON"),
        (one([("a", 1), "b"]), dumps_json, r"the state \('a', 1\) of 'a' cannot be written as JSON"),
        (one(["\ud800", "b"]), dumps_json, "half of a character"),
        (one(["a"], notes={"x": object()}), dumps_json, "notes cannot be written as JSON: object is not text"),
        (one(["a"], notes={"x": float("nan")}), dumps_json, "notes cannot be written as JSON"),
        (Network(Graph(()), {}, {}), dumps_json, "without variables"),
        (Network(Graph(()), {}, {}), dumps_bif, "without variables"),
    ],
)
def test_what_cannot_be_written_says_so_in_one_line(network, dumps, message):
    with pytest.raises(FormatError, match=message) as caught:
        dumps(network)
    assert "\n" not in str(caught.value)


def test_json_keeps_types_notes_and_numpys_labels():
    labels = (np.int64(3), np.str_("x"), np.bool_(True), np.float64(0.5))
    network = one(labels, notes={"list": (1, np.float64(2.5)), "nested": {"array": np.arange(2)}})
    again = loads_json(dumps_json(network))
    assert again == network
    assert types_of(again) == {"a": [int, str, bool, float]}
    assert again.notes == {"list": [1, 2.5], "nested": {"array": [0, 1]}}


@settings(max_examples=150, deadline=None)
@given(st.data(), format_names)
def test_a_damaged_file_gives_one_line_and_never_a_crash(data, name):
    dumps, loads = FORMATS[name]
    text = dumps(datasets.network("asia"))
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 30)))
    damaged = text[:start] + data.draw(st.text(max_size=4) | st.sampled_from('{}()[],;|"<>&/0')) + text[stop:]
    complaint = ""
    try:
        loads(damaged.encode(errors="replace") if name == "xml" else damaged)
    except InputError as error:
        complaint = str(error)
    assert "\n" not in complaint
