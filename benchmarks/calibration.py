"""Are p-values what they say? Tables with nothing hidden, and stars that have something.

    python -m benchmarks.calibration null --tables 200        shares of p ≤ 0.05 and 0.01, with intervals
    python -m benchmarks.calibration power --rows 200 500     stars of 4, 6 and 8 columns, found at the level

Null tables are random networks of 5 to 8 columns with two or three states, 200 to 500 rows: chains, trees, two parents
a column, independent columns, and noisy-or. A table in which the search finds nothing has p = 1.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator

import numpy as np

import leverrier as lv
from leverrier.discovery.evidence.null_test import WORTH_A_TEST, null_test
from leverrier.discovery.evidence.sequential_test import exact_interval
from leverrier.discovery.places.search import begin, next_hidden
from leverrier.discovery.plan import Plan
from leverrier.models.graph import Graph
from leverrier.models.network import Network

KINDS = ("independent", "chain", "tree", "two parents", "noisy-or")


def null_table(kind: str, seed: int) -> lv.Table:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    columns, rows = int(rng.integers(5, 9)), int(rng.integers(200, 501))
    names = [f"c{i}" for i in range(columns)]
    parents: dict[str, tuple[str, ...]] = {}
    for i, name in enumerate(names):
        many = {"independent": 0, "chain": 1, "tree": 1}.get(kind, 2)
        near = [i - 1] if kind == "chain" else rng.permutation(i)[:many].tolist()
        parents[name] = tuple(names[p] for p in near if p >= 0)[: min(many, i)]
    states = {name: tuple(range(2 if kind == "noisy-or" else int(rng.integers(2, 4)))) for name in names}
    graph = Graph.from_parents(parents)
    tables = {}
    for name in names:
        above = [len(states[p]) for p in graph.parents(name)]
        if kind == "noisy-or":
            off = np.ones(above) * 0.9
            for axis in range(len(above)):
                shape = [2 if a == axis else 1 for a in range(len(above))]
                off = off * np.array([1.0, rng.uniform(0.2, 0.6)]).reshape(shape)
            tables[name] = np.stack([off, 1 - off], axis=-1)
        else:
            tables[name] = rng.dirichlet(np.ones(len(states[name])), above or None)
    return Network.build(graph, states, tables).sample(rows, seed=rng)


def star(children: int, rows: int, strength: float, seed: int) -> lv.Table:
    rng = np.random.default_rng([seed, children, rows])
    state = rng.integers(0, 2, rows)
    codes = np.where(rng.random((children, rows)) < strength, state, rng.integers(0, 2, (children, rows)))
    return lv.Table.from_codes({f"c{i}": (0, 1) for i in range(children)}, codes)


def tested(table: lv.Table, draws: int, level: float) -> tuple[float, float]:
    """The gain of the best hidden variable and its p-value."""
    search = begin(table, lv.BDe(), Plan(max_hidden=1))
    if not next_hidden(search) or search.found[-1].gain <= WORTH_A_TEST:
        return 0.0, 1.0
    evidence = null_test(search, draws, level)
    return search.found[-1].gain, 1.0 if evidence.p_value is None else evidence.p_value


def lines(asked: argparse.Namespace) -> Iterator[dict[str, object]]:
    if asked.what == "null":
        for number in range(asked.first, asked.first + asked.tables):
            kind = KINDS[number % len(KINDS)]
            gain, p = tested(null_table(kind, number), asked.draws, asked.level)
            yield {"kind": kind, "seed": number, "gain": round(gain, 2), "p": p}
        return
    for rows in asked.rows:
        for children in (4, 6, 8):
            for number in range(asked.first, asked.first + asked.tables):
                gain, p = tested(star(children, rows, asked.strength, number), asked.draws, asked.level)
                yield {"kind": f"star {children} × {rows}", "seed": number, "gain": round(gain, 2), "p": p}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("null", "power"))
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rows", type=int, nargs="*", default=[200, 500, 1000])
    parser.add_argument("--strength", type=float, default=0.6)
    parser.add_argument("--draws", type=int, default=99)
    parser.add_argument("--level", type=float, default=0.01)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="Processor time after which it sums up.")
    asked = parser.parse_args()
    begun = time.process_time()
    by_kind: dict[str, list[float]] = {}
    for line in lines(asked):
        print(json.dumps(line), flush=True)
        by_kind.setdefault(str(line["kind"]), []).append(float(str(line["p"])))
        if time.process_time() - begun > asked.seconds:
            break
    if asked.what == "null":
        by_kind["all"] = [p for each in by_kind.values() for p in each]
    for kind, values in by_kind.items():
        for level in (0.05, 0.01):
            reached = sum(p <= level + 1e-12 for p in values)
            low, high = exact_interval(reached, len(values))
            print(f"{kind}: p ≤ {level}: {reached} of {len(values)} (95 %: {low:.3f} to {high:.3f})")
    print(f"{time.process_time() - begun:.0f} s of processor")


if __name__ == "__main__":
    main()
