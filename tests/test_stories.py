"""Every block of Python in the stories, the comparison with other packages and the README runs from the copied text."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STORIES = sorted(path for path in (ROOT / "docs" / "stories").glob("*.md") if path.stem != "index")
PAGES = [*STORIES, ROOT / "docs" / "coming-from.md", ROOT / "README.md"]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_runs_as_it_stands(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks(page))
    assert code
    needs = [
        each for each in ("to_frame(", "to_pandas(", "to_polars(", "import pandas", "import polars") if each in code
    ]
    assert not needs, "a fresh environment has no dataframe library"
    exec(compile(code, str(page), "exec"), {"__name__": "story"})
    drawn = [path for path in tmp_path.iterdir() if path.suffix in (".html", ".svg")]
    if page in STORIES:
        assert drawn
        assert all(path.stat().st_size > 5000 for path in drawn)


def test_there_are_five_stories_and_each_is_listed():
    listed = (ROOT / "docs" / "stories" / "index.md").read_text(encoding="utf-8")
    assert len(STORIES) == 5
    assert all(f"({path.name})" in listed for path in STORIES)
