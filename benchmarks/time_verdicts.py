"""What `discover` says of sequences whose truth is known: regimes, classes, levels, and nothing hidden.

python -m benchmarks.time_verdicts [SAMPLES] [DRAWS] [CASE …]      # 5 samples of every case, 19 draws at level .05

Prints by case how often the right kind was said and the processor's seconds a table; what was run is not run again.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

import leverrier as lv
from benchmarks.lines import Line, run, table

N = 600
OUTPUT = Path(os.environ.get("LEVERRIER_LINES", "build/time_verdicts.jsonl"))


def chain(rng, n=N, states=2, stay=0.95):
    found = np.zeros(n, dtype=int)
    for t in range(1, n):
        found[t] = found[t - 1] if rng.random() < stay else rng.integers(states)
    return found


def autoregressive(rng, *tables, noise=None, n=N):
    e = rng.normal(size=(n + 50, len(tables[0]))) if noise is None else noise
    x = np.zeros_like(e)
    for t in range(len(tables), n + 50):
        x[t] = sum(x[t - i - 1] @ table for i, table in enumerate(tables)) + e[t]
    return {f"x{j}": column for j, column in enumerate(x[50:].T)}


def panel(rng, levels, days, slope=0.0):
    persons = len(levels)
    shown = levels[:, None] + slope * np.arange(days)
    return {
        "id": np.repeat(np.arange(persons), days),
        "day": np.tile(np.arange(days), persons),
        "y": (shown + rng.normal(size=(persons, days))).ravel(),
        "z": (-0.8 * shown + rng.normal(size=(persons, days))).ravel(),
        "sex": np.repeat(rng.choice(["f", "m"], persons), days),
        "age": np.repeat(rng.integers(20, 60, persons), days) + np.tile(np.arange(days) // 4, persons),
    }


def speed(rng, n=439):
    moves = np.array([[0.916, 0.084], [0.101, 0.899]])
    state = np.zeros(n, dtype=int)
    for t in range(1, n):
        state[t] = rng.choice(2, p=moves[state[t - 1]])
    rt = rng.normal(np.where(state == 0, 6.39, 5.52), np.where(state == 0, 0.24, 0.202))
    right = rng.random(n) < np.where(state == 0, 0.902, 0.528)
    return {"rt": rt, "corr": np.where(right, "cor", "inc")}


def two_states(rng, apart=1.5):
    state = chain(rng)
    return {"x": rng.normal(apart * state), "y": rng.normal(-apart * state)}


def three_states(rng, apart=2.0, n=N):
    state = chain(rng, n, states=3)
    return {"x": rng.normal(apart * state), "y": rng.normal(apart * np.abs(state - 1))}


def categories(rng):
    state = chain(rng)
    return {c: np.where(rng.random(N) < np.where(state, 0.75, 0.25), "a", "b") for c in "pqr"}


def long_stays(rng):
    state = np.concatenate([np.full(rng.integers(10, 20), i % 2) for i in range(N)])[:N]
    return {"x": rng.normal(2.0 * state), "c": rng.poisson(1 + 3 * state)}


def on_lags(rng):
    state, x = chain(rng, stay=0.97), np.zeros(N)
    for t in range(1, N):
        x[t] = 0.5 * x[t - 1] + 1.5 * state[t] + rng.normal()
    return {"x": x, "y": rng.normal(1.5 * state)}


TIME = np.arange(N)
VAR1 = (np.array([[0.5, 0.2], [-0.1, 0.4]]),)
VAR2 = (np.array([[0.4, 0.2], [-0.1, 0.3]]), np.array([[0.3, 0.0], [0.1, 0.2]]))
CASES = {
    "speed": (speed, "moves"),
    "two states": (two_states, "moves"),
    "two states, 1 sd": (partial(two_states, apart=1.0), "moves"),
    "two states, 2 sd": (partial(two_states, apart=2.0), "moves"),
    "three states": (three_states, "moves"),
    "three states, 1 sd": (partial(three_states, apart=1.0, n=2 * N), "moves"),
    "categories": (categories, "moves"),
    "long stays": (long_stays, "moves"),
    "on lags": (on_lags, "moves"),
    "levels": (lambda rng: panel(rng, rng.normal(size=20), 30), "continuum"),
    "classes": (lambda rng: panel(rng, 2.0 * rng.integers(0, 2, 50), 10), "class"),
    "VAR(1)": (lambda rng: autoregressive(rng, *VAR1), "nothing"),
    "VAR(2)": (lambda rng: autoregressive(rng, *VAR2), "nothing"),
    "trend": (lambda rng: {"x": 0.01 * TIME + rng.normal(size=N), "y": rng.normal(size=N)}, "nothing"),
    "season": (lambda rng: {"x": 2 * np.sin(2 * np.pi * TIME / 12) + rng.normal(size=N)}, "nothing"),
    "t3": (lambda rng: {"x": rng.standard_t(3, N), "y": rng.standard_t(3, N)}, "nothing"),
    "heavy AR": (lambda rng: autoregressive(rng, np.array([[0.6]]), noise=rng.standard_t(3, (N + 50, 1))), "nothing"),
    "clocks": (lambda rng: panel(rng, np.zeros(30), 20), "nothing"),
    "uneven": (
        lambda rng: {"t": np.cumsum(rng.exponential(size=N)), **autoregressive(rng, np.array([[0.5]]))},
        "nothing",
    ),
}


def said(frame, draws: int) -> tuple[str, int]:
    """What it is, and how many states."""
    by = {"by": "id", "time": "day"} if "id" in frame else {"time": "t"} if "t" in frame else {"method": "sequences"}
    found = lv.discover(frame, **by, draws=draws, level=1 / (1 + draws), jobs=1)  # (seconds are of this process)
    if str(found.verdict) != "found":
        return str(found.verdict), 0
    one = found.hidden[0]
    return one.kind.value if one.chain.stays else "moves", one.states


def right(answer: str, truth: str) -> bool:
    """Whether that is the right kind; of what stays ("stays"), either kind is."""
    return answer == truth or (truth == "stays" and answer in ("class", "continuum"))


def false(answer: str, truth: str) -> bool:
    """Whether something is said to be hidden that is not."""
    return answer not in ("nothing", "undecided") and not right(answer, truth)


def _line(make, seed: int, place: int, draws: int) -> Line:
    begun = time.process_time()
    answer, states = said(make(np.random.default_rng([seed, place])), draws)
    return {"said": answer, "states": states, "seconds": round(time.process_time() - begun, 1)}


def verdicts(bench: str, seed: int, cases, samples: int, draws: int, names: list[str]) -> None:
    """Every sample is a line of build/time_verdicts.jsonl; those already there are not run again. All first samples
    come first."""
    work = [
        (f"{bench} {name} {place} draws {draws}", partial(_line, cases[name][0], seed, place, draws))
        for place in range(samples)
        for name in names or list(cases)
    ]
    said_of = dict(zip([key for key, _ in work], run(work, OUTPUT), strict=True))
    rows = []
    for name in names or list(cases):
        truth = cases[name][1]
        lines = [said_of[f"{bench} {name} {place} draws {draws}"] for place in range(samples)]
        answers = Counter(line["said"] for line in lines)
        good = sum(right(line["said"], truth) for line in lines)
        bad = sum(false(line["said"], truth) for line in lines)
        seconds = sum(line["seconds"] for line in lines) / samples
        rows.append((name, truth, f"{good} of {samples}", bad, dict(answers), f"{seconds:.1f}"))
    table(["case", "truth", "right", "false", "said", "s"], rows)


if __name__ == "__main__":
    given = sys.argv[1:]
    verdicts("known", 7, CASES, int(given[0]) if given else 5, int(given[1]) if len(given) > 1 else 19, given[2:])
