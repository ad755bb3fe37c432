"""Inference through time against enumeration of every completion."""

import math

import numpy as np
import pytest

from leverrier.errors import TableError
from leverrier.inference.chains.forward_backward import chain_of
from leverrier.inference.chains.slice_passes import SlicePasses
from leverrier.models.dynamic.dynamic_query import engine
from leverrier.models.dynamic.dynamic_unrolled import lay
from tests.naive import dynamic as naive
from tests.naive.dynamic_models import random_network, random_sequences


def models(first, count):
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        network = random_network(rng)
        yield seed, rng, network, random_sequences(rng, network)


def test_likelihoods_posteriors_and_counts_of_500_models_with_holes():
    chains = 0
    for seed, rng, network, data in models(0, 500):
        expected = naive.slice_log_likelihood(network, data)
        np.testing.assert_allclose(network.slice_log_likelihood(data), expected, rtol=0, atol=1e-10, err_msg=str(seed))
        name = network.variables[int(rng.integers(len(network.variables)))]
        np.testing.assert_allclose(
            network.posterior(data, name), naive.posterior(network, data, name), rtol=0, atol=1e-10, err_msg=str(seed)
        )
        laid = lay(network, network.read(data), network.variables)
        theta, taken = laid.theta(network)
        found = engine(laid).expectation(theta)
        chains += chain_of(laid.unrolled) is not None
        np.testing.assert_allclose(found.slices + taken, expected, rtol=0, atol=1e-10, err_msg=str(seed))
        section = laid.sections[int(rng.integers(len(laid.sections)))]
        np.testing.assert_allclose(
            section.of(found.counts),
            naive.counts(network, data, section.stage, section.name),
            rtol=0,
            atol=1e-10,
            err_msg=str(seed),
        )
    assert chains > 20, "both engines must have been asked"


def test_the_two_engines_agree_and_counts_sum_to_slices():
    for seed, _, network, data in models(3000, 120):
        laid = lay(network, network.read(data))
        chain = chain_of(laid.unrolled)
        if chain is None:
            continue
        theta, _ = laid.theta(network)
        one, other = chain.expectation(theta), SlicePasses(laid.unrolled).expectation(theta)
        np.testing.assert_allclose(one.slices, other.slices, atol=1e-11, err_msg=str(seed))
        np.testing.assert_allclose(one.counts, other.counts, atol=1e-11, err_msg=str(seed))


def test_boyen_koller_with_one_cluster_is_exact():
    for seed, _, network, data in models(1000, 120):
        exact = network.slice_log_likelihood(data)
        one = network.slice_log_likelihood(data, "boyen-koller", [list(network.variables)])
        np.testing.assert_allclose(one, exact, rtol=0, atol=1e-10, err_msg=str(seed))
        laid = lay(network, network.read(data), network.variables)
        theta, _ = laid.theta(network)
        both = [
            engine(laid, how, clusters).expectation(theta)
            for how, clusters in (("exact", None), ("boyen-koller", [list(network.variables)]))
        ]
        np.testing.assert_allclose(both[0].counts, both[1].counts, rtol=0, atol=1e-10, err_msg=str(seed))


def test_long_sequences_passed_in_blocks_give_the_same(monkeypatch):
    from leverrier.inference.chains import slice_passes

    for _, _, network, data in models(1500, 25):
        laid = lay(network, network.read(data), network.variables)
        theta, _ = laid.theta(network)
        whole = SlicePasses(laid.unrolled)
        monkeypatch.setattr(slice_passes, "MOST_KEPT", 2**25)
        one = whole.expectation(theta)
        monkeypatch.setattr(slice_passes, "MOST_KEPT", 3)
        other = whole.expectation(theta)
        np.testing.assert_allclose(other.slices, one.slices, rtol=0, atol=1e-13)
        np.testing.assert_allclose(other.counts, one.counts, rtol=0, atol=1e-12)
        np.testing.assert_allclose(whole.evidence(theta), one.slices, rtol=0, atol=1e-13)


def test_most_probable_paths():
    for seed, _, network, data in models(5000, 60):
        filled = naive.cells_of(network.hiding(), network.most_probable_path(data))
        given_slices = naive.cells_of(network, data)
        for path, (_, best), given in zip(filled, naive.best(network, data), given_slices, strict=True):
            for row, before in zip(path, given, strict=True):
                row["#"] = before["#"]
                assert all(before[name] in (None, row[name]) for name in network.variables)
            assert math.isclose(naive.joint(network, path), best, rel_tol=1e-9), seed


def test_filtering_row_by_row_and_all_at_once():
    for _seed, _, network, data in models(6000, 30):
        together = {name: network.posterior(data, name, filtered=True) for name in network.variables}
        at = 0
        for slices in naive.cells_of(network, data):
            following = network.filter()
            before = 1.0
            for t, row in enumerate(slices):
                labels = {n: network.states[n][row[n]] for n in network.observed if row[n] is not None}
                known = following.step({**labels, **row["#"]})
                completions = list(naive.completions(network, slices[: t + 1]))
                now = sum(p for _, p in completions)
                assert math.isclose(known.log_likelihood, math.log(now / before), abs_tol=1e-10)
                before = now
                for name in network.variables:
                    table = np.zeros(network.cardinality(name))
                    for full, p in completions:
                        table[full[t][name]] += p
                    np.testing.assert_allclose(together[name][at], table / now, atol=1e-10)
                    if name in known.posterior:
                        np.testing.assert_allclose(known[name], table / now, atol=1e-10)
                at += 1


