"""What people ask of a model with a hidden state: now, row by row; where it was; and what is unlike all states."""

import numpy as np
import pytest

import leverrier as lv
from leverrier.errors import OptionError, TableError
from leverrier.models.regimes.plain_chain import laws_of


def diary(n=240, seed=0):
    rng = np.random.default_rng(seed)
    state = (np.cumsum(rng.random(n) < 0.06) % 2).astype(int)
    dose = rng.normal(size=n)
    pulse = np.zeros(n)
    for t in range(n):
        pulse[t] = 60 + 3 * state[t] + 0.4 * (pulse[t - 1] - 60 if t else 0) + dose[t] + rng.normal()
    cough = np.where(rng.random(n) < 0.2 + 0.5 * state, "yes", "no")
    calls = rng.poisson(1 + 3 * state).astype(float)
    pulse[20] = np.nan
    return {"pulse": pulse, "cough": cough, "calls": calls, "dose": dose}


def rows_of(frame):
    return [{name: column[t] for name, column in frame.items()} for t in range(len(frame["pulse"]))]


@pytest.mark.parametrize(
    "how",
    [
        {"emissions": {"calls": "poisson"}},
        {"emissions": {"calls": "poisson"}, "lags": 1},
        {"emissions": {"calls": "poisson"}, "inputs": {"dose": "both"}},
        {"emissions": {"calls": "poisson"}, "durations": "negative binomial"},
    ],
    ids=["laws", "lags", "inputs", "durations"],
)
def test_row_by_row_is_what_all_rows_at_once_say(how):
    frame = diary()
    found = lv.hidden_markov(frame, 2, seed=0, max_iterations=10, **how)
    following = found.network.filter()
    known = [following.step(row) for row in rows_of(frame)]
    np.testing.assert_allclose([one["state"] for one in known], found.filtered, atol=1e-9)
    logs = found.network.slice_log_likelihood(found.panel)
    np.testing.assert_allclose([one.log_likelihood for one in known], logs, atol=1e-9)
    np.testing.assert_allclose(found.time_spent.sum(axis=1), [240])


def test_a_row_that_cannot_be_read_is_one_line():
    found = lv.hidden_markov(diary(), 2, emissions="auto", max_iterations=3)
    with pytest.raises(TableError, match="'cough' is 'maybe', which is none of its states"):
        found.network.filter().step({"cough": "maybe"})
    with pytest.raises(TableError, match="'pulse' is 'fast': expected a number"):
        found.network.filter().step({"pulse": "fast"})
    with pytest.raises(OptionError, match="draws=0"):
        found.network.unlike(diary(), draws=0)


def test_what_is_unlike_all_states_stands_out_and_nothing_else():
    frame = diary(600)
    found = lv.hidden_markov(frame, 2, emissions={"calls": "poisson"}, seed=0)
    drawn = found.network.sample(1, 2000, seed=1)
    usual = found.network.unlike(drawn, draws=99)
    assert np.mean(usual <= 0.05) < 0.06  # (of two states the likelier one is taken: at most the level)
    strange = {name: column.copy() for name, column in frame.items()}
    strange["pulse"][100], strange["calls"][200] = 30.0, 40
    chance = found.network.unlike(strange, draws=99)
    assert chance[100] == chance[200] == pytest.approx(0.01)
    hole = {name: column[:3].copy() for name, column in frame.items() if name != "cough"}
    for column in hole.values():
        column[1] = np.nan
    assert found.network.unlike(hole | {"cough": np.array(["yes", None, "no"], dtype=object)}, draws=19)[1] == 1.0


def test_a_state_between_two_is_unlike_both_though_its_numbers_are_usual():
    rng = np.random.default_rng(0)
    state = np.repeat([0, 1], 150)
    frame = {"x": rng.normal(8.0 * state), "y": rng.normal(8.0 * state)}
    found = lv.hidden_markov(frame, 2, emissions="normal", seed=0)
    assert found.network.unlike({"x": [0.0, 4.0, 8.0], "y": [0.0, 4.0, 8.0]}, draws=199)[1] < 0.01


def test_the_plain_chain_has_the_same_queries():
    frame = diary()
    found = lv.hidden_markov(lv.read_sequences(frame), 2, seed=0)
    assert found.path.shape == (240,)
    np.testing.assert_allclose(found.time_spent, found.posterior.sum(axis=0)[None])
    following = found.network.filter()
    name = found.name
    first = [following.step(row)[name] for row in rows_of(frame)[:30]]
    np.testing.assert_allclose(first, found.filtered[:30], atol=1e-9)
    agree = np.mean(found.path == found.posterior.argmax(axis=1))
    assert agree > 0.9


def test_the_plain_chain_as_laws_says_the_same_and_has_futures_and_anomalies():
    frame = diary(seed=2) | {"id": np.repeat(["a", "b", "c"], 80)}
    sequences = lv.read_sequences(frame, by="id")
    found = lv.hidden_markov(sequences, 2, seed=0)
    laws = found.laws
    np.testing.assert_allclose(laws.slice_log_likelihood(sequences), found.network.slice_log_likelihood(sequences))
    np.testing.assert_allclose(laws.posterior(sequences), found.posterior, atol=1e-9)
    np.testing.assert_array_equal(laws.most_probable_path(sequences), found.path)
    exact = found.network.forecast(sequences, steps=4)
    drawn = laws.forecast(sequences, steps=4, draws=4000, seed=1)
    assert drawn.cells["pulse"].shape == (3, 4000, 4)
    np.testing.assert_allclose(drawn.states, exact.probabilities[found.name], atol=0.04)  # (five standard errors)
    np.testing.assert_allclose(drawn.probabilities["cough"], exact.probabilities["cough"], atol=0.04)
    np.testing.assert_allclose(drawn.numbers["pulse"].mean, exact.numbers["pulse"].mean, atol=0.4)
    odd = {name: column.copy() for name, column in frame.items()}
    odd["pulse"][100] = 90.0
    like = laws.unlike(lv.read_sequences(odd, by="id"))
    assert like[100] == like.min() == 1 / 200
    assert np.mean(like < 0.01) < 0.05


def test_a_network_that_is_no_plain_chain_has_no_such_laws():
    wet = lv.DynamicNetwork.from_tables(
        {"rain": ("yes", "no"), "umbrella": ("up", "down")},
        prior={"rain": ((), [0.5, 0.5]), "umbrella": (("rain",), [[0.9, 0.1], [0.2, 0.8]])},
        transition={
            "rain": ((("rain", 1),), [[0.7, 0.3], [0.3, 0.7]]),
            "umbrella": (("rain", ("umbrella", 1)), [[[0.9, 0.1], [0.8, 0.2]], [[0.3, 0.7], [0.2, 0.8]]]),
        },
        hidden=["rain"],
    )
    with pytest.raises(OptionError, match="one hidden chain"):
        laws_of(wet, ())
