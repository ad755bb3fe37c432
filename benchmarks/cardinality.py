"""How many states: accuracy on ALARM and on four interacting hidden variables, and time against EM at every number.

    scripts/bench cardinality [--samples 10] [--rows 10000] [--only alarm,time,four,size]

alarm   24 variables, each hidden in turn: how often exact of the 20 with two neighbours, how often over
time    all 20 merged, with a few steps of EM after it, refined, and by EM from 5 random starts at every number
four    four hidden variables with 3, 2, 4 and 3 states over binary columns [elidan2001 figure 5], against all-binary
size    deviation from the truth against the number of rows [elidan2001 figure 4]; writes cardinality-deviation.png

The experiments are those of `scripts/reproduce elidan2001`; here they are run alone, with any number of rows.
"""

from __future__ import annotations

import argparse

import numpy as np

import leverrier as lv
from experiments.elidan2001_claims import LEFT_OUT_OF_20, ROWS
from experiments.elidan2001_states import FOUR, breakdown, deviations, four, times
from experiments.truth_charts import deviation_chart


def run_alarm(samples: int, rows: int) -> None:
    found = [breakdown(rows, sample) for sample in range(samples)]
    names = [name for name in found[0] if name not in LEFT_OUT_OF_20]
    for kind in ("merging", "refined"):
        exact = [sum(each[name][kind] == each[name]["true"] for name in names) for each in found]
        over = max(sum(each[name][kind] > each[name]["true"] for each in found) for name in names)
        print(f"{kind}: exact {np.mean(exact):.2f} of {len(names)} on average, over-estimated at most {over} times")
    for name in found[0]:
        merged, refined = (" ".join(str(each[name][kind]) for each in found) for kind in ("merging", "refined"))
        print(f"  {name:14s} has {found[0][name]['true']}: merging {merged}; refined {refined}")


def run_time(rows: int) -> None:
    found = times(rows, 0)
    print(f"all {found['variables']} variables, up to {found['first states']} first states:")
    for label, line in found["lines"].items():
        ratio = line["seconds"] / found["lines"]["merging"]["seconds"]
        print(f"  {label:20s} {line['seconds']:8.3f} s of processor, {ratio:7.1f} times merging; exact {line['exact']}")


def run_four(samples: int, rows: int) -> None:
    found = []
    for sample in range(samples):
        each = four(rows, sample, structure=False)
        losses = ", ".join(f"{label} {value:.4f}" for label, value in each["test"].items())
        print(f"sample {sample}: {each['states']}  {each['seconds']:.1f} s  test log-loss {losses}", flush=True)
        found.append(each)
    near = {name: sum(abs(each["states"][name] - k) <= 1 for each in found) for name, k in FOUR.items()}
    better = sum(each["test"]["agglomeration"] <= each["test"]["binary"] for each in found)
    print(f"within one state of {FOUR}, of {samples}: {near}; log-loss at least as good as binary: {better}")


def run_size(samples: int) -> None:
    answers = []
    for rows in ROWS:
        lines = deviations(rows, samples)
        seen = np.array([states - true for _, _, states, true in lines])
        print(f"{rows} rows: exact {np.mean(seen == 0):.2f}, one less {np.mean(seen == -1):.2f}", flush=True)
        answers += [(rows, name, states, true) for _, name, states, true in lines]
    lv.save_picture(deviation_chart(answers), "cardinality-deviation.png")


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
