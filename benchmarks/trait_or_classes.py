"""Is the simplest description of the right kind? Simulated tables of a few classes, and of one trait.

    python -m benchmarks.trait_or_classes --tables 20

Five to seven yes/no columns, 300 to 2,000 rows. Classes: two to four, each column's chance in each class drawn evenly
from .1 to .9. Traits: one normal trait, items with slopes around 1.5 (two parameters an item) or all alike (Rasch's),
easiness normal.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np
from scipy.special import expit

import leverrier as lv
from leverrier.discovery.evidence.simplest_description import simplest_description

KINDS = ("2 classes", "3 classes", "4 classes", "trait", "equal items")


def table_of(kind: str, seed: int) -> lv.Table:
    rng = np.random.default_rng([seed, KINDS.index(kind), 71])
    columns, rows = int(rng.integers(5, 8)), int(np.exp(rng.uniform(np.log(300), np.log(2000))))
    if kind.endswith("classes"):
        classes = int(kind[0])
        chances = rng.uniform(0.1, 0.9, (columns, classes))[:, rng.choice(classes, rows, p=_shares(classes, rng))]
    else:
        slopes = rng.lognormal(np.log(1.5), 0.3, columns) if kind == "trait" else np.full(columns, rng.uniform(1, 2))
        chances = expit(np.outer(slopes, rng.normal(size=rows)) + rng.normal(size=columns)[:, None])
    codes = (rng.random((columns, rows)) < chances).astype(np.int64)
    return lv.Table.from_codes({f"c{i}": (0, 1) for i in range(columns)}, codes)


def _shares(classes: int, rng: np.random.Generator) -> np.ndarray:
    """Of the rows; no class is rarer than a tenth."""
    return 0.1 + (1 - 0.1 * classes) * rng.dirichlet(np.ones(classes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=20, help="of each kind")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--draws", type=int, default=19)
    asked = parser.parse_args()
    begun = time.process_time()
    for kind in KINDS:
        said: Counter[str] = Counter()
        for seed in range(asked.first, asked.first + asked.tables):
            told = simplest_description(table_of(kind, seed), 0, asked.draws)
            if told is None or not told.said.several:
                said["nothing behind them"] += 1
                continue
            what = "trait" if not told.said.classes else f"{told.said.classes} classes"
            what = "trait or 2 classes" if told.said.open else what
            said[what if told.said.adequate else f"{what}, which do not fit"] += 1
        print(f"{kind}: " + ", ".join(f"{what} {count}" for what, count in said.most_common()), flush=True)
    print(f"{time.process_time() - begun:.0f} s of processor")


if __name__ == "__main__":
    main()
