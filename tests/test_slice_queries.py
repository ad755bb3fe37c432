"""What people ask of trees over the past, with hidden chains on top or without: now, ahead, anew, and unlike."""

import itertools

import numpy as np
import pytest

import leverrier as lv
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Lag, Memory, MemoryKind
from leverrier.data.table import Table
from leverrier.errors import OptionError, TableError
from leverrier.learning.slices.learn_dynamic import as_dynamic
from leverrier.learning.slices.tree_growing import Splits, grow_tree
from leverrier.models.slices.chain_model import Chain, ChainModel
from leverrier.models.slices.slice_forecast import column_order
from leverrier.models.slices.slice_model import SliceModel
from leverrier.models.slices.tree_cpd import TreeCPD

LABELS = ("a", "b", "c")
STATES = {"x": LABELS, "y": LABELS}


def column(rng, parents, sizes):
    """A tree that asks all of its parents, each with one code more for what is not known."""
    codes = np.array([each.ravel() for each in np.indices([k + 1 for k in sizes])]).repeat(12, axis=1)
    own = rng.dirichlet(np.full(3, 0.4), size=codes.shape[1] // 12).repeat(12, axis=0)
    child = (rng.random(len(own))[:, None] > own.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    splits = Splits(codes.astype(np.uint8), np.array(sizes) + 1, np.zeros(len(sizes), dtype=bool))
    tree = grow_tree(splits, child, 3, np.ones(len(child)))
    return TreeCPD(tuple(parents), tuple(k + 1 for k in sizes), tree, tree.distributions(1.0, 0.1))


def two_chains(seed, lags=True, memory=False):
    """y asks x of the same slice, though it is named first; both ask their past."""
    rng = np.random.default_rng(seed)
    h1, h2 = (Chain(name, rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k), size=k)) for name, k in CHAINS)
    before = [Lag("x", 1)] if lags else []
    past = [Memory("x", MemoryKind.BEFORE)] if memory else before
    cpds = {
        "y": column(rng, [Lag("H2", 0), Lag("x", 0)], [2, 3]),
        "x": column(rng, [Lag("H1", 0), *past], [3, *(3 for _ in past)]),
    }
    variables = Table.from_codes(STATES, np.zeros((2, 1), dtype=int)).columns
    return ChainModel(variables, cpds, (h1, h2))


CHAINS = (("H1", 3), ("H2", 2))


