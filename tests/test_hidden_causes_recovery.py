"""Recovery of known causes, in small; benchmarks/causes_recovery.py does it at the issue's size."""

import numpy as np
import pytest

from experiments.accuracy import edge_f1, structure_error
from leverrier.models.noisy_or.noisy_or_model import hidden_causes as make
from leverrier.noisy_or.hidden_causes import hidden_causes
from leverrier.noisy_or.signs import read_signs

SOURCE = {"epsilon": 0.01, "lam": 0.9, "p": 0.1, "alpha": 3.0}


@pytest.mark.parametrize("method", ["gibbs", "rjmcmc"])
def test_ten_causes_behind_twenty_signs(method):
    """The spec's second trap: the source's moves do not reach this structure in 500 sweeps; ours do in 150."""
    x, truth = make(20, 10, 500, seed=1000)
    run = hidden_causes(x, method, sweeps=150, chains=1, seed=0, warmup=100, **SOURCE)
    assert structure_error(run.shared, truth.links) < 1
    assert edge_f1(run.best, truth.links) > 0.98


def test_the_sources_moves_alone_do_not_get_there():
    x, truth = make(20, 10, 500, seed=1000)
    run = hidden_causes(x, sweeps=150, chains=1, seed=0, warmup=100, sampler="wood2006", **SOURCE)
    assert structure_error(run.shared, truth.links) > 1


@pytest.mark.parametrize("start", [0, 10])
def test_the_start_does_not_decide_how_many(start):
    x, truth = make(20, 5, 500, seed=7)
    run = hidden_causes(x, sweeps=120, chains=1, seed=1, start=start, **SOURCE)
    assert run.expected_count == pytest.approx(truth.links.shape[1], abs=0.5)


def test_holes_do_not_hide_the_causes():
    """A fifth of the cells unseen at random: the same structure."""
    x, truth = make(n_observed=8, n_causes=4, n_trials=500, seed=4)
    cells = np.where(np.random.default_rng(0).random(x.shape) < 0.2, np.nan, x)
    run = hidden_causes(cells, sweeps=200, chains=1, seed=0)
    assert structure_error(run.shared, truth.links) < 1


def test_nothing_behind_the_signs_gives_no_shared_cause():
    """Independent signs: no pair of them probably shares a cause."""
    x = (np.random.default_rng(1).random((400, 6)) < 0.2).astype(np.uint8)
    run = hidden_causes(x, sweeps=200, chains=1, seed=0)
    assert np.triu(run.shared, 1).max() < 0.5
    assert run.best.sum(axis=0).max(initial=0) <= 1


def test_the_stroke_signs_are_read_with_their_holes(shared_data):
    signs = read_signs(shared_data / "medical" / "ist_stroke_signs.csv.gz")
    assert signs.cells.shape == (5000, 12)
    assert (signs.cells == 2).any()
    assert any("syndrome" in note for note in signs.notes)
