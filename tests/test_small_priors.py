"""Priors of thousandths of a count (BDeu over many cells) and holes: no row is impossible, and the bound is a bound."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

import leverrier as lv

GRAPH = [("a", "c"), ("b", "c"), ("a", "d"), ("c", "d")]


def holed(seed: int) -> tuple[pd.DataFrame, list[tuple[int, str]]]:
    """Five states a column, so that `c` and `d` have 125 cells each; two holes in rows that are like no other."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 5, 80), rng.integers(0, 5, 80)
    frame = pd.DataFrame({"a": a, "b": b, "c": np.minimum(a, b), "d": (a + np.minimum(a, b)) % 5}).astype(str)
    frame.loc[80] = ["0", "4", "4", "2"]
    frame.loc[81] = ["3", "0", "3", "0"]
    return frame, [(80, "a"), (81, "c")]


def scores_of_completions(frame: pd.DataFrame, holes: list[tuple[int, str]], rule: lv.BDeu) -> list[float]:
    """The exact score of every way to fill the holes."""
    found = []
    for fill in np.ndindex(*(5,) * len(holes)):
        whole = frame.copy()
        for (row, column), state in zip(holes, fill, strict=True):
            whole.loc[row, column] = str(state)
        states = {name: tuple("01234") for name in frame}
        table = lv.Table.from_codes(states, whole.astype(int).to_numpy().T)
        found.append(lv.score(lv.Graph.from_edges(tuple(frame), GRAPH), table, rule))
    return found


@pytest.mark.parametrize("strength", [1.0, 0.1, 0.01])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_bound_lies_between_the_best_completion_and_all_of_them(seed, strength):
    frame, holes = holed(seed)
    rule = lv.BDeu(strength)
    every = scores_of_completions(frame, holes, rule)
    for row, column in holes:
        frame.loc[row, column] = None
    found = lv.fit(lv.Graph.from_edges(tuple(frame), GRAPH), frame, method="vb", score=rule, starts=5)
    assert max(every) - 3 < found.score <= logsumexp(every) + 1e-9
    assert np.isfinite(found.log_likelihood)


@pytest.mark.parametrize("seed", [0, 9])
def test_numbers_holes_weights_and_joined_columns_are_learnt_under_a_weak_prior(seed):
    rng = np.random.default_rng(seed)
    age = rng.normal(40, 10, 60)
    band = np.digitize(age, [30, 40, 50])
    frame = pd.DataFrame({"age": age.round(1), "pay": (2 * age + rng.normal(0, 3, 60)).round(1)})
    frame["sex"] = rng.choice(["m", "f"], 60)
    frame["region"] = np.where(rng.random(60) < 0.9, np.array(list("nsew"))[band], "n")
    frame["q"] = np.where(band == 1, "x", rng.choice(["x", "y", "z"], 60))
    for i, name in enumerate("abcd"):
        frame[f"one_{name}"] = (band == i).astype(int)
    for name in ("sex", "q", "region", "pay"):
        frame.loc[rng.integers(0, 60, 5), name] = None
    frame["w"] = rng.choice([0.0, 0.5, 1.0, 2.0, 3.3], 60)
    joined = {"one": [f"one_{name}" for name in "abcd"]}
    found = lv.learn_structure(frame, lv.BDeu(0.1), weights="w", join=joined)
    assert np.isfinite(found.score)
    assert set(found.network.variables) == {"age", "pay", "sex", "region", "one", "q"}
