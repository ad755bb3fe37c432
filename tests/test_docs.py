"""Generated pages are fresh, links lead somewhere, and every command is spoken of."""

import importlib.util
from pathlib import Path

import pytest

from leverrier.cli.group import VERBS

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("build_docs", DOCS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_page_is_what_help_says(build):
    assert (DOCS / "cli.md").read_text() == build.command_page(), "stale: run scripts/docs"


def test_the_reference_is_what_docstrings_say(build):
    assert (DOCS / "api.md").read_text() == build.reference_page(), "stale: run scripts/docs"


def test_every_link_leads_somewhere_and_every_name_is_listed(build):
    assert build.broken_links() == []
    assert build.missing_names() == []


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_is_in_the_docs_and_shows_an_example(verb, build):
    pages = "".join(page.read_text() for page in (*DOCS.glob("*.md"), DOCS.parent / "README.md"))
    assert f"leverrier {verb}" in pages
    assert f"\n  leverrier {verb}" in build.command_page()
