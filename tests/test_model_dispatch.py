"""Who asks a model something asks the model: which class it is of is asked where a caller may give either, and where
files and equality need it. Every such place is listed here with its reason."""

import ast
from pathlib import Path

import leverrier

ROOT = Path(leverrier.__file__).parent
MODELS = {"Network", "MixedNetwork", "DynamicNetwork", "SliceModel", "ChainModel", "RegimeModel", "Mixture", "Graph"}
MODELS |= {"NetworkModel", "ClassModel", "CausesModel", "BehindHidden", "HiddenCauses", "MixedClasses"}
MODELS |= {"TreeCPD", "SameElseCPD", "StepCPD", "AveragedCPD"}
EQUAL = "equality is of one class"
GIVEN = "a caller may give a network, its graph, or what is no model at all"
ALLOWED = {
    ("models/network.py", "__eq__"): EQUAL,
    ("models/mixed_network.py", "__eq__"): EQUAL,
    ("models/mixture.py", "__eq__"): EQUAL,
    ("models/dynamic/dynamic_network.py", "__eq__"): EQUAL,
    ("models/network.py", "as_network"): "the one narrowing, where results of other kinds could stand",
    ("models/network.py", "as_graph"): GIVEN,
    ("models/network.py", "known_states"): GIVEN,
    ("discovery/places/semi_clique.py", "links_of"): GIVEN,
    ("formats/interop.py", "to_networkx"): GIVEN,
    ("learning/em/fit.py", "_points"): "initial= may be a network, states by row, or nothing",
    ("learning/mixtures/mixture_fit.py", "_begin"): "init= may be a mixture, means, or a name",
    ("learning/mixtures/fit_mixture.py", "fit_mixture"): "init= may be a mixture, means, or a name",
    ("report/charts/mixture_charts.py", "climb_figure"): "the true model may be given, or its likelihood alone",
    ("formats/network_files.py", "read_network"): "a file holds either, and the caller asked for this one",
    ("formats/network_files.py", "read_mixed_network"): "a file holds either, and the caller asked for this one",
    ("formats/network_files.py", "write_network"): "only JSON says numbers: other formats refuse in one line",
    ("formats/dynamic_files.py", "read_dynamic"): "hidden= names variables of networks alone",
    ("formats/dynamic_files.py", "_bif_of"): "a two-slice BIF holds networks alone",
}


def asked(source: str) -> list[str]:
    """The functions that ask of which of these classes something is, innermost names."""
    found = []

    def visit(node: ast.AST, inside: str) -> None:
        if isinstance(node, ast.FunctionDef):
            inside = node.name
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            names = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
            if names & MODELS:
                found.append(inside)
        if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name) and node.cls.id in MODELS:
            found.append(inside)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(source), "")
    return found


def places() -> set[tuple[str, str]]:
    files = sorted(ROOT.rglob("*.py"))
    return {(str(p.relative_to(ROOT).as_posix()), name) for p in files for name in asked(p.read_text("utf-8"))}


def test_the_rule_sees_who_asks():
    assert asked("def f(x):\n    return isinstance(x, Table | Network)") == ["f"]
    assert asked("def f(x):\n    match x:\n        case ChainModel():\n            pass") == ["f"]
    assert not asked("def f(x):\n    return isinstance(x, Table)")


def test_only_the_listed_places_ask_of_which_class_a_model_is():
    assert places() - set(ALLOWED) == set()


def test_no_place_is_listed_that_asks_no_more():
    assert set(ALLOWED) - places() == set()
