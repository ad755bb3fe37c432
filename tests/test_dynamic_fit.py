"""EM through time, hidden Markov models, factorial ones."""

import numpy as np
import pytest

from leverrier.data.sequences.read_sequences import Sequences, read_sequences
from leverrier.data.table import Table
from leverrier.errors import OptionError, TableError
from leverrier.formats.dynamic_files import read_dynamic
from leverrier.learning.chains.drawn_starts import drawn_start, drawn_starts
from leverrier.learning.chains.factorial import factorial_hmm
from leverrier.learning.chains.fit_dynamic import fit_dynamic
from leverrier.learning.chains.hidden_markov import hidden_markov
from leverrier.models.dynamic.cpd import TableCPD
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from tests.naive import dynamic as naive
from tests.naive.dynamic_models import random_network, random_sequences


def markov(rng, states, symbols):
    first, move = rng.dirichlet(np.ones(states)), rng.dirichlet(np.ones(states), states)
    shown = rng.dirichlet(np.ones(symbols), states)
    return DynamicNetwork.from_tables(
        {"H": range(states), "x": range(symbols)},
        {"H": ((), first), "x": (("H",), shown)},
        {"H": ((("H", 1),), move), "x": (("H",), shown)},
        hidden=["H"],
    )


def test_one_step_of_em_is_the_expected_counts():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        network = random_network(rng)
        if network.numbers:
            continue
        data = random_sequences(rng, network, most_open=0)
        fitted = fit_dynamic(network, data, max_iterations=1, tolerance=0).network
        for stage in range(len(network.stages) + 1):
            for name, cpd in network.slice(stage).items():
                counts = naive.counts(network, data, stage, name)
                total = counts.sum(axis=-1, keepdims=True)
                step = np.divide(counts, total, out=np.array(cpd.table()), where=total > 1e-12)
                np.testing.assert_allclose(fitted.slice(stage)[name].table(), step, atol=1e-9, err_msg=f"{seed} {name}")


def test_em_never_falls_whatever_is_hidden():
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        network = random_network(rng, 4)
        data = network.sample(60, seed=seed, sequences=2)
        codes = data.table.codes.astype(int)
        codes[rng.random(codes.shape) < 0.1] = -1
        from dataclasses import replace

        data = replace(data, table=Table.from_codes(network.states, codes))
        for prior in (None, 0.5):
            found = fit_dynamic(network, data, initial="random", seed=seed, prior=prior, max_iterations=40, tolerance=0)
            assert np.all(np.diff(found.trace) >= -1e-8 * abs(found.trace[0]))
            assert abs(found.network.log_likelihood(data) - found.log_likelihood) < 1e-6


def test_log_likelihood_and_one_iteration_equal_hmmlearn():
    hmmlearn = pytest.importorskip("hmmlearn.hmm", reason="hmmlearn is not installed: nothing to compare with")
    for states in (2, 5, 9):
        network = markov(np.random.default_rng(states), states, 4)
        data = network.sample(400, seed=0, sequences=3)
        peer = hmmlearn.CategoricalHMM(states, n_features=4, init_params="", n_iter=1, tol=0)
        peer.startprob_ = network.stages[0]["H"].table()
        peer.transmat_ = network.transition["H"].table()
        peer.emissionprob_ = network.transition["x"].table()
        symbols = data.table.column("x").astype(int)[:, None]
        assert abs(network.log_likelihood(data) - peer.score(symbols, [400] * 3)) < 1e-8
        np.testing.assert_allclose(network.posterior(data), peer.predict_proba(symbols, [400] * 3), atol=1e-10)
        peer.fit(symbols, [400] * 3)
        ours = fit_dynamic(network, data, max_iterations=1, tolerance=0).network
        np.testing.assert_allclose(ours.transition["H"].table(), peer.transmat_, atol=1e-10)
        np.testing.assert_allclose(ours.transition["x"].table(), peer.emissionprob_, atol=1e-10)
        np.testing.assert_allclose(ours.stages[0]["H"].table(), peer.startprob_, atol=1e-10)


def test_a_table_that_serves_two_stages_stays_one():
    network = markov(np.random.default_rng(0), 3, 4)
    found = fit_dynamic(network, network.sample(200, seed=0), initial="random").network
    assert found.stages[0]["x"] == found.transition["x"]
    assert found.dimension == network.dimension == 2 + 6 + 9


def test_an_impossible_start_is_said():
    network = DynamicNetwork.from_tables(
        {"H": (0, 1), "x": (0, 1)},
        {"H": ((), [1.0, 0.0]), "x": (("H",), np.eye(2))},
        {"H": ((("H", 1),), np.eye(2)), "x": (("H",), np.eye(2))},
        ["H"],
    )
    with pytest.raises(OptionError, match="never leaves a zero"):
        fit_dynamic(network, {"x": [0, 1, 0]})


