"""The first call of every public function in a fresh compilation cache: what a newcomer waits.

    scripts/bench cold [--most 15]

Each call runs in its own process with an empty cache of compiled kernels. The design allows 15 s each.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

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
}


def first_call(code: str) -> tuple[float, float]:
    """Seconds of the import and of the call, in a fresh process and cache."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", f"{SETUP}{code}\nprint(imported, time.perf_counter() - begin)"],
            capture_output=True,
            text=True,
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
        )
    if done.returncode:
        raise SystemExit(f"{code}\n{done.stderr}")
    imported, call = done.stdout.split()[-2:]
    return float(imported), float(call)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=float, default=15.0, help="seconds a first call may take")
    parser.add_argument("--only", default="", help="only calls whose name holds this")
    options = parser.parse_args()
    late = []
    for name, code in CALLS.items():
        if options.only not in name:
            continue
        imported, call = first_call(code)
        late += [name] if call > options.most else []
        print(f"{name:24s} import {imported:5.2f} s   first call {call:6.2f} s", flush=True)
    print(f"over {options.most:g} s: {', '.join(late) or 'none'}")


if __name__ == "__main__":
    main()
