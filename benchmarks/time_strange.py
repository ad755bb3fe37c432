"""What `discover` says of sequences that neither its rivals nor the other benches were made for.

python -m benchmarks.time_strange [SAMPLES] [DRAWS] [CASE …]      # 2 samples of every case, 99 draws at level .01

Planted: a regime that moves only the spread, one in counts, three states behind two columns of categories, kinds of
persons whose diaries are of unlike length, stays that are not geometric, a regime on a trend and a season, one with
holes, one with rounded numbers. Nothing hidden: random walks, autoregressions with t₃ noise, seasonal counts, persons
with their own slopes (something hidden that stays, never one that moves), irregular times, missing runs, whole numbers,
an observed threshold, calendar effects, the same person twice, clipped columns, a dose that changes, a pulse that
fades, categories that move by one step, an echo.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.time_nulls import walked
from benchmarks.time_verdicts import TIME, N, autoregressive, chain, verdicts

SEED = 23


def only_spread(rng):
    state = chain(rng, stay=0.96)
    return {"x": rng.normal(size=N) * np.where(state, 3.0, 1.0), "y": rng.normal(size=N) * np.where(state, 2.0, 0.8)}


def counts(rng):
    state = chain(rng, stay=0.95)
    return {"calls": rng.poisson(np.where(state, 6.0, 2.0)), "visits": rng.poisson(np.where(state, 1.0, 2.5))}


def two_categories(rng):
    state = chain(rng, states=3, stay=0.94)
    p = np.array([[0.7, 0.2, 0.1], [0.15, 0.7, 0.15], [0.1, 0.2, 0.7]])
    q = np.array([[0.8, 0.2], [0.5, 0.5], [0.15, 0.85]])
    mood = np.array(["low", "fair", "high"])[[rng.choice(3, p=p[s]) for s in state]]
    return {"mood": mood, "out": np.where(rng.random(N) < q[state, 0], "no", "yes")}


def unequal_classes(rng, persons=60):
    lengths = rng.integers(3, 25, persons)
    who = np.repeat(np.arange(persons), lengths)
    kind = rng.integers(0, 2, persons)[who]
    day = np.concatenate([np.arange(n) for n in lengths])
    return {
        "id": who,
        "day": day,
        "y": rng.normal(2.2 * kind),
        "smokes": np.where(rng.random(len(who)) < 0.2 + 0.5 * kind, "yes", "no"),
    }


def steady_stays(rng):
    stays = 1 + rng.negative_binomial(6, 0.3, size=N)
    state = np.concatenate([np.full(n, i % 2) for i, n in enumerate(stays)])[:N]
    return {"x": rng.normal(1.8 * state), "y": rng.normal(-1.5 * state)}


def on_trend_and_season(rng):
    state = chain(rng, stay=0.96)
    common = 0.005 * TIME + 1.5 * np.sin(2 * np.pi * TIME / 12)
    return {"x": common + rng.normal(1.8 * state), "y": rng.normal(1.5 * state) - common}


def with_holes(rng):
    state = chain(rng, stay=0.96)
    x, y = rng.normal(2.0 * state), rng.normal(-2.0 * state)
    x[rng.random(N) < 0.25] = np.nan
    y[200:260] = np.nan
    return {"x": x, "y": y}


def rounded_regime(rng):
    state = chain(rng, stay=0.96)
    return {"x": np.round(rng.normal(3.0 * state, 1.5)), "y": np.round(rng.normal(40 - 5 * state, 2.5))}


def random_walk(rng):
    steps = rng.normal(size=(N, 3)) @ np.array([[1.0, 0.4, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 1.0]])
    return dict(zip("xyz", np.cumsum(steps, axis=0).T, strict=True))


def heavy_autoregression(rng):
    noise = rng.standard_t(3, (N + 50, 2))
    return autoregressive(rng, np.array([[0.7, 0.2], [0.0, 0.5]]), noise=noise)


def seasonal_counts(rng):
    wave = np.exp(1.0 + 0.8 * np.sin(2 * np.pi * TIME / 52))
    return {"cases": rng.poisson(wave), "tests": rng.negative_binomial(4, 4 / (4 + 3 * wave))}


def own_slopes(rng, persons=40, days=15):
    level, slope = rng.normal(size=(persons, 1)), 0.15 * rng.normal(size=(persons, 1))
    y = level + slope * np.arange(days) + rng.normal(size=(persons, days))
    z = rng.normal(size=(persons, days))
    return {
        "id": np.repeat(np.arange(persons), days),
        "day": np.tile(np.arange(days), persons),
        "y": y.ravel(),
        "z": z.ravel(),
    }


def irregular(rng):
    t = np.cumsum(rng.exponential(size=N) * np.where(rng.random(N) < 0.1, 10.0, 1.0))
    x = np.zeros((N, 2))
    for i in range(1, N):
        keep = np.exp(-(t[i] - t[i - 1]) / 4)
        x[i] = keep * x[i - 1] + np.sqrt(1 - keep**2) * rng.normal(size=2)
    return {"t": t, "x": x[:, 0], "y": x[:, 1]}


def missing_runs(rng):
    frame = autoregressive(rng, np.array([[0.6, 0.2], [0.1, 0.5]]))
    for values in frame.values():
        for begin in rng.integers(0, N - 40, 5):
            values[begin : begin + rng.integers(5, 40)] = np.nan
    return frame


def whole_numbers(rng):
    frame = autoregressive(rng, np.array([[0.8]]))
    return {"grade": np.round(2 * frame["x0"] + 20), "x": rng.normal(size=N)}


def observed_threshold(rng):
    x = np.zeros((N + 50, 2))
    for t in range(1, N + 50):
        warm = x[t - 1, 1] > 0.5
        x[t] = [(0.9 if warm else 0.1) * x[t - 1, 0] + rng.normal(), 0.8 * x[t - 1, 1] + 0.6 * rng.normal()]
    return {"x": x[50:, 0], "heat": x[50:, 1]}


def calendar(rng):
    days = np.datetime64("2023-01-02") + TIME
    weekday = TIME % 7
    effect = np.array([0.0, 0.2, 0.1, 0.0, 0.8, 2.0, 1.5])[weekday]
    month = (days.astype("datetime64[M]") - days.astype("datetime64[Y]")).astype(int)
    return {
        "t": days.astype(str),
        "sales": 3 + effect + 0.3 * month + rng.normal(size=N),
        "staff": rng.poisson(np.exp(1 + 0.3 * effect)),
    }


def same_person_twice(rng, persons=15, days=30):
    x = np.zeros((persons, days))
    for t in range(1, days):
        x[:, t] = 0.5 * x[:, t - 1] + rng.normal(size=persons)
    x = np.concatenate([x, x])
    return {
        "id": np.repeat(np.arange(2 * persons), days),
        "day": np.tile(np.arange(days), 2 * persons),
        "x": x.ravel(),
        "y": np.concatenate([rng.normal(size=persons * days)] * 2),
    }


def clipped(rng):
    frame = autoregressive(rng, np.array([[0.6, 0.3], [0.0, 0.5]]))
    return {"low": np.maximum(frame["x0"], -0.8), "both": np.clip(frame["x1"], -1, 1)}


def changing_dose(rng):
    dose = np.repeat(rng.choice([0.0, 10.0, 20.0], 20), 30)
    return {"dose": dose, "pulse": 70 - 0.8 * dose + rng.normal(size=N) * 4, "sleep": 7 + rng.normal(size=N)}


def fading_pulse(rng):
    shock = np.where(rng.random(N) < 0.03, 6.0, 0.0)
    x = walked(rng, lambda x, t, rng: 0.9 * x[t - 1] + (shock[t] if t < N else 0.0) + rng.normal() * 0.5)
    return {"x": x, "y": rng.normal(size=N)}


def ordinal_past(rng):
    x = np.zeros(N, dtype=int)
    for t in range(1, N):
        x[t] = np.clip(x[t - 1] + rng.choice([-1, 0, 1], p=[0.25, 0.5, 0.25]), 0, 4)
    return {"stage": np.array(list("abcde"))[x], "side": rng.choice(["l", "r"], N)}


def lagged_driver(rng):
    x = rng.choice(3, N, p=[0.5, 0.3, 0.2])
    y = np.array([0, 0, *x[:-2]])
    flip = rng.random(N) < 0.15
    return {"key": np.array(list("abc"))[x], "echo": np.array(list("uvw"))[np.where(flip, rng.integers(0, 3, N), y)]}


CASES = {
    "only spread": (only_spread, "moves"),
    "counts": (counts, "moves"),
    "two categories": (two_categories, "moves"),
    "unequal classes": (unequal_classes, "class"),
    "steady stays": (steady_stays, "moves"),
    "trend and season": (on_trend_and_season, "moves"),
    "holes": (with_holes, "moves"),
    "rounded regime": (rounded_regime, "moves"),
    "own slopes": (own_slopes, "stays"),
    "random walk": (random_walk, "nothing"),
    "heavy AR": (heavy_autoregression, "nothing"),
    "seasonal counts": (seasonal_counts, "nothing"),
    "irregular": (irregular, "nothing"),
    "missing runs": (missing_runs, "nothing"),
    "whole numbers": (whole_numbers, "nothing"),
    "observed threshold": (observed_threshold, "nothing"),
    "calendar": (calendar, "nothing"),
    "person twice": (same_person_twice, "nothing"),
    "clipped": (clipped, "nothing"),
    "changing dose": (changing_dose, "nothing"),
    "fading pulse": (fading_pulse, "nothing"),
    "ordinal past": (ordinal_past, "nothing"),
    "lagged driver": (lagged_driver, "nothing"),
}


if __name__ == "__main__":
    given = sys.argv[1:]
    verdicts("strange", SEED, CASES, int(given[0]) if given else 2, int(given[1]) if len(given) > 1 else 99, given[2:])
