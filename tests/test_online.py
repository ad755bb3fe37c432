"""Counting on while predicting, against refitting the counts before every slice."""

import numpy as np
import pytest

from experiments.online_counts import choose_forgetting, online_surprise
from leverrier.data.sequences.slice_features import lag_features
from leverrier.errors import OptionError
from leverrier.learning.slices.column_fit import grow_column, log_probabilities, recount_column
from leverrier.learning.slices.slice_choice import Choice, bag_slices, choose, fit_slices
from leverrier.learning.slices.slice_design import make_design, make_folds
from tests.test_tree_cpd import melody


@pytest.fixture(scope="module")
def learnt():
    sequences = melody(3, 200)
    design = make_design(sequences, lag_features(("x", "key"), 2), ("key", "x"))
    return design, choose(design, make_folds(sequences, 5, 0))


@pytest.mark.parametrize("shapes", [("tree", "tree"), ("same", "same"), ("step", "tree")])
def test_each_slice_is_predicted_from_all_before_it(learnt, shapes):
    """Learnt from the first 120 slices; then slice by slice the counts are made anew from everything before."""
    design, chosen = learnt
    by_name = dict(zip(("x", "key"), shapes, strict=True))
    choice = Choice(by_name, chosen.smoothing, chosen.leaf_count, chosen.block_bits, chosen.column_bits, 200)
    early = (np.arange(200) < 120).astype(np.float64)
    model = fit_slices(design, choice, early)
    late = design.sequences.stretches([(120, 200)])  # a whole number of its sequences of 40
    found = online_surprise(model, late)
    for t in range(120, 200, 7):
        expected = 0.0
        for name, shape in by_name.items():
            grown = grow_column(design, name, early, shape, choice.leaf_count)
            base = grown.base
            grown = recount_column(design, grown, (np.arange(200) < t).astype(np.float64))
            grown = type(grown)(grown.name, grown.shape, grown.trees, grown.order, base)
            cpd = grown.cpd(design, choice.smoothing)
            expected -= log_probabilities(design, name, cpd, np.array([t]))[0] / np.log(2)
        assert found[t - 120] == pytest.approx(expected, abs=1e-9)


def test_the_forgetting_that_costs_least_is_chosen(learnt):
    design, choice = learnt
    sequences = design.sequences
    late = sequences.position * 2 >= np.repeat(sequences.lengths, sequences.lengths)
    model = fit_slices(design, choice, (~late).astype(np.float64))
    costs = {forget: online_surprise(model, sequences, forget)[late].sum() for forget in (1.0, 0.9, 0.5)}
    assert len(set(costs.values())) == 3
    assert choose_forgetting(design, choice, tuple(costs)) == min(costs, key=costs.__getitem__)


def test_bad_forgetting_and_bags_are_one_line(learnt):
    design, choice = learnt
    with pytest.raises(OptionError, match="forget=0"):
        online_surprise(fit_slices(design, choice), design.sequences, 0.0)
    with pytest.raises(OptionError, match="bagged"):
        online_surprise(bag_slices(design, choice, 2, 0), design.sequences)
