"""The kept lines of benchmarks/find_hidden.py as tables for docs/results.md.

python benchmarks/find_hidden_tables.py build/figure2.jsonl build/shapes.jsonl build/nothing.jsonl
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np

Line = dict[str, Any]
SOURCE = "region, source's construction"
COLUMNS = ("region", "full", "fixed", SOURCE, "naive", "original")
ENOUGH = 20.0
"""Nats that the true model must be ahead for a variable to be expected."""


def figure2(lines: list[Line]) -> None:
    """Gain, test log-likelihood a row and F1 of the neighbours: means over samples."""
    cases: dict[tuple[str, str, int], list[Line]] = defaultdict(list)
    for line in lines:
        _, network, hidden, rows, _ = line["key"].split()
        cases[network, hidden, int(rows)].append(line)
    print("| hidden | rows | samples |", " | ".join(COLUMNS), "|")
    print("|---" * (3 + len(COLUMNS)) + "|")
    for (network, hidden, rows), found in sorted(cases.items()):
        cells = [_cell([line[column] for line in found]) for column in COLUMNS]
        print(f"| {network.upper()} {hidden} | {rows:,} | {len(found)} |", " | ".join(cells), "|")


def _cell(values: list[Line]) -> str:
    gains = "/".join(f"{each['gain']:+.0f}" for each in values)
    test, near = (np.mean([each[name] for each in values]) for name in ("test nats a row", "F1"))
    return gains + f" ({test:+.3f}" + (f", {near:.2f})" if near else ")")


def shapes(lines: list[Line]) -> None:
    """By shape: how many were found where they are, and with as many states."""
    expected = [line for line in lines if line["true gain"] >= ENOUGH]
    print("| shape | samples (tested) | hidden | F1 of neighbours .9 or better | states exact | none too many |")
    print("|---|---|---|---|---|---|")
    names = list(dict.fromkeys(_shape(line) for line in expected))
    for name in (*names, ""):
        own = [line for line in expected if not name or _shape(line) == name]
        hidden, tested = sum(line["hidden"] for line in own), sum(line.get("tested", True) for line in own)
        near = sum(each >= 0.9 for line in own for each in line["F1"])
        exact = sum(each for line in own for each in line["exact"])
        more = sum(line["found"] <= line["hidden"] for line in own)
        print(
            f"| {name or 'all'} | {len(own)} ({tested}) | {hidden} | {near} ({near / hidden:.0%}) | "
            f"{exact} ({exact / hidden:.0%}) | {more} |"
        )


def _shape(line: Line) -> str:
    return line["key"].removeprefix("shapes ").partition(" #")[0]


def nothing(lines: list[Line]) -> None:
    print(dict(Counter(line["verdict"] for line in lines)), "of", len(lines))


def main() -> None:
    for path in map(Path, sys.argv[1:]):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        {"figure2": figure2, "shapes": shapes, "nothing": nothing}[path.stem](lines)
        print()


if __name__ == "__main__":
    main()
