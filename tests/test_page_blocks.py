"""The blocks of Python on the pages of docs/ run as written, on files and tables such as a reader would have.

Stories, tables, time and estimators have tests of their own.
"""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import leverrier as lv

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("cardinality", "em", "find-hidden", "hidden-causes", "large", "latent-classes", "mixtures")
PAGES += ("networks", "numbers", "robustness", "structure")
SHORT = {"10_000": "1_000", "sweeps=500": "sweeps=60"}
"""Speed is no matter of this test: fewer rows and sweeps, the same lines."""
ELSEWHERE = ("lv.to_pgmpy", "client=client")
"""Needs other packages, or workers: tests/test_interop.py and tests/test_cluster.py have what these blocks do."""


def people(rows: int, seed: int) -> dict[str, list]:
    """A hidden kind of person behind seven answers, with who they are."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, rows)
    answers = {name: np.where(rng.random(rows) < 0.15 + 0.7 * kind, "yes", "no").tolist() for name in "ABCDEFG"}
    return answers | {
        "age": (40 + 8 * kind + rng.normal(0, 9, rows)).round(1).tolist(),
        "sex": rng.choice(["f", "m"], rows).tolist(),
        "income": (2000 + 300 * kind + rng.normal(0, 400, rows)).round().tolist(),
        "country": rng.choice(["north", "south"], rows).tolist(),
    }


def measured(rows: int, seed: int) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 10, rows)
    return {
        "age": age.tolist(),
        "bp": (90 + 0.6 * age + rng.normal(0, 6, rows)).tolist(),
        "sex": rng.choice(["f", "m"], rows).tolist(),
    }


def names_of(page: str) -> dict[str, object]:
    """What a page takes for granted."""
    if page == "numbers":
        return {"df": measured(200, 0)}
    if page == "large":
        return {"network": lv.Graph.from_parents({"H": (), "A": ("H",), "B": ("H",), "C": ("H",)})}
    return {"lv": lv, "df": answers(120, 0) if page == "robustness" else people(200, 0)}


def answers(rows: int, seed: int) -> dict[str, list]:
    return {name: cells for name, cells in people(rows, seed).items() if len(name) == 1}


@pytest.mark.parametrize("page", PAGES)
def test_its_blocks_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lv, "discover", partial(lv.discover, evidence=False, jobs=1))  # (tests of it take a while)
    for name in ("survey.csv", "carcinoma.csv", "claims.csv", "claims.parquet"):
        lv.write_table(lv.read_table(answers(120, 1)), tmp_path / name)
    lv.write_network(lv.datasets.network("asia"), tmp_path / "model.bif")
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    for long, short in SHORT.items():
        text = text.replace(long, short)
    found = re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)
    blocks = [block for block in found if not any(mark in block for mark in ELSEWHERE)]
    assert blocks
    names = names_of(page)
    for number, block in enumerate(blocks):
        exec(compile(block, f"docs/{page}.md, block {number}", "exec"), names)
    capsys.readouterr()


def test_python_on_pages_stands_in_blocks_that_are_run():
    """Lines that are merely indented would be shown as code and never run."""
    pages = [DOCS.parent / "README.md", *DOCS.glob("*.md"), *DOCS.glob("stories/*.md")]
    for page in pages:
        outside = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        assert not re.search(r"^ {4}(import|from \w+ import|\w+ = lv\.|print\()", outside, flags=re.M), page.name
