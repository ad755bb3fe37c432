"""The snippets of docs/tables.md run as written."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from leverrier.data.reading.read_table import read_table
from leverrier.data.table import Table


def survey(n_rows: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    lines = ["name,zip,grade,day,mood,age,income,times"]
    for row in range(n_rows):
        grade, mood = rng.choice(["low", "mid", "high", ""]), rng.choice(["good", "bad"])
        day, income = f"2024-01-{1 + row % 28:02d}", round(float(rng.lognormal(7, 1)), 2)
        lines.append(
            f"person {row},{rng.integers(10, 14):05d},{grade},{day},{mood},{rng.integers(18, 90)},{income},{row % 4}"
        )
    return "\n".join(lines) + "\n"


def test_the_documented_snippets_run(tmp_path, monkeypatch):
    text = (Path(__file__).parents[1] / "docs" / "tables.md").read_text(encoding="utf-8")
    (tmp_path / "survey.csv").write_text(survey(200, 0))
    (tmp_path / "next.csv").write_text(survey(20, 1))
    monkeypatch.chdir(tmp_path)
    names = {"net": SimpleNamespace(states={"mood": ("bad", "good"), "unmeasured": (0, 1)})}
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL)):
        exec(compile(block, f"docs/tables.md, block {number}", "exec"), names)
    table = names["table"]
    assert isinstance(table, Table)
    assert table.variables == ("zip", "grade", "day", "mood", "age", "income")
    assert len(table.states["age"]) == 4
    assert len(table.states["income"]) == 3
    assert names["new"].variables == ("mood", "unmeasured")
    assert (tmp_path / "table.parquet").exists()


@pytest.mark.parametrize(("distinct", "kept"), [(12, True), (13, False)])
def test_the_documented_limit_for_identifiers_of_text(distinct, kept):
    cells = [f"t{i}" for i in range(distinct)] + ["t0"] * (distinct - 1)
    table = read_table({"t": cells, "b": [i % 2 for i in range(len(cells))]})
    assert ("t" in table.variables) == kept
    half = [f"t{i}" for i in range(distinct)] * 2  # half of the cells are different, not more
    assert "t" in read_table({"t": half, "b": [i % 2 for i in range(len(half))]}).variables


@pytest.mark.parametrize(("n_rows", "kept"), [(50, True), (51, False)])
def test_the_documented_limit_for_identifiers_of_whole_numbers(n_rows, kept):
    table = read_table({"k": [100 + 3 * i for i in range(n_rows)], "b": [i % 2 for i in range(n_rows)]})
    assert ("k" in table.variables) == kept


@pytest.mark.parametrize(("n_rows", "kept"), [(12, True), (13, False)])
@pytest.mark.parametrize("first", [0, 1])
def test_the_documented_limit_for_row_numbers(n_rows, kept, first):
    cells = {"k": list(range(first, first + n_rows)), "b": [i % 2 for i in range(n_rows)]}
    assert ("k" in read_table(cells).variables) == kept


@pytest.mark.parametrize(("distinct", "kept"), [(255, True), (256, False)])
def test_the_documented_limit_for_states_of_text(distinct, kept):
    cells = [f"t{i}" for i in range(distinct)] * 3
    assert ("t" in read_table({"t": cells, "b": [i % 2 for i in range(len(cells))]}).variables) == kept
