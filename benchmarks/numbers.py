"""Verdicts on tables with numbers: false alarms by what made a table, and what is found of what was planted.

    python -m benchmarks.numbers nothing --tables 40         the groups that must be shown
    python -m benchmarks.numbers foreign --tables 40         mechanisms that no family was made for
    python -m benchmarks.numbers planted --tables 20         classes and continua, 1,000 rows
    python -m benchmarks.numbers nothing --groups counts rounded --draws 0

Each line is appended to --output as JSON when it is done; lines already there are not run again. The rule alone speaks
first; where it names nothing, nothing can be found, and where it names something the whole verdict follows, tests
included. `ruled` counts the first, `false` and `found` the second (a verdict "found"); --draws 0 leaves out the second.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import leverrier as lv
from benchmarks.foreign_number_tables import FOREIGN
from benchmarks.number_tables import NOTHING, Columns
from benchmarks.planted_number_tables import PLANTED, Planted

ROWS, ROW_SHARES = (500, 1000, 2000, 5000), (0.4, 0.3, 0.2, 0.1)
WIDTHS, WIDTH_SHARES = (5, 7, 10, 15, 25), (0.3, 0.3, 0.2, 0.1, 0.1)
PLANTED_ROWS = 1000


def made(kind: str, group: str, seed: int) -> tuple[Columns, Planted | None]:
    """The table of a group and number, and what is behind it."""
    rng = np.random.default_rng([seed, 83, *group.encode()])
    if kind == "planted":
        truth = PLANTED[group](rng, PLANTED_ROWS)
        return truth.columns, truth
    rows, columns = int(rng.choice(ROWS, p=ROW_SHARES)), int(rng.choice(WIDTHS, p=WIDTH_SHARES))
    return (NOTHING | FOREIGN)[group](rng, rows, columns), None


def line(kind: str, group: str, seed: int, draws: int) -> dict[str, Any]:
    """One table: the verdict, and beside the truth the kind, the states and how well the children agree."""
    columns, truth = made(kind, group, seed)
    begun = time.process_time()
    found = lv.discover(columns, evidence=False, jobs=1)
    ruled = bool(found.hidden)
    if ruled and draws:
        found = lv.discover(columns, draws=draws, resamples=0, jobs=1)
    named = found.hidden or found.compressors
    first = named[0] if named else None
    told: dict[str, Any] = {
        "kind": kind,
        "group": group,
        "seed": seed,
        "draws": draws,
        "rows": len(next(iter(columns.values()))),
        "columns": len(columns),
        "ruled": ruled,
        "verdict": str(found.verdict),
        "reason": found.verdict.reason.name,
        "hidden": len(found.hidden),
        "told": None if first is None else str(first.kind),
        "states": None if first is None else first.states,
        "gain": None if first is None else round(first.gain, 2),
        "behind": [] if first is None else list(first.children),
        "seconds": round(time.process_time() - begun, 2),
    }
    if truth is not None:
        told |= {"truth": truth.kind, "true_states": truth.states}
        told["f1"] = None if first is None else round(max(agreement(set(first.children), c) for c in truth.children), 3)
    return told


def agreement(found: set[str], truth: frozenset[str]) -> float:
    """F1 of two sets of columns."""
    return 2 * len(found & truth) / (len(found) + len(truth))


def stated(line: dict[str, Any]) -> bool:
    """Whether something hidden was said to be at work."""
    return line["verdict"] == "found" if line["draws"] else line["ruled"]


def summary(lines: list[dict[str, Any]]) -> Iterator[str]:
    """By group: false alarms, or what was found and how well."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in lines:
        groups[each["group"]].append(each)
    for group, own in groups.items():
        hit = [each for each in own if stated(each)]
        ruled = sum(each["ruled"] for each in own)
        seconds = np.median([each["seconds"] for each in own])
        if "truth" not in own[0]:
            yield f"{group:30} {len(hit)} of {len(own)} false, ruled {ruled}   {seconds:.1f} s"
            continue
        right = sum(each["told"] == each["truth"] for each in hit)
        states = sum(each["states"] == each["true_states"] for each in hit)
        score = np.mean([each["f1"] for each in hit]) if hit else 0.0
        yield (
            f"{group:22} found {len(hit)} of {len(own)} (ruled {ruled}), kind right {right}, states right {states}, "
            f"F1 {score:.2f}   {seconds:.1f} s"
        )
    if lines and "truth" not in lines[0]:
        yield f"together {sum(map(stated, lines))} of {len(lines)} false, ruled {sum(each['ruled'] for each in lines)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("nothing", "foreign", "planted"))
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first table")
    parser.add_argument("--groups", nargs="*")
    parser.add_argument("--draws", type=int, default=19)
    parser.add_argument("--output", type=Path, default=Path("numbers.jsonl"))
    asked = parser.parse_args()
    done = [json.loads(text) for text in asked.output.read_text().splitlines()] if asked.output.exists() else []
    known = {(each["kind"], each["group"], each["seed"], each["draws"]): each for each in done}
    whole = {"nothing": NOTHING, "foreign": FOREIGN, "planted": PLANTED}[asked.kind]
    lines = []
    for group in asked.groups or whole:
        for seed in range(asked.first, asked.first + asked.tables):
            key = (asked.kind, group, seed, asked.draws)
            if key not in known:
                known[key] = line(*key)
                with asked.output.open("a") as file:
                    file.write(json.dumps(known[key]) + "\n")
            lines.append(known[key])
        print(next(summary([each for each in lines if each["group"] == group])), flush=True)
    print(*list(summary(lines))[-1:], sep="\n")


if __name__ == "__main__":
    main()
