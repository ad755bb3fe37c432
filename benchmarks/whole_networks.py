"""Networks of others with nothing taken out: every column is there, so nothing is hidden.

    python -m benchmarks.whole_networks FOLDER mildew barley [--rows 2000] [--seeds 1] [--jobs 2]

FOLDER holds networks of states as `.bif` or `.bif.gz`, or Gaussian ones as `.json` (nodes, and for each its parents,
coefficients and variance). pgmpy 0.1.25 and later has such a folder, `pgmpy/utils/example_models`. A line a table: the
answer, the reason, what was found, seconds of processor and by the clock.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import leverrier as lv


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    for name in given.names:
        for seed in range(given.seeds):
            table = drawn(given.folder, name, given.rows, seed)
            begun, busy = time.perf_counter(), time.process_time()
            found = lv.discover(table, seed=0, jobs=given.jobs, progress=False)
            hidden = [(each.name, round(each.gain, 1), each.states) for each in found.hidden]
            seconds = f"{time.process_time() - busy:.0f} s of processor, {time.perf_counter() - begun:.0f} s"
            print(name, given.rows, seed, found.verdict.answer, found.verdict.reason.name, hidden, seconds, flush=True)


def drawn(folder: Path, name: str, rows: int, seed: int) -> lv.Table | pd.DataFrame:
    """Rows of the network with all its columns."""
    for file in (folder / f"{name}.bif", folder / f"{name}.bif.gz"):
        if file.exists():
            return _states(file, rows, seed)
    file = folder / f"{name}.json"
    if file.exists():
        return _numbers(json.loads(file.read_text()), rows, seed)
    raise SystemExit(f"{folder} has no {name}.bif, {name}.bif.gz or {name}.json")


def _states(file: Path, rows: int, seed: int) -> lv.Table:
    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    with tempfile.TemporaryDirectory() as place:
        plain = Path(place) / "network.bif"
        plain.write_bytes(text)
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
