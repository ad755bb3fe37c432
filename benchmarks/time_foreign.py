"""What `discover` says of sequences with a past, a regime on top of it or none: written for chains on lags, after the
rule that a chain may have each column's last value alone.

python -m benchmarks.time_foreign [SAMPLES] [DRAWS] [CASE …]      # 2 samples of every case, 99 draws at level .01

Planted: a regime behind counts that remember, behind categories that repeat themselves, one that turns a slope, one
behind three columns that drive each other. Nothing hidden: crossed drivers (a column follows the other's past, not its
own), ARMA(1,1), a slow memory of twenty lags, a past seen through a bend, one of twelve steps, an autoregression of
logarithms, steps of exponential size, a curve of an observed input, a wave whose height grows, answers that follow a
number's past, a slope told by an observed column, ten persons of one autoregression, a difference of two columns that
is held, a pulse that two columns share with a delay.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.time_nulls import walked
from benchmarks.time_verdicts import TIME, N, autoregressive, chain, verdicts

SEED = 41


def counts_that_remember(rng):
    state, x = chain(rng, stay=0.97), np.zeros(N, dtype=int)
    for t in range(1, N):
        x[t] = rng.poisson(1 + 0.4 * x[t - 1] + 2.5 * state[t])
    return {"calls": x, "load": rng.normal(1.5 * state)}


def repeated_answers(rng):
    state, made = chain(rng, stay=0.97), {}
    for name in "pqr":
        x = np.zeros(N, dtype=int)
        for t in range(1, N):
            x[t] = x[t - 1] if rng.random() < 0.3 else int(rng.random() < (0.85 if state[t] else 0.15))
        made[name] = np.array(["no", "yes"])[x]
    return made


def turned_slope(rng):
    state, x = chain(rng, stay=0.97), np.zeros((N, 2))
    for t in range(1, N):
        x[t] = [(0.8 if state[t] else -0.2) * x[t - 1, 0] + rng.normal(), 1.5 * state[t] + rng.normal()]
    return {"x": x[:, 0], "y": x[:, 1]}


def three_driven(rng):
    state, x = chain(rng, stay=0.97), np.zeros((N, 3))
    table = np.array([[0.4, 0.2, 0.0], [0.0, 0.4, 0.2], [0.2, 0.0, 0.4]])
    for t in range(1, N):
        x[t] = x[t - 1] @ table + np.array([1.2, -1.2, 1.2]) * state[t] + rng.normal(size=3)
    return dict(zip("xyz", x.T, strict=True))


def crossed(rng):
    return autoregressive(rng, np.array([[0.0, 0.7], [0.7, 0.0]]))


def arma(rng):
    e = rng.normal(size=(N + 50, 2))
    noise = e.copy()
    noise[1:] += 0.7 * e[:-1]
    return autoregressive(rng, np.array([[0.7, 0.1], [0.0, 0.6]]), noise=noise)


def slow_memory(rng):
    weight = 0.35 * np.arange(1, 21) ** -1.2
    x = np.zeros((N + 100, 2))
    for t in range(20, N + 100):
        x[t] = weight @ x[t - 20 : t][::-1] + rng.normal(size=2)
    return {"x": x[100:, 0], "y": x[100:, 1]}


def bent_past(rng):
    x = walked(rng, lambda x, t, rng: 1.5 * np.tanh(1.5 * x[t - 1]) + rng.normal())
    return {"x": x, "y": 0.4 * x + rng.normal(size=N)}


def twelve_back(rng):
    x = np.zeros(N + 60)
    for t in range(12, N + 60):
        x[t] = 0.7 * x[t - 12] + rng.normal()
    return {"x": x[60:], "y": rng.normal(size=N)}


def logarithms(rng):
    frame = autoregressive(rng, np.array([[0.7, 0.2], [0.0, 0.6]]))
    return {name: np.exp(0.6 * values) for name, values in frame.items()}


def exponential_steps(rng):
    return autoregressive(rng, np.array([[0.6, 0.0], [0.3, 0.4]]), noise=rng.exponential(size=(N + 50, 2)))


def curved_input(rng):
    warm = walked(rng, lambda x, t, rng: 0.9 * x[t - 1] + 0.4 * rng.normal())
    return {"warm": warm, "grown": np.exp(-((warm - 0.3) ** 2)) * 4 + rng.normal(size=N), "y": rng.normal(size=N)}


def growing_wave(rng):
    wave = (1 + 2 * TIME / N) * np.sin(2 * np.pi * TIME / 24)
    return {"x": wave + rng.normal(size=N), "y": 0.5 * wave + rng.normal(size=N)}


def answers_that_follow(rng):
    x = walked(rng, lambda x, t, rng: 0.8 * x[t - 1] + rng.normal())
    chance = 1 / (1 + np.exp(-1.5 * np.concatenate([[0.0], x[:-1]])))
    return {"x": x, "said": np.where(rng.random(N) < chance, "yes", "no")}


def told_slope(rng):
    kind, x = rng.integers(0, 2, N), np.zeros(N)
    for t in range(1, N):
        x[t] = (0.9 if kind[t] else -0.5) * x[t - 1] + rng.normal()
    return {"kind": np.array(["a", "b"])[kind], "x": x}


def ten_persons(rng, persons=10, days=60):
    x = np.zeros((persons, days, 2))
    for t in range(1, days):
        x[:, t] = x[:, t - 1] @ np.array([[0.7, 0.2], [0.1, 0.5]]) + rng.normal(size=(persons, 2))
    return {
        "id": np.repeat(np.arange(persons), days),
        "day": np.tile(np.arange(days), persons),
        "x": x[:, :, 0].ravel(),
        "y": x[:, :, 1].ravel(),
    }


def held_difference(rng):
    x = np.zeros((N, 2))
    for t in range(1, N):
        gap = x[t - 1, 0] - x[t - 1, 1]
        x[t] = x[t - 1] + np.array([-0.2, 0.2]) * gap + rng.normal(size=2)
    return {"x": x[:, 0], "y": x[:, 1]}


def shared_pulse(rng):
    e = rng.normal(size=N + 3)
    return {"x": e[3:] + 0.6 * rng.normal(size=N), "y": e[:-3] + 0.6 * rng.normal(size=N)}


CASES = {
    "counts that remember": (counts_that_remember, "moves"),
    "repeated answers": (repeated_answers, "moves"),
    "turned slope": (turned_slope, "moves"),
    "three driven": (three_driven, "moves"),
    "crossed": (crossed, "nothing"),
    "ARMA": (arma, "nothing"),
    "slow memory": (slow_memory, "nothing"),
    "bent past": (bent_past, "nothing"),
    "twelve back": (twelve_back, "nothing"),
    "logarithms": (logarithms, "nothing"),
    "exponential steps": (exponential_steps, "nothing"),
    "curved input": (curved_input, "nothing"),
    "growing wave": (growing_wave, "nothing"),
    "answers that follow": (answers_that_follow, "nothing"),
    "told slope": (told_slope, "nothing"),
    "ten persons": (ten_persons, "nothing"),
    "held difference": (held_difference, "nothing"),
    "shared pulse": (shared_pulse, "nothing"),
}


if __name__ == "__main__":
    given = sys.argv[1:]
    verdicts("foreign", SEED, CASES, int(given[0]) if given else 2, int(given[1]) if len(given) > 1 else 99, given[2:])
