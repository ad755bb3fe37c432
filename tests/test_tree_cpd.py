"""Tree distributions: growth against a slow twin, scores against tables, probabilities against their own table."""

import numpy as np
import pytest

from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Lag, lag_features
from leverrier.data.table import Table, Variable
from leverrier.errors import NetworkError
from leverrier.learning.slices.column_fit import (
    SMOOTHINGS,
    Smoothing,
    grow_column,
    log_probabilities,
    recount_column,
    smoothed_probabilities,
)
from leverrier.learning.slices.slice_choice import bag_slices, choose
from leverrier.learning.slices.slice_design import make_design, make_folds
from leverrier.learning.slices.tree_growing import Splits, grow_tree, tree_score
from leverrier.learning.structure.score import BDe, family_score
from leverrier.models.slices.shaped_cpd import SameElseCPD, StepCPD
from leverrier.models.slices.tree_cpd import TreeCPD
from tests.naive.tree_growth import grow as naive_grow


def random_case(seed, n=120):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, 4)
    codes = np.array([rng.integers(0, r, n) for r in sizes], dtype=np.uint8)
    ordinal = rng.random(4) < 0.5
    states = int(rng.integers(2, 4))
    odds = rng.dirichlet(np.ones(states) * 0.5, size=8)
    which = (codes[0] > sizes[0] // 2) * 4 + (codes[1] == 1) * 2 + (codes[2] == 0)
    child = np.array([rng.choice(states, p=odds[w]) for w in which])
    weights = rng.random(n) + 0.5 if seed % 2 else np.ones(n)
    weights[rng.random(n) < 0.1] = 0.0
    return Splits(codes, sizes.astype(np.int64), ordinal), child, states, weights


def rows_by_leaf(tree, codes, rows):
    leaf = tree.leaves(np.ascontiguousarray(codes[:, rows]))
    return {frozenset(rows[leaf == node].tolist()) for node in np.unique(leaf)}


def leaves_of(nested):
    if isinstance(nested, list):
        return {frozenset(nested)}
    return leaves_of(nested[3]) | leaves_of(nested[4])


@pytest.mark.parametrize("seed", range(12))
def test_growth_finds_the_splits_of_the_slow_twin(seed):
    splits, child, states, weights = random_case(seed)
    tree = grow_tree(splits, child, states, weights, leaf_count=0.3)
    rows = np.flatnonzero(weights > 0)
    expected = naive_grow(
        set(rows.tolist()),
        splits.codes.tolist(),
        splits.ordinal.tolist(),
        child.tolist(),
        states,
        weights.tolist(),
        0.3,
    )
    assert rows_by_leaf(tree, splits.codes, rows) == leaves_of(expected)


def test_growth_splits_somewhere_in_these_cases():
    sizes = [grow_tree(s, c, k, w).n_leaves for s, c, k, w in (random_case(seed) for seed in range(12))]
    assert sum(size > 2 for size in sizes) >= 6


def test_noise_is_left_in_one_leaf():
    rng = np.random.default_rng(0)
    leaves = []
    for _ in range(40):
        splits = Splits(rng.integers(0, 5, (20, 300)).astype(np.uint8), np.full(20, 5), np.zeros(20, dtype=bool))
        leaves.append(grow_tree(splits, rng.integers(0, 3, 300), 3, np.ones(300)).n_leaves)
    assert sum(size == 1 for size in leaves) >= 38


def test_a_tree_that_separates_all_parent_states_scores_like_a_table():
    rng = np.random.default_rng(1)
    parent = rng.integers(0, 3, 600)
    child = np.where(rng.random(600) < 0.8, parent, rng.integers(0, 3, 600))
    splits = Splits(parent[None].astype(np.uint8), np.array([3]), np.array([False]))
    tree = grow_tree(splits, child, 3, np.ones(600), leaf_count=0.7)
    assert tree.n_leaves == 3
    table = np.zeros((3, 3))
    np.add.at(table, (parent, child), 1)
    assert tree_score(tree, 0.7) == pytest.approx(family_score(BDe(0.7), table, 600.0), abs=1e-8)


def melody(seed=0, n=400):
    """A walk over six ordered states with a seldom changing key, in sequences of 40, with some holes."""
    rng = np.random.default_rng(seed)
    x, key = np.zeros(n, dtype=int), np.zeros(n, dtype=int)
    for t in range(1, n):
        key[t] = key[t - 1] if rng.random() < 0.95 else rng.integers(0, 4)
        x[t] = np.clip(x[t - 1] + rng.choice([-1, 0, 1, 2], p=[0.3, 0.2, 0.3, 0.2]), 0, 5)
    codes = np.stack([x, key]).astype(np.uint8)
    codes[:, rng.random(n) < 0.03] = 255
    table = Table((Variable("x", tuple(range(6)), "integer"), Variable("key", tuple("abcd"))), codes)
    return Sequences.from_table(table, np.arange(0, n + 1, 40))


@pytest.fixture(scope="module")
def design():
    sequences = melody()
    return make_design(sequences, lag_features(("x", "key"), 2), ("key", "x"))


@pytest.mark.parametrize(
    ("name", "shape"), [("x", "tree"), ("x", "same"), ("x", "step"), ("key", "tree"), ("key", "same")]
)
def test_shapes_are_distributions_and_equal_their_table(design, name, shape):
    grown = grow_column(design, name, np.ones(design.n_slices), shape)
    cpd = grown.cpd(design, Smoothing(4.0, 0.3)).compacted()
    table = cpd.table()
    assert table.shape == (*cpd.cardinalities, cpd.states)
    assert np.allclose(table.sum(axis=-1), 1.0, atol=1e-12)
    rng = np.random.default_rng(0)
    codes = np.array([rng.integers(0, r, 50) for r in cpd.cardinalities], dtype=np.uint8).reshape(-1, 50)
    child = rng.integers(0, cpd.states, 50)
    assert np.allclose(cpd.probabilities(child, codes), table[(*codes, child)], atol=1e-15)
    assert isinstance(cpd, {"tree": TreeCPD, "same": SameElseCPD, "step": StepCPD}[shape])


@pytest.mark.parametrize(("name", "shape"), [("x", "tree"), ("x", "same"), ("x", "step"), ("key", "same")])
def test_restricting_parents_is_a_slice_of_the_table(design, name, shape):
    grown = grow_column(design, name, np.ones(design.n_slices), shape)
    cpd = grown.cpd(design, Smoothing(2.0, 0.3)).compacted()
    for place in range(1 if shape != "tree" else 0, len(cpd.parents)):
        small = cpd.restricted({place: 1})
        asked = [cpd.parents.index(parent) for parent in small.parents]
        whole = np.moveaxis(cpd.table(), place, 0)[1]
        for cell in np.ndindex(whole.shape[:-1]):
            full = [*cell[:place], 1, *cell[place:]]
            here = small.table()[tuple(full[i] for i in asked)]
            assert np.allclose(here, whole[cell], atol=1e-14)


def test_many_smoothings_at_once_are_each_smoothing_alone(design):
    everything = np.arange(design.n_slices)
    for name in design.variables:
        seen = design.child(name)[1]
        for shape in design.shapes(name):
            grown = grow_column(design, name, np.ones(design.n_slices), shape)
            together = smoothed_probabilities(design, grown, SMOOTHINGS[::5], everything)
            for row, smoothing in zip(together, SMOOTHINGS[::5], strict=True):
                alone = np.exp(log_probabilities(design, name, grown.cpd(design, smoothing), everything))
                assert np.allclose(row[seen], alone[seen], atol=1e-12)


def test_recounting_with_the_weights_of_growth_changes_nothing(design):
    weights = np.random.default_rng(2).random(design.n_slices)
    for shape in ("tree", "same", "step"):
        grown = grow_column(design, "x", weights, shape)
        again = recount_column(design, grown, weights)
        for one, other in zip(grown.trees, again.trees, strict=True):
            assert np.allclose(one.counts, other.counts, atol=1e-9)


def test_a_step_says_more_than_a_table_on_a_walk(design):
    choice = choose(design, make_folds(design.sequences, 5, 0))
    assert choice.shapes["x"] == "step"
    assert choice.shapes["key"] == "same"


def test_bagged_trees_are_the_mean_of_their_parts(design):
    choice = choose(design, make_folds(design.sequences, 5, 0))
    bag = bag_slices(design, choice, 3, seed=0)
    for name, cpd in bag.cpds.items():
        assert Lag(name, 1) in cpd.parents
        rng = np.random.default_rng(0)
        codes = np.array([rng.integers(0, r, 20) for r in cpd.cardinalities], dtype=np.uint8)
        assert np.allclose(cpd.rows(codes), np.mean([part.rows(codes) for part in cpd.parts], axis=0))
    assert np.isfinite(bag.bits_per_slice(melody(1)))


def test_a_shape_without_its_own_past_is_refused():
    leaf = grow_tree(
        Splits(np.zeros((0, 4), dtype=np.uint8), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)),
        np.array([0, 1, 0, 1]),
        2,
        np.ones(4),
    )
    cpd = TreeCPD((), (), leaf, leaf.distributions(1.0, 0.0))
    with pytest.raises(NetworkError, match="own past"):
        SameElseCPD(cpd, cpd)


def test_more_states_than_a_byte_holds():
    rng = np.random.default_rng(4)
    x = np.cumsum(rng.integers(-1, 2, 500)) % 300
    table = Table((Variable("x", tuple(range(300)), "integer"),), x[None].astype(np.uint16))
    design = make_design(Sequences.from_table(table), lag_features(("x",), 1), ("x",))
    assert design.table.codes[0, 1:].tolist() == x[:-1].tolist()
    grown = grow_column(design, "x", np.ones(500), "step")
    assert (
        np.exp(log_probabilities(design, "x", grown.cpd(design, Smoothing(4.0, 0.1)), np.arange(1, 500))).mean() > 0.25
    )
