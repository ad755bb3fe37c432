"""`find_in_time` says what is there: a regime, longer lags, or nothing."""

import numpy as np
import pytest

from leverrier.data.sequences.sequences import Sequences
from leverrier.data.table import Table
from leverrier.discovery.time.find_in_time import find_in_time
from leverrier.errors import TableError
from leverrier.status import Status

LABELS = ("a", "b", "c")


def sequences_of(codes):
    return Sequences.from_table(Table.from_codes({f"x{v}": LABELS for v in range(len(codes))}, np.array(codes)))


def process(seed, order, n=900, columns=3):
    """Each column by itself, of the given order."""
    rng = np.random.default_rng(seed)
    odds = rng.dirichlet(np.ones(3) * 0.4, size=(columns, 3, 3))
    x = np.zeros((columns, n), dtype=int)
    for t in range(2, n):
        for v in range(columns):
            back = (x[v, t - 1] if order else 0, x[v, t - 2] if order > 1 else 0)
            x[v, t] = rng.choice(3, p=odds[v][back])
    return sequences_of(x)


def test_a_hidden_regime_is_found_with_what_it_drives():
    rng = np.random.default_rng(0)
    n = 900
    state = (np.cumsum(rng.random(n) < 0.02) % 2).astype(int)
    own = np.array([[0.75, 0.15, 0.1], [0.1, 0.15, 0.75]])
    driven = [[rng.choice(3, p=own[s]) for s in state] for _ in range(3)]
    found = find_in_time(sequences_of([*driven, *rng.integers(0, 3, (2, n))]))
    assert str(found.verdict) == "found"
    (chain,) = found.hidden
    assert chain.states == 2
    assert set(chain.drives) == {"x0", "x1", "x2"}
    agree = np.mean(chain.posterior.argmax(axis=1) == state)
    assert max(agree, 1 - agree) > 0.95
    assert found.gain >= 0.005
    assert found.z > 3
    assert np.all(chain.dwell > 10)
    assert not chain.within_slice
    assert "drives x0, x1, x2" in found.words
    assert np.allclose(found.posterior()["H1"], chain.posterior)
    fresh = sequences_of(rng.integers(0, 3, (5, 50)))
    assert found.network is not None
    assert np.allclose(found.network.surprise(fresh), found.model.surprise(fresh), atol=1e-9)


@pytest.mark.parametrize(("order", "lags"), [(0, 0), (1, 1), (2, 2)])
def test_what_is_observed_explains_itself(order, lags):
    found = find_in_time(process(1, order))
    assert (str(found.verdict), found.lags, found.hidden) == ("nothing", lags, ())
    assert "Nothing hidden was found" in found.words
    assert all(not row.accepted for row in found.table if row.hidden)


def test_the_best_observed_model_is_the_best_of_the_table():
    found = find_in_time(process(2, 2, n=500))
    observed = [row for row in found.table if not row.hidden]
    assert found.observed_name == min(observed, key=lambda row: row.bits).name
    assert found.model is found.observed


def test_a_budget_of_nothing_still_answers_and_says_so():
    found = find_in_time(process(3, 1, n=200), budget=0.0)
    assert found.status is Status.BUDGET
    assert "budget" in found.words


def test_too_few_slices_are_one_line():
    with pytest.raises(TableError, match="slices in all"):
        find_in_time(process(0, 1, n=20))
