"""Verdicts on tables with numbers: false alarms by what made a table, and what is found of what was planted.

    python -m benchmarks.numbers nothing --tables 40         the groups that must be shown
    python -m benchmarks.numbers foreign --tables 40         mechanisms that no family was made for
    python -m benchmarks.numbers strange --tables 40         more of them, written after the rule
    python -m benchmarks.numbers planted --tables 20         classes and continua, 1,000 rows
    python -m benchmarks.numbers uneven --tables 20          the same less tidy, 300 to 5,000 rows
    python -m benchmarks.numbers grades --tables 10          items in grades that drive each other
    python -m benchmarks.numbers behind-grades --tables 10   classes and a continuum behind items in grades
    python -m benchmarks.numbers counts --tables 4           counts that drive each other; behind-counts: a class
    python -m benchmarks.numbers outside --tables 3          frames written from the demand alone; outside-planted too
    python -m benchmarks.numbers nothing --groups counts rounded --draws 19
    python -m benchmarks.numbers nothing --tell              the lines that are there, nothing run

Each line is appended to --output as JSON when it is done; lines already there are not run again, so a run that was
stopped goes on. All groups have their first table before any has its second. A table is given to `discover`, tests and
all: where the rule names nothing no test is asked, and that is nearly always cheap. `ruled` counts what the rule
named, `false` and `found` what the tests left ("found"); gains are those of the best class and continuum.
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
from pandas import DataFrame

import leverrier as lv
from benchmarks.count_tables import COUNT_NULLS, COUNTS
from benchmarks.foreign_number_tables import FOREIGN
from benchmarks.graded_tables import GRADED, GRADED_NULLS
from benchmarks.number_tables import NOTHING, Columns
from benchmarks.outside_number_tables import NOTHING as OUTSIDE
from benchmarks.outside_planted_tables import PLANTED as OUTSIDE_PLANTED
from benchmarks.planted_number_tables import PLANTED, Planted
from benchmarks.strange_number_tables import STRANGE
from benchmarks.uneven_number_tables import UNEVEN
from leverrier.discovery.done import HiddenWeighed

ROWS, ROW_SHARES = (500, 1000, 2000, 5000), (0.4, 0.3, 0.2, 0.1)
WIDTHS, WIDTH_SHARES = (5, 7, 10, 15, 25), (0.3, 0.3, 0.2, 0.1, 0.1)
PLANTED_ROWS = 1000
KINDS: dict[str, dict[str, Any]] = {
    "nothing": NOTHING,
    "foreign": FOREIGN,
    "strange": STRANGE,
    "planted": PLANTED,
    "uneven": UNEVEN,
    "grades": GRADED_NULLS,
    "behind-grades": GRADED,
    "outside": OUTSIDE,
    "outside-planted": OUTSIDE_PLANTED,
    "counts": COUNT_NULLS,
    "behind-counts": COUNTS,
}
OWN_SHAPE = ("outside", "outside-planted")
"""Kinds that draw their own rows and columns, as frames."""
HIDDEN = ("planted", "uneven", "behind-grades", "behind-counts", "outside-planted")
"""Kinds with something behind their columns."""


def made(kind: str, group: str, seed: int) -> tuple[Columns | DataFrame, Planted | None]:
    """The table of a group and number, and what is behind it."""
    if kind in OWN_SHAPE:
        drawn = KINDS[kind][group](np.random.default_rng([seed, 7, *group.encode()]))
        if kind not in HIDDEN:
            return drawn, None
        frame, behind = drawn
        return frame, Planted(frame, tuple(map(frozenset, behind.columns)), behind.kind, behind.states, np.empty(0))
    rng = np.random.default_rng([seed, 83, *group.encode()])
    if kind in HIDDEN:
        truth = KINDS[kind][group](rng, PLANTED_ROWS)
        return truth.columns, truth
    rows, columns = int(rng.choice(ROWS, p=ROW_SHARES)), int(rng.choice(WIDTHS, p=WIDTH_SHARES))
    return KINDS[kind][group](rng, rows, columns), None


def line(kind: str, group: str, seed: int, draws: int) -> dict[str, Any]:
    """One table: the verdict, and beside the truth the kind, the states and how well the children agree."""
    columns, truth = made(kind, group, seed)
    begun = time.process_time()
    found = lv.discover(columns, draws=draws, resamples=0, jobs=1)
    named = found.hidden or found.compressors
    weighed = next((step for step in found.result.did if isinstance(step, HiddenWeighed)), HiddenWeighed(0, 0))
    first = named[0] if named else None
    told: dict[str, Any] = {
        "kind": kind,
        "group": group,
        "seed": seed,
        "draws": draws,
        "rows": len(columns[next(iter(columns))]),
        "columns": len(list(columns)),
        "ruled": bool(named),
        "verdict": str(found.verdict),
        "reason": found.verdict.reason.name,
        "hidden": len(found.hidden),
        "told": None if first is None else str(first.kind),
        "states": None if first is None else first.states,
        "of_class": weighed.of_class,
        "of_continuum": weighed.of_continuum,
        "p": None if first is None or first.evidence is None else first.evidence.p_value,
        "held_out": None if first is None or first.evidence is None else first.evidence.held_out,
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
    return line["verdict"] == "found"


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
    parser.add_argument("kind", choices=tuple(KINDS))
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first table")
    parser.add_argument("--groups", nargs="*")
    parser.add_argument("--draws", type=int, default=99)
    parser.add_argument("--tell", action="store_true", help="run nothing")
    parser.add_argument("--output", type=Path, default=Path("numbers.jsonl"))
    asked = parser.parse_args()
    done = [json.loads(text) for text in asked.output.read_text().splitlines()] if asked.output.exists() else []
    known = {(each["kind"], each["group"], each["seed"], each["draws"]): each for each in done}
    groups = asked.groups or list(KINDS[asked.kind])
    seeds = range(asked.first, asked.first + asked.tables)
    keys = [(asked.kind, group, seed, asked.draws) for seed in seeds for group in groups]
    for key in keys:
        if key not in known and not asked.tell:
            known[key] = line(*key)
            with asked.output.open("a") as file:
                file.write(json.dumps(known[key]) + "\n")
    lines = [known[key] for key in keys if key in known]
    print(*summary(lines), sep="\n")


if __name__ == "__main__":
    main()
