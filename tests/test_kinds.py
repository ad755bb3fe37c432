"""Kinds of things are members of enumerations: nothing in the package tells them apart by their text."""

import ast
import json
from pathlib import Path

import pytest

import leverrier
from leverrier.data.column import Came
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Memory, MemoryKind
from leverrier.data.sequences.time_axis import TimeKind
from leverrier.data.variable import ColumnKind, Variable
from leverrier.discovery.numbers.number_rule import Ruling
from leverrier.discovery.verdict import HiddenKind
from leverrier.kinds import Kinds
from leverrier.models.behind.links import Link, Mode
from leverrier.models.families.column_function import ColumnFunction, FunctionName
from leverrier.models.families.number_terms import Term, TermShape
from leverrier.models.mixture import CovarianceKind, Mixture

ROOT = Path(leverrier.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
TOLD = {"kind", "kinds", "came", "told", "shape", "mode", "holds", "verdict", "answer", "reason", "event", "status"}
TOLD |= {"decision", "role", "stopped", "time_kind", "wrong", "leads"}
"""What values are called that say which of a few things something is."""
NOT_OURS = {"dtype.kind", "client.status", "given.status", "content['shape']"}
"""NumPy's letters for types of cells, Dask's words for its states, and what a saved model says before it is read."""


def texts(node: ast.expr) -> bool:
    """Whether this is a text, or some of them."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(texts, node.elts))
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def says_which(node: ast.expr) -> bool:
    """Whether this is a value that is called a kind, or one of several that are."""
    if any(ast.unparse(node).endswith(each) for each in NOT_OURS):
        return False
    if isinstance(node, ast.Subscript):
        key = node.slice
        return says_which(node.value) or (isinstance(key, ast.Constant) and key.value in TOLD)
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name.lstrip("_") in TOLD


def told_by_text(source: str) -> list[int]:
    """The lines on which a kind is compared with a text."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(texts, sides)) and any(map(says_which, sides)):
                found.append(node.lineno)
        elif isinstance(node, ast.Match) and says_which(node.subject):
            inside = [each for case in node.cases for each in ast.walk(case.pattern)]
            found += [each.lineno for each in inside if isinstance(each, ast.MatchValue) and texts(each.value)]
    return found


@pytest.mark.parametrize(
    "line",
    [
        'column.kind == "binned"',
        '"text" != self.came',
        'x.kind in ("a", "b")',
        'kinds[name] == "integer"',
        'content["kind"] == "table"',
        'match memory.kind:\n    case "run":\n        pass',
    ],
)
def test_the_rule_sees_a_comparison_with_text(line):
    assert told_by_text(line)


@pytest.mark.parametrize(
    "line", ['cells.dtype.kind == "f"', "column.kind is ColumnKind.BINNED", 'method == "auto"', 'name in ("kind", "x")']
)
def test_the_rule_leaves_other_comparisons_alone(line):
    assert not told_by_text(line)


def test_no_kind_is_told_by_its_text():
    found = [f"{path.relative_to(ROOT)}:{line}" for path in FILES for line in told_by_text(path.read_text("utf-8"))]
    assert not found


@pytest.mark.parametrize("kinds", Kinds.__subclasses__(), ids=lambda kinds: kinds.__name__)
def test_a_kind_is_written_as_its_text(kinds):
    for each in kinds:
        assert (str(each), repr(each), f"{each}") == (each.value, repr(each.value), each.value)
        assert json.loads(json.dumps({each: [each]})) == {each.value: [each.value]}
        assert {each: 1}[each.value] == 1
        assert kinds(each.value) is each


def test_a_kind_may_be_given_as_text():
    assert Variable("x", (0, 1), "integer").kind is ColumnKind.INTEGER
    assert Memory("x", "run").kind is MemoryKind.RUN
    assert Link("x", mode="all").mode is Mode.ALL
    assert Term("hinge", (0,)).shape is TermShape.HINGE
    assert ColumnFunction("sum", (0,), ((0.0, 1.0),)).name is FunctionName.SUM
    assert Mixture([1.0], [0.0], [1.0], "tied").kind is CovarianceKind.TIED
    table = leverrier.read_table({"a": ["x", "y"] * 4})
    assert Sequences.from_table(table).time_kind is TimeKind.ORDER


def test_a_kind_that_is_none_is_refused_in_one_line():
    with pytest.raises(leverrier.OptionError, match="'bins': expected one of category, ordered, boolean"):
        Variable("x", (0, 1), "bins")
    with pytest.raises(leverrier.OptionError, match=r"kind='round': expected one of full, tied, diagonal, spherical"):
        Mixture([1.0], [0.0], [1.0], "round")


def test_numbers_of_all_kinds_and_words_are_told_apart():
    numbers = {each for each in Came if each.is_number}
    words = {each for each in Came if each.in_words}
    assert numbers == {Came.INTEGER, Came.NUMBER}
    assert set(Came) - words - numbers == {Came.BOOLEAN, Came.DATE, Came.UNREAD}


def test_what_the_rule_for_numbers_names_is_a_hidden_variable_of_that_kind():
    assert {HiddenKind(each) for each in Ruling if each is not Ruling.NOTHING} == set(HiddenKind)
