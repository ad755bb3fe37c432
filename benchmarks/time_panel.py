"""A panel as large as LMest's of self-reported health, decided with its test: seconds on the clock and of processors.

python -m benchmarks.time_panel [PERSONS] [DRAWS]      # 7,074 persons, 8 waves, 7 columns; 99 draws

Health in five grades follows a hidden state of four that moves; gender, race, education stay, age only tells the time.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

import leverrier as lv

WAVES, STATES = 8, 4


def panel(persons: int = 7074, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    shown = np.array(
        [
            [0.72, 0.22, 0.04, 0.01, 0.01],
            [0.12, 0.66, 0.18, 0.03, 0.01],
            [0.02, 0.16, 0.64, 0.15, 0.03],
            [0.01, 0.03, 0.12, 0.40, 0.44],
        ]
    )
    moves = np.array(
        [[0.90, 0.08, 0.01, 0.01], [0.04, 0.88, 0.07, 0.01], [0.01, 0.05, 0.87, 0.07], [0.0, 0.01, 0.05, 0.94]]
    )
    state = rng.choice(STATES, persons, p=[0.2, 0.4, 0.3, 0.1])
    health = np.empty((persons, WAVES), dtype=np.int64)
    for wave in range(WAVES):
        if wave:
            state = (rng.random((persons, 1)) > moves[state].cumsum(axis=1)).sum(axis=1).clip(max=STATES - 1)
        health[:, wave] = (rng.random((persons, 1)) > shown[state].cumsum(axis=1)).sum(axis=1).clip(max=4)
    stays = {
        "gender": rng.choice(["f", "m"], persons),
        "race": rng.choice(["white", "black", "other"], persons, p=[0.8, 0.14, 0.06]),
        "education": rng.choice(["school", "diploma", "some college", "college", "more"], persons),
    }
    return {
        "id": np.repeat(np.arange(persons), WAVES),
        "wave": np.tile(np.arange(WAVES), persons),
        **{name: np.repeat(values, WAVES) for name, values in stays.items()},
        "age": np.repeat(rng.integers(30, 81, persons), WAVES) + 2 * np.tile(np.arange(WAVES), persons),
        "health": np.array(["excellent", "very good", "good", "fair", "poor"])[health.ravel()],
    }


def main() -> None:
    given = [int(each) for each in sys.argv[1:]]
    frame = panel(*given[:1])
    draws = given[1] if len(given) > 1 else 99
    begun, before = time.perf_counter(), os.times()
    found = lv.discover(frame, by="id", time="wave", seed=0, draws=draws)
    clock, after = time.perf_counter() - begun, os.times()
    spent = sum(after[:4]) - sum(before[:4])
    print(found)
    one = found.hidden[0].evidence if found.hidden else None
    if one is not None:
        print(f"p = {one.p_value:.3g} after {one.draws} draws, held out {one.held_out}, support {one.support}")
    print(f"{len(frame['id']):,} x {len(frame)}: {clock:.1f} s on the clock, {spent:.1f} s of the processor")


if __name__ == "__main__":
    main()
