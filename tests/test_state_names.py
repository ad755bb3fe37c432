"""States get names of the user's own, and keep them: in words, pages, tables and files."""

import json

import pytest
from click.testing import CliRunner

import leverrier as lv
from leverrier.api.discovery import Discovery
from leverrier.api.state_names import names_asked
from leverrier.cli.group import cli
from leverrier.models.graph import Graph
from leverrier.report.pages.discovery_page import discovery_page
from tests import report_cases as cases
from tests.naive.graphs import classes

NAMES = {"H1": {"0": "low rate", "1": "high rate"}}


@pytest.fixture
def found():
    return Discovery(cases.found())


def test_names_are_said_everywhere_and_kept(found, tmp_path):
    rows = found.network.sample(20, seed=3).drop("H1")
    before = found.posterior(rows)
    assert found.rename(NAMES) is found
    assert set(found.states_of(rows)["H1"]) <= {"low rate", "high rate"}
    assert "low rate" in str(found)
    page = discovery_page(found.result, "t", live=False)
    assert page.count("high rate") > 3
    found.save(tmp_path / "found.json")
    back = lv.load(tmp_path / "found.json")
    assert back.states_of(rows) == found.states_of(rows)
    assert discovery_page(back.result, "t", live=False).count("high rate") == page.count("high rate")
    assert (back.posterior(rows) == before).all()
    back.rename({"H1": {"low rate": "slow"}})  # by the present name, and one alone
    assert [state.label for state in back.result.meanings["H1"]] == ["slow", "high rate"]


def test_names_over_time_are_kept(tmp_path):
    found = cases.diary()
    found.rename({found.hidden[0].name: ["calm", "restless"]}).save(tmp_path / "diary.json")
    back = lv.load(tmp_path / "diary.json")
    assert back._labels(back.hidden[0]) == ("calm", "restless")
    assert "restless" in discovery_page(back.result, "t", live=False)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"H2": {"0": "a"}}, "no hidden variable 'H2'"),
        ({"H1": {"7": "a"}}, "no state '7': its states are 0, 1"),
        ({"H1": {"0": "1"}}, "a name of its own"),
        ({"H1": ["a"]}, "has 2 states, and 1 names were given"),
        ({"H1": "low"}, "not one text"),
    ],
)
def test_names_that_fit_nothing_are_refused_in_one_line(found, names, said):
    with pytest.raises(lv.OptionError, match=said):
        found.rename(names)


def test_the_command_line_names_states_and_keeps_them(found, tmp_path):
    file = tmp_path / "found.json"
    found.save(file)
    given = ["report", str(file), "--static", "-q", "--names", "H1:0=low rate", "--names", "H1:1=high rate"]
    assert CliRunner().invoke(cli, given).exit_code == 0
    assert lv.load(file).result.renamed == {"H1": ("low rate", "high rate")}
    assert "high rate" in (tmp_path / "found.html").read_text(encoding="utf-8")
    names = tmp_path / "names.json"
    names.write_text(json.dumps(NAMES))
    assert names_asked([str(names)]) == NAMES
    with pytest.raises(lv.OptionError, match="VARIABLE:STATE=NAME"):
        names_asked(["low rate"])
    names.write_text("[1]")
    with pytest.raises(lv.OptionError, match="expected JSON"):
        names_asked([str(names)])


def test_arcs_are_compelled_where_every_equivalent_graph_has_them():
    """Against all graphs of four nodes, class by class."""
    nodes = [str(node) for node in range(4)]
    for alike in classes(4).values():
        wanted = {(str(a), str(b)) for a, b in frozenset.intersection(*alike)}
        for arcs in alike[:2]:
            assert Graph.from_edges(nodes, [(str(a), str(b)) for a, b in arcs]).compelled == wanted
