"""Networks of others with nothing taken out: every column is there, so nothing is hidden.

    python -m benchmarks.whole_networks FOLDER [NAME …] --output whole.jsonl [--rows 1000 2000 5000] [--seeds 3]
    python -m benchmarks.whole_networks FOLDER --output whole.jsonl --told

FOLDER holds networks of states as `.bif` or `.bif.gz`, or Gaussian ones as `.json` (nodes, and for each its parents,
coefficients and variance). pgmpy 0.1.25 and later has such a folder, `pgmpy/utils/example_models`. Without names all of
at most --columns columns are taken. Every network has its first table, then every network its second: a run that is cut
has seen all of them. Each line is printed, and appended to --output as JSON; lines that are there already are not run
again. At the end, or with --told alone, a line a network says how many of its tables alarmed and what others were told.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import leverrier as lv
from benchmarks.rival import keep, kept, said_of, told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 2000, 5000])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--columns", type=int, default=250)
    parser.add_argument("--budget", type=float, help="seconds a table by the clock")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--told", action="store_true")
    given = parser.parse_args()
    known = kept(given.output)
    if given.told:
        told(by_rows(known))
        return
    there = {(each["group"], each["rows"], each["seed"]): each for each in known}
    names = given.names or networks(given.folder, given.columns)
    seen = []
    for seed in range(given.first, given.first + given.seeds):
        for rows in given.rows:
            for name in names:
                line = there.get((name, rows, seed))
                if line is None:
                    line = {"group": name, "seed": seed, **verdict_line(given.folder, name, rows, seed, given)}
                    keep(line, given.output)
                seen.append(line)
                print(json.dumps(line), flush=True)
    told(by_rows(seen))


def by_rows(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A group for each number of rows."""
    return [{**each, "group": f"{each['group']}, {each['rows']:,}"} for each in lines]


def verdict_line(folder: Path, name: str, rows: int, seed: int, given: argparse.Namespace) -> dict[str, Any]:
    table = drawn(folder, name, rows, seed)
    begun = time.process_time()
    found = lv.discover(table, seed=seed, jobs=given.jobs, budget=given.budget, progress=False)
    return {**said_of(found), "rows": rows, "seconds": round(time.process_time() - begun, 1)}


def networks(folder: Path, columns: int) -> list[str]:
    """Those of so many columns, small ones first."""
    width = {}
    for file in sorted(folder.iterdir()):
        if file.suffix == ".json":
            width[file.stem] = len(json.loads(file.read_text())["nodes"])
        elif ".bif" in file.suffixes:
            width[file.name.split(".")[0]] = len(re.findall(rb"^\s*variable\s", _text(file), re.MULTILINE))
    return sorted((name for name, count in width.items() if count <= columns), key=lambda name: width[name])


def drawn(folder: Path, name: str, rows: int, seed: int) -> lv.Table | pd.DataFrame:
    """Rows of the network with all its columns."""
    for file in (folder / f"{name}.bif", folder / f"{name}.bif.gz"):
        if file.exists():
            return _states(file, rows, seed)
    file = folder / f"{name}.json"
    if file.exists():
        return _numbers(json.loads(file.read_text()), rows, seed)
    raise SystemExit(f"{folder} has no {name}.bif, {name}.bif.gz or {name}.json")


def _text(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def _states(file: Path, rows: int, seed: int) -> lv.Table:
    with tempfile.TemporaryDirectory() as place:
        plain = Path(place) / "network.bif"
        plain.write_bytes(_text(file))
        return lv.read_network(plain).sample(rows, seed=seed)


def _numbers(content: dict, rows: int, seed: int) -> pd.DataFrame:
    rng, values = np.random.default_rng(seed), {}
    waiting = list(content["nodes"])
    while waiting:
        for name in list(waiting):
            law = content["cpds"][name]
            if not set(law["parents"]) <= set(values):
                continue
            mean = sum(law["coefficients"][p][0] * values[p] for p in law["parents"])
            noise = rng.normal(size=rows) * np.sqrt(law["variance"][0])
            values[name] = law["coefficients"]["(Intercept)"][0] + mean + noise
            waiting.remove(name)
    return pd.DataFrame({name: values[name] for name in content["nodes"]})


if __name__ == "__main__":
    main()
