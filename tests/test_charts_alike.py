"""Every chart has two sizes and takes its colours from one palette."""

import ast
import inspect
import re
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

import leverrier as lv
from leverrier.report.charts import pictures
from leverrier.report.charts.dynamic_charts import dwell_times, forecast_chart, state_ribbon
from leverrier.report.charts.network_chart import graph_chart

CHARTS = Path(lv.__file__).parent / "report" / "charts"


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
    assert str(known["size"].annotation) == "Size", f"{function.__name__} has no size"
    assert known["size"].default in pictures.WIDTHS


@pytest.mark.parametrize("path", sorted(CHARTS.parent.rglob("*.py")), ids=lambda path: path.stem)
def test_colours_are_in_the_palette_alone(path):
    if path.name == "palette.py":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not re.fullmatch(r"#[0-9a-fA-F]{3,8}", node.value), f"{path.name}:{node.lineno}: {node.value}"


def test_graphs_and_sequences_fit_a_page():
    """A graph is as wide as its nodes need, on a page no wider than other figures; all else has the size's width."""
    page, notebook = pictures.WIDTHS["page"], pictures.WIDTHS["notebook"]
    wide, small = (graph_chart(lv.datasets.network("alarm"), size=size).to_dict() for size in ("notebook", "page"))
    assert wide["width"] > page == small["width"]
    assert small["height"] / wide["height"] == pytest.approx(page / wide["width"])
    sequences = lv.read_sequences({"t": list(range(40)), "x": ["a", "b"] * 10 + ["a", "a"] * 10}, time="t")
    fitted = lv.hidden_markov(sequences, states=2, seed=0).network
    for chart in (dwell_times, state_ribbon, partial(forecast_chart, variable="x", steps=3)):
        widths = [chart(fitted, sequences, size=size).to_dict()["width"] for size in ("page", "notebook")]
        assert widths == [page, notebook]
    beside = [state_ribbon(fitted, sequences, beside="x", size=size).to_dict() for size in ("page", "notebook")]
    assert [{part["width"] for part in each["vconcat"]} for each in beside] == [{page}, {notebook}]
