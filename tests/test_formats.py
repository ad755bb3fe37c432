"""Network files as they are met: the published networks, and BIF and XMLBIF written by other hands."""

import csv
from pathlib import Path

import numpy as np
import pytest

from leverrier.errors import FormatError
from leverrier.formats.bif import dumps_bif, loads_bif
from leverrier.formats.network_files import read_network, write_network
from leverrier.formats.network_json import dumps_json, loads_json
from leverrier.formats.xmlbif import dumps_xmlbif, loads_xmlbif

NETWORKS = [
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


# --- real files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETWORKS)
def test_real_networks_survive_every_format_bit_for_bit(name, shared_data, tmp_path):
    network = read_network(shared_data / "networks" / f"{name}.bif")
    for suffix in ("bif", "xml", "json", "bif.gz", "xmlbif.gz", "json.gz"):
        write_network(network, tmp_path / f"again.{suffix}")
        again = read_network(tmp_path / f"again.{suffix}")
        assert again == network, suffix
        network = again


def test_real_networks_have_the_counts_that_were_published(shared_data):
    with open(shared_data / "networks" / "networks.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["network"] for row in rows} == set(NETWORKS)
    for row in rows:
        network = read_network(shared_data / "networks" / row["file"])
        found = (
            len(network.variables),
            len(network.edges),
            network.dimension,
            max(map(len, network.states.values())),
            max(len(network.parents(v)) for v in network.variables),
        )
        keys = ("nodes", "arcs", "free_parameters", "max_states", "max_parents")
        assert found == tuple(int(row[key]) for key in keys), row["network"]
        error = float(row["max_row_sum_error"])
        assert network.notes.get("largest_row_error", 0) == pytest.approx(error, rel=0.05, abs=1e-15)


def test_the_labels_of_child_are_as_they_stand_in_the_file(shared_data):
    network = read_network(shared_data / "networks" / "child.bif")
    assert network.states["LowerBodyO2"] == ("<5", "5-12", "12+")
    assert network.states["ChestXray"][-1] == "Asy/Patch"


# --- BIF as met in the wild -------------------------------------------------------------------------------------

ODD = """
// a comment
network "Odd one" { property "made by; hand" ; property author O'Brien said "hi /* not a comment ; }
property anywhere;
variable  "light on"{ //2 values
  type discrete[2]{"true" "false"};
  property position = (1, 2) ;
}
variable 9lives { type discrete [ 3 ] { <5, 5-12 ,
   12+ } ; }
variable x { type discrete [2] { very low, a/b } ; }
probability ( "light on" ) { table .25 75e-2 ; }
/* a block
   comment */
probability("9lives"|"light on"){ ("true") 1 0 0;
  default 0.25, 2.5E-1, +.5;
}
probability ( x | 9lives, "light on" ) {
  (<5, true) 0.1, 0.9; (5-12, true) 0.2, 0.8; (12+ true) 0.3, 0.7;
  (<5, false) 0.4, 0.6; (5-12, false) 0.5, 0.5; (12+, false) 0.6, 0.4;//close
}
"""


def test_odd_spacing_comments_quotes_properties_and_defaults():
    network = loads_bif(ODD.replace("\n", "\r\n"))
    assert network.notes["name"] == "Odd one"
    assert network.states == {"light on": ("true", "false"), "9lives": ("<5", "5-12", "12+"), "x": ("very low", "a/b")}
    assert network.parents("x") == ("9lives", "light on")
    assert network.cpt("light on").tolist() == [0.25, 0.75]
    assert network.cpt("9lives").tolist() == [[1, 0, 0], [0.25, 0.25, 0.5]]
    assert network.cpt("x")[:, :, 0].tolist() == [[0.1, 0.4], [0.2, 0.5], [0.3, 0.6]]
    assert loads_bif(dumps_bif(network)) == network


DOG = """network "Dog" {}
variable "family-out" { type discrete[2] { "true" "false" }; }
variable "bowel" { type discrete[2] { "true" "false" }; }
variable "dog-out" { type discrete[3] { "yes" "no" "maybe" }; }
probability ( "family-out" ) { table 0.15 0.85 ; }
probability ( "bowel" ) { table 0.01 0.99 ; }
probability ( "dog-out" "bowel" "family-out" ) { table 0.9 0.8 0.7 0.3  0.05 0.1 0.1 0.6  0.05 0.1 0.2 0.1 ; }
"""


def test_a_whole_table_lists_the_childs_first_state_first():
    network = loads_bif(DOG)
    assert network.parents("dog-out") == ("bowel", "family-out")
    assert network.cpt("dog-out")[0, 1].tolist() == [0.8, 0.1, 0.1]  # bowel true, family-out false
    assert network.cpt("dog-out")[1, 0].tolist() == [0.7, 0.1, 0.2]


def test_a_label_with_spaces_is_taken_between_commas_where_quotes_are_left_out():
    network = loads_bif("variable a { type discrete [3] { very low, low, so so }; } probability(a) { table 1 0 0; }")
    assert network.states["a"] == ("very low", "low", "so so")
    one = loads_bif(
        "variable a { type discrete [2] { very low, low }; } variable b { type discrete [2] { x y }; }"
        "probability(a){ table 1 0; } probability(b|a) { (very low) .1 .9; (low) .2 .8; }"
    )
    assert one.cpt("b").tolist() == [[0.1, 0.9], [0.2, 0.8]]


def test_as_many_parents_as_an_array_has_axes():
    parents = [f"v{i}" for i in range(63)]
    text = "".join(f"variable {v} {{ type discrete [1] {{ x }}; }} probability({v}) {{ table 1; }}\n" for v in parents)
    text += "variable c { type discrete [2] { x, y }; }\n"
    case = f"({', '.join(['x'] * 63)})"
    network = loads_bif(f"{text} probability ( c | {', '.join(parents)} ) {{ {case} 0.3333333, 0.6666666; }}")
    np.testing.assert_allclose(network.cpt("c").ravel(), [1 / 3, 2 / 3], rtol=1e-6)
    assert loads_bif(dumps_bif(network)) == network
    with pytest.raises(FormatError, match=r"sum to 0\.5, expected 1"):
        loads_bif(f"{text} probability ( c | {', '.join(parents)} ) {{ default 0.25 0.25; }}")


def test_reading_says_which_rows_it_divided_by_their_sum():
    text = "variable a { type discrete [3] { x y z }; } probability(a) { table 0.333 0.333 0.333; }"
    network = loads_bif(text)
    np.testing.assert_allclose(network.cpt("a"), 1 / 3, rtol=1e-15)
    assert network.notes["renormalised_rows"] == 1
    assert network.notes["largest_row_error"] == pytest.approx(1e-3)
    assert "renormalised_rows" not in loads_bif(text.replace("0.333;", "0.334;")).notes


# --- XMLBIF as met in the wild ----------------------------------------------------------------------------------

WEKA = """<?xml version="1.0" encoding="US-ASCII"?>
<!-- made by hand -->
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT TABLE (#PCDATA)>
]>
<BIF VERSION="0.3" xmlns="http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3">
<NETWORK><NAME>dogs</NAME><PROPERTY>a note</PROPERTY>
<VARIABLE TYPE="nature"><NAME> out </NAME><OUTCOME>a &lt; b</OUTCOME>
  <OUTCOME> no </OUTCOME><PROPERTY>position = (73,165)</PROPERTY></VARIABLE>
<VARIABLE><NAME>bark</NAME><OUTCOME>loud</OUTCOME><OUTCOME>soft</OUTCOME><OUTCOME>none</OUTCOME></VARIABLE>
<DEFINITION><FOR>bark</FOR><GIVEN>out</GIVEN><PROPERTY>x</PROPERTY>
 <TABLE> 0.6 0.3<!-- loud and soft -->0.1 <!-- none -->
   .1
   2e-1 0.7</TABLE></DEFINITION>
<DEFINITION><FOR>out</FOR><TABLE>0.15 0.85</TABLE></DEFINITION>
</NETWORK></BIF>
"""


def test_xmlbif_with_its_usual_doctype_comments_and_properties():
    network = loads_xmlbif(WEKA)
    assert network == loads_xmlbif(WEKA.encode("ascii"), "dogs.xml")
    assert network.notes["name"] == "dogs"
    assert network.states == {"out": ("a < b", "no"), "bark": ("loud", "soft", "none")}
    assert network.cpt("bark").tolist() == [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]
    assert "DOCTYPE" not in dumps_xmlbif(network)


def test_xmlbif_with_names_as_attributes_and_another_encoding():
    text = (
        '<?xml version="1.0" encoding="ISO-8859-1"?><bif><network><variable name="é"><outcome>1</outcome>'
        '</variable><definition><for name="é"/><table>1</table></definition></network></bif>'
    )
    assert loads_xmlbif(text.encode("latin-1")).states == {"é": ("1",)}


def test_the_example_in_the_documentation_is_one():
    text = (Path(__file__).parents[1] / "docs" / "networks.md").read_text(encoding="utf-8")
    network = loads_json(text.split("```json\n")[1].split("```")[0])
    assert network.cpt("T")[1].tolist() == [0.6, 0.3, 0.1]
    assert loads_json(dumps_json(network)) == network
