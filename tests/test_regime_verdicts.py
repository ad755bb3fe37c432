"""What `discover` says of sequences with numbers: regimes, classes and levels of persons, trends, clocks, nothing."""

import numpy as np
import pytest

import leverrier as lv
from leverrier.data.sequences.panel import panel_of
from leverrier.discovery.regimes.column_roles import Role, roles_of
from leverrier.learning.regimes.person_levels import fit_levels

QUICK = {"level": 0.1, "draws": 9, "seed": 0}


def speed_like(n=439, seed=0):
    """depmixS4's published two states of reaction time and accuracy."""
    rng = np.random.default_rng(seed)
    moves = np.array([[0.916, 0.084], [0.101, 0.899]])
    state = np.zeros(n, dtype=int)
    for t in range(1, n):
        state[t] = rng.choice(2, p=moves[state[t - 1]])
    rt = rng.normal(np.where(state == 0, 6.39, 5.52), np.where(state == 0, 0.24, 0.202))
    right = rng.random(n) < np.where(state == 0, 0.902, 0.528)
    return state, {"rt": rt, "corr": np.where(right, "cor", "inc")}


def test_two_states_of_speed_are_found(tmp_path):
    state, frame = speed_like()
    found = lv.discover(frame, method="sequences", **QUICK)
    assert str(found.verdict) == "found"
    (one,) = found.hidden
    assert one.states == 2
    assert set(one.children) == {"rt", "corr"}
    assert not one.chain.stays
    assert one.evidence.tested
    assert one.evidence.p_value == pytest.approx(0.1)
    assert one.evidence.draws == 9
    assert one.evidence.held_out > 0.1
    guess = found.posterior(frame).argmax(axis=1)
    assert max(np.mean(guess == state), np.mean(guess != state)) > 0.93
    found.save(tmp_path / "speed.json")
    back = lv.load(tmp_path / "speed.json")
    assert str(back) == str(found)
    assert back.hidden[0].evidence == one.evidence
    assert np.array_equal(back.posterior(frame), found.posterior(frame))
    back.report(tmp_path / "speed.html")
    assert "simulated without it" in str(found)


def panel_frame(levels, noise, rng, slope=0.0):
    persons, days = noise.shape
    return {
        "id": np.repeat(np.arange(persons), days),
        "day": np.tile(np.arange(days), persons),
        "y": (levels[:, None] + slope * np.arange(days) + noise).ravel(),
        "z": rng.normal(size=noise.size) - 0.8 * np.repeat(levels, days),
        "sex": np.repeat(rng.choice(["f", "m"], persons), days),
        "age": np.repeat(rng.integers(20, 60, persons), days) + np.tile(np.arange(days) // 5, persons),
    }


def test_persons_with_levels_of_their_own_are_a_hidden_variable_that_stays():
    rng = np.random.default_rng(1)
    frame = panel_frame(rng.normal(size=20), rng.normal(size=(20, 30)), rng)
    found = lv.discover(frame, by="id", time="day", **QUICK)
    assert str(found.verdict) == "found"
    (one,) = found.hidden
    assert one.chain.stays
    assert one.kind == "continuum"
    assert found.result.time.inputs == {"sex": Role.FIXED, "age": Role.CLOCK}
    assert set(one.children) <= {"y", "z"}
    assert "never changes within a sequence" in str(found)


def test_two_kinds_of_persons_are_classes():
    rng = np.random.default_rng(2)
    kind = rng.integers(0, 2, 50)
    frame = panel_frame(2.0 * kind, rng.normal(size=(50, 10)), rng)
    found = lv.discover(frame, by="id", time="day", **QUICK)
    (one,) = found.hidden
    assert (one.chain.stays, one.kind, one.states) == (True, "class", 2)
    states = found.posterior(frame).argmax(axis=1)[::10]
    assert max(np.mean(states == kind), np.mean(states != kind)) > 0.95


def walked_panel(rng, kept, persons=60, days=20):
    """Persons' answers and numbers, kept by so much from day to day (a share by person)."""
    x, y = rng.integers(0, 2, (persons, days)), rng.normal(size=(persons, days))
    for t in range(1, days):
        stay = rng.random(persons) < kept
        x[:, t] = np.where(stay, x[:, t - 1], 1 - x[:, t - 1])
        y[:, t] += (2 * kept - 1) * y[:, t - 1]
    return {"id": np.repeat(np.arange(persons), days), "day": np.tile(np.arange(days), persons)}, x, y


@pytest.mark.parametrize("numbers", [False, True])
def test_kinds_of_persons_who_differ_in_how_they_go_on_alone_are_classes(numbers):
    """Their means are the same: one kind repeats itself, the other alternates."""
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 2, 60)
    frame, x, y = walked_panel(rng, np.where(kind, 0.9, 0.35))
    frame |= {"y": y.ravel()} if numbers else {"says": np.array(["no", "yes"])[x].ravel()}
    found = lv.discover(frame, by="id", time="day", **QUICK)
    (one,) = found.hidden
    assert (str(found.verdict), one.chain.stays, one.kind, one.states) == ("found", True, "class", 2)
    states = found.posterior(frame).argmax(axis=1)[::20]
    assert max(np.mean(states == kind), np.mean(states != kind)) > 0.9


