"""Verdicts on tables with numbers: false alarms by what made a table, and what is found of what was planted.

    python benchmarks/number_verdicts.py nothing --tables 40         the groups that must be shown
    python benchmarks/number_verdicts.py foreign --tables 40         mechanisms that no family was made for
    python benchmarks/number_verdicts.py planted --tables 20         classes and continua, 1,000 rows
    python benchmarks/number_verdicts.py nothing --groups counts rounded --draws 0

Each line is printed and appended to --output as JSON when it is done; lines already there are not run again. Without
draws (--draws 0) it is the rule alone that speaks, which can only be more trusting than the tested verdict.
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
from number_tables import FOREIGN, NOTHING, Columns
from planted_number_tables import PLANTED, Planted

import leverrier as lv

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
    found = lv.discover(columns, draws=max(draws, 1), evidence=draws > 0, resamples=0, jobs=1)
    first = found.hidden[0] if found.hidden else None
    told: dict[str, Any] = {
        "kind": kind,
        "group": group,
        "seed": seed,
        "draws": draws,
        "verdict": str(found.verdict),
        "hidden": len(found.hidden),
        "told": None if first is None else str(first.kind),
        "states": None if first is None else first.states,
        "gain": None if first is None else round(first.gain, 2),
        "seconds": round(time.process_time() - begun, 2),
    }
    if truth is not None:
        told |= {"truth": truth.kind, "true_states": truth.states}
        told["f1"] = None if first is None else round(max(agreement(set(first.children), c) for c in truth.children), 3)
    return told


def agreement(found: set[str], truth: frozenset[str]) -> float:
    """F1 of two sets of columns."""
    return 2 * len(found & truth) / (len(found) + len(truth))


def summary(lines: list[dict[str, Any]]) -> Iterator[str]:
    """By group: false alarms, or what was found and how well."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in lines:
        groups[each["group"]].append(each)
    for group, own in groups.items():
        hit = [each for each in own if each["hidden"]]
        seconds = np.median([each["seconds"] for each in own])
        if "truth" not in own[0]:
            yield f"{group:30} {len(hit)} of {len(own)} false   {seconds:.1f} s"
            continue
        right = sum(each["told"] == each["truth"] for each in hit)
        states = sum(each["states"] == each["true_states"] for each in hit)
        score = np.mean([each["f1"] for each in hit]) if hit else 0.0
        yield (
            f"{group:22} found {len(hit)} of {len(own)}, kind right {right}, states right {states}, F1 {score:.2f}"
            f"   {seconds:.1f} s"
        )
    if lines and "truth" not in lines[0]:
        yield f"together {sum(bool(each['hidden']) for each in lines)} of {len(lines)} false"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("nothing", "foreign", "planted"))
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--groups", nargs="*")
    parser.add_argument("--draws", type=int, default=19)
    parser.add_argument("--output", type=Path, default=Path("number_verdicts.jsonl"))
    asked = parser.parse_args()
    done = [json.loads(text) for text in asked.output.read_text().splitlines()] if asked.output.exists() else []
    known = {(each["kind"], each["group"], each["seed"], each["draws"]): each for each in done}
    whole = {"nothing": NOTHING, "foreign": FOREIGN, "planted": PLANTED}[asked.kind]
    lines = []
    for group in asked.groups or whole:
        for seed in range(asked.tables):
            key = (asked.kind, group, seed, asked.draws)
            if key not in known:
                known[key] = line(*key)
                with asked.output.open("a") as file:
                    file.write(json.dumps(known[key]) + "\n")
            lines.append(known[key])
        print(*summary([each for each in lines if each["group"] == group]), sep="\n", flush=True)
    print(*list(summary(lines))[-1:], sep="\n")


if __name__ == "__main__":
    main()
