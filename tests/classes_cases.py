"""Data of known latent class models, which several test files draw."""

import numpy as np
import pandas as pd

COLUMNS = ["x0", "x1", "x2", "x3", "x4", "x5"]
INTERCEPTS, SLOPES = np.array([0.0, 2.34459467, -3.65540533]), np.array([0.0, -1.0, 1.0])
MEANS = np.array([-1.0, 1.0, 0.0])


def bakk(rows, apart, rng):
    """The simulation of Bakk & Kuha 2018 as StepMix draws it: three classes of equal size, six items, one predictor
    (1 to 5), one outcome with means −1, 1, 0."""
    predictor = rng.integers(1, 6, rows)
    odds = np.exp(predictor[:, None] * SLOPES + INTERCEPTS)
    odds /= odds.sum(axis=1, keepdims=True)
    member = (rng.random(rows)[:, None] >= np.cumsum(odds, axis=1)[:, :-1]).sum(axis=1)
    high = np.array([[apart] * 6, [apart] * 3 + [1 - apart] * 3, [1 - apart] * 6])
    frame = pd.DataFrame(np.where(rng.random((rows, 6)) < high[member], "yes", "no"), columns=COLUMNS)
    frame["predictor"] = predictor
    frame["outcome"] = MEANS[member] + rng.standard_normal(rows)
    return frame, member


def in_order(result):
    """Which class of a result is which of Bakk's: all items high, the first three, none."""
    high = np.array([[result.profiles[str(k)][name]["yes"] for name in COLUMNS] for k in range(3)])
    first, last = high[:, :3].mean(axis=1), high[:, 3:].mean(axis=1)
    return [int((first + last).argmax()), int((first - last).argmax()), int((first + last).argmin())]
