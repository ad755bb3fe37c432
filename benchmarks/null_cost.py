"""What one simulated table of the null test costs, stage by stage, in processor time.

    python -m benchmarks.null_cost [alarm insurance star] [--draws 3]

A stage's time is its own: what it asks of another stage counts there.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

import leverrier as lv
from leverrier.discovery.evidence.null_test import Null
from leverrier.discovery.places import region, screening, search
from leverrier.discovery.plan import Plan
from leverrier.learning.structure import one_hidden
from leverrier.learning.structure.known_table import KnownTable

STAGES: dict[str, list[tuple[Any, str]]] = {
    "baseline": [(search, "learn_baseline")],
    "re-search without it": [(search, "better_without")],
    "candidates": [(screening, "_suggested")],
    "screening": [(screening, "_screen")],
    "deepening": [(screening, "_deepened")],
    "number of states": [(search, "settled")],
    "parameters of the winner": [(search, "_fitted")],
    "merging states": [(region, "merged_states")],
    "cutting out": [(region, "_cut_out")],
    "climb: Python": [(region, "climb_region")],
    "climb: compiled": [(one_hidden, "climb_hidden")],
    "climb: families asked": [(KnownTable, "ask")],
}
times: defaultdict[str, float] = defaultdict(float)
calls: Counter[str] = Counter()
_open: list[float] = []


def watched(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def timed(*args: Any, **options: Any) -> Any:
        begun = time.process_time()
        _open.append(0.0)
        try:
            return function(*args, **options)
        finally:
            spent = time.process_time() - begun
            times[stage] += spent - _open.pop()
            calls[stage] += 1
            if _open:
                _open[-1] += spent

    return timed


def watch() -> None:
    for stage, places in STAGES.items():
        for owner, name in places:
            setattr(owner, name, watched(stage, getattr(owner, name)))


def star(rows: int = 1000) -> lv.Table:
    """Ten columns: a star of six, and four apart."""
    rng = np.random.default_rng(5)
    hidden = rng.integers(0, 3, rows)
    columns = [np.where(rng.random(rows) < 0.6, (hidden + k) % 3, rng.integers(0, 3, rows)) for k in range(6)]
    columns += [rng.integers(0, 2, rows) for _ in range(4)]
    states = {f"c{k}": tuple(range(3 if k < 6 else 2)) for k in range(10)}
    return lv.Table.from_codes(states, np.stack(columns))


TABLES: dict[str, Callable[[], lv.Table]] = {
    "alarm": lambda: lv.datasets.network("alarm").sample(10_000, seed=0).drop("INTUBATION"),
    "insurance": lambda: lv.datasets.network("insurance").sample(5_000, seed=0).drop("VehicleYear"),
    "star": star,
}


def told(title: str, seconds: float) -> None:
    print(f"{title}: {seconds:.2f} s")
    for stage in STAGES:
        if calls[stage]:
            share = times[stage] / seconds
            print(f"  {stage:26s} {times[stage]:7.3f} s  {share:5.0%}  {calls[stage]:6d} calls")
    times.clear()
    calls.clear()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--light", action="store_true", help="by the plan of the null test")
    options = parser.parse_args()
    search.practise()
    watch()
    for name in options.tables:
        table, plan, score = TABLES[name](), Plan(max_hidden=1), lv.BDe()
        if options.light:
            plan = plan.light()
        begun = time.process_time()
        whole = search.begin(table, score, plan)
        gained = whole.found[-1].gain if search.next_hidden(whole) else 0.0
        told(f"{name}, the data: gain {gained:.3f}", time.process_time() - begun)
        null = Null(whole.networks[0], table, score, plan, None)
        begun = time.process_time()
        gains = [null.gain(seed) for seed in np.random.SeedSequence([0, 7]).spawn(options.draws)]
        spent = time.process_time() - begun
        told(f"{name}, {options.draws} simulated tables, gains {np.round(gains, 3).tolist()}", spent)


if __name__ == "__main__":
    main()
