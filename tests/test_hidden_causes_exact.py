"""The samplers draw from the posterior, not from something near it; and these tests would see it if they did not.

Short runs of benchmarks/causes.py, which makes 200,000 sweeps of every move set.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare, poisson

from leverrier.models.noisy_or.causes_prior import Beta, Gamma, harmonic
from leverrier.noisy_or import gibbs as gibbs_module
from leverrier.noisy_or.gibbs import gibbs
from leverrier.noisy_or.moves import births as births_module
from leverrier.noisy_or.moves import sweeps as sweeps_module
from leverrier.noisy_or.observations import Observations
from leverrier.noisy_or.rjmcmc import rjmcmc
from leverrier.noisy_or.sampler_state import Settings
from tests.naive import hidden_causes as slow
from tests.naive.enumerate_causes import moments, posterior, posterior_with_numbers, standardised
from tests.naive.geweke import joint_test
from tests.naive.wrong_places import appending_links

NUMBERS = {"epsilon": 0.02, "lam": 0.9, "p": 0.5, "alpha": 2.0}
ONES = np.ones((2, 3), np.uint8)
HOLES = np.array([[1, 2], [0, 1]], np.uint8)
FINITE = {"method": "rjmcmc", "decay": 0.7}
HYPER = {"alpha": Gamma(3, 2), "epsilon": Beta(1, 3), "lam": Beta(2, 1), "p": Beta(1, 2)}
MOVES = {
    "gibbs, source's moves": Settings(**NUMBERS).plain(),
    "gibbs, all moves": Settings(**NUMBERS, split_merge=1, pairs=1),
    "rjmcmc, source's moves": Settings(**NUMBERS, **FINITE).plain(),
    "rjmcmc, all moves": Settings(**NUMBERS, **FINITE, split_merge=1, pairs=1),
}


@pytest.fixture(scope="module")
def exact():
    """Posteriors by enumeration, each computed once."""
    kept = {}

    def of(cells, method):
        key = cells.tobytes(), method
        if key not in kept:
            kept[key] = posterior(cells, **NUMBERS, method=method, decay=0.7, most=14, most_columns=120)
        return kept[key]

    return of


def worst(settings, cells, expected, sweeps, seed=1):
    """The largest deviation of any moment, in standard errors."""
    make = gibbs if settings.unbounded else rjmcmc
    sampler, rng = make(Observations.of(np.ascontiguousarray(cells.T)), settings), np.random.default_rng(seed)
    state = sampler.init(rng, 0)
    found = np.empty((sweeps, len(expected)))
    for j in range(sweeps):
        state, _ = sampler.step(rng, state)
        found[j] = [*moments(state.links), state.epsilon, state.lam, state.p, state.alpha][: len(expected)]
    return max(abs(z) for z in standardised(found, expected).values())


@pytest.mark.parametrize("name", MOVES)
def test_moves_agree_with_enumeration(name, exact):
    settings = MOVES[name]
    assert worst(settings, ONES, exact(ONES, settings.method), 10_000) < 4


def test_holes_agree_with_enumeration(exact):
    assert worst(MOVES["gibbs, all moves"], HOLES, exact(HOLES, "gibbs"), 5000) < 4


@pytest.mark.parametrize("method", ["gibbs", "rjmcmc"])
def test_sampled_numbers_agree_with_their_integrals(method):
    """Links and all four numbers at once; the judge integrates over them by quadrature."""
    numbers = {**HYPER, "alpha": Gamma(3, 6)}
    settings = Settings(**numbers, method=method, decay=0.7, split_merge=1, pairs=1)
    expected = posterior_with_numbers(ONES[:, :2], **numbers, method=method, decay=0.7, most=9)
    assert worst(settings, ONES[:, :2], expected, 6000) < 4


def test_the_slow_twin_agrees_with_enumeration_too(exact):
    """The readable sampler and the fast one answer to the same judge."""
    rng, columns = np.random.default_rng(0), []
    expected = exact(HOLES, "gibbs")
    found = np.empty((600, len(expected)))
    for j in range(len(found)):
        slow.gibbs_sweep(rng, HOLES, columns, **NUMBERS, most=4)
        found[j] = moments(np.array([z for z, _ in columns]).reshape(-1, 2))
    deviations = standardised(found, expected, batches=30)
    assert max(abs(z) for z in deviations.values()) < 4


def test_without_a_likelihood_the_buffets_laws_hold():
    """Every cell a hole: K₊ is Poisson(α H_N), row sums are Poisson(α)."""
    n, alpha = 4, 1.5
    settings = replace(MOVES["gibbs, all moves"], alpha=alpha)
    sampler, rng = gibbs(Observations.of(np.full((2, n), 2, np.uint8)), settings), np.random.default_rng(3)
    state, counts, rows = sampler.init(rng, 0), [], []
    for j in range(9000):
        state, _ = sampler.step(rng, state)
        if j % 6 == 0:
            counts.append(state.count)
            rows.append(int(state.links[:, 0].sum()))
    for found, mean in ((counts, alpha * harmonic(n)), (rows, alpha)):
        top = int(poisson.ppf(1 - 5 / len(found), mean))
        expected = poisson.pmf(np.arange(top), mean)
        expected = np.append(expected, 1 - expected.sum()) * len(found)
        assert chisquare(np.bincount(np.minimum(found, top), minlength=top + 1), expected).pvalue > 1e-3


GEWEKE = {
    "gibbs": Settings(**HYPER, split_merge=1, pairs=1),
    "gibbs, own λ and p": Settings(**HYPER, each_lam=True, each_p=True, split_merge=1, pairs=1),
    "rjmcmc": Settings(**HYPER, **FINITE, split_merge=1, pairs=1),
    "rjmcmc, own λ": Settings(**HYPER, **FINITE, each_lam=True, split_merge=1, pairs=1),
}


@pytest.mark.parametrize("name", GEWEKE)
def test_data_and_state_redrawn_in_turn_keep_their_joint_law(name):
    """Geweke's test: all moves, every number sampled, a hole among the cells."""
    holes = np.zeros((3, 4), bool)
    holes[1, 2] = True
    deviations = joint_test(GEWEKE[name], n_observed=3, n_trials=4, draws=3000, seed=2, holes=holes)
    assert len(deviations) >= 20
    assert max(abs(z) for z in deviations.values()) < 4


