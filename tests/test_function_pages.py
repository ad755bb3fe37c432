"""A page for every public function: fresh, and with an example that runs from the copied text."""

import importlib.util
import inspect
from pathlib import Path

import pytest

import leverrier as lv
from leverrier.data.paper_table import Papers

DOCS = Path(__file__).parents[1] / "docs"


def module(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


build = module("build")
EXAMPLES = module("examples").EXAMPLES


def test_pages_are_what_docstrings_say():
    pages = build.function_pages()
    assert {path.name for path in (DOCS / "functions").glob("*.md")} == set(pages), "stale: run scripts/docs"
    for name, text in pages.items():
        assert (DOCS / "functions" / name).read_text(encoding="utf-8") == text, "stale: run scripts/docs"


def test_every_public_function_has_an_example_and_a_page():
    functions = {name for name in lv.__all__ if inspect.isfunction(getattr(lv, name))}
    assert functions == set(EXAMPLES)
    for name in functions:
        text = (DOCS / "functions" / f"{name}.md").read_text(encoding="utf-8")
        assert f"lv.{name}(" in text


def test_a_page_lists_the_methods_of_what_comes_back():
    text = (DOCS / "functions" / "discover.md").read_text(encoding="utf-8")
    own = [name for name, each in vars(lv.Discovery).items() if inspect.isfunction(each) and name[0] != "_"]
    assert own
    assert all(f"- `{name}(" in text for name in own)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(name, tmp_path, monkeypatch):
    lines = build.runnable(EXAMPLES[name])
    for package in (line.split()[1] for line in lines if line.startswith("import ")):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed here")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "example"}
    exec(compile("\n".join(lines), name, "exec"), names)
    for kind in build.returned(getattr(lv, name)):
        if issubclass(kind, Papers):
            made = [each for each in names.values() if isinstance(each, build.returned(getattr(lv, name)))]
            assert made, "the example keeps what comes back"
            require_tables(made[-1])


def require_tables(result):
    """A card for notebooks, and tables for papers whose frames have as many lines."""
    assert "<table" in result._repr_html_()
    for key, table in result.paper_tables().items():
        assert result.to_latex(key).count(r"\\") == 1 + len(table.rows)
        assert len(result.to_frame(key)) == len(table.rows)


def test_every_result_has_a_card_and_tables():
    models = (lv.Network, lv.MixedNetwork, lv.Graph, lv.Table, lv.Sequences)
    for name in EXAMPLES:
        for kind in build.returned(getattr(lv, name)):
            if kind.__module__.startswith("leverrier") and not issubclass(kind, models):
                assert issubclass(kind, Papers), f"{name} gives a {kind.__name__} back, which has no tables"
