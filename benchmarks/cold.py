"""The first call of every public function in a fresh compilation cache: what a newcomer waits.

    scripts/bench cold [--most 15]

Each call runs in its own process with an empty cache of compiled kernels. The design allows 15 s each. Beside the wall
clock: processor seconds, and how many specialisations of kernels were compiled. `--installed` fills the cache first, as
scripts/environment does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SETUP = """
import time; begin = time.perf_counter()
import leverrier as lv
imported = time.perf_counter() - begin
import numpy as np
net = lv.datasets.network("asia"); data = net.sample(500, seed=0)
begin = time.perf_counter()
"""
CALLS = {
    "read_table": "lv.read_table({'a': ['x', 'y'] * 50, 'b': list(range(100)), 'c': ['u', 'v', 'v', 'u'] * 25})",
    "sample": "net.sample(100, seed=0)",
    "log_likelihood": "net.log_likelihood(data)",
    "posterior": "net.posterior(data.drop('lung'), 'lung')",
    "score": "lv.score(net, data)",
    "learn_structure": "lv.learn_structure(data)",
    "fit": "lv.fit(net, data.drop('lung'), hidden={'lung': 2})",
    "fit vb": "lv.fit(net, data.drop('lung'), hidden={'lung': 2}, method='vb')",
    "structural_em": "lv.structural_em(net, data.drop('lung'), hidden={'lung': 2})",
    "latent_classes": "lv.latent_classes(data, states=range(1, 4), starts=5)",
    "cardinality": "lv.cardinality(net, data.drop('either'), hidden='either')",
    "fit_mixture": "lv.fit_mixture(np.random.default_rng(0).normal(size=(200, 2)), components=2)",
    "hidden_causes": "lv.hidden_causes(lv.datasets.hidden_causes(seed=0)[0], sweeps=20, chains=1)",
    "learn_structure best": "lv.learn_structure(data, method='best', rounds=2)",
    "discover": "lv.discover(data.drop('either'), seed=0)",
}


def first_call(code: str, installed: bool) -> tuple[float, float, float, int]:
    """Seconds of the import and of the call, processor seconds of the call, specialisations compiled over it."""
    with tempfile.TemporaryDirectory() as cache:
        there = {**os.environ, "NUMBA_CACHE_DIR": cache}
        if installed:
            subprocess.run([sys.executable, "-m", "leverrier.discovery.kernel_cache"], check=True, env=there)
        before = sum(1 for _ in Path(cache).rglob("*.nbc"))
        clock = "print(imported, time.perf_counter() - begin, time.process_time() - busy)"
        done = subprocess.run(
            [sys.executable, "-c", f"{SETUP}busy = time.process_time()\n{code}\n{clock}"],
            capture_output=True,
            text=True,
            env=there,
        )
        compiled = sum(1 for _ in Path(cache).rglob("*.nbc")) - before
    if done.returncode:
        raise SystemExit(f"{code}\n{done.stderr}")
    imported, call, busy = map(float, done.stdout.split()[-3:])
    return imported, call, busy, compiled


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=float, default=15.0, help="seconds a first call may take")
    parser.add_argument("--only", default="", help="only calls whose name holds this")
    parser.add_argument("--installed", action="store_true", help="with the cache that an install makes")
    options = parser.parse_args()
    late = []
    for name, code in CALLS.items():
        if options.only not in name:
            continue
        imported, call, busy, compiled = first_call(code, options.installed)
        late += [name] if call > options.most else []
        print(
            f"{name:24s} import {imported:5.2f} s   first call {call:6.2f} s   processor {busy:6.2f} s   "
            f"compiled {compiled:4d}",
            flush=True,
        )
    print(f"over {options.most:g} s: {', '.join(late) or 'none'}")


if __name__ == "__main__":
    main()
