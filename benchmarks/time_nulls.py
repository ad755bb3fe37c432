"""What `discover` says of sequences with nothing hidden, made in ways that no rival was built for.

python -m benchmarks.time_nulls [SAMPLES] [DRAWS] [CASE …]      # 5 samples of every case, 99 draws at level .01

threshold          autoregression whose slope depends on its own sign
clocked spread     noise that is wider on some days of the week, the day given as a column
season and trend   two seasons of unlike length on a curved trend
rounded            an autoregression rounded to whole numbers, a few of them
own slopes         persons with slopes of their own over time, given by an observed dose (the same for all, no levels)
moving average     MA(2) with a strong negative root: no finite autoregression
integer            a thinned count (INAR(1)): Poisson margins, own past
bounded            a logistic map of its past with noise, between 0 and 1
random walk        steps without drift, differenced by no one
clipped            an autoregression cut off at a detection limit
coupled            two columns that drive each other with a lag of three
third order        categories that depend on their last three states
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.time_verdicts import TIME, N, autoregressive, verdicts


def walked(rng, step, n=N, burn=50):
    x = np.zeros(n + burn)
    for t in range(3, n + burn):
        x[t] = step(x, t, rng)
    return x[burn:]


def threshold(rng):
    x = walked(rng, lambda x, t, rng: (0.8 if x[t - 1] > 0 else -0.3) * x[t - 1] + rng.normal())
    return {"x": x, "y": 0.5 * x + rng.normal(size=N)}


def clocked_spread(rng):
    day = TIME % 7
    x = walked(rng, lambda x, t, rng: 0.5 * x[t - 1] + rng.normal())
    x = x + np.where(day >= 5, 2.0, 0.2) * rng.normal(size=N)
    return {"x": x, "day": np.array(["mo", "tu", "we", "th", "fr", "sa", "su"])[day]}


def season_and_trend(rng):
    curve = 3 * (TIME / N) ** 2 + np.sin(2 * np.pi * TIME / 12) + np.sin(2 * np.pi * TIME / 50)
    return {"x": curve + rng.normal(size=N), "y": curve + rng.normal(size=N)}


def rounded(rng):
    frame = autoregressive(rng, np.array([[0.7, 0.0], [0.2, 0.5]]))
    return {name: np.round(values) for name, values in frame.items()}


def own_slopes(rng, persons=30, days=20):
    dose = rng.normal(size=(persons, days))
    y = 0.7 * dose + rng.normal(size=(persons, days))
    z = -0.4 * dose + 0.3 * np.arange(days) / days + rng.normal(size=(persons, days))
    return {
        "id": np.repeat(np.arange(persons), days),
        "day": np.tile(np.arange(days), persons),
        "dose": dose.ravel(),
        "y": y.ravel(),
        "z": z.ravel(),
    }


def moving_average(rng):
    e = rng.normal(size=(N + 2, 2))
    x = e[2:] - 0.9 * e[1:-1] + 0.5 * e[:-2]
    return {"x": x[:, 0], "y": x[:, 1]}


def integer(rng):
    x = np.zeros(N + 50, dtype=int)
    for t in range(1, N + 50):
        x[t] = rng.binomial(x[t - 1], 0.6) + rng.poisson(1.2)
    return {"x": x[50:]}


def bounded(rng):
    x = walked(rng, lambda x, t, rng: 1 / (1 + np.exp(-(4 * x[t - 1] - 2 + 0.7 * rng.normal()))))
    return {"x": x}


def random_walk(rng):
    return {"x": np.cumsum(rng.normal(size=N)), "y": np.cumsum(rng.normal(size=N))}


def clipped(rng):
    frame = autoregressive(rng, np.array([[0.6]]))
    return {"x": np.maximum(frame["x0"], -0.5), "y": rng.normal(size=N)}


def coupled(rng):
    x = np.zeros((N + 50, 2))
    for t in range(3, N + 50):
        x[t] = rng.normal([0.6 * x[t - 3, 1], -0.5 * x[t - 3, 0]])
    return {"x": x[50:, 0], "y": x[50:, 1]}


def third_order(rng):
    table = rng.dirichlet(np.full(2, 0.7), size=(2, 2, 2))
    x = np.zeros(N + 50, dtype=int)
    for t in range(3, N + 50):
        x[t] = rng.choice(2, p=table[x[t - 1], x[t - 2], x[t - 3]])
    return {"p": np.array(["a", "b"])[x[50:]], "q": rng.choice(["a", "b", "c"], N)}


CASES = {
    "threshold": threshold,
    "clocked spread": clocked_spread,
    "season and trend": season_and_trend,
    "rounded": rounded,
    "own slopes": own_slopes,
    "moving average": moving_average,
    "integer": integer,
    "bounded": bounded,
    "random walk": random_walk,
    "clipped": clipped,
    "coupled": coupled,
    "third order": third_order,
}


if __name__ == "__main__":
    given = sys.argv[1:]
    cases = {name: (make, "nothing") for name, make in CASES.items()}
    verdicts("nulls", 11, cases, int(given[0]) if given else 5, int(given[1]) if len(given) > 1 else 99, given[2:])
