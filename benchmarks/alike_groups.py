"""Rows in groups and nothing else hidden: `python -m benchmarks.alike_groups --tables 20 [--out lines.txt]`.

Thirty groups of twenty rows whose likeness within a group (ICC) is .1, in five mechanisms; `discover(groups=)` with all
its defaults should say "nothing". Each verdict is a line as it comes; with `--out` lines already there are not run
again, so that the run can be cut into pieces of `--seconds`.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr

import leverrier as lv

MEMBER = np.repeat(np.arange(30), 20)
LIKE = 0.1
Draw = Callable[[np.random.Generator], pd.DataFrame]


def _scores(rng: np.random.Generator, columns: int, common: float) -> np.ndarray:
    """Standard normal scores (columns, rows): .1 of their variance is the group's, `common` of that in all columns."""
    own, shared = rng.normal(size=(columns, 30)), rng.normal(size=30)
    group = np.sqrt(1 - common) * own + np.sqrt(common) * shared
    return np.sqrt(LIKE) * group[:, MEMBER] + np.sqrt(1 - LIKE) * rng.normal(size=(columns, len(MEMBER)))


def _named(cells: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({f"c{i}": row for i, row in enumerate(cells)})


def own(rng: np.random.Generator) -> pd.DataFrame:
    """Yes/no, each column with likeness of its own."""
    return _named(np.where(ndtr(_scores(rng, 8, 0.0)) > rng.uniform(0.3, 0.7, 8)[:, None], "yes", "no"))


def shared(rng: np.random.Generator) -> pd.DataFrame:
    """Yes/no, one thing of the household in all columns."""
    return _named(np.where(ndtr(_scores(rng, 8, 0.95)) > rng.uniform(0.3, 0.7, 8)[:, None], "yes", "no"))


def grades(rng: np.random.Generator) -> pd.DataFrame:
    """Four grades, half of the likeness in all columns, and each column answers also to the grade before it."""
    scores, found = _scores(rng, 6, 0.5), []
    for score in scores:
        found.append(np.digitize(score if not found else score + 0.35 * (found[-1] - 1.5), [-0.7, 0.0, 0.7]))
    return _named(np.array(["never", "rarely", "often", "always"])[np.array(found)])


def copied(rng: np.random.Generator) -> pd.DataFrame:
    """A cell is its household's own answer with chance √.1 and else anyone's, so that two rows of it agree by .1."""
    usual = rng.integers(0, 3, size=(7, 30))
    kept = rng.random((7, len(MEMBER))) < np.sqrt(LIKE)
    return _named(np.array(["a", "b", "c"])[np.where(kept, usual[:, MEMBER], rng.integers(0, 3, size=kept.shape))])


def numbers(rng: np.random.Generator) -> pd.DataFrame:
    """Numbers, two of them skewed, with likeness in all columns."""
    scores = _scores(rng, 6, 0.8)
    scores[:2] = np.exp(0.7 * scores[:2])
    return _named(scores.round(3))


MECHANISMS: dict[str, Draw] = {"own": own, "shared": shared, "grades": grades, "copied": copied, "numbers": numbers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=20, help="of each mechanism")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--mechanisms", default=",".join(MECHANISMS))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no table after so many")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    known = asked.out.read_text().splitlines() if asked.out and asked.out.exists() else []
    done = {line.split(":")[0]: line for line in known}
    begun = time.monotonic()
    said: Counter[str] = Counter()
    for seed in range(asked.first, asked.first + asked.tables):
        for name in asked.mechanisms.split(","):
            head = f"{name} {seed}"
            if head not in done and time.monotonic() - begun < asked.seconds:
                frame = MECHANISMS[name](np.random.default_rng([seed, 30])).assign(household=[f"h{g}" for g in MEMBER])
                before = time.process_time()
                found = lv.discover(frame, groups="household", seed=0, jobs=1, progress=False)
                gains = [round(each.gain, 1) for each in found.hidden]
                spent = time.process_time() - before
                done[head] = f"{head}: {found.verdict} ({found.verdict.reason.name}) {gains} {spent:.1f} s"
                print(done[head], flush=True)
                if asked.out:
                    with asked.out.open("a") as file:
                        file.write(done[head] + "\n")
            if head in done:
                said[f"{name}: {done[head].split()[2]}"] += 1
    print("; ".join(f"{answer} {count}" for answer, count in sorted(said.items())))


if __name__ == "__main__":
    main()
