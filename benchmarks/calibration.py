"""Are p-values what they say? Tables with nothing hidden, and stars that have something.

    python -m benchmarks.calibration null --tables 1000 --output build/calibration.jsonl      with nothing hidden
    python -m benchmarks.calibration picture --output build/calibration.jsonl --picture …     shares, and their picture
    python -m benchmarks.calibration power --rows 200 500     stars of 4, 6 and 8 columns, found at the level

Null tables are random networks of 5 to 8 columns: independent columns, chains, trees, two parents a column and noisy-or
with two or three states and 200 to 500 rows; and two kinds in which chance gains something, because tables of counts
are a wordy account of them: dense ones (three parents a column) and large ones (four states, two parents, 600 to 1,200
rows). The statistic is the null test's, but where nothing gains, the best attempt's loss stands for the gain: zeros
would tie, and a table without a gain would tell nothing of the p-values. Tables are drawn from the rival that
`discover` has, and the test stops where it stops.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import leverrier as lv
from benchmarks.find_hidden import best_gain, save_shares
from leverrier.discovery.evidence.null_test import WORTH_A_TEST, Null, null_test
from leverrier.discovery.evidence.sequential_test import exact_interval, monte_carlo
from leverrier.discovery.places.search import begin, next_hidden
from leverrier.discovery.plan import Plan
from leverrier.models.graph import Graph
from leverrier.models.network import Network

KINDS = ("independent", "chain", "tree", "two parents", "noisy-or", "dense", "large")
PARENTS = {"independent": 0, "chain": 1, "tree": 1, "dense": 3}
STATES = {"noisy-or": (2, 3), "dense": (2, 4), "large": (4, 5)}
"""At least so many, and fewer than so many."""
ROWS = {"dense": (300, 701), "large": (600, 1201)}


def null_table(kind: str, seed: int) -> lv.Table:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    columns, rows = int(rng.integers(5, 9)), int(rng.integers(*ROWS.get(kind, (200, 501))))
    names = [f"c{i}" for i in range(columns)]
    parents: dict[str, tuple[str, ...]] = {}
    for i, name in enumerate(names):
        many = PARENTS.get(kind, 2)
        near = [i - 1] if kind == "chain" else rng.permutation(i)[:many].tolist()
        parents[name] = tuple(names[p] for p in near if p >= 0)[: min(many, i)]
    states = {name: tuple(range(int(rng.integers(*STATES.get(kind, (2, 4)))))) for name in names}
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


def p_value(table: lv.Table, draws: int) -> tuple[float, float]:
    """The gain of the best attempt, below 0 if it loses, and how often tables with nothing hidden have as much."""
    plan, score = Plan(max_hidden=1), lv.BDe()
    null = Null(begin(table, score, plan).baseline.network, table, score, plan, None)
    gain, seen = best_gain(begin(table, score, plan.light())), list[float]()
    for seed in np.random.SeedSequence([plan.seed, 7]).spawn(draws):
        seen.append(best_gain(begin(null.simulated(seed), score, plan.light())))
        test = monte_carlo(gain, seen, draws)
        if test is not None:
            return gain, test.p_value
    raise AssertionError("the last draw ends the test")


def lines(asked: argparse.Namespace) -> Iterator[dict[str, object]]:
    numbers = range(asked.first, asked.first + asked.tables)
    if asked.what == "null":
        for number in numbers:
            kind = KINDS[number % len(KINDS)]
            gain, p = p_value(null_table(kind, number), asked.draws)
            yield {"kind": kind, "seed": number, "gain": round(gain, 2), "p": p}
        return
    for rows in asked.rows:
        for children in (4, 6, 8):
            for number in numbers:
                gain, p = tested(star(children, rows, asked.strength, number), asked.draws, asked.level)
                yield {"kind": f"star {children} × {rows}", "seed": number, "gain": round(gain, 2), "p": p}


def summary(by_kind: dict[str, list[float]]) -> None:
    for kind, values in by_kind.items():
        for level in (0.05, 0.01):
            reached = sum(p <= level + 1e-12 for p in values)
            low, high = exact_interval(reached, len(values))
            print(f"{kind}: p ≤ {level}: {reached} of {len(values)} (95 %: {low:.3f} to {high:.3f})")


def draw(values: list[float], picture: Path) -> None:
    """The share of tables at or below each p-value."""
    steps = np.concatenate([[0.01, 0.02, 0.05], np.arange(1, 11) / 10]).tolist()
    save_shares([(p, float(np.mean(np.array(values) <= p + 1e-12))) for p in steps], len(values), picture)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("null", "picture", "power"))
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rows", type=int, nargs="*", default=[200, 500, 1000])
    parser.add_argument("--strength", type=float, default=0.6)
    parser.add_argument("--draws", type=int, default=99)
    parser.add_argument("--level", type=float, default=0.01)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="Processor time after which it sums up.")
    parser.add_argument("--output", type=Path, help="Lines are added to this file; `picture` reads it.")
    parser.add_argument("--picture", type=Path)
    asked = parser.parse_args()
    begun = time.process_time()
    by_kind: dict[str, list[float]] = {}
    if asked.what == "picture":
        found = [json.loads(line) for line in asked.output.read_text().splitlines()]
    else:
        found = lines(asked)
    for line in found:
        by_kind.setdefault(str(line["kind"]), []).append(float(str(line["p"])))
        if asked.what == "picture":
            continue
        print(json.dumps(line), flush=True)
        if asked.output is not None:
            with asked.output.open("a") as file:
                file.write(json.dumps(line) + "\n")
        if time.process_time() - begun > asked.seconds:
            break
    if asked.what != "power":
        by_kind["all"] = [p for each in by_kind.values() for p in each]
    summary(by_kind)
    if asked.picture is not None:
        draw(by_kind["all"], asked.picture)
    print(f"{time.process_time() - begun:.0f} s of processor")


if __name__ == "__main__":
    main()
