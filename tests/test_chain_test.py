"""Sequences drawn from trees over the past, and the test of hidden chains against them."""

import numpy as np
import pytest

from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Lag, Memory
from leverrier.data.table import Table
from leverrier.discovery.time.chain_test import LightSearch
from leverrier.discovery.time.find_in_time import search_in_time
from leverrier.discovery.time.lag_models import best_observed
from leverrier.discovery.verdict import Reason
from leverrier.learning.chains.chain_em import ChainSettings
from leverrier.learning.slices.learn_dynamic import slice_order
from leverrier.learning.slices.slice_choice import choose, fit_slices
from leverrier.learning.slices.slice_design import make_design, make_folds
from leverrier.models.slices.slice_forecast import drawn_slices
from leverrier.run.run import UNBOUNDED

LABELS = ("a", "b", "c")


def sequences_of(codes, starts=None, labels=LABELS):
    return Sequences.from_table(Table.from_codes({f"x{v}": labels for v in range(len(codes))}, np.array(codes)), starts)


def fitted(sequences, features):
    design = make_design(sequences, features, sequences.variables)
    choice = choose(design, make_folds(sequences, 5, 0))
    return fit_slices(design, choice), choice


def test_drawn_sequences_have_the_lengths_holes_and_moves_of_the_model():
    rng = np.random.default_rng(0)
    moves = np.array([[0.8, 0.1, 0.1], [0.05, 0.9, 0.05], [0.3, 0.3, 0.4]])
    x = np.zeros(3000, dtype=int)
    for t in range(1, 3000):
        x[t] = rng.choice(3, p=moves[x[t - 1]])
    x[rng.random(3000) < 0.05] = 255
    data = sequences_of([x], [0, 1000, 1010, 3000])
    model, _ = fitted(data, (Lag("x0", 1),))
    drawn = drawn_slices(model, data, 20, np.random.default_rng(1))
    assert len(drawn) == 20
    before, now = [], []
    for one in drawn:
        np.testing.assert_array_equal(one.starts, data.starts)
        holes = one.table.codes == one.table.missing
        np.testing.assert_array_equal(holes, data.table.codes == data.table.missing)
        cells = one.table.column("x0").astype(int)
        inside = np.flatnonzero((one.position > 0) & ~holes[0])
        inside = inside[~holes[0][inside - 1]]
        before.append(cells[inside - 1])
        now.append(cells[inside])
    counts = np.zeros((3, 3))
    np.add.at(counts, (np.concatenate(before), np.concatenate(now)), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    cpd = model.cpds["x0"].compacted()
    np.testing.assert_allclose(shares, cpd.rows(np.arange(3, dtype=np.uint8)[None]), atol=0.02)


def test_memories_are_remembered_in_what_is_drawn():
    """A state lasts exactly four slices: only a run length tells when it ends."""
    rng = np.random.default_rng(0)
    steps = rng.integers(1, 3, 400)
    x = np.repeat(np.cumsum(steps) % 3, 4)
    data = sequences_of([x])
    model, _ = fitted(data, (Lag("x0", 1), Memory("x0", "run")))
    cells = drawn_slices(model, data, 1, np.random.default_rng(1))[0].table.column("x0").astype(int)
    turns = np.flatnonzero(np.diff(cells))
    assert np.mean(np.diff(turns) == 4) > 0.9


def regime(rng, slices, stay):
    state = np.cumsum(rng.random(slices) > stay) % 2
    chances = np.array([[0.7, 0.15, 0.15], [0.15, 0.15, 0.7]])[state]
    return [(rng.random(slices)[:, None] > np.cumsum(chances, axis=1)).sum(axis=1) for _ in range(3)]


def test_a_planted_chain_has_a_p_value_and_an_interval():
    data = sequences_of(regime(np.random.default_rng(3), 600, 0.97))
    found = search_in_time(data, draws=9, level=0.1)
    assert found.verdict.found
    assert found.verdict.reason is Reason.TESTED_IN_TIME
    evidence = found.evidence["H1"]
    assert evidence.p_value == pytest.approx(0.1)
    assert evidence.draws == 9
    assert max(evidence.null_gains) < evidence.gain
    assert evidence.held_out_interval[0] > 0
    again = search_in_time(data, draws=9, level=0.1)
    assert again.evidence["H1"].null_gains == evidence.null_gains


def test_fewer_draws_than_the_level_needs_are_provisional():
    data = sequences_of(regime(np.random.default_rng(3), 600, 0.97))
    found = search_in_time(data, draws=9, level=0.01)
    assert found.verdict.found
    assert found.verdict.reason is Reason.FEW_DRAWS


def test_what_the_null_model_itself_made_gains_what_its_draws_gain():
    rng = np.random.default_rng(5)
    two = rng.dirichlet(np.full(3, 0.5), size=(3, 3))
    x = np.zeros(800, dtype=int)
    for t in range(2, 800):
        x[t] = rng.choice(3, p=two[x[t - 1], x[t - 2]])
    data = sequences_of([x, rng.integers(0, 3, 800)])
    order = slice_order(data, 0)
    observed = best_observed(data, order, make_folds(data, 5, 0), UNBOUNDED)
    choice, features = observed.best.choice, observed.best.ask.features
    settings = ChainSettings(choice.shapes, choice.smoothing, choice.leaf_count, max_iterations=12)
    search = LightSearch(features, choice, features, settings, order, (2,), 0)
    drawn = drawn_slices(observed.model, data, 12, np.random.default_rng(2), order)
    gains = [search.gain(each) for each in drawn]
    assert max(gains) < 5.0  # (a state that pays nothing costs its parameters)
    assert search.gain(data) < max(gains) + 5.0
