"""Expected counts across slices against enumeration."""

import numpy as np
import pytest

from leverrier.counts.factored_counts import FactoredCounts
from leverrier.counts.family import Family
from leverrier.errors import TableError
from tests.naive import dynamic as naive
from tests.naive.dynamic_models import random_network, random_sequences


def test_any_families_at_any_lags():
    asked = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        network = random_network(rng)
        data = random_sequences(rng, network, most_open=5)
        lags = int(rng.integers(0, 4))
        if data.lengths.max() <= lags:
            continue
        factored = FactoredCounts(network, data, lags)
        keys = list(factored.nodes)
        families = []
        for _ in range(2):
            chosen = [keys[k] for k in rng.permutation(len(keys))[: int(rng.integers(1, 4))]]
            families.append(Family(chosen[-1], tuple(chosen[:-1])))
        for family, product in zip(families, factored.tables(families), strict=True):
            nodes = [factored.nodes[key] for key in (*family.parents, family.child)]
            np.testing.assert_allclose(product, naive.factored_window_counts(network, data, lags, nodes), atol=1e-10)
            assert abs(product.sum() - factored.total) < 1e-9
            asked += 1
    assert asked > 20


def test_without_anything_hidden_they_are_the_counts_of_the_windows():
    network = random_network(np.random.default_rng(8), 3).hiding()
    data = network.sample(300, seed=0, sequences=2)
    from leverrier.counts.observed_counts import ObservedCounts

    windows = ObservedCounts(data.windows(2))
    keys = list(windows.cardinalities)
    families = [Family(keys[0], (keys[-1],)), Family(keys[-1]), Family(keys[0], tuple(keys[1:3]))]
    counts = FactoredCounts(network, data, 2)
    assert counts.cardinalities == windows.cardinalities
    assert counts.total == windows.total
    for found, expected in zip(counts.tables(families), windows.tables(families), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_bad_questions():
    network = random_network(np.random.default_rng(8), 3)
    data = network.sample(5, seed=0)
    counts = FactoredCounts(network, data, 1)
    with pytest.raises(TableError, match="no node"):
        counts.tables([Family("V0[-2]")])
    with pytest.raises(TableError, match="twice"):
        counts.tables([Family("V0", ("V0",))])
    with pytest.raises(TableError, match="no sequence is longer"):
        FactoredCounts(network, data, 5)
