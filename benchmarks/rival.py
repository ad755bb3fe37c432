"""Is what is called hidden only what the rival cannot say? Tables with nothing hidden, by group.

    python -m benchmarks.rival verdicts --tables 30 --output rival.jsonl   what discover says of every group, tests too
    python -m benchmarks.rival verdicts --group "bands" --tables 30         of one
    python -m benchmarks.rival search --tables 5                            the best hidden variable's gain, untested
    python -m benchmarks.rival search --families tables                     the same against a rival of tables alone

Every group has its first table, then every group its second…: a run that is cut has seen all of them. Each line is
printed, and appended to --output as JSON; lines that are there already are not run again. At the end, and with
`python -m benchmarks.rival told --output rival.jsonl` at any time, a line a group says how many of its tables alarmed.
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
from benchmarks.rival_codes import CODES
from benchmarks.rival_desks import DESKS
from benchmarks.rival_hard import HARD, STRANGE
from benchmarks.rival_places import PLACES
from benchmarks.rival_strangers import STRANGERS
from benchmarks.rival_tables import FORESEEN, UNFORESEEN
from benchmarks.rival_wide import WIDE
from leverrier.data.reading.read_table import as_table
from leverrier.discovery.places.search import begin, next_hidden
from leverrier.discovery.plan import Plan

GROUPS: dict[str, Callable[[int], object]] = {
    **FORESEEN,
    **UNFORESEEN,
    **HARD,
    **STRANGE,
    **PLACES,
    **WIDE,
    **STRANGERS,
    **DESKS,
    **CODES,
}
DRAWS = 99


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
    """What `discover` says of at most one hidden variable, with all its tests."""
    begun = time.process_time()
    found = lv.discover(GROUPS[group](seed), draws=draws, max_hidden=1, jobs=1)
    return {**said_of(found), "seconds": round(time.process_time() - begun, 1)}


def said_of(found: lv.Discovery) -> dict[str, Any]:
    """The verdict, and what speaks for and against the first variable that was tested."""
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
                "kind": one.kind.value,
                "null": [round(gain, 1) for gain in one.null_gains],
                "held out": one.held_out_interval,
                "support": one.support,
                "standard errors": None if one.free is None else round(one.free.z, 1),
                "told by one column": None if one.told_by is None else round(one.told_by.share, 2),
            }
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("search", "verdicts", "told"))
    parser.add_argument("--families", choices=("auto", "tables"), default="auto")
    parser.add_argument("--group", nargs="*", default=list(GROUPS), choices=list(GROUPS), metavar="GROUP")
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    if asked.what == "told":
        told([each for each in kept(asked.output) if each["what"] == "verdicts"])
        return
    line = search_line if asked.what == "search" else verdict_line
    known = {(e["group"], e["seed"], e["families"]): e for e in kept(asked.output) if e["what"] == asked.what}
    seen = []
    for seed in range(asked.first, asked.first + asked.tables):
        for group in asked.group:
            whole = known.get((group, seed, asked.families))
            if whole is None:
                found = line(group, seed, asked.families == "auto", asked.draws)
                whole = {"what": asked.what, "group": group, "seed": seed, "families": asked.families, **found}
                keep(whole, asked.output)
            seen.append(whole)
            print(json.dumps(whole), flush=True)
    told(seen)


def told(lines: list[dict[str, Any]]) -> None:
    """A line a group: alarms, and what the others were told."""
    for group in dict.fromkeys(each["group"] for each in lines):
        own = [each for each in lines if each["group"] == group]
        others = Counter(each["verdict"] for each in own if "verdict" in each and not each["alarm"])
        seconds = sorted(each["seconds"] for each in own)[len(own) // 2]
        said = ", ".join(f"{count} {verdict}" for verdict, count in others.items())
        print(f"{group:18s} {sum(each['alarm'] for each in own)} of {len(own)}   {said}   (median {seconds} s)")
    print(f"{'together':18s} {sum(each['alarm'] for each in lines)} of {len(lines)}")


def keep(line: dict[str, Any], output: Path | None) -> None:
    if output is not None:
        with output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def kept(output: Path | None) -> list[dict[str, Any]]:
    """Lines of an earlier run."""
    if output is None or not output.exists():
        return []
    return [json.loads(text) for text in output.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
