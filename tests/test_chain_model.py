"""Hidden chains: against enumeration, against the same model as a dynamic network, and what EM makes of a start."""

import numpy as np
import pytest

from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Lag, lag_features
from leverrier.data.table import Table
from leverrier.learning.chains.chain_em import ChainSettings, fit_chains
from leverrier.learning.chains.chain_starts import averaged, chain_start, residuals
from leverrier.learning.slices.column_fit import Smoothing
from leverrier.learning.slices.slice_design import make_design
from leverrier.learning.slices.tree_growing import Splits, grow_tree
from leverrier.models.dynamic.dynamic_network import DynamicNetwork
from leverrier.models.slices.chain_model import Chain, ChainModel
from leverrier.models.slices.chain_passes import marginal, smoothed
from leverrier.models.slices.tree_cpd import TreeCPD
from tests.naive.chains import enumerate_paths

LABELS = ("a", "b", "c")


def emission(rng, states, parent="H1"):
    """A tree with one leaf for each state of a chain."""
    codes = np.repeat(np.arange(states), 40)
    child = np.concatenate([rng.choice(3, 40, p=rng.dirichlet(np.ones(3) * 0.3)) for _ in range(states)])
    splits = Splits(codes[None].astype(np.uint8), np.array([states + 1]), np.array([False]))
    tree = grow_tree(splits, child, 3, np.ones(len(codes)))
    return TreeCPD((Lag(parent, 0),), (states + 1,), tree, tree.distributions(1.0, 0.1))


def small_model(seed):
    rng = np.random.default_rng(seed)
    chains = tuple(
        Chain(name, rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), size=k)) for name, k in (("H1", 2), ("H2", 2))
    )
    table = Table.from_codes({"x": LABELS, "y": LABELS}, rng.integers(-1, 3, (2, 9)))
    cpds = {"x": emission(rng, 2, "H1"), "y": emission(rng, 2, "H2")}
    return ChainModel(table.columns, cpds, chains), Sequences.from_table(table, [0, 5, 9])


@pytest.mark.parametrize("seed", range(10))
def test_two_chains_with_holes_equal_the_sum_over_all_paths(seed):
    model, sequences = small_model(seed)
    emissions = model.emissions(sequences)
    joint, moves, first, logs = smoothed(model, emissions, sequences.starts)
    for begin, end in ((0, 5), (5, 9)):
        total, posterior = enumerate_paths(np.exp(emissions[begin:end]), model.initial, model.transition)
        assert logs[begin:end].sum() == pytest.approx(np.log(total), abs=1e-10)
        assert np.allclose(joint[begin:end], posterior, atol=1e-10)
    assert moves.sum() == pytest.approx(7.0)  # one for each pair of neighbours
    assert first.sum() == pytest.approx(2.0)
    assert np.allclose(model.posterior(sequences)["H2"], marginal(joint, (2, 2), 1))


def test_a_chain_model_is_the_dynamic_network_it_stands_for():
    rng = np.random.default_rng(3)
    transition, initial = rng.dirichlet(np.ones(2), size=2), rng.dirichlet(np.ones(2))
    cpds = {name: emission(rng, 2) for name in ("x", "y")}
    table = Table.from_codes({"x": LABELS, "y": LABELS}, rng.integers(0, 3, (2, 60)))
    model = ChainModel(table.columns, cpds, (Chain("H1", initial, transition),))
    tables = {name: cpd.table()[:2] for name, cpd in cpds.items()}
    network = DynamicNetwork.from_tables(
        {"H1": ("0", "1"), "x": LABELS, "y": LABELS},
        {"H1": ((), initial), **{name: (("H1",), t) for name, t in tables.items()}},
        {"H1": ((("H1", 1),), transition), **{name: (("H1",), t) for name, t in tables.items()}},
        hidden=("H1",),
    )
    sequences = Sequences.from_table(table, [0, 25, 60])
    assert model.log_likelihood(sequences) == pytest.approx(network.log_likelihood(sequences), abs=1e-8)


def regime(seed=0, n=600):
    rng = np.random.default_rng(seed)
    state = (np.cumsum(rng.random(n) < 0.02) % 2).astype(int)
    own = np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]])
    codes = np.array([[rng.choice(3, p=own[s]) for s in state] for _ in range(3)])
    noise = rng.integers(0, 3, (2, n))
    names = ("x0", "x1", "x2", "z0", "z1")
    return Sequences.from_table(Table.from_codes(dict.fromkeys(names, LABELS), np.concatenate([codes, noise]))), state


def test_em_from_clustered_residuals_finds_the_regime_and_what_it_drives():
    sequences, state = regime()
    design = make_design(sequences, lag_features(sequences.variables, 1), sequences.variables)
    live = np.ones(sequences.n_slices)
    start = chain_start(sequences, None, 9, 2, live, 0)
    settings = ChainSettings(dict.fromkeys(sequences.variables, "tree"), Smoothing(8.0, 0.3), 0.2)
    fit = fit_chains(design, {"H1": 2}, start, settings)
    agree = np.mean(fit.posterior.argmax(axis=1) == state)
    assert max(agree, 1 - agree) > 0.97
    assert set(fit.model.driven("H1")) == {"x0", "x1", "x2"}
    assert fit.log_likelihood == pytest.approx(fit.model.log_likelihood(sequences), rel=1e-6)
    assert np.all(fit.model.chains[0].persistence > 0.95)


def test_slices_left_out_do_not_touch_what_is_learnt():
    sequences, _ = regime(1)
    live = np.ones(sequences.n_slices)
    live[200:300] = 0.0
    codes = sequences.table.codes.copy()
    codes[:, 200:300] = np.random.default_rng(5).integers(0, 3, codes[:, 200:300].shape)
    other = sequences.with_table(Table(sequences.table.columns, codes))
    settings = ChainSettings(dict.fromkeys(sequences.variables, "tree"), Smoothing(8.0, 0.3), 0.2)
    fits = []
    for data in (sequences, other):
        start = chain_start(data, None, 9, 2, live, 0)
        design = make_design(data, (), data.variables)
        fits.append(fit_chains(design, {"H1": 2}, start, settings, live))
    assert fits[0].log_likelihood == pytest.approx(fits[1].log_likelihood, abs=1e-9)
    assert np.allclose(fits[0].model.transition, fits[1].model.transition, atol=1e-12)


def test_windows_average_within_their_sequence():
    sequences = Sequences.from_table(regime(2, 60)[0].table, [0, 20, 60])
    live = np.ones(60)
    live[10] = 0.0
    values = residuals(sequences, None, live)
    means = averaged(values, sequences, 9, live)
    for t in (0, 5, 12, 19, 20, 33, 59):
        low, high = (0, 20) if t < 20 else (20, 60)
        near = [i for i in range(max(low, t - 4), min(high, t + 5)) if live[i]]
        assert np.allclose(means[:, t], values[:, near].mean(axis=1))