def test_changes_since_a_beginning_begin_nowhere():
    """Every sequence starts at exactly 0: a state that sits there alone would gain without end."""
    for seed in range(2):
        rng = np.random.default_rng([6, seed])
        x = np.zeros((60, 20))
        for t in range(1, 20):
            x[:, t] = 0.6 * x[:, t - 1] + rng.normal(size=60)
        frame = {"id": np.repeat(np.arange(60), 20), "day": np.tile(np.arange(20), 60), "change": x.ravel()}
        assert str(lv.discover(frame, by="id", time="day", **QUICK).verdict) == "nothing"


def test_a_state_behind_a_column_that_remembers_is_found_though_lags_and_a_trend_stand_in_for_it():
    """The rival explains y by x, a trend and y's own past, all of which stand for the state: a chain with these terms
    as well would have to pay for them (−8 nats in this sample), one on each column's last value need not."""
    rng = np.random.default_rng([7, 11])
    n = 600
    state, x = np.zeros(n, dtype=int), np.zeros(n)
    for t in range(1, n):
        state[t] = state[t - 1] if rng.random() < 0.97 else rng.integers(2)
    for t in range(1, n):
        x[t] = 0.5 * x[t - 1] + 1.5 * state[t] + rng.normal()
    frame = {"x": x, "y": rng.normal(1.5 * state)}
    found = lv.discover(frame, method="sequences", **QUICK)
    assert str(found.verdict) == "found"
    assert (found.hidden[0].chain.stays, found.hidden[0].states) == (False, 2)
    said = found.posterior(frame).argmax(axis=1)
    assert max(np.mean(said == state), np.mean(said != state)) > 0.85


def autoregressive(n, noise):
    x = np.zeros((n, 2))
    for t in range(2, n):
        x[t] = x[t - 1] @ [[0.4, 0.2], [-0.1, 0.3]] + x[t - 2] @ [[0.3, 0.0], [0.1, 0.2]] + noise[t]
    return {"x": x[:, 0], "y": x[:, 1]}


@pytest.mark.parametrize("what", ["trend", "season", "var", "t3", "bent"])
def test_nothing_hidden_is_nothing(what):
    rng = np.random.default_rng(3)
    n = 300
    time = np.arange(n)
    frame = {
        "trend": {"x": 0.02 * time + rng.normal(size=n)},
        "season": {"x": 2 * np.sin(2 * np.pi * time / 12) + rng.normal(size=n), "y": rng.normal(size=n)},
        "var": autoregressive(n, rng.normal(size=(n, 2))),
        "t3": {"x": rng.standard_t(3, n), "y": rng.standard_t(3, n)},
        "bent": {"x": (time / 80) ** 2 + rng.normal(size=n)},
    }[what]
    assert str(lv.discover(frame, method="sequences", **QUICK).verdict) == "nothing"


def test_a_panel_with_inputs_and_nothing_hidden_has_its_page(tmp_path):
    rng = np.random.default_rng(5)
    frame = panel_frame(np.zeros(12), rng.normal(size=(12, 15)), rng)
    found = lv.discover(frame, by="id", time="day", **QUICK)
    assert str(found.verdict) == "nothing"
    assert "never changes within a sequence: an input" in str(found)
    found.report(tmp_path / "page.html")
    found.save(tmp_path / "found.json")
    assert str(lv.load(tmp_path / "found.json")) == str(found)


def test_what_never_changes_and_what_tells_the_time_is_given():
    n = 60
    frame = {
        "id": np.repeat([1, 2, 3], 20),
        "wave": np.tile(np.arange(20), 3) * 0.5 + 3.1,
        "sex": np.repeat(["f", "m", "f"], 20),
        "weekday": np.array(["mo", "tu", "we", "th", "fr", "sa", "su"])[np.tile(np.arange(20), 3) % 7],
        "y": np.random.default_rng(0).normal(size=n),
    }
    panel = panel_of(lv.read_sequences(frame, by="id"))
    found = roles_of(panel, ())
    assert found.outcomes == ("y",)
    assert found.inputs == {"wave": Role.CLOCK, "sex": Role.FIXED, "weekday": Role.CALENDAR}
    trend = panel.with_values({"y": panel.values["wave"] + 0.01 * panel.values["y"]})
    assert "y" in roles_of(trend, ()).outcomes  # a trend with noise is no clock


def test_levels_are_a_random_intercept():
    """The likelihood is that of the whole normal vector of each person."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(12), 5)
    z = np.column_stack([np.ones(60), rng.normal(size=60)])
    y = z @ [1.0, 0.5] + rng.normal(size=12)[person] + rng.normal(size=60)
    y[7] = np.nan
    found = fit_levels("y", y, z, person)
    total = 0.0
    for i in range(12):
        here = (person == i) & ~np.isnan(y)
        r = y[here] - z[here] @ found.coefficients
        cover = found.spread**2 * (np.eye(here.sum()) + found.ratio)
        total += -0.5 * (r @ np.linalg.solve(cover, r) + np.linalg.slogdet(2 * np.pi * cover)[1])
    assert found.log_likelihood == pytest.approx(total, abs=1e-6)


def test_tests_left_out_and_time_that_ran_out_are_said():
    _, frame = speed_like(200)
    assert str(lv.discover(frame, method="sequences", evidence=False).verdict) == "not tested"
    assert str(lv.discover(frame, method="sequences", budget=1e-6).verdict) == "undecided"
