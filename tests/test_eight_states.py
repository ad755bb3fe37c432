"""Passes for up to eight states against the plain ones, and climbs with extrapolated steps against plain EM."""

from itertools import pairwise

import numpy as np
import pytest

import leverrier as lv
from leverrier.kernels.chains import eight_lanes
from leverrier.kernels.chains.eight_states import both_counts, both_ways
from leverrier.learning.chains.chain_networks import chain_network
from leverrier.learning.chains.dynamic_steps import DynamicSteps
from leverrier.learning.chains.exact_climb import ExactClimb
from leverrier.learning.em.climb import climb
from leverrier.models.dynamic.dynamic_unrolled import lay
from leverrier.status import Status


def slow_passes(transitions, emissions, which, symbol):
    """Forward, backward and expected moves of one path at a time, as the books write them."""
    n, k = len(symbol), emissions.shape[1]
    begins = [*np.flatnonzero(which < 0).tolist(), n]
    total, posterior, moves = 0.0, np.zeros((n, k)), np.zeros_like(transitions)
    for begin, end in pairwise(begins):
        alpha, beta = np.zeros((end - begin, k)), np.ones((end - begin, k))
        alpha[0] = emissions[symbol[begin]]
        for t in range(begin + 1, end):
            alpha[t - begin] = (alpha[t - 1 - begin] @ transitions[which[t]]) * emissions[symbol[t]]
        for t in range(end - 1, begin, -1):
            beta[t - 1 - begin] = transitions[which[t]] @ (emissions[symbol[t]] * beta[t - begin])
        whole = alpha[-1].sum()
        total += np.log(whole)
        posterior[begin:end] = alpha * beta / whole
        for t in range(begin + 1, end):
            later = emissions[symbol[t]] * beta[t - begin]
            moves[which[t]] += alpha[t - 1 - begin][:, None] * transitions[which[t]] * later / whole
    return total, posterior, moves


@pytest.mark.parametrize("states", [1, 2, 5, 8])
def test_passes_of_several_sequences_and_matrices(states):
    rng = np.random.default_rng(states)
    n, symbols, matrices = 60, 4, 2
    which = rng.integers(0, matrices, n)
    which[[0, 17, 18, 40]] = -1
    symbol = rng.integers(0, symbols, n)
    transitions = np.zeros((matrices, 8, 8))
    transitions[:, :states, :states] = rng.dirichlet(np.ones(states), (matrices, states))
    emissions = np.zeros((symbols, 8))
    emissions[:, :states] = rng.random((symbols, states)) * (rng.random((symbols, states)) < 0.8) + 1e-3
    raw, beta, later, totals = np.empty((n, 8)), np.empty((n, 8)), np.empty(8 * n), np.empty(n)
    ones, shown, joint = np.ones(8), np.zeros((symbols, 8)), np.zeros((matrices, 8, 8))
    turned = np.ascontiguousarray(transitions.transpose(0, 2, 1))
    flat = (raw.ravel(), totals, later, beta.ravel())
    both_ways(transitions.ravel(), turned.ravel(), emissions.ravel(), ones, which, symbol, *flat)
    both_counts(which, symbol, *flat, ones, shown.ravel(), joint.ravel())
    total, posterior, moves = slow_passes(transitions, emissions, which, symbol)
    np.testing.assert_allclose(np.log(totals).sum(), total, rtol=1e-12)
    np.testing.assert_allclose(beta, posterior, atol=1e-13)
    np.testing.assert_allclose(joint * transitions, moves, atol=1e-12)
    np.testing.assert_allclose(shown, [posterior[symbol == e].sum(axis=0) for e in range(symbols)], atol=1e-12)


def test_compiled_rows_do_what_their_plain_twins_do():
    rng = np.random.default_rng(0)
    n, symbols = 12, 3
    arrays = [rng.random(size) for size in (64, 64, 8 * symbols)]
    which, symbol = np.array([-1, *[0] * 5, -1, *[0] * 5]), rng.integers(0, symbols, n)
    ends = []
    for plain in (False, True):
        made = [np.zeros(8 * n), np.zeros(n), np.zeros(8 * n), np.zeros(8 * n)]
        sums = [np.zeros(8 * symbols), np.zeros(64)]
        ways, counts = both_ways, both_counts
        if plain:
            names = ("times_row", "moved_row", "add_pairs", "add_row")
            rows = {name: getattr(eight_lanes, f"_{name}_plainly") for name in names}
            ways, counts = (
                type(f)(f.__code__, f.__globals__ | rows)
                for f in (getattr(kernel, "py_func", kernel) for kernel in (both_ways, both_counts))
            )
        ways(*arrays, np.ones(8), which, symbol, *made)
        counts(which, symbol, *made, np.ones(8), *sums)
        ends.append([*made, *sums])
    for one, other in zip(*ends, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def life_courses(persons=150, seed=0):
    """Three columns that change once or twice in sixteen years, each later than the other."""
    rng = np.random.default_rng(seed)
    left = rng.integers(2, 14, persons)
    married = np.where(rng.random(persons) < 0.8, left + rng.integers(-1, 8, persons), 99)
    child = np.where(rng.random(persons) < 0.7, married + rng.integers(0, 6, persons), 99)
    apart = married + rng.integers(4, 20, persons)
    year = np.arange(16)
    status = np.where(year >= apart[:, None], "apart", np.where(year >= married[:, None], "married", "single"))
    return lv.read_sequences(
        {
            "id": np.repeat(np.arange(persons), 16),
            "year": np.tile(year, persons),
            "home": np.where(year >= left[:, None], "left", "home").ravel(),
            "status": status.ravel(),
            "child": np.where(year >= child[:, None], "yes", "no").ravel(),
        },
        by="id",
        time="year",
    )


@pytest.mark.parametrize(("numbers", "apart"), [(False, 0.7), (True, 0.5)])
def test_extrapolated_steps_end_where_em_does_in_fewer_steps(numbers, apart):
    """States that overlap much: there EM takes its hundred steps and more."""
    rng = np.random.default_rng(1)
    state = (np.cumsum(rng.random(1500) < 0.05) % 2).astype(int)
    frame = {"a": np.where(rng.random(1500) < 0.3 + 0.25 * apart * state, "x", "y")}
    chance = 0.4 + 0.2 * apart * state
    frame |= {"b": rng.normal(apart * state) if numbers else np.where(rng.random(1500) < chance, 1, 2)}
    data = lv.read_sequences(frame)
    columns = (["a"], ["b"]) if numbers else (["a", "b"], [])
    start = chain_network(data, ["H"], [2], *columns, rng=np.random.default_rng(3))
    laid = lay(start, start.read(data))
    ends = [
        climb(ExactClimb(DynamicSteps(laid, start), 1e-4, accelerate=fast), max_iterations=5000)
        for fast in (True, False)
    ]
    fast, plain = ends
    assert fast.status is plain.status is Status.CONVERGED
    assert fast.value == pytest.approx(plain.value, abs=2e-3)
    assert np.all(np.diff(fast.trace) >= -1e-6)
    assert plain.iterations > 100
    assert fast.iterations < plain.iterations / 3


def test_drawn_starts_reach_what_the_own_start_of_chains_reaches():
    data = life_courses()
    best = lv.hidden_markov(data, 5, seed=0)
    drawn = lv.fit_dynamic(best.network, data, initial="random", starts=20, seed=1)
    assert drawn.log_likelihood > best.log_likelihood - 1.0