def seen(seed, n=30, holes=0.15):
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random((2, n)) < holes, -1, rng.integers(0, 3, (2, n)))
    return Sequences.from_table(Table.from_codes(STATES, codes), [0, n // 2, n])


def rows_of(sequences):
    table = sequences.table
    return [
        {name: LABELS[code] for name, code in zip(table.variables, column, strict=True) if code != table.missing}
        for column in table.codes.T
    ]


def test_columns_come_after_what_they_ask_in_their_slice():
    assert column_order(two_chains(0)).index("x") < column_order(two_chains(0)).index("y")


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_row_by_row_is_what_all_rows_at_once_say(seed, memory):
    model, sequences = two_chains(seed, memory=memory), seen(seed)
    known = model.posterior(sequences, filtered=True)
    logs = model.slice_log_likelihood(sequences)
    for low, high in itertools.pairwise(sequences.starts.tolist()):
        following = model.filter()
        for t, row in enumerate(rows_of(sequences)[low:high], low):
            now = following.step(row)
            assert now.log_likelihood == pytest.approx(logs[t], abs=1e-12)
            for name, _ in CHAINS:
                np.testing.assert_allclose(now[name], known[name][t], atol=1e-12)


def test_filtered_at_the_end_is_smoothed_and_time_spent_is_all_the_time():
    model, sequences = two_chains(1), seen(1)
    ends = sequences.starts[1:] - 1
    for name, k in CHAINS:
        both = model.posterior(sequences), model.posterior(sequences, filtered=True)
        np.testing.assert_allclose(both[0][name][ends], both[1][name][ends], atol=1e-12)
        assert model.time_spent(sequences)[name].shape == (2, k)
        np.testing.assert_allclose(model.time_spent(sequences)[name].sum(axis=1), sequences.lengths)
        stay = np.diag(model.chains[[n for n, _ in CHAINS].index(name)].transition)
        np.testing.assert_allclose(model.dwell[name], 1 / (1 - stay))


@pytest.mark.parametrize("seed", range(5))
def test_no_path_is_more_probable_than_the_best(seed):
    model = two_chains(seed)
    sequences = seen(seed, n=8).take([0])
    shown = model.emissions(sequences)
    logs = {}
    for path in itertools.product(range(6), repeat=4):
        moves = sum(np.log(model.transition[i, j]) for i, j in itertools.pairwise(path))
        logs[path] = np.log(model.initial[path[0]]) + moves + sum(shown[t, s] for t, s in enumerate(path))
    best = np.array(np.unravel_index(max(logs, key=logs.__getitem__), (3, 2)))
    found = model.most_probable_path(sequences)
    np.testing.assert_array_equal(np.array([found["H1"], found["H2"]]), best)


@pytest.mark.parametrize("hidden", [True, False])
def test_what_is_simulated_ahead_is_what_the_same_network_computes(hidden):
    model, sequences = two_chains(2), seen(2, holes=0.0)  # (a hole is "not known" to a tree, a network sums it out)
    if not hidden:
        rng = np.random.default_rng(9)
        cpds = {"x": column(rng, [Lag("x", 1), Lag("y", 1)], [3, 3]), "y": column(rng, [Lag("x", 0)], [3])}
        model = SliceModel(model.variables, cpds)
    exact = as_dynamic(model, STATES).forecast(sequences, steps=4).probabilities
    drawn = model.forecast(sequences, steps=4, draws=6000, seed=3)
    assert set(drawn.probabilities) == set(drawn.states) == {*STATES, *(name for name, _ in CHAINS if hidden)}
    for name, shares in drawn.probabilities.items():
        np.testing.assert_allclose(shares, exact[name], atol=1e-12 if name in dict(CHAINS) else 0.03)
    assert drawn.cells["x"].shape == (2, 6000, 4)
    counted = np.stack([(drawn.cells["x"] == k).mean(axis=1) for k in range(3)], axis=2)
    np.testing.assert_allclose(counted, exact["x"], atol=0.035)  # (five standard errors)
    assert drawn.likely("x").any(axis=-1).all()


def test_what_is_drawn_anew_has_the_models_own_chances():
    model = two_chains(4)
    drawn = model.sample(6000, 3, seed=0)
    assert drawn.table.n_missing == 0
    network = as_dynamic(model, STATES)
    begun = Sequences.from_table(Table.from_codes(STATES, np.full((2, 3), -1)))
    exact = network.posterior(begun, "x")
    codes = drawn.table.column("x").reshape(6000, 3)
    for t in range(3):
        np.testing.assert_allclose(np.bincount(codes[:, t], minlength=3) / 6000, exact[t], atol=0.033)
    again = model.sample(6000, 3, seed=0)
    np.testing.assert_array_equal(again.table.codes, drawn.table.codes)


def test_what_is_unlike_all_states_stands_out_and_nothing_else():
    model = two_chains(5)
    usual = model.unlike(model.sample(2, 600, seed=1), draws=99)
    assert np.mean(usual <= 0.05) < 0.07  # (of several states the likeliest is taken: at most the level)
    assert model.unlike(seen(1, 6, holes=1.1), draws=19).tolist() == [1.0] * 6
    codes = np.repeat([0, 1, 2], 100)[None].astype(np.uint8)
    tree = grow_tree(Splits(codes, np.array([3]), np.array([False])), np.repeat([0, 1, 0], 100), 3, np.ones(300))
    leaves = np.full((tree.n_nodes, 3), 1 / 3)
    leaves[tree.leaves(np.array([[0, 1]], dtype=np.uint8))] = [[0.98, 0.01, 0.01], [0.01, 0.98, 0.01]]
    law = TreeCPD((Lag("H", 0),), (3,), tree, leaves)
    chain = Chain("H", np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.1, 0.9]]))
    two = ChainModel(model.variables, {"x": law, "y": law}, (chain,))
    odd = Sequences.from_table(Table.from_codes(STATES, np.array([[0, 1, 2], [0, 1, 2]])))
    assert two.unlike(odd, draws=199)[:2].min() > 0.9
    assert two.unlike(odd, draws=199)[2] < 0.02  # (c is what neither state shows)


def test_what_cannot_be_asked_is_one_line():
    model = two_chains(0)
    with pytest.raises(OptionError, match="steps=0"):
        model.forecast(seen(0), steps=0)
    with pytest.raises(OptionError, match="draws=0"):
        model.unlike(seen(0), draws=0)
    with pytest.raises(OptionError, match="length=0"):
        model.sample(1, 0)
    with pytest.raises(TableError, match="'x' is 'z', which is none of its states"):
        model.filter().step({"x": "z"})


def test_a_saved_chain_model_answers_the_same(tmp_path):
    model, sequences = two_chains(3), seen(3)
    lv.write_dynamic(model, tmp_path / "model.json")
    back = lv.read_dynamic(tmp_path / "model.json")
    one, other = (each.forecast(sequences, steps=3, draws=50, seed=1) for each in (model, back))
    for name, shares in one.probabilities.items():
        np.testing.assert_array_equal(shares, other.probabilities[name])
    np.testing.assert_array_equal(model.unlike(sequences, draws=9), back.unlike(sequences, draws=9))