class TestSeededBugsAreSeen:
    """The same checks on samplers broken on purpose: each must fail, or the checks above mean little."""

    def test_new_causes_appended_and_visited_in_order(self, exact, monkeypatch):
        """The spec's first trap: the place tells that a column was just born."""
        monkeypatch.setattr(sweeps_module, "sweep_links", appending_links())
        assert worst(MOVES["gibbs, source's moves"], ONES, exact(ONES, "gibbs"), 30_000) > 4

    def test_a_wrong_prior_of_births(self, exact, monkeypatch):
        monkeypatch.setattr(sweeps_module, "birth_rate", lambda alpha, n: alpha / (n + 1))
        assert worst(MOVES["gibbs, source's moves"], ONES, exact(ONES, "gibbs"), 3000) > 4

    def test_a_row_left_out(self, exact, monkeypatch):
        monkeypatch.setattr(gibbs_module, "row_order", lambda n, rng: rng.permutation(n)[:-1] % (n - 1))
        assert worst(MOVES["gibbs, source's moves"], ONES, exact(ONES, "gibbs"), 2000) > 4

    def test_the_printed_birth_ratio(self, exact, monkeypatch):
        """Eqs. 8 and 9 as printed leave out the K + 1 places of the new column: they sample P(K)/K!."""
        genuine = births_module.log_structure

        def printed(degree, *asked):
            return genuine(degree, *asked) - math.lgamma(len(degree) + 1)

        monkeypatch.setattr(births_module, "log_structure", printed)
        assert worst(MOVES["rjmcmc, source's moves"], ONES, exact(ONES, "rjmcmc"), 6000) > 4

    def test_the_joint_test_sees_a_wrong_prior_too(self, monkeypatch):
        monkeypatch.setattr(sweeps_module, "birth_rate", lambda alpha, n: 1.2 * alpha / n)
        deviations = joint_test(GEWEKE["gibbs"], n_observed=3, n_trials=4, draws=3000, seed=2)
        assert max(abs(z) for z in deviations.values()) > 4
