"""docs/architecture.md names files and functions that exist, and its picture is drawn from it."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

import leverrier
from tests.test_layers import LAYERS

DOCS = Path(__file__).parent.parent / "docs"
SOURCE = Path(leverrier.__file__).parent
PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")


def drawing():
    spec = importlib.util.spec_from_file_location("architecture", DOCS / "architecture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WALKS = drawing().walks(PAGE)
HOPS = [(walk, *hop) for walk, hops in WALKS.items() for hop in hops]


def defined(path: Path) -> set[str]:
    """Functions and classes of a file, and its classes' own as Class.name."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
    return found


def test_there_are_five_walks_and_no_line_of_them_is_overlooked():
    assert list(WALKS) == ["A table to a verdict", "EM", "Causes", "Sequences", "A report"]
    assert len(HOPS) == len(re.findall(r"^\| \d", PAGE, re.MULTILINE))
    for hops in WALKS.values():
        assert [number for number, _, _ in hops] == list(range(1, len(hops) + 1))


@pytest.mark.parametrize(("walk", "number", "path", "names"), HOPS, ids=[f"{hop[0]} {hop[1]}" for hop in HOPS])
def test_every_hop_is_a_file_with_these_functions(walk, number, path, names):
    assert names, f"{walk}, hop {number} names no function"
    assert (SOURCE / path).is_file(), f"{path} is not there any more"
    assert set(names) <= defined(SOURCE / path), f"{path} has no {set(names) - defined(SOURCE / path)}"


def test_other_paths_in_the_words_exist_too():
    for path in set(re.findall(r"`([\w/]+/[\w.]*)`", PAGE)) - {hop[2] for hop in HOPS}:
        assert any((root / path).exists() for root in (SOURCE, DOCS.parent)), path


def test_the_picture_shows_the_layers_that_imports_obey_and_is_fresh():
    module = drawing()
    drawn = [set(names.split(", ")) for names, _ in module.LAYERS]
    assert drawn[1:] == LAYERS[1:-1], "docs/architecture.py: LAYERS"
    assert drawn[0] - {"…"} <= LAYERS[0]
    assert (DOCS / "figures" / "architecture.svg").read_text(encoding="utf-8") == module.picture(PAGE), (
        "stale: run python docs/architecture.py"
    )