def test_options_are_checked():
    network = markov(np.random.default_rng(0), 2, 2)
    data = network.sample(10, seed=0)
    for options, said in (
        ({"starts": 0}, "starts=0"),
        ({"initial": "mine"}, "initial="),
        ({"counts": "some"}, "counts="),
        ({"prior": -1}, "at least 0"),
        ({"clusters": [["H"]]}, "boyen-koller"),
        ({"inference": "boyen-koller", "clusters": [["Z"]]}, "'Z'"),
        ({"inference": "boyen-koller", "clusters": [["H"], ["H"]]}, "twice"),
    ):
        with pytest.raises(OptionError, match=said):
            fit_dynamic(network, data, **options)


def regimes(seed, n=1500, holes=0.0):
    rng = np.random.default_rng(seed)
    state = np.zeros(n, dtype=int)
    for t in range(1, n):
        state[t] = state[t - 1] if rng.random() < 0.95 else rng.integers(3)
    frame = {
        "x": rng.normal(2.5 * state, 1.0),
        "c": np.array(list("abcd"))[np.minimum(3, state + (rng.random(n) < 0.2))].astype(object),
        "noise": rng.integers(0, 3, n),
    }
    lost = rng.random(n) < holes
    frame["x"][lost] = np.nan
    frame["c"][rng.random(n) < holes] = None
    return frame, state


@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_hidden_regimes_behind_mixed_columns_are_found(holes):
    frame, truth = regimes(0, holes=holes)
    found = hidden_markov(read_sequences(frame), states="auto", seed=0)
    assert found.states == 3
    assert [row.states for row in found.table] == [1, 2, 3, 4, 5]
    assert found.criterion == "bic"
    assert min(found.table, key=lambda row: row.bic).states == 3
    for row in found.table:
        assert row.bic == pytest.approx(-2 * row.log_likelihood + np.log(found.n_slices) * row.parameters)
    path = found.network.most_probable_path(found.sequences).table.column("state")
    agreement = sum(max(np.sum((path == k) & (truth == j)) for j in range(3)) for k in range(3)) / len(truth)
    assert agreement > 0.95
    assert np.all(np.abs(found.dwell - 30) < 15)
    shares = found.posterior.mean(axis=0)
    assert np.all(np.diff(shares) <= 1e-9), "states are in order of falling frequency"


def test_held_out_likelihood_also_chooses():
    frame, _ = regimes(1, n=800)
    found = hidden_markov(read_sequences(frame), states=range(2, 5), criterion="held-out")
    assert found.states == 3
    assert all(row.held_out is not None for row in found.table)


def test_the_same_seed_gives_the_same_answer():
    frame, _ = regimes(2, n=400)
    data = read_sequences(frame)
    one, other = (hidden_markov(data, states=3, starts=2, seed=5) for _ in range(2))
    assert one.network == other.network
    assert one.trace == other.trace


def test_ragged_short_and_empty_sequences():
    rng = np.random.default_rng(0)
    frame = {"s": [0] + [1] * 30 + [2] * 2, "x": rng.choice(list("ab"), 33), "y": rng.choice(list("uvw"), 33)}
    data = read_sequences(frame, by="s")
    found = hidden_markov(data, states=2)
    assert found.network.posterior(data).shape == (33, 2)
    codes = np.full((1, 6), -1)
    codes[0, :3] = [0, 1, 0]
    half = Sequences.from_table(Table.from_codes({"x": "ab"}, codes), [0, 3, 6])
    assert np.isfinite(hidden_markov(half, states=2).log_likelihood)
    single = Sequences.from_table(Table.from_codes({"x": "ab"}, np.array([[1]])))
    assert abs(hidden_markov(single, states=1).log_likelihood) < 1e-9


def test_a_state_never_seen_in_training():
    """With a prior it is improbable; without one it is impossible; a label of no state is one clear line."""
    data = Sequences.from_table(Table.from_codes({"x": "abc"}, np.array([[0, 1, 0, 0, 1, 1, 0]])))
    later = Sequences.from_table(Table.from_codes({"x": "abc"}, np.array([[0, 2]])))
    assert hidden_markov(data, states=2).network.bits_per_slice(later) == np.inf
    assert np.isfinite(hidden_markov(data, states=2, prior=0.1).network.bits_per_slice(later))
    with pytest.raises(TableError, match="holds 'z' in row 1"):
        hidden_markov(data, states=2).network.bits_per_slice({"x": ["z"]})


