"""Hidden states behind numbers, counts and categories: enumeration, a slow twin, published figures, laws."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import leverrier as lv
from leverrier.data.sequences.panel import Panel, panel_of
from leverrier.errors import OptionError, TableError
from leverrier.learning.regimes.column_laws import emission_of
from leverrier.learning.regimes.regime_em import Designs, begun, climb
from leverrier.models.regimes.emission import Family
from leverrier.models.regimes.moves import Stay, even_moves, with_inputs, with_stays
from leverrier.models.regimes.regime_model import RegimeModel
from leverrier.models.regimes.terms import number_terms
from tests.naive.slow_regimes import baum_welch, enumerated

SPEED = Path(__file__).parents[2] / "shared/data/sequences/speed.csv"
needs_speed = pytest.mark.skipif(not SPEED.exists(), reason="shared data are not here")


def make_panel(n=60, persons=3, seed=0):
    rng = np.random.default_rng(seed)
    starts = np.linspace(0, n, persons + 1).astype(np.int64)
    state = (np.sin(np.arange(n) / 4) > 0).astype(int)
    values = {
        "x": rng.normal(2.0 * state, 1.0),
        "c": rng.poisson(1 + 4 * state).astype(float),
        "f": np.where(rng.random(n) < 0.2 + 0.6 * state, 1.0, 0.0) + (rng.random(n) < 0.2),
        "u": rng.normal(size=n),
    }
    values["x"][5] = values["f"][7] = values["c"][9] = np.nan
    return Panel(values, {"f": ("a", "b", "c")}, starts, np.arange(n, dtype=float))


def make_model(panel, laws, terms=(), states=2, seed=1, shared=False):
    rng = np.random.default_rng(seed)
    emissions = tuple(emission_of(panel, name, law, tuple(terms), (shared,) * len(terms)) for name, law in laws.items())
    model = RegimeModel((), emissions, even_moves(states, 0.8))
    weights = rng.dirichlet(np.ones(states), panel.n_slices)
    return begun(model, Designs(panel), weights)


ALL = {"x": Family.STUDENT, "c": Family.NEGATIVE_BINOMIAL, "f": Family.CATEGORY}


@pytest.mark.parametrize("turned", [False, True])
def test_likelihood_and_posterior_are_those_of_all_paths(turned):
    panel = make_panel(18, 3)
    model = make_model(panel, ALL, number_terms(panel, "u"))
    if turned:
        moves = with_inputs(model.moves, number_terms(panel, "u"))
        model = replace(model, moves=replace(moves, slopes=moves.slopes + 0.7))
    walk, logs = model.moves.walk(panel), model.logs(panel)
    value, shares = 0.0, []
    for low, high in zip(panel.starts[:-1], panel.starts[1:], strict=True):
        tables = [walk.transitions[walk.which[t]] for t in range(low + 1, high)]
        one, share = enumerated(walk.initial, tables, logs[low:high])
        value += one
        shares.append(share)
    assert model.log_likelihood(panel) == pytest.approx(value, abs=1e-10)
    np.testing.assert_allclose(model.posterior(panel), np.concatenate(shares), atol=1e-10)
    if turned:  # the inputs of the slice before
        at = number_terms(panel, "u")[0].column(panel)[3]
        odds = np.exp(model.moves.slopes[0, 0, 0] + model.moves.slopes[0, 1, 0] * at)
        assert walk.transitions[walk.which[4]][0, 0] == pytest.approx(odds / (1 + odds))


@pytest.mark.parametrize(
    "laws",
    [
        {"x": Family.NORMAL},
        {"x": Family.STUDENT},
        {"c": Family.POISSON},
        {"c": Family.NEGATIVE_BINOMIAL},
        {"c": Family.ZERO_INFLATED},
        {"f": Family.CATEGORY},
    ],
    ids=lambda laws: next(iter(laws.values())).value,
)
@pytest.mark.parametrize("shared", [False, True])
def test_em_never_falls(laws, shared):
    panel = make_panel(150, 3)
    model = make_model(panel, laws, number_terms(panel, "u"), shared=shared)
    model = replace(model, moves=with_inputs(model.moves, number_terms(panel, "u")))
    trace = climb(model, Designs(panel), max_iterations=40, tolerance=0.0).trace
    assert len(trace) > 5
    assert min(np.diff(trace)) > -1e-6


def normal_law(y, at):
    return -0.5 * ((y - at[0]) / at[1]) ** 2 - math.log(at[1]) - 0.5 * math.log(2 * math.pi)


def normal_step(ys, w):
    mean = sum(a * b for a, b in zip(ys, w, strict=True)) / sum(w)
    return mean, math.sqrt(sum(b * (a - mean) ** 2 for a, b in zip(ys, w, strict=True)) / sum(w))


def poisson_law(y, at):
    return y * math.log(at) - at - math.lgamma(y + 1)


def poisson_step(ys, w):
    return sum(a * b for a, b in zip(ys, w, strict=True)) / sum(w)


def table_law(y, at):
    return math.log(at[int(y)])


def table_step(ys, w):
    return [sum(b for a, b in zip(ys, w, strict=True) if a == c) / sum(w) for c in range(3)]


@pytest.mark.parametrize(
    ("name", "law", "begin", "log_law", "m_step"),
    [
        ("x", Family.NORMAL, [(0.0, 1.0), (1.5, 1.2)], normal_law, normal_step),
        ("c", Family.POISSON, [1.0, 4.0], poisson_law, poisson_step),
        ("f", Family.CATEGORY, [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]], table_law, table_step),
    ],
)
def test_em_is_baum_welch(name, law, begin, log_law, m_step):
    panel = make_panel(90, 2)
    filled = {key: np.where(np.isnan(each), 1.0, each) for key, each in panel.values.items()}
    panel = panel.with_values(filled)
    base = emission_of(panel, name, law).spread_over(2)
    if law is Family.NORMAL:
        base = replace(base, coefficients=np.array([[b[0]] for b in begin]), spread=np.array([b[1] for b in begin]))
    elif law is Family.POISSON:
        base = replace(base, coefficients=np.log(np.array(begin))[:, None])
    else:
        logs = np.log(np.array(begin))
        base = replace(base, coefficients=(logs[:, :-1] - logs[:, -1:])[:, None, :])
    model = RegimeModel((), (base,), even_moves(2, 0.8))
    own = climb(model, Designs(panel), max_iterations=12, tolerance=0.0)
    ys = [panel.values[name][a:b].tolist() for a, b in zip(panel.starts[:-1], panel.starts[1:], strict=True)]
    slow = baum_welch(ys, [0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]], begin, log_law, m_step, 12)
    assert own.trace[12] == pytest.approx(slow, abs=1e-6)


@needs_speed
def test_published_fits_of_speed():
    """depmixS4: -296.115107102 at its parameters, -248.972219 with Pacc on the moves; rt alone -88.73, BIC 220.05."""
    data = lv.read_sequences(SPEED, by="sequence", time="time", ignore="prev")
    plain = lv.hidden_markov(data.drop("Pacc"), states=2, durations="geometric", tolerance=1e-8)
    panel = plain.panel
    right = plain.panel.labels["corr"].index("cor")
    shares = np.array([[0.098, 0.902], [0.472, 0.528]]) if right else np.array([[0.902, 0.098], [0.528, 0.472]])
    x, f = plain.network.emissions
    at = RegimeModel(
        data.table.columns,
        (
            replace(x, coefficients=np.array([[6.39], [5.52]]), spread=np.array([0.24, 0.202])),
            replace(f, coefficients=np.log(shares[:, :1] / shares[:, 1:])[:, None]),
        ),
        replace(even_moves(2), initial=np.array([1.0, 0.0]), matrix=np.array([[0.916, 0.084], [0.101, 0.899]])),
    )
    assert at.log_likelihood(panel) == pytest.approx(-296.115107102, abs=1e-8)
    assert plain.log_likelihood == pytest.approx(-296.1078, abs=1e-3)
    turned = lv.hidden_markov(data, states=2, inputs=["Pacc"], tolerance=1e-8)
    assert turned.log_likelihood == pytest.approx(-248.972219, abs=1e-4)
    one = replace(data.select(["rt"]), starts=np.array([0, 439]), names=("all",))
    alone = lv.hidden_markov(one, states=2, lags=0, emissions="normal", tolerance=1e-8)
    assert alone.log_likelihood == pytest.approx(-88.73, abs=5e-3)
    assert alone.bic == pytest.approx(220.05, abs=6e-3)


def test_lengths_of_stay_have_their_law():
    moves = with_stays(even_moves(2, 0.7), Stay.NEGATIVE_BINOMIAL, 3)
    panel = make_panel(40, 1)
    walk = moves.walk(panel)
    inside = walk.transitions[0][:3, :3]
    here, ended = np.array([1.0, 0, 0]), []
    for _ in range(30):
        after = here @ inside
        ended.append(here.sum() - after.sum())
        here = after
    p = moves.laws[0, 1]
    law = [math.comb(t - 1, 2) * p**3 * (1 - p) ** (t - 3) if t >= 3 else 0.0 for t in range(1, 31)]
    np.testing.assert_allclose(ended, law, atol=1e-12)
    moves = with_stays(even_moves(2, 0.7), Stay.WEIBULL, longest=25)
    moves = replace(moves, laws=np.array([[6.0, 1.7], [3.0, 0.8]]))
    walk = moves.walk(panel)
    here, ended = np.eye(25)[0], []
    inside = walk.transitions[0][:25, :25]
    for _ in range(20):
        after = here @ inside
        ended.append(here.sum() - after.sum())
        here = after
    left = np.exp(-((np.arange(21) / 6.0) ** 1.7))
    np.testing.assert_allclose(ended, left[:-1] - left[1:], atol=1e-9)


def regime(n=900, seed=0, low=8, high=16):
    """Stays between low and high slices: far from geometric."""
    rng = np.random.default_rng(seed)
    state = np.concatenate([np.full(rng.integers(low, high), i % 2) for i in range(n)])[:n]
    return state, {"x": rng.normal(2.2 * state, 1.0), "c": rng.poisson(1 + 3 * state)}


def test_laws_are_chosen_and_stays_recovered():
    state, frame = regime()
    rng = np.random.default_rng(1)
    frame["t"] = 3.0 * state + rng.standard_t(2.5, len(state))
    found = lv.hidden_markov(lv.read_sequences(frame), states=2, emissions="auto", durations="weibull")
    assert found.families == {"x": "normal", "c": "poisson", "t": "student"}
    assert np.mean(found.path == state) > 0.97 or np.mean(found.path != state) > 0.97
    assert found.network.moves.laws[:, 1].min() > 2  # a hazard that grows with age
    np.testing.assert_allclose(found.dwell, 11.5, atol=2.0)
    plain = lv.hidden_markov(lv.read_sequences(frame), states=2, emissions="auto")
    assert found.bic < plain.bic
    assert found.filtered.shape == found.posterior.shape == (900, 2)
    assert found.time_spent.sum() == pytest.approx(900)
    ahead = found.network.forecast(found.panel, 4)
    assert ahead.states.shape == (1, 4, 2)
    assert np.all(ahead.numbers["x"].low < ahead.numbers["x"].high)
    drawn = found.network.sample(2, 200, seed=3)
    assert found.network.log_likelihood(drawn) < 0
    assert not np.isnan(drawn.values["x"]).any()


def test_standard_errors_are_those_of_a_mean_and_a_share():
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.normal(0, 1, 400), rng.normal(50, 2, 400)])
    found = lv.hidden_markov(lv.read_sequences({"y": y}), states=2, emissions="normal", tolerance=1e-9)
    error = found.standard_errors.coefficients["y"][:, 0]
    np.testing.assert_allclose(error, found.network.emissions[0].spread / 20, rtol=1e-3)


def test_what_cannot_be_done_is_one_line():
    data = lv.read_sequences(regime(60)[1])
    with pytest.raises(OptionError, match="expected one of"):
        lv.hidden_markov(data, states=2, durations="forever")
    with pytest.raises(TableError, match="is no column"):
        lv.hidden_markov(data, states=2, inputs=["pay"])
    with pytest.raises(OptionError, match="emissions="):
        lv.hidden_markov(data, states=2, emissions="cauchy")
    with pytest.raises(TableError, match="no counts"):
        lv.hidden_markov(data, states=2, emissions={"x": "poisson"})


def test_new_sequences_are_read_as_the_old_ones():
    state, frame = regime(300)
    frame["f"] = np.where(state, "hot", "cold")
    found = lv.hidden_markov(lv.read_sequences(frame), states=2, emissions="auto")
    new = {"f": ["hot", "hot", "cold"], "x": [2.0, None, 0.1], "c": [4, 3, 0]}
    assert np.isfinite(found.network.log_likelihood(new))
    assert found.network.log_likelihood(frame) == pytest.approx(found.log_likelihood, abs=0.02)
    assert panel_of(lv.read_sequences(frame)).labels["f"] == ("cold", "hot")
