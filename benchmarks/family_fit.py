"""How well rows not learned from are foretold: families of any kind against tables alone.

    python -m benchmarks.family_fit --data ../shared/data --rows 1000
    python -m benchmarks.family_fit --data ../shared/data --only alarm nursery

For each network of the data folder a table is drawn, of each real table rows are drawn; one network is learned with
families="auto" and one with tables, both under BDe(1) as in `discover`. Positive: auto foretells better, nats a row.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import leverrier as lv
from leverrier.data.table import Table

NETWORKS = ("asia", "cancer", "earthquake", "survey", "sachs", "child", "alarm", "insurance", "hailfinder", "water")
REAL = {
    "nursery": "latent_class/nursery.csv.gz",
    "mushroom": "latent_class/mushroom.csv.gz",
    "adult": "epidemiology/adult.csv.gz",
    "coil2000": "latent_class/coil2000.csv.gz",
    "nhefs": "epidemiology/nhefs.csv",
}
MOST_TESTED = 3000
SELDOM = 0.02
"""Columns with a larger share of empty cells are left out."""


def tables(folder: Path, only: list[str]) -> Iterator[tuple[str, Table]]:
    """Every table, rows in random order; of real ones the columns that are seldom empty, numbers cut into bins, and
    the rows that are complete in those."""
    rng = np.random.default_rng(8)
    for name in NETWORKS:
        if not only or name in only:
            yield name, lv.read_network(folder / "networks" / f"{name}.bif").sample(20_000, seed=1)
    for name, path in REAL.items():
        if not only or name in only:
            table = lv.read_table(folder / path).without_numbers()
            empty = np.mean(table.codes == table.missing, axis=1)
            table = table.select([v for v, share in zip(table.variables, empty, strict=True) if share < SELDOM])
            whole = np.flatnonzero(np.all(table.codes != table.missing, axis=0))
            yield name, table.take(rng.permutation(whole))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--only", nargs="*", default=[])
    asked = parser.parse_args()
    print("| table | rows | columns | auto − tables, nats a row | standard error | kinds | s tables | s auto |")
    print("|---|---|---|---|---|---|---|---|")
    for name, table in tables(asked.data, asked.only):
        rows = min(asked.rows, table.n_rows * 2 // 3)
        train = table.take(np.arange(rows))
        test = table.take(np.arange(rows, min(rows + MOST_TESTED, table.n_rows)))
        said, seconds = [], []
        kinds: Counter[str] = Counter()
        for families in ("tables", "auto"):
            begun = time.process_time()
            network = lv.learn_structure(train, lv.BDe(), families=families, max_cells=2**12).network
            seconds.append(time.process_time() - begun)
            said.append(network.row_log_likelihood(test))
            kinds = Counter(network.kind(node) for node in network.variables)
        gain = said[1] - said[0]
        told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(3))
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        line = f"| {name} | {rows:,} | {len(table.variables)} | {gain.mean():+.4f} | {error:.4f} | {told} "
        print(f"{line}| {seconds[0]:.1f} | {seconds[1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
