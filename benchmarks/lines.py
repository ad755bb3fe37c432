"""Experiments as lines of JSON, each printed and appended when it is done; those already there are not run again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Line = dict[str, Any]
Work = Iterable[tuple[str, Callable[[], Line]]]


def read(output: Path) -> dict[str, Line]:
    """Lines by key."""
    if not output.exists():
        return {}
    return {line["key"]: line for line in map(json.loads, output.read_text().splitlines())}


def run(work: Work, output: Path) -> list[Line]:
    """What is not there yet is run; gives back every line asked for, in order."""
    output.parent.mkdir(parents=True, exist_ok=True)
    done = read(output)
    found = []
    for key, call in work:
        if key not in done:
            done[key] = {"key": key, **call()}
            with output.open("a") as file:
                file.write(json.dumps(done[key]) + "\n")
            print(json.dumps(done[key]), flush=True)
        found.append(done[key])
    return found


def table(heads: list[str], rows: Iterable[Iterable[object]]) -> None:
    """A table for a page."""
    print("\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
