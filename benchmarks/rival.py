"""Is what is called hidden only what the rival cannot say? Tables with nothing hidden, by group.

    python -m benchmarks.rival verdicts --group "bands" --tables 30    what discover says, tests and all
    python -m benchmarks.rival verdicts --tables 2                     of every group
    python -m benchmarks.rival search --tables 5                       the gain of the best hidden variable, no tests
    python -m benchmarks.rival search --families tables                the same against a rival of tables alone

A gain above 10 nats is looked at by the null test. Each line is printed, and appended to --output as JSON; lines
that are there already are not run again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leverrier as lv
from benchmarks.rival_hard import HARD, STRANGE
from benchmarks.rival_tables import FORESEEN, UNFORESEEN
from leverrier.data.reading.read_table import as_table
from leverrier.discovery.places.search import begin, next_hidden
from leverrier.discovery.plan import Plan

GROUPS: dict[str, Callable[[int], object]] = {**FORESEEN, **UNFORESEEN, **HARD, **STRANGE}
DRAWS = 19


def search_line(group: str, seed: int, kinds: bool, draws: int) -> dict[str, Any]:  # noqa: ARG001
    """The gain of the best hidden variable over the rival, and what the rival's families are."""
    table = as_table(GROUPS[group](seed))
    begun = time.process_time()
    search = begin(table, lv.BDe(), Plan(max_hidden=1, kinds=kinds))
    rival = time.process_time() - begun
    gain = search.found[-1].gain if next_hidden(search) else 0.0
    network = search.baseline.network
    return {
        "alarm": gain > 10,
        "gain": round(gain, 1),
        "rows": table.n_rows,
        "columns": len(table.variables),
        "kinds": dict(Counter(network.kind(v) for v in network.variables)),
        "near": sorted(search.graph.neighbours(search.found[-1].name)) if search.found else [],
        "rival seconds": round(rival, 2),
        "seconds": round(time.process_time() - begun, 2),
    }


def verdict_line(group: str, seed: int, kinds: bool, draws: int) -> dict[str, Any]:  # noqa: ARG001
    """What `discover` says, with all its tests but resamples."""
    begun = time.process_time()
    found = lv.discover(GROUPS[group](seed), draws=draws, resamples=0, max_hidden=1, jobs=1)
    line: dict[str, Any] = {
        "alarm": found.verdict.found,
        "verdict": str(found.verdict),
        "reason": found.verdict.reason.name,
        "rows": found.result.shape.rows,
        "columns": found.result.shape.columns,
    }
    for each in (*found.result.hidden, *found.result.compressors)[:1]:
        one = each.evidence
        line |= {"gain": round(each.gain, 1), "near": sorted(each.neighbours)}
        if one is not None:
            line |= {
                "null": [round(gain, 1) for gain in one.null_gains],
                "held out": one.held_out_interval,
                "standard errors": None if one.free is None else round(one.free.z, 1),
                "told by one column": None if one.told_by is None else round(one.told_by.share, 2),
            }
    return {**line, "seconds": round(time.process_time() - begun, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("search", "verdicts"))
    parser.add_argument("--families", choices=("auto", "tables"), default="auto")
    parser.add_argument("--group", nargs="*", default=list(GROUPS), choices=list(GROUPS), metavar="GROUP")
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    line = search_line if asked.what == "search" else verdict_line
    alarms: Counter[str] = Counter()
    known = _known(asked.output, asked.what)
    for group in asked.group:
        for seed in range(asked.first, asked.first + asked.tables):
            whole = known.get((group, seed, asked.families))
            if whole is None:
                found = line(group, seed, asked.families == "auto", asked.draws)
                whole = {"what": asked.what, "group": group, "seed": seed, "families": asked.families, **found}
                if asked.output is not None:
                    with asked.output.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(whole) + "\n")
            alarms[group] += whole["alarm"]
            print(json.dumps(whole), flush=True)
    for group in asked.group:
        print(f"{group:18s} {alarms[group]} of {asked.tables}")
    print(f"{'together':18s} {sum(alarms.values())} of {asked.tables * len(asked.group)}")


def _known(output: Path | None, what: str) -> dict[tuple[str, int, str], dict[str, Any]]:
    """Lines of an earlier run."""
    if output is None or not output.exists():
        return {}
    lines = [json.loads(text) for text in output.read_text(encoding="utf-8").splitlines()]
    return {(each["group"], each["seed"], each["families"]): each for each in lines if each["what"] == what}


if __name__ == "__main__":
    main()
