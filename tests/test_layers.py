"""A layer stands on those before it in the list below; no file knots another one, and rooms stay small."""

import ast
import re
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest

import leverrier

LAYERS = [
    {"arrays", "errors", "hints", "status", "chart_of", "plain_values", "words_of"},
    {"run", "kinds"},
    {"kernels"},
    {"data"},
    {"inference"},
    {"models"},
    {"formats"},
    {"counts"},
    {"learning", "noisy_or"},
    {"discovery"},
    {"report"},
    {"datasets", "api"},
    {"estimators"},
    {"cli"},
    {"__main__"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
ROOT = Path(leverrier.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
MOST_IN_A_FOLDER = 20
MOST_SHARED_NAMES = 8


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path) for path in FILES}


def imports_of(path: Path):
    """Every module imported anywhere in the file: at the top, inside functions, for types alone."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import; write the whole name"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield (whole if whole in MODULES else node.module or ""), node.lineno


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_layer_stands_on_those_before_it(path):
    layer = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if layer == "__init__":
        return  # the list of public names sees everything
    assert layer in RANK, f"{layer} is in no layer: add it to the list"
    for name, line in imports_of(path):
        parts = name.split(".")
        if parts[0] != "leverrier" or len(parts) == 1:
            continue
        target = parts[1]
        allowed = target == layer or RANK[target] < RANK[layer]
        assert allowed, f"{path.name}:{line}: {layer} imports {target}, which does not lie under it"
        if layer == "kernels":
            assert target == "kernels", f"{path.name}:{line}: kernels import nothing of ours"


def test_no_file_is_part_of_a_knot():
    graph = nx.DiGraph()
    for path in FILES:
        name = module_of(path)
        graph.add_edges_from((name, other) for other, _ in imports_of(path) if other in MODULES - {name, "leverrier"})
    graph.remove_nodes_from(["leverrier"])  # the list of public names loads everything, lazily
    knots = [sorted(each) for each in nx.strongly_connected_components(graph) if len(each) > 1]
    assert not knots


def test_rooms_are_small_and_file_names_say_where_they_belong():
    folders = Counter(path.parent for path in FILES if path.name != "__init__.py")
    assert max(folders.values()) <= MOST_IN_A_FOLDER, folders.most_common(3)
    names = Counter(path.name for path in FILES if path.name != "__init__.py")
    shared = [name for name, count in names.items() if count > 1]
    assert len(shared) <= MOST_SHARED_NAMES, shared
    assert "utils.py" not in names


SILENT = ("inference", "models", "counts", "learning", "noisy_or", "discovery")
"""Layers whose findings are values: report/words makes sentences of them. Readers of files (data, formats, run) say
themselves what they met, and every layer explains what it refuses."""
STILL_TOLD = {"learning/classes": 16}
"""Rooms that still make notes of their own, and how many sentences: the number only falls."""
A_SENTENCE = 6
"""Words from which a text is more than a name."""


def sentences_of(path: Path):
    """Texts of so many words that are no docstring, no error, no name in an enumeration and no repr."""

    def visit(node, inside):
        text = None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = "".join(each.value if isinstance(each, ast.Constant) else "0" for each in node.values)
        if text is not None:
            docstring = isinstance(inside[-1], ast.Expr)
            if len(re.findall(r"[^\W\d_]{2,}", text)) >= A_SENTENCE and not docstring and not any(map(refuses, inside)):
                yield node.lineno, text
            return
        for child in ast.iter_child_nodes(node):
            yield from visit(child, [*inside, node])

    def refuses(node):
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            return called.lower().endswith(("error", "warn"))
        if isinstance(node, ast.ClassDef):
            return any(ast.unparse(base).endswith("Enum") for base in node.bases)
        return isinstance(node, ast.Raise | ast.Assert) or getattr(node, "name", "") == "__repr__"

    yield from visit(ast.parse(path.read_text(encoding="utf-8")), [])


def test_sentences_are_made_above():
    told: dict[str, list[str]] = {}
    for path in FILES:
        place = path.relative_to(ROOT)
        if place.parts[0] in SILENT:
            room = next((each for each in STILL_TOLD if place.as_posix().startswith(each)), "elsewhere")
            told.setdefault(room, []).extend(f"{place}:{line}: {text[:70]}" for line, text in sentences_of(path))
    assert told.pop("elsewhere") == [], "make it a value, and its words in report/words"
    for room, found in told.items():
        assert len(found) <= STILL_TOLD[room], found


def test_the_rule_on_sentences_can_fail(tmp_path):
    file = tmp_path / "speaks.py"
    file.write_text('"""A docstring of more than six words stays."""\nNOTE = "some rows of the table were left out"\n')
    assert [line for line, _ in sentences_of(file)] == [2]
    file.write_text('notes.append(f"some rows of the table were left out: {rows}")\n')
    assert len(list(sentences_of(file))) == 1
    file.write_text('raise ValueError("some rows of the table were left out")\n')
    assert list(sentences_of(file)) == []


CENTRAL = {
    "discovery.result": "Result",
    "discovery.findings": "Findings",
    "discovery.findings:": "HiddenVariable",  # (the colon: a second value of the same file)
    "discovery.evidence.evidence": "Evidence",
    "discovery.time.time_findings": "TimeFindings",
    "discovery.asked": "Asked",
    "discovery.plan": "Plan",
    "run.run": "Run",
    "data.table": "Table",
    "data.sequences.sequences": "Sequences",
    "models.network": "Network",
    "api.discovery": "Discovery",
}


@pytest.mark.parametrize(("module", "name"), list(CENTRAL.items()))
def test_no_central_value_holds_anything_whatever(module, name):
    path = ROOT.joinpath(*module.rstrip(":").split(".")).with_suffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    held = [ast.unparse(node) for node in own.body if isinstance(node, ast.AnnAssign)]
    assert held
    assert not [each for each in held if re.search(r":.*\bAny\b", each.partition("=")[0])]
