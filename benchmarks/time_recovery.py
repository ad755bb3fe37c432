"""What `find_in_time` says of processes that are known: six columns of three states.

    scripts/bench time_recovery [--samples 20] [--slices 2000] [--kinds regime-.98,second] [--least 100]

regime-.98, regime-.998   a hidden state of that persistence drives three columns: it must be found, with its states
second, first, independent   nothing is hidden: lags for the first of them, and nothing for the others

At .998 a regime lasts 500 slices, so some samples of 2,000 hardly see the other one: a sample is drawn anew until each
regime holds for at least --least slices (5 % by default; 1 takes every sample that changes). Such draws are counted.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numpy.typing import NDArray

from leverrier.data.sequences.sequences import Sequences
from leverrier.data.table import Table
from leverrier.discovery.time.find_in_time import find_in_time
from leverrier.discovery.time.time_findings import TimeFindings

COLUMNS, STATES, DRIVEN = 6, 3, 3
KINDS = ("regime-.98", "regime-.998", "second", "first", "independent")
Integers = NDArray[np.int64]


def drawn(kind: str, slices: int, seed: int, least: int = 100) -> tuple[Sequences, Integers, int]:
    """A sample, its hidden states (all 0 where there are none), and how many draws hardly saw one of the regimes."""
    again = 0
    rng = np.random.default_rng(seed)
    x, hidden = np.zeros((COLUMNS, slices), dtype=np.int64), np.zeros(slices, dtype=np.int64)
    own = rng.dirichlet(np.full(STATES, 5.0), size=COLUMNS)
    if kind.startswith("regime"):
        again = -1
        while again < 0 or np.bincount(hidden, minlength=2).min() < least:
            again += 1
            moved = rng.random(slices) >= float(kind.split("-")[1])
            moved[0] = False
            hidden = np.cumsum(moved) % 2
        regimes = np.array([[0.7, 0.15, 0.15], [0.15, 0.15, 0.7]])
        for v in range(COLUMNS):
            chances = regimes[hidden] if v < DRIVEN else np.broadcast_to(own[v], (slices, STATES))
            x[v] = (rng.random(slices)[:, None] > np.cumsum(chances, axis=1)).sum(axis=1)
    elif kind == "independent":
        x[:] = [rng.choice(STATES, slices, p=each) for each in own]
    else:
        one = rng.dirichlet(np.ones(STATES), size=(COLUMNS, STATES))
        two = rng.dirichlet(np.full(STATES, 0.5), size=(COLUMNS, STATES, STATES))
        for t in range(2, slices):
            for v in range(COLUMNS):
                if kind == "second" and v < DRIVEN:
                    chance = two[v, x[v, t - 1], x[v, t - 2]]
                elif kind == "first" and v % 2:
                    chance = two[v, x[v, t - 1], x[(v + 1) % COLUMNS, t - 1]]
                else:
                    chance = one[v, x[v, t - 1]]
                x[v, t] = rng.choice(STATES, p=chance)
    return Sequences.from_table(Table.from_codes({f"x{v}": ("a", "b", "c") for v in range(COLUMNS)}, x)), hidden, again


def right(kind: str, found: TimeFindings, hidden: Integers) -> tuple[bool, float]:
    """Whether the verdict is right, and the share of slices whose hidden state is (NaN where there is none)."""
    if not kind.startswith("regime"):
        lags = {"second": 2, "first": 1, "independent": 0}[kind]
        return not found.hidden and found.lags == lags and (lags == 2 or not found.memories), np.nan
    if len(found.hidden) != 1 or found.hidden[0].states != 2:
        return False, np.nan
    agree = float(np.mean(found.hidden[0].posterior.argmax(axis=1) == hidden))
    return max(agree, 1 - agree) >= 0.95, max(agree, 1 - agree)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--slices", type=int, default=2000)
    parser.add_argument("--least", type=int, default=100)
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    for kind in options.kinds.split(","):
        begin, good, agreed, anew = time.process_time(), 0, [], 0
        for seed in range(options.samples):
            sequences, hidden, again = drawn(kind, options.slices, seed, options.least)
            ok, agree = right(kind, find_in_time(sequences, seed=0), hidden)
            good, anew = good + ok, anew + again
            agreed.append(agree)
            changes = int(np.count_nonzero(np.diff(hidden)))
            rarer = int(np.bincount(hidden, minlength=2).min())
            seen = f" ({changes} changes, the rarer regime {rarer} slices, states {agree:.3f})" if changes else ""
            print(f"  {kind} sample {seed}: {'right' if ok else 'WRONG'}{seen}", flush=True)
        states = "" if np.isnan(agreed).all() else f", states right in {np.nanmean(agreed):.3f} of slices"
        seconds = (time.process_time() - begin) / options.samples
        drawn_anew = f"; {anew} drawn anew" if anew else ""
        print(f"{kind}: right in {good} of {options.samples}{states}{drawn_anew}; {seconds:.1f} s each", flush=True)


if __name__ == "__main__":
    main()
