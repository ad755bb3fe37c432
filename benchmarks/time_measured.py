"""What `discover` says of sequences as measuring makes them: exposure, devices, late entry, seasons that drift.

python -m benchmarks.time_measured [SAMPLES] [DRAWS] [CASE …]      # 5 samples of every case, 99 draws at level .01

Written before any of it was run. Nothing hidden: months given as a column with a season whose phase wanders, counts
over an exposure that is a column, persons who enter late and stay for unlike times in one calendar, two devices in
turn (a column says which; one is off by a constant and less exact), a slope that an observed number turns at a
threshold, a VAR(1) in whole numbers, ARMA(1,1) under measurement noise. Planted: a regime in the rate of counts over an
exposure, one in persons who enter late, one beside two devices, three states in a circle, kinds of persons who differ
in counts and stay for unlike times, a regime whose moves an observed column turns.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.time_nulls import walked
from benchmarks.time_verdicts import TIME, N, autoregressive, chain, verdicts

SEED = 67
MONTHS = np.array(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])


def exposure(rng):
    return np.exp(3 + 0.4 * walked(rng, lambda x, t, rng: 0.8 * x[t - 1] + 0.6 * rng.normal()))


def devices(rng):
    """Weeks of one and weeks of the other, not quite in turn."""
    return np.repeat(rng.permutation(np.arange(N // 6) % 2), 6)


def entered(rng, persons=40, days=60):
    """By slice the person and the day of the calendar: from some day on, for 5 to 40 days."""
    rows = []
    for person in range(persons):
        first = int(rng.integers(0, days - 5))
        rows += [(person, day) for day in range(first, min(first + int(rng.integers(5, 41)), days))]
    who, day = np.array(rows).T
    return who, day


def drifting_season(rng):
    phase = 1.2 * np.sin(2 * np.pi * TIME / N)
    wave = np.sin(2 * np.pi * TIME / 12 + phase)
    return {"month": MONTHS[TIME % 12], "sales": 2 * wave + rng.normal(size=N), "stock": -wave + rng.normal(size=N)}


def over_exposure(rng):
    at = exposure(rng)
    return {"exposure": at.round(1), "cases": rng.poisson(0.2 * at), "falls": rng.poisson(0.05 * at)}


def late_entry(rng):
    who, day = entered(rng)
    common = 1.5 * np.sin(2 * np.pi * day / 14)
    e, x = rng.normal(size=(len(who), 2)), np.zeros((len(who), 2))
    for t in range(len(who)):
        x[t] = e[t] + (0.5 * x[t - 1] if t and who[t] == who[t - 1] else 0.0)
    return {"id": who, "day": day, "x": x[:, 0] + common, "y": x[:, 1]}


def two_devices(rng):
    device = devices(rng)
    frame = autoregressive(rng, np.array([[0.5, 0.1], [0.0, 0.5]]))
    read = frame["x0"] + 1.5 * device + np.where(device, 1.2, 0.3) * rng.normal(size=N)
    return {"device": np.array(["old", "new"])[device], "read": read, "other": frame["x1"]}


def observed_threshold(rng):
    warm = walked(rng, lambda x, t, rng: 0.8 * x[t - 1] + 0.6 * rng.normal())
    x = np.zeros(N)
    for t in range(1, N):
        x[t] = (0.8 if warm[t - 1] > 0.5 else 0.1) * x[t - 1] + rng.normal()
    return {"warm": warm, "x": x}


def whole_var(rng):
    frame = autoregressive(rng, np.array([[0.6, 0.2], [0.2, 0.5]]))
    return {name: np.round(values).astype(int) for name, values in frame.items()}


def noisy_arma(rng):
    e = rng.normal(size=(N + 50, 2))
    noise = e.copy()
    noise[1:] -= 0.5 * e[:-1]
    frame = autoregressive(rng, np.array([[0.9, 0.0], [0.0, 0.85]]), noise=noise)
    return {name: values + 0.7 * rng.normal(size=N) for name, values in frame.items()}


def regime_over_exposure(rng):
    at, state = exposure(rng), chain(rng)
    return {
        "exposure": at.round(1),
        "cases": rng.poisson(np.where(state, 0.35, 0.15) * at),
        "falls": rng.poisson(np.where(state, 0.03, 0.1) * at),
    }


def regime_late(rng):
    who, day = entered(rng)
    state = np.zeros(len(who), dtype=int)
    for t in range(len(who)):
        begins = t == 0 or who[t] != who[t - 1]
        state[t] = rng.integers(2) if begins or rng.random() < 0.08 else state[t - 1]
    ill = np.where(rng.random(len(who)) < np.where(state, 0.7, 0.2), "yes", "no")
    return {"id": who, "day": day, "x": rng.normal(1.5 * state), "ill": ill}


def regime_beside_devices(rng):
    device, state = devices(rng), chain(rng)
    read = 1.8 * state + 1.5 * device + rng.normal(size=N)
    return {"device": np.array(["old", "new"])[device], "read": read, "other": rng.normal(-1.5 * state)}


def circle(rng):
    state = np.zeros(N, dtype=int)
    for t in range(1, N):
        state[t] = (state[t - 1] + (rng.random() < 0.1)) % 3
    grade = np.clip(np.round(rng.normal(1 + 1.5 * (state == 2), 0.7)), 0, 4).astype(int)
    return {"x": rng.normal(2.0 * (state == 1)), "grade": np.array([f"g{i}" for i in range(5)])[grade]}


def kinds_in_counts(rng):
    who, day = entered(rng, persons=60)
    kind = rng.integers(0, 2, 60)[who]
    return {"id": who, "day": day, "calls": rng.poisson(np.where(kind, 5, 2)), "visits": rng.poisson(1.5 - kind)}


def turned_moves(rng):
    """The state is likelier to change to 1 while the pay is high, and back while it is low."""
    pay = np.sin(2 * np.pi * TIME / 90) + 0.3 * rng.normal(size=N)
    state = np.zeros(N, dtype=int)
    for t in range(1, N):
        up = 1 / (1 + np.exp(-3 * pay[t - 1]))
        state[t] = state[t - 1] if rng.random() < 0.8 else int(rng.random() < up)
    return {"pay": pay, "x": rng.normal(2.0 * state), "y": rng.normal(1.5 * state)}


CASES = {
    "drifting season": (drifting_season, "nothing"),
    "over exposure": (over_exposure, "nothing"),
    "late entry": (late_entry, "nothing"),
    "two devices": (two_devices, "nothing"),
    "observed threshold": (observed_threshold, "nothing"),
    "whole VAR": (whole_var, "nothing"),
    "noisy ARMA": (noisy_arma, "nothing"),
    "regime over exposure": (regime_over_exposure, "moves"),
    "regime, late entry": (regime_late, "moves"),
    "regime beside devices": (regime_beside_devices, "moves"),
    "circle": (circle, "moves"),
    "kinds in counts": (kinds_in_counts, "class"),
    "turned moves": (turned_moves, "moves"),
}


if __name__ == "__main__":
    given = sys.argv[1:]
    verdicts("measured", SEED, CASES, int(given[0]) if given else 5, int(given[1]) if len(given) > 1 else 99, given[2:])