def test_forecasts():
    checked = 0
    for _seed, _, network, data in models(7000, 40):
        if data.lengths.max() > 2 or len(network.variables) > 2:
            continue
        found = network.forecast(data, steps=2)
        for place, slices in enumerate(naive.cells_of(network, data)):
            longer = slices + [{**dict.fromkeys(network.variables), "#": {}} for _ in range(2)]
            for name in network.variables:
                table = np.zeros((2, network.cardinality(name)))
                for full, p in naive.completions(network, longer):
                    table[0, full[-2][name]] += p
                    table[1, full[-1][name]] += p
                table /= table.sum(axis=1, keepdims=True)
                np.testing.assert_allclose(found.probabilities[name][place], table, atol=1e-10)
                checked += 1
    assert checked > 10


def test_the_forecast_of_numbers_is_the_mixture_it_says():
    from leverrier.models.dynamic.cpd import GaussianCPD, TableCPD
    from leverrier.models.dynamic.dynamic_network import DynamicNetwork

    stay = np.array([[0.9, 0.1], [0.2, 0.8]])
    network = DynamicNetwork(
        {"H": (0, 1)},
        ({"H": TableCPD((), np.array([0.5, 0.5]))},),
        {"H": TableCPD((("H", 1),), stay)},
        ("H",),
        {"x": GaussianCPD(("H",), np.array([0.0, 5.0]), np.array([1.0, 2.0]))},
    )
    data = network.sample(50, seed=3)
    found = network.forecast(data, steps=1, interval=0.8)
    weights = network.posterior(data)[-1] @ stay
    np.testing.assert_allclose(found.numbers["x"].mean, [[weights[1] * 5]])
    rng = np.random.default_rng(0)
    states = rng.random(400_000) < weights[1]
    drawn = rng.normal(np.where(states, 5.0, 0.0), np.where(states, 2.0, 1.0))
    np.testing.assert_allclose(
        [found.numbers["x"].low[0, 0], found.numbers["x"].high[0, 0]], np.quantile(drawn, [0.1, 0.9]), atol=0.05
    )


def test_what_cannot_happen_is_minus_infinity():
    from leverrier.data.sequences.read_sequences import Sequences
    from leverrier.data.table import Table
    from leverrier.models.dynamic.dynamic_network import DynamicNetwork

    never = [[1.0, 0.0], [0.0, 1.0]]
    network = DynamicNetwork.from_tables(
        {"H": (0, 1), "X": (0, 1)},
        {"H": ((), [0.5, 0.5]), "X": (("H",), never)},
        {"H": ((("H", 1),), never), "X": (("H",), never)},
        ["H"],
    )
    codes = np.array([[0, 0, 1, -1, 0]])
    data = Sequences.from_table(Table.from_codes({"X": (0, 1)}, codes))
    np.testing.assert_array_equal(np.isneginf(network.slice_log_likelihood(data)), [False, False, True, True, True])
    assert network.bits_per_slice(data) == math.inf
    filled = network.most_probable_path(data)
    assert np.array_equal(filled.table.column("X")[:3], [0, 0, 1]), "what was seen stays"
    following = network.filter()
    following.step({"X": 0})
    assert following.step({"X": 1}).log_likelihood == -math.inf
    with pytest.raises(TableError, match="cannot happen"):
        following.step({"X": 0})


def test_many_columns_with_holes_are_no_patterns_and_do_not_vanish():
    """Each slice of 400 columns has a probability far below the smallest number; holes in them cost nothing."""
    from leverrier.data.sequences.read_sequences import Sequences
    from leverrier.data.table import Table
    from leverrier.models.dynamic.dynamic_network import DynamicNetwork

    rng = np.random.default_rng(0)
    names = [f"x{k}" for k in range(400)]
    tables = {name: rng.dirichlet(np.ones(9), 3) for name in names}
    begin, move = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), 3)
    network = DynamicNetwork.from_tables(
        {"H": range(3), **{name: range(9) for name in names}},
        {"H": ((), begin), **{name: (("H",), tables[name]) for name in names}},
        {"H": ((("H", 1),), move), **{name: (("H",), tables[name]) for name in names}},
        hidden=["H"],
    )
    codes = network.sample(50, seed=0).select(names).table.codes.astype(int)
    codes[rng.random(codes.shape) < 0.3] = -1
    data = Sequences.from_table(Table.from_codes({name: range(9) for name in names}, codes))
    laid = lay(network, network.read(data))
    assert len(laid.unrolled.patterns) == 2
    logs = np.log(np.stack([tables[name] for name in names]))
    shown = np.array([sum(logs[k, :, codes[k, t]] for k in range(400) if codes[k, t] >= 0) for t in range(50)])
    alpha, total = np.log(begin) + shown[0], []
    for t in range(1, 51):
        total.append(np.logaddexp.reduce(alpha))
        if t < 50:
            alpha = np.logaddexp.reduce(alpha[:, None] + np.log(move), axis=0) + shown[t]
    expected = np.diff(total, prepend=0)
    theta, _ = laid.theta(network)
    for found in (engine(laid).evidence(theta), SlicePasses(laid.unrolled).evidence(theta)):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    filled = network.most_probable_path(data)
    assert not filled.table.n_missing
