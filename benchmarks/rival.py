"""Is what is called hidden only what full tables cannot say? Tables with nothing hidden, by group.

    python benchmarks/rival.py search --seeds 5              the gain of the best hidden variable, without the tests
    python benchmarks/rival.py search --families tables      the same against a rival of tables alone
    python benchmarks/rival.py verdict --seeds 30            with the null test: what discover would say
    python benchmarks/rival.py search --groups noisy-or trees

A gain above 10 nats is looked at by the null test; each line is printed, and appended to --output as JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import leverrier as lv
from benchmarks.rival_tables import FORESEEN, UNFORESEEN
from leverrier.data.reading.read_table import as_table
from leverrier.discovery.examine import Tests, examine
from leverrier.discovery.places.search import begin, next_hidden
from leverrier.discovery.plan import Plan

GROUPS = {**FORESEEN, **UNFORESEEN}


def search_line(group: str, seed: int, kinds: bool) -> dict[str, Any]:
    """The gain of the best hidden variable over the rival, and what the rival's families are."""
    table = as_table(GROUPS[group](seed))
    begun = time.process_time()
    search = begin(table, lv.BDe(), Plan(max_hidden=1, kinds=kinds))
    rival = time.process_time() - begun
    gain = search.found[-1].gain if next_hidden(search) else 0.0
    network = search.baseline.network
    return {
        "gain": round(gain, 1),
        "rows": table.n_rows,
        "columns": len(table.variables),
        "kinds": dict(Counter(network.kind(v) for v in network.variables)),
        "near": sorted(search.graph.neighbours(search.found[-1].name)) if search.found else [],
        "rival seconds": round(rival, 2),
        "seconds": round(time.process_time() - begun, 2),
    }


def verdict_line(group: str, seed: int, kinds: bool) -> dict[str, Any]:
    """What the null test says."""
    begun = time.process_time()
    tests = Tests(resamples=0, held_out=False, power=False)
    found = examine(as_table(GROUPS[group](seed)), lv.BDe(), Plan(max_hidden=1, kinds=kinds), tests)
    every = (*found.hidden, *found.compressors)
    gains = [(each.gain, list(each.evidence.null_gains)) for each in every if each.evidence is not None]
    return {"verdict": found.verdict, "gains": gains, "seconds": round(time.process_time() - begun, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("search", "verdict"))
    parser.add_argument("--families", choices=("auto", "tables"), default="auto")
    parser.add_argument("--groups", nargs="*", default=list(GROUPS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    line = search_line if asked.what == "search" else verdict_line
    alarms: Counter[str] = Counter()
    for group in asked.groups:
        for seed in range(asked.first, asked.first + asked.seeds):
            found = line(group, seed, asked.families == "auto")
            alarm = found["gain"] > 10 if asked.what == "search" else found["verdict"] == "found"
            alarms[group] += alarm
            whole = {"group": group, "seed": seed, "families": asked.families, **found}
            print(json.dumps(whole), flush=True)
            if asked.output is not None:
                with asked.output.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(whole) + "\n")
    for group in asked.groups:
        print(f"{group:16s} {alarms[group]} of {asked.seeds}")
    print(f"together         {sum(alarms.values())} of {asked.seeds * len(asked.groups)}")


if __name__ == "__main__":
    main()
