"""Chains in shares over threads: the same sums as in one piece, and the same bits for any number of threads."""

from itertools import pairwise

import numpy as np
import pytest

import leverrier as lv
from leverrier.inference.chains import forward_backward, shares
from leverrier.inference.chains.forward_backward import chain_of
from leverrier.inference.chains.shares import shares_of
from leverrier.learning.chains.chain_networks import chain_network
from leverrier.models.dynamic.dynamic_unrolled import lay


def laid_chain(states, persons=30, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 40, persons)
    n = int(lengths.sum())
    frame = {
        "id": np.repeat(np.arange(persons), lengths),
        "a": rng.choice(["u", "v", "w"], n),
        "b": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
    }
    data = lv.read_sequences(frame, by="id")
    start = chain_network(data, ["H"], [states], ["a"], ["b"], rng=rng)
    laid = lay(start, start.read(data))
    return laid, laid.theta(start)[0]


def answer(laid, theta, keep):
    chain = chain_of(laid.unrolled, keep)
    assert chain is not None
    return chain.expectation(theta), len(chain._shares)


@pytest.mark.parametrize("states", [3, 8, 12, 20])
def test_shares_add_up_to_the_whole_and_threads_do_not_matter(states, monkeypatch):
    laid, theta = laid_chain(states)
    keep = [laid.place["H"]]
    whole, one = answer(laid, theta, keep)
    assert one == 1
    monkeypatch.setattr(shares, "LEAST", 50)
    monkeypatch.setattr(shares.config, "NUMBA_NUM_THREADS", 8)
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(shares, "usable_cores", lambda cores=cores: cores)
        parts, count = answer(laid, theta, keep)
        assert count > 3
        found.append(parts)
    np.testing.assert_allclose(found[0].counts, whole.counts, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found[0].slices, whole.slices, rtol=1e-12)
    np.testing.assert_allclose(found[0].kept, whole.kept, atol=1e-12)
    for other in found[1:]:
        np.testing.assert_array_equal(other.counts, found[0].counts)
        np.testing.assert_array_equal(other.slices, found[0].slices)
        np.testing.assert_array_equal(other.kept, found[0].kept)


def test_both_ways_of_one_long_sequence_side_by_side_are_the_same(monkeypatch):
    laid, theta = laid_chain(20, persons=1, seed=3)
    monkeypatch.setattr(shares.config, "NUMBA_NUM_THREADS", 8)
    monkeypatch.setattr(shares, "usable_cores", lambda: 2)
    apart = answer(laid, theta, [laid.place["H"]])[0]
    monkeypatch.setattr(forward_backward, "LONG", 0)
    beside = answer(laid, theta, [laid.place["H"]])[0]
    np.testing.assert_array_equal(beside.counts, apart.counts)
    np.testing.assert_array_equal(beside.slices, apart.slices)


def test_shares_are_whole_sequences_and_cover_all():
    starts = np.array([0, 30_000, 31_000, 60_000, 100_000])
    found = shares_of(starts, 100_000)
    assert found[0][0] == 0
    assert found[-1][1] == 100_000
    assert all(high == low for (_, high), (low, _) in pairwise(found))
    assert {low for low, _ in found} <= set(starts.tolist())
    assert len(found) > 1
    assert shares_of(np.array([0, 100_000]), 100_000) == [(0, 100_000)]
    assert shares_of(np.array([0, 50, 100]), 100) == [(0, 100)]
