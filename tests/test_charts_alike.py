"""Every chart has two sizes and takes its colours from one palette."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import leverrier
from leverrier.report.charts import pictures

CHARTS = Path(leverrier.__file__).parent / "report" / "charts"
DRAWN = {
    "network_chart",
    "graph_chart",
    "slice_graph",
    "plot_structure",
    "state_ribbon",
    "forecast_chart",
    "dwell_times",
}
"""As large as what they show: a graph by its nodes, a sequence by its length; in notebooks alone."""


def charts():
    for path in sorted(CHARTS.glob("*.py")):
        module = import_module(f"leverrier.report.charts.{path.stem}")
        for name, function in vars(module).items():
            own = inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
            if own and "TopLevelMixin" in str(function.__annotations__.get("return")):
                yield pytest.param(function, id=name)


@pytest.mark.parametrize("function", list(charts()))
def test_a_chart_has_a_size_for_pages_and_one_for_notebooks(function):
    known = inspect.signature(function).parameters
    if function.__name__ not in DRAWN:
        assert str(known["size"].annotation) == "Size", f"{function.__name__} has no size"
        assert known["size"].default in pictures.WIDTHS


@pytest.mark.parametrize("path", sorted(CHARTS.parent.rglob("*.py")), ids=lambda path: path.stem)
def test_colours_are_in_the_palette_alone(path):
    if path.name == "palette.py":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not re.fullmatch(r"#[0-9a-fA-F]{3,8}", node.value), f"{path.name}:{node.lineno}: {node.value}"
