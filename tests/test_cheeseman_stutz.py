"""The Cheeseman–Stutz score bounds the evidence, and variational EM climbs the bound."""

import numpy as np
import pytest

from leverrier.counts.family import Family
from leverrier.data.table import Table
from leverrier.errors import OptionError
from leverrier.learning.em.cheeseman_stutz import cheeseman_stutz
from leverrier.learning.em.fit import fit
from leverrier.learning.structure.learn_structure import score as complete_score
from leverrier.learning.structure.score import BIC, BDe, BDeu, family_score
from leverrier.models.graph import Graph
from tests.naive.em import completions, log_evidence
from tests.naive.networks import random_network

SMALL = Graph.from_parents({"h": [], "a": ["h"], "b": ["h", "a"]})


def small_case(seed, n_rows=9, hidden=True):
    """A hidden class over two columns, one of which has a hole: at most a few thousand completions."""
    rng = np.random.default_rng(seed)
    network = random_network(rng, 3, graph=SMALL, min_states=2, max_states=2)
    codes = network.sample(n_rows, seed=seed).codes.astype(int)
    if hidden:
        codes[0] = -1
    codes[2, 0] = -1
    return network, codes, Table.from_codes({name: network.states[name] for name in "ab"}, codes[1:])


def evidence(network, codes, score):
    def complete(filled):
        return complete_score(SMALL, Table.from_codes(dict(network.states), filled), score)

    return log_evidence(SMALL, network.states, codes, complete)


@pytest.mark.parametrize("score", [BDe(1.0), BDeu(1.0), BDe(0.3)], ids=lambda s: s.name)
def test_the_score_never_exceeds_the_evidence(score):
    for seed in range(4):
        network, codes, table = small_case(seed)
        truth = evidence(network, codes, score)
        climbed = fit(network, table, starts=3, prior=score, seed=seed)
        bound = fit(network, table, starts=3, score=score, method="vb", seed=seed)
        assert cheeseman_stutz(network, table, score) <= truth + 1e-9
        assert climbed.score <= truth + 1e-9
        assert climbed.score - 1e-6 <= bound.score <= truth + 1e-9


def test_the_score_is_the_expected_counts_score_plus_the_posteriors_entropy():
    network, codes, table = small_case(5, n_rows=20)
    score = BDe(1.0)
    entropy = 0.0
    counts = {node: np.zeros(network.shape(node)) for node in SMALL}
    for row in codes.T:
        filled = list(completions(network, row))
        total = sum(p for _, p in filled)
        for states, p in filled:
            entropy -= p / total * np.log(p / total)
            at = dict(zip(network.variables, states, strict=True))
            for node in SMALL:
                counts[node][tuple(at[v] for v in (*SMALL.parents(node), node))] += p / total
    wanted = entropy + sum(family_score(score, counts[node], 20.0) for node in SMALL)
    assert cheeseman_stutz(network, table, score) == pytest.approx(wanted, abs=1e-9)
    result = fit(network, table, score=score)
    assert cheeseman_stutz(result.network, table, score) == result.score


def test_nothing_unobserved_gives_the_complete_score_exactly():
    network = random_network(np.random.default_rng(1), 5, min_states=2)
    table = network.sample(100, seed=0)
    for score in (BDe(1.0), BDeu(2.0)):
        wanted = complete_score(network, table, score)
        assert cheeseman_stutz(network, table, score) == pytest.approx(wanted, abs=1e-9)
        for method in ("em", "vb"):
            assert fit(network, table, score=score, method=method).score == pytest.approx(wanted, abs=1e-9)


def test_variational_trace_rises_to_the_score():
    for seed in range(6):
        network, _, table = small_case(seed, n_rows=60)
        result = fit(network, table, method="vb", starts=2, seed=seed, tolerance=1e-9)
        assert np.all(np.diff(result.trace) >= -1e-9)
        assert result.trace[-1] == pytest.approx(result.score, abs=1e-6)
        assert result.score <= result.log_likelihood  # a bound on the evidence lies under the best likelihood
        for counts in result.expected_counts().tables([Family("h"), Family("b", ("h", "a"))]):
            assert counts.sum() == pytest.approx(60)


def test_a_search_on_the_variational_counts_cannot_lose_score():
    """BDe of expected_counts plus the same posteriors' entropy is the bound itself."""
    network, _, table = small_case(7, n_rows=80)
    result = fit(network, table, method="vb", seed=0, tolerance=1e-10)
    counts = result.expected_counts()
    own = sum(family_score(BDe(), t, 80.0) for t in counts.tables([Family(n, SMALL.parents(n)) for n in SMALL]))
    posterior_entropy = result.score - own
    assert posterior_entropy > 0
    better = fit(network, table, method="vb", seed=0, initial=result.network, starts=1)
    assert better.score >= result.score - 1e-6


def test_a_score_without_prior_is_refused():
    network, _, table = small_case(0)
    with pytest.raises(OptionError, match="BIC has no prior"):
        cheeseman_stutz(network, table, BIC())


def test_variational_em_may_begin_at_a_likelihoods_maximum():
    """There the likelihood is far above the bound: the climb must begin at a bound, or it would seem to fall."""
    network, _, table = small_case(8, n_rows=80)
    climbed = fit(network, table, seed=0)
    result = fit(network, table, method="vb", initial=climbed.network)
    assert result.trace[0] >= climbed.score - 1e-9  # one step from the maximum's own posteriors
    assert np.all(np.diff(result.trace) >= -1e-9)
    plain = fit(network, table, method="vb", initial=climbed.network, accelerate=False, tolerance=1e-9)
    assert plain.score == pytest.approx(result.score, abs=1e-4)
    assert plain.iterations > result.iterations
