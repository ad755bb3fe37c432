"""Sequential p-values: valid by simulation, the same for any batch, and their interval and tail against scipy."""

import numpy as np
import pytest
from scipy import stats

from leverrier.discovery.evidence.sequential_test import (
    ENOUGH,
    Stopped,
    cut_short,
    draws_needed,
    exact_interval,
    monte_carlo,
    tail_chance,
)


def answer(gain, stream, draws, batch=1):
    for number in range(batch, len(stream) + batch, batch):
        found = monte_carlo(gain, stream[:number], draws)
        if found is not None:
            return found
    raise AssertionError("the test never ended")


def test_the_p_value_is_valid_at_every_level():
    """Under the null, P(p ≤ a) ≤ a: 20,000 tests of at most 99 draws, exact law by simulation."""
    rng = np.random.default_rng(0)
    values = rng.random((20_000, 100))
    p = np.array([answer(row[0], row[1:], 99, 4).p_value for row in values])
    for level in (0.01, 0.02, 0.05, 0.1, 0.25, 0.5):
        error = np.sqrt(level * (1 - level) / len(p))
        assert np.mean(p <= level + 1e-12) <= level + 3 * error
        assert np.mean(p <= level + 1e-12) >= 0.8 * level - 3 * error  # and it is not idle


def test_hopeless_gains_stop_early_and_clear_ones_do_not():
    rng = np.random.default_rng(1)
    stream = rng.normal(size=99)
    middling = answer(0.0, stream, 99)
    assert middling.stopped is Stopped.REACHED
    assert middling.reached == ENOUGH
    assert middling.drawn < 40
    clear = answer(10.0, stream, 99)
    assert (clear.stopped, clear.drawn, clear.reached) == (Stopped.COMPLETE, 99, 0)
    assert clear.p_value == 0.01
    assert clear.rejects(0.01)
    assert not clear.rejects(0.009)


@pytest.mark.parametrize("batch", [2, 4, 7])
def test_batches_do_not_change_the_answer(batch):
    rng = np.random.default_rng(2)
    for gain in (-1.0, 0.3, 1.5, 5.0):
        stream = rng.normal(size=99 + batch)
        whole = stream[:99]
        assert answer(gain, whole, 99, batch) == answer(gain, whole, 99, 1)


def test_a_test_that_was_cut_cannot_be_small():
    found = cut_short(5.0, [1.0])
    assert (found.p_value, found.stopped) == (0.5, Stopped.CUT)
    assert cut_short(5.0, []).p_value == 1.0
    assert draws_needed(0.01) == 99
    assert draws_needed(0.05) == 19
    assert draws_needed(0.03) == 33


@pytest.mark.parametrize(("reached", "drawn"), [(0, 99), (3, 99), (5, 12), (12, 12)])
def test_the_interval_is_clopper_and_pearsons(reached, drawn):
    expected = stats.binomtest(reached, drawn).proportion_ci(0.95, "exact")
    assert exact_interval(reached, drawn) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_the_tail_of_an_exponential_law_is_found():
    """P(X > 8) = e⁻⁸ for an exponential; the extrapolation is right within a factor of a few on the log scale."""
    rng = np.random.default_rng(3)
    logs = [np.log(max(tail_chance(8.0, rng.exponential(size=999)) or 1e-12, 1e-12)) for _ in range(40)]
    assert abs(np.median(logs) + 8) < 1.0
    assert tail_chance(8.0, [1.0] * 20) is None


def test_the_tail_fit_agrees_with_scipy_on_many_draws():
    rng = np.random.default_rng(4)
    law = stats.genpareto(0.2, scale=2.0)
    drawn = law.rvs(20_000, random_state=rng)
    assert tail_chance(15.0, drawn) == pytest.approx(law.sf(15.0), rel=0.25)
