"""States of parents put together where they tell the same: the merging against all partitions, and the kind itself."""

from __future__ import annotations

import numpy as np
import pytest

from leverrier.errors import NetworkError
from leverrier.kernels.families.lumping import gain_of_one, lump
from leverrier.learning.families.family_counts import Price, dirichlet
from leverrier.learning.families.kind_choice import CHOICE, best_kind
from leverrier.learning.families.lump_fit import offer_lumps, partition_price
from leverrier.learning.families.state_column import StateColumn
from leverrier.learning.slices.tree_growing import log_rises
from leverrier.models.families.family_content import read_family
from leverrier.models.families.state_lumps import LumpsKind
from leverrier.report.words.family_words import family_words
from tests.naive.families import counts_of_table


def partitions(states: int):
    """Every way to put states into groups, as group numbers in order of first appearance."""
    ways = [[0]]
    for _ in range(states - 1):
        ways = [[*way, group] for way in ways for group in range(max(way) + 2)]
    return [np.array(way) for way in ways]


def grouped(counts: np.ndarray, way: np.ndarray) -> np.ndarray:
    out = np.zeros((way.max() + 1, *counts.shape[1:]))
    np.add.at(out, way, counts)
    return out


def drawn(seed: int, groups: list[int], rows: int = 400):
    """Counts (states, beside, child): states of one group share their distributions."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(3, 0.5), (max(groups) + 1, 2))[groups]
    return np.array([[rng.multinomial(rows // 12, each) for each in own] for own in shares], dtype=float)


def test_the_gain_of_a_merge_is_the_difference_of_the_scores():
    counts = drawn(0, [0, 1, 1, 2]) / 3
    cells, rows = log_rises(0.7, 3)
    for i, j in ((0, 1), (1, 2), (3, 0)):
        apart = dirichlet(counts[i], 0.7) + dirichlet(counts[j], 0.7)
        gain = gain_of_one(counts[i], counts[j], 0.7, cells, rows)
        assert gain == pytest.approx(dirichlet(counts[i] + counts[j], 0.7) - apart, abs=1e-9)


def test_merging_finds_the_best_of_all_partitions():
    for seed, groups in enumerate(([0, 1, 0, 2, 1, 0], [0, 0, 0, 0, 0, 1], [0, 1, 2, 0, 1, 2])):
        counts, prices = drawn(seed, groups), partition_price(6)
        found = np.empty(6, dtype=np.int64)
        lump(counts.copy(), 1.0, *log_rises(1.0, 3), prices, found)

        def worth(way, counts=counts, prices=prices):
            return dirichlet(grouped(counts, way), 1.0) - prices[way.max() + 1]

        best = max(partitions(6), key=worth)
        assert worth(np.unique(found, return_inverse=True)[1]) == pytest.approx(worth(best), abs=1e-9)


def test_the_price_covers_the_ways_there_are():
    for states in range(2, 7):
        ways = np.bincount([way.max() + 1 for way in partitions(states)], minlength=states + 1)
        assert np.exp(-partition_price(states)[1:]) @ ways[1:] <= 1.0 + 1e-9


def lumped_family(seed: int, rows: int = 2000):
    """A child of six states that follows from three groups of ten states and two of eight, in no order."""
    rng = np.random.default_rng(seed)
    parents = [rng.integers(0, size, rows) for size in (10, 8)]
    groups = [rng.permutation([0, 1, 2, 0, 1, 2, 0, 1, 2, 0]), rng.permutation([0, 1] * 4)]
    shares = rng.dirichlet(np.full(6, 0.5), (3, 2))[groups[0][parents[0]], groups[1][parents[1]]]
    child = np.minimum((rng.random(rows)[:, None] > shares.cumsum(axis=1)).sum(axis=1), 5)
    table = np.zeros((10, 8, 6))
    np.add.at(table, (*parents, child), 1.0)
    columns = [StateColumn(tuple(map(float, range(n))), False, np.ones(n), measured=False) for n in (10, 8, 6)]
    return counts_of_table(table, columns[2], columns[:2]), groups


def test_groups_of_states_in_no_order_are_found_and_win():
    for seed in range(3):
        family, groups = lumped_family(seed)
        price = Price(0.5 * np.log(family.total), 1.0)
        best = best_kind(family, price, dirichlet(family.counts, 1.0))
        assert best is not None
        assert best.kind == "lumps"
        made = best.make()
        assert isinstance(made, LumpsKind)
        for own, true in zip(made.groups, groups, strict=True):
            assert len(set(zip(own.tolist(), true.tolist(), strict=True))) == true.max() + 1
        rows = made.rows(family.codes)
        assert rows.sum(axis=1) == pytest.approx(1.0)
        spent = sum(partition_price(len(own))[own.max() + 1] for own in groups)
        part = groups[0][family.codes[0]] * 2 + groups[1][family.codes[1]]
        counts = np.zeros((6, 6))
        np.add.at(counts, part, family.counts)
        by_hand = max(dirichlet(counts, alpha) for alpha in (1.0, 1 / 6)) - spent - CHOICE
        assert best.score == pytest.approx(by_hand, abs=1e-6)
        assert "3 groups of the 10 states of a and on 2 groups of the 8 states of b" in family_words(
            made, "y", ("a", "b")
        )
        assert read_family(made.content(), (10, 8, 6)) == made


def test_where_every_state_tells_something_else_nothing_is_lumped():
    table = np.full((5, 5), 1.0) + 100 * np.eye(5)
    column = StateColumn(tuple(map(float, range(5))), False, np.ones(5), measured=False)
    family = counts_of_table(table, column, [column])
    assert not list(offer_lumps(family, Price(3.0, 1.0), -np.inf))


def test_groups_that_do_not_fit_are_refused():
    content = {"kind": "lumps", "groups": [[0, 2, 0]], "probabilities": [[0.5, 0.5], [0.1, 0.9]]}
    with pytest.raises(NetworkError, match="groups of states do not fit"):
        read_family(content, (3, 2))
