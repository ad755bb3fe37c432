"""How far below the best known model does `method="best"` end? Tables drawn from known graphs, one search each.

    scripts/bench search_strength [--networks alarm,child] [--rows 1000,3000,10000] [--tables 4] [--scores BDe,BDeu]

Tables are drawn from each bundled network and from the network that was learned on 10,000 rows of it. The best known
model is the best of these: the searches themselves, a climb from the graph that drew the table, and the whole search
from that graph with another seed. Times are processor times on one core, from the table, after compilation.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import leverrier as lv
from leverrier.counts.observed_counts import ObservedCounts
from leverrier.discovery.places.baseline import MOST_CELLS, thinned
from leverrier.learning.structure.family_scores import FamilyScores

NETWORKS = "alarm,insurance,hailfinder,child,win95pts"
SCORES: dict[str, lv.BDe | lv.BDeu] = {"BDe": lv.BDe(1), "BDeu": lv.BDeu(1)}


def sources(name: str) -> Iterator[tuple[str, lv.Network]]:
    network = lv.datasets.network(name)
    yield "bundled", network
    rows = network.sample(10_000, seed=777)
    yield "learned", lv.learn_structure(rows, lv.BDe(1), method="best", max_cells=MOST_CELLS, jobs=1).network


def search(table: lv.Table, score: lv.BDe | lv.BDeu, **options: object) -> tuple[float, float]:
    """Score and seconds."""
    start = time.process_time()
    found = lv.learn_structure(table, score, max_cells=MOST_CELLS, jobs=1, **options)  # type: ignore[arg-type]
    return found.score, time.process_time() - start


def one(network: lv.Network, table: lv.Table, score: lv.BDe | lv.BDeu, seed: int) -> tuple[float, float, float, float]:
    """What the default and the strong search lack (negative: nats below the best known), and their seconds."""
    truth = thinned(network.graph, FamilyScores(ObservedCounts(table), score, MOST_CELLS))
    quick, quick_seconds = search(table, score)
    strong, seconds = search(table, score, method="best", seed=seed)
    climbed, _ = search(table, score, method="hill-climb", start=truth)
    again, _ = search(table, score, method="best", start=truth, seed=seed + 1000)
    best = max(quick, strong, climbed, again)
    return quick - best, quick_seconds, strong - best, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=NETWORKS)
    parser.add_argument("--rows", default="1000,3000,10000")
    parser.add_argument("--tables", type=int, default=4, help="of each network, source and number of rows")
    parser.add_argument("--scores", default="BDe,BDeu")
    options = parser.parse_args()
    lv.learn_structure(lv.datasets.network("asia").sample(200, seed=0), method="best")  # compile
    print("| score | network | tables | default: > 1 nat below | worst | seconds | best: > 1 below | worst | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for rule in options.scores.split(","):
        everywhere = []
        for name in options.networks.split(","):
            found = []
            for label, network in sources(name):
                for rows in map(int, options.rows.split(",")):
                    for seed in range(options.tables):
                        ends = one(network, network.sample(rows, seed=seed), SCORES[rule], seed)
                        found.append(ends)
                        if ends[2] < -1:
                            print(
                                f"<!-- {rule} {name} {label} {rows} rows, table {seed}: {ends[2]:.2f} -->", flush=True
                            )
            print(line(rule, name, np.array(found)), flush=True)
            everywhere += found
        print(line(rule, "together", np.array(everywhere)), flush=True)


def line(rule: str, name: str, found: np.ndarray) -> str:
    quick, quick_seconds, strong, seconds = found.T
    return (
        f"| {rule}(1) | {name} | {len(found)} | {np.sum(quick < -1)} | {quick.min():.1f} | {quick_seconds.mean():.3f} "
        f"| {np.sum(strong < -1)} | {strong.min():.2f} | {seconds.mean():.2f}, {seconds.max():.2f} |"
    )


if __name__ == "__main__":
    main()
