"""Verdicts on tables with nothing hidden that nobody tuned on: `python -m benchmarks.unseen states --tables 3`.

Prints each verdict as it comes and the count of false ones at the end.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np

import leverrier as lv
from benchmarks import unseen_numbers, unseen_states

WORLDS = {"states": unseen_states.GROUPS, "numbers": unseen_numbers.GROUPS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("world", nargs="?", choices=WORLDS, default="states")
    parser.add_argument("--tables", type=int, default=3, help="of each group")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--groups", default="", help="names of groups, parted by semicolons; all by default")
    asked = parser.parse_args()
    groups = WORLDS[asked.world]
    said: Counter[str] = Counter()
    for name in asked.groups.split(";") if asked.groups else groups:
        for seed in range(asked.first, asked.first + asked.tables):
            table = groups[name](np.random.default_rng([seed, 777]))
            begun = time.process_time()
            found = lv.discover(table, seed=0, jobs=1)
            said[str(found.verdict)] += 1
            gains = [round(each.gain, 1) for each in found.hidden]
            seconds = time.process_time() - begun
            print(
                f"{name}, seed {seed}: {found.verdict} ({found.verdict.reason.name}) {gains} {seconds:.1f} s",
                flush=True,
            )
    print(", ".join(f"{count} {answer}" for answer, count in said.items()))


if __name__ == "__main__":
    main()
