"""Latent transition analysis: classes and tables recovered, tests that hold their level and see what is there."""

import numpy as np
import pandas as pd
import pytest

import leverrier as lv
from leverrier.cli import run

MOVES = np.array([[0.9, 0.1], [0.25, 0.75]])


def panel(n=600, waves=3, drift=0.0, seed=0):
    """Two classes behind five yes/no items; `drift` makes two items easier at later waves."""
    rng = np.random.default_rng(seed)
    state = np.zeros((n, waves), dtype=int)
    state[:, 0] = rng.random(n) < 0.4
    for t in range(1, waves):
        state[:, t] = rng.random(n) < MOVES[state[:, t - 1], 1]
    chance = np.array([[0.15, 0.2, 0.1, 0.25, 0.2], [0.8, 0.85, 0.75, 0.9, 0.7]])[state]
    chance[:, 1:, :2] = np.clip(chance[:, 1:, :2] + drift, 0.02, 0.98)
    cells = np.where(rng.random(chance.shape) < chance, "yes", "no")
    frame = {"id": np.repeat(np.arange(n), waves), "wave": np.tile(np.arange(1, waves + 1), n)}
    return pd.DataFrame({**frame, **{f"item{j}": cells[:, :, j].ravel() for j in range(5)}}), state


def test_classes_and_moves_are_recovered(tmp_path, capsys):
    frame, state = panel()
    found = lv.latent_transitions(frame, by="id", time="wave", states=[1, 2, 3])
    assert found.states == 2
    order = [0, 1] if found.shares[0, 0] > 0.5 else [1, 0]
    error = found.standard_errors.transition[np.ix_(order, order)]
    assert np.all(np.abs(found.transition[np.ix_(order, order)] - MOVES) < 4 * error)
    assert np.all((error > 0.005) & (error < 0.06))
    assert found.shares[0, order[1]] == pytest.approx(state[:, 0].mean(), abs=0.05)
    assert found.invariance.p_value > 0.01
    assert found.invariance.degrees == 2 * 5 * 2  # two more waves, five items, two classes
    assert found.homogeneity.degrees == 2
    assert found.homogeneity.p_value > 0.01
    assert set(found.transitions) == {"1", "2"}
    assert np.mean(found.posterior.argmax(axis=1) == np.argsort(order)[state.ravel()]) > 0.93
    frame.to_csv(tmp_path / "panel.csv", index=False)
    command = ["classes", str(tmp_path / "panel.csv"), "--by", "id", "--time", "wave", "--states", "2"]
    assert run(command) == 0
    said = capsys.readouterr().out
    assert "Share of each class by wave" in said
    assert "Moves from one wave to the next" in said


def test_classes_that_change_their_meaning_are_told():
    frame, _ = panel(waves=2, drift=0.25, seed=1)
    found = lv.latent_transitions(frame, by="id", time="wave", states=2)
    assert found.invariance.p_value < 1e-4


def test_covariates_turn_the_moves():
    rng = np.random.default_rng(2)
    n, waves = 400, 5
    x = rng.normal(size=n)
    state = np.zeros((n, waves), dtype=int)
    for t in range(1, waves):
        up = 1 / (1 + np.exp(-(-1.0 + 1.5 * x)))
        state[:, t] = np.where(state[:, t - 1] == 1, 1, rng.random(n) < up)
    frame = {"id": np.repeat(np.arange(n), waves), "wave": np.tile(np.arange(waves), n), "x": np.repeat(x, waves)}
    frame |= {f"y{j}": rng.normal(3.0 * state.ravel()) for j in range(2)}
    found = lv.latent_transitions(frame, by="id", time="wave", states=2, inputs=["x"])
    low = int(np.argmin(found.profiles["y0"][:, 0]))
    slope = found.coefficients[low, 1, 0] * (1 if low == 1 else -1) / x.std()
    assert slope == pytest.approx(1.5, abs=0.35)
    assert found.standard_errors.transition.shape == found.coefficients.shape


def test_what_is_no_panel_is_one_line():
    with pytest.raises(lv.TableError, match="several persons"):
        lv.latent_transitions({"a": ["x", "y"] * 20})
