"""How many states: accuracy on ALARM and on four interacting hidden variables, and time against EM at every number.

    scripts/bench cardinality [--samples 10] [--rows 10000] [--only alarm,time,four,size]

alarm   the 20 variables with a child and two neighbours, each hidden in turn: how often exact, how often over
time    all 20 merged, all 20 refined, and EM from 5 random starts at every number of states up to the path's best + 1
four    four hidden variables with 3, 2, 4 and 3 states over binary columns [elidan2001 figure 5], against all-binary
size    deviation from the truth against the number of rows [elidan2001 figure 4]; writes cardinality-deviation.png
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import leverrier as lv
from leverrier.discovery.cardinality import cardinality
from leverrier.learning.fit import fit

FOUR = {"h0": 3, "h1": 2, "h2": 4, "h3": 3}


def alarm_variables(network: lv.Network) -> list[str]:
    """Those with a child and at least two neighbours."""
    graph = network.graph
    return [name for name in graph if graph.children(name) and len(graph.neighbours(name)) >= 2]


def four_hidden(seed: int = 1) -> lv.Network:
    """h0 → h1, h0 → h2, {h1, h2} → h3, four to six binary columns below each, and two columns shared by a pair."""
    parents: dict[str, tuple[str, ...]] = {"h0": (), "h1": ("h0",), "h2": ("h0",), "h3": ("h1", "h2")}
    for name, columns in zip(FOUR, (4, 4, 6, 5), strict=True):
        parents |= {f"{name}_{i}": (name,) for i in range(columns)}
    parents |= {"h0_h1": ("h0", "h1"), "h1_h3": ("h1", "h3")}
    graph = lv.Graph.from_parents(parents)
    rng = np.random.default_rng(seed)
    tables = {}
    for node in graph:
        rows = tuple(FOUR.get(parent, 2) for parent in graph.parents(node))
        if node in FOUR:
            k = FOUR[node]
            tables[node] = 0.7 * rng.dirichlet(np.ones(k), size=rows) + 0.3 / k if rows else np.full(k, 1 / k)
        else:
            p = rng.permutation(np.linspace(0.08, 0.92, int(np.prod(rows)))).reshape(rows)
            tables[node] = np.stack([1 - p, p], axis=-1)
    return lv.Network.build(graph, {node: tuple(map(str, range(FOUR.get(node, 2)))) for node in graph}, tables)


def run_alarm(samples: int, rows: int) -> None:
    network = lv.datasets.network("alarm")
    names = alarm_variables(network)
    answers = {kind: np.zeros((samples, len(names)), dtype=int) for kind in ("merging", "refined")}
    truth = np.array([network.cardinality(name) for name in names])
    for sample in range(samples):
        data = network.sample(rows, seed=sample)
        for column, name in enumerate(names):
            found = cardinality(network, data.drop(name), hidden=name, seed=sample)
            answers["merging"][sample, column] = found.agglomeration.best()
            answers["refined"][sample, column] = found.states
        exact = {kind: int((answer[sample] == truth).sum()) for kind, answer in answers.items()}
        print(f"sample {sample}: exact of {len(names)}: {exact}", flush=True)
    for kind, answer in answers.items():
        over = (answer > truth).sum(axis=0)
        print(f"{kind}: exact {(answer == truth).sum(axis=1).mean():.2f} of {len(names)} on average, "
              f"over-estimated at most {over.max()} times of {samples}")  # fmt: skip
    for column, name in enumerate(names):
        said = " ".join(f"{kind} {' '.join(map(str, answer[:, column]))}" for kind, answer in answers.items())
        print(f"  {name:14s} has {truth[column]}: {said}")


def run_time(rows: int) -> None:
    network = lv.datasets.network("alarm")
    names = alarm_variables(network)
    data = network.sample(rows, seed=0)
    tables = {name: data.drop(name) for name in names}
    cardinality(network, tables["HR"], hidden="HR")  # compile
    first = {}
    seconds = {}
    for kind, refine in (("merged", False), ("refined", True)):
        start = time.perf_counter(), time.process_time()
        for name in names:
            first[name] = cardinality(network, tables[name], hidden=name, refine=refine)
        seconds[kind] = time.perf_counter() - start[0], time.process_time() - start[1]
    scores: list[float] = []
    start = time.perf_counter(), time.process_time()
    for name in names:
        most = first[name].agglomeration.best() + 1
        for k in range(1, most + 1):
            scores.append(fit(network, tables[name], hidden={name: k}, starts=5, prior=lv.BDe(), jobs=1).score)
    seconds["EM at every number"] = time.perf_counter() - start[0], time.process_time() - start[1]
    largest = max(len(each.agglomeration.first) for each in first.values())
    print(f"all {len(names)} variables, up to {largest} first states:")
    for kind, (taken, processor) in seconds.items():
        ratio = processor / seconds["merged"][1]
        print(f"  {kind:20s} {taken:8.3f} s   {processor:8.3f} s of processor, {ratio:7.1f} times merging")


def run_four(samples: int, rows: int) -> None:
    network = four_hidden()
    test = network.sample(rows, seed=10_000).drop(*FOUR)
    near = dict.fromkeys(FOUR, 0)
    better = 0
    for sample in range(samples):
        data = network.sample(rows, seed=sample).drop(*FOUR)
        start = time.perf_counter()
        found = cardinality(network.graph, data, hidden=list(FOUR), starts=3, seed=sample)
        taken = time.perf_counter() - start
        binary = fit(network.graph, data, hidden=dict.fromkeys(FOUR, 2), starts=5, prior=lv.BDe(), seed=sample).network
        loss = {name: -each.log_likelihood(test) / rows for name, each in
                (("found", found.network), ("binary", binary), ("true", network))}  # fmt: skip
        better += loss["found"] <= loss["binary"]
        for name, k in found.states.items():
            near[name] += abs(k - FOUR[name]) <= 1
        print(f"sample {sample}: {found.states}  {taken:.1f} s  test log-loss "
              + ", ".join(f"{name} {value:.4f}" for name, value in loss.items()), flush=True)  # fmt: skip
    print(f"within one state of {FOUR}, of {samples}: {near}; log-loss at least as good as binary: {better}")


def run_size(samples: int) -> None:
    from leverrier.report.cardinality import deviation_chart

    network = lv.datasets.network("alarm")
    deviations = []
    for rows in (250, 500, 1000, 2000, 5000, 10_000):
        for sample in range(samples):
            data = network.sample(rows, seed=sample)
            for name in alarm_variables(network):
                found = cardinality(network, data.drop(name), hidden=name, refine=False)
                deviations.append((rows, name, found.states, network.cardinality(name)))
        seen = np.array([found - true for r, _, found, true in deviations if r == rows])
        print(f"{rows} rows: exact {np.mean(seen == 0):.2f}, one less {np.mean(seen == -1):.2f}", flush=True)
    deviation_chart(deviations).save("cardinality-deviation.png", scale_factor=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--only", default="time,alarm,four")
    options = parser.parse_args()
    for part in options.only.split(","):
        if part == "time":
            run_time(options.rows)
        elif part == "alarm":
            run_alarm(options.samples, options.rows)
        elif part == "four":
            run_four(options.samples, options.rows)
        elif part == "size":
            run_size(options.samples)


if __name__ == "__main__":
    main()
