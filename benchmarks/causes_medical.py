"""What part D finds in medical tables, against the classes that physicians gave: lines of JSON, then tables.

    python benchmarks/causes_medical.py [--data ../shared/data/medical] [--only stroke]

Three questions of each table: which causes and how they lie to the classes; whether rows held out are explained
better by causes with their own numbers, by causes alike, or by signs on their own; and what the source's figure 5 is.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from benchmarks.lines import Line, run, table
from experiments.wood2006_stroke import posterior_line, simulated_patients, stroke_verdicts
from leverrier.errors import TooLargeError
from leverrier.noisy_or.hidden_causes import hidden_causes
from leverrier.noisy_or.signs import read_signs

TABLES = {
    "stroke": ("ist_stroke_signs.csv.gz", "syndrome"),
    "audiology": ("audiology.csv", "class"),
    "spect": ("spect_heart.csv", "OVERALL_DIAGNOSIS"),
}
KINDS = {"own": ("lambda", "p"), "alike": ()}


def read(folder: Path, name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Signs without the class, and the class."""
    file, label = TABLES[name]
    frame = pd.read_csv(folder / file)
    return frame.drop(columns=[label, *({"split"} & set(frame.columns))]), frame[label].astype(str)


def f1(left: np.ndarray, right: np.ndarray) -> float:
    return float(2 * (left & right).sum() / max(left.sum() + right.sum(), 1))


def found_line(folder: Path, name: str, sweeps: int) -> Line:
    """Causes of the whole table, and how they match the classes: each class gets the cause that fits it best."""
    frame, label = read(folder, name)
    begun = time.process_time()
    found = hidden_causes(frame, sweeps=sweeps, chains=2, seed=0, per_cause=KINDS["own"])
    seconds = time.process_time() - begun
    several = [k for k in range(found.best.shape[1]) if found.best[:, k].sum() > 1]
    active = found.posterior[:, several] > 0.5
    classes = label.value_counts()
    classes = classes[classes >= 10].index
    scores = np.array([[f1(active[:, k], (label == c).to_numpy()) for k in range(active.shape[1])] for c in classes])
    rows, columns = linear_sum_assignment(scores, maximize=True)
    strongest = np.where(active.any(axis=1), found.posterior[:, several].argmax(axis=1), -1)
    patterns = np.unique(active, axis=0, return_inverse=True)[1].ravel()
    return {
        "rows": len(frame),
        "signs": len(found.names),
        "seconds": seconds,
        "status": str(found.status),
        "count": found.expected_count,
        "r_hat": found.r_hat,
        "words": str(found),
        "causes": {str(k + 1): list(found.children(k)) for k in several},
        "matched": {
            str(classes[i]): [several[j] + 1, scores[i, j], f1(np.ones(len(label), bool), label == classes[i])]
            for i, j in zip(rows, columns, strict=True)
        },
        "rand_strongest": adjusted_rand_score(label, strongest),
        "rand_patterns": adjusted_rand_score(label, patterns),
    }


def held_out_line(folder: Path, name: str, kind: str, sweeps: int, folds: int = 4) -> Line:
    """Nats a row of rows held out, causes of one kind less signs on their own."""
    frame, _ = read(folder, name)
    fold = np.random.default_rng(3).permutation(len(frame)) % folds
    gains, begun = np.zeros(len(frame)), time.process_time()
    for k in range(folds):
        train, test = frame[fold != k], frame[fold == k]
        found = hidden_causes(train, sweeps=sweeps, chains=1, seed=0, per_cause=KINDS[kind])
        rates = read_signs(train).cells
        ones, zeros = ((rates == value).sum(axis=0) for value in (1, 0))
        chance = (ones + 0.5) / (ones + zeros + 1)
        cells = found.signs.like(test)
        alone = np.where(cells == 1, np.log(chance), np.where(cells == 0, np.log1p(-chance), 0.0)).sum(axis=1)
        try:
            gains[fold == k] = found.row_log_likelihoods(test) - alone
        except TooLargeError as error:
            return {"refused": str(error), "count": found.expected_count}
    return {
        "mean": gains.mean(),
        "error": gains.std(ddof=1) / len(gains) ** 0.5,
        "count": found.expected_count,
        "seconds": (time.process_time() - begun) / folds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/medical"))
    parser.add_argument("--only", default="", help="keys that hold this text")
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--output", type=Path, default=Path("build/causes_medical.jsonl"))
    asked = parser.parse_args()
    work = []
    for name in TABLES:
        for kind in KINDS:
            work.append((f"held out {name} {kind}", partial(held_out_line, asked.data, name, kind, asked.sweeps // 3)))
        work.append((f"found {name}", partial(found_line, asked.data, name, asked.sweeps)))
    work.append(("figure5 simulated", lambda: posterior_line(simulated_patients()[0])))
    lines = run([(key, call) for key, call in work if asked.only in key], asked.output)
    table(
        ["rows held out", "nats a row above signs on their own", "causes", "CPU s a fold"],
        (
            (line["key"], f"{line['mean']:.3f} ± {line['error']:.3f}", f"{line['count']:.1f}", f"{line['seconds']:.0f}")
            for line in lines
            if line["key"].startswith("held") and "mean" in line
        ),
    )
    for line in lines:
        if line["key"].startswith("found"):
            print(
                f"\n{line['key']}: {line['seconds']:.0f} CPU s, adjusted Rand of the strongest cause "
                f"{line['rand_strongest']:.2f}, of activity patterns {line['rand_patterns']:.2f}"
            )
            rows = ((name, k, f"{score:.2f}", f"{base:.2f}") for name, (k, score, base) in line["matched"].items())
            table(["class", "cause", "F1", "always yes"], rows)
            print(line["words"])
        if line["key"].startswith("figure5"):
            for verdict in stroke_verdicts(line):
                print(verdict)


if __name__ == "__main__":
    main()