def test_hidden_markov_options():
    data = read_sequences({"x": list("abab")})
    for options, said in (
        ({"states": 0}, "from 1 to 255"),
        ({"states": "many"}, "expected a number"),
        ({"starts": 0}, "starts=0"),
        ({"criterion": "aic"}, "criterion="),
        ({"states": 2, "name": "x"}, "named 'x' already"),
    ):
        with pytest.raises(OptionError, match=said):
            hidden_markov(data, **options)
    with pytest.raises(TableError, match="no column of numbers"):
        hidden_markov(data, 2, numbers=["x"])


def test_factorial_hmm_is_the_hmm_of_its_joint_state():
    rng = np.random.default_rng(3)
    data = read_sequences({"x": rng.choice(list("abc"), 300), "y": rng.choice(list("uv"), 300)})
    found = factorial_hmm(data, chains=2, states=2, seed=1, max_iterations=30)
    chains = found.network
    assert chains.hidden == ("chain1", "chain2")
    one, two = (chains.transition[name].table() for name in chains.hidden)
    joint = DynamicNetwork(
        {"H": tuple(range(4)), "x": chains.states["x"], "y": chains.states["y"]},
        (
            {
                "H": TableCPD(
                    (), np.outer(chains.stages[0]["chain1"].table(), chains.stages[0]["chain2"].table()).ravel()
                ),
                **{n: TableCPD((("H", 0),), chains.transition[n].table().reshape(4, -1)) for n in "xy"},
            },
        ),
        {
            "H": TableCPD((("H", 1),), np.kron(one, two)),
            **{n: TableCPD((("H", 0),), chains.transition[n].table().reshape(4, -1)) for n in "xy"},
        },
        ("H",),
    )
    assert abs(joint.log_likelihood(data) - found.log_likelihood) < 1e-8
    by_clusters = factorial_hmm(data, chains=2, states=2, seed=1, inference="boyen-koller", max_iterations=30)
    assert abs(by_clusters.log_likelihood - found.log_likelihood) < 0.05 * abs(found.log_likelihood)
    with pytest.raises(OptionError, match="joint states are too many"):
        factorial_hmm(data, chains=30)


@pytest.fixture(scope="module")
def bat(shared_data):
    network = read_dynamic(shared_data / "bat_dbn" / "bat_2tbn.bif")
    sensors = [name for name in network.variables if name.endswith("Sens")]
    states = {name: [int(label[1:]) for label in network.states[name]] for name in sensors}
    data = read_sequences(
        shared_data / "bat_dbn" / "bat_trajectory_20000.csv.gz", by="sequence", time="time", states=states
    )
    labels = {name: network.states[name] for name in sensors}
    table = Table.from_codes(labels, np.where(data.table.codes == data.table.missing, -1, data.table.codes.astype(int)))
    hidden = [name for name in network.variables if name not in sensors]
    return network.hiding(*hidden), data.with_table(table)


def test_the_bat_networks_gold_standard_by_boyen_koller(bat):
    """20,000 slices cost 22.20 bits each (exactly 22.2024); the source's own sample 22.147."""
    network, data = bat
    bits = network.bits_per_slice(data, "boyen-koller")
    assert abs(bits - 22.2024) < 0.002
    assert abs(network.bits_per_slice(data, "boyen-koller", []) - 22.2024) < 0.002


def test_boyen_koller_is_near_exact_on_bat(bat):
    network, data = bat
    some = data.split(slices=60)[0]
    exact, near = network.surprise(some), network.surprise(some, "boyen-koller", [])
    assert abs(near.sum() / exact.sum() - 1) < 0.01
    assert np.max(np.abs(near - exact)) > 1e-6, "several clusters are not exact"


def test_factored_counts_begin_at_random_and_not_from_groups_of_slices(bat):
    """Groups that all look at the same slices leave hidden variables alike: one by one they do not come apart."""
    network, data = bat
    data = network.read(data.stretches([(0, 200)]))
    grouped, drawn = (drawn_starts(network, data, 1, "random", 3, groups=groups)[0] for groups in (True, False))
    at_random = drawn_start(network, data, {}, np.random.default_rng(np.random.SeedSequence(3).spawn(1)[0]))
    assert drawn == at_random
    assert grouped != at_random
    one = fit_dynamic(network, data, "boyen-koller", [], initial="random", seed=3, counts="factored", max_iterations=1)
    same = fit_dynamic(drawn, data, "boyen-koller", [], counts="factored", max_iterations=1)
    assert one.trace[0] == same.trace[0]
