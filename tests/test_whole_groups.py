"""Rows in groups: whole groups are drawn and held out, and simulated groups are as alike as those of the data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

import leverrier as lv
from leverrier.discovery.done import ByGroups
from leverrier.discovery.evidence.null_test import null_test
from leverrier.discovery.evidence.resamples import drawn
from leverrier.discovery.evidence.whole_groups import Likeness, folds_of_groups, likeness, numbered
from leverrier.discovery.places.search import begin, next_hidden
from leverrier.discovery.plan import Plan
from leverrier.models.graph import Graph

GROUPS = np.repeat(np.arange(30), 20)


def alike(seed: int, share: float, columns: int = 6, common: float = 0.0) -> lv.Table:
    """Yes/no columns, each with a normal score of its group; `common` of that is the same for all columns."""
    rng = np.random.default_rng(seed)
    own, shared = rng.normal(size=(columns, 30)), rng.normal(size=30)
    effect = np.sqrt(1 - common) * own + np.sqrt(common) * shared
    score = np.sqrt(share) * effect[:, GROUPS] + np.sqrt(1 - share) * rng.normal(size=(columns, len(GROUPS)))
    codes = (ndtr(score) > 0.4).astype(int)
    return lv.Table.from_codes({f"c{i}": (0, 1) for i in range(columns)}, codes)


def pairs(table: lv.Table) -> float:
    """The covariance of two rows of a group, over all pairs and columns: by definition, not by sums of squares."""
    found = []
    for codes in table.codes.astype(float):
        left = codes - codes.mean()
        for g in range(30):
            inside = left[g == GROUPS]
            product = np.outer(inside, inside)
            found.append(product[~np.eye(len(inside), dtype=bool)].mean())
    return float(np.mean(found))


def independent(table: lv.Table) -> lv.Network:
    return lv.fit(Graph.from_edges(table.variables, ()), table).network


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_simulated_groups_are_as_alike_as_those_of_the_data(share):
    rng = np.random.default_rng(5)
    measured, simulated, shares = [], [], []
    for seed in range(8):
        table = alike(seed, share)
        network = independent(table)
        found = likeness(network, table, GROUPS, rng)
        measured.append(pairs(table))
        simulated += [pairs(found.simulated(network, table, rng)) for _ in range(3)]
        shares.append(found.shares.mean())
    assert np.mean(shares) == pytest.approx(share, abs=0.03)
    assert np.mean(simulated) == pytest.approx(np.mean(measured), abs=0.008)


def test_what_moves_columns_of_a_group_together_does_so_in_simulated_tables():
    rng = np.random.default_rng(6)
    table = alike(1, 0.4, common=0.9)
    found = likeness(independent(table), table, GROUPS, rng)
    assert isinstance(found, Likeness)
    means = [
        np.corrcoef([np.bincount(GROUPS, row) for row in each.codes])[np.triu_indices(6, 1)].mean()
        for each in (table, found.simulated(independent(table), table, rng))
    ]
    assert means[0] > 0.5
    assert means[1] == pytest.approx(means[0], abs=0.25)


def test_groups_are_drawn_and_held_out_whole():
    rng = np.random.default_rng(0)
    table = lv.Table.from_codes({"a": tuple(range(30))}, GROUPS[None])
    kept = np.unique(drawn(table, rng, GROUPS).codes, return_counts=True)
    assert set(kept[1]) == {20}
    assert 10 <= len(kept[0]) <= 27
    fold = folds_of_groups(GROUPS, 5, rng)
    assert all(len(set(fold[g == GROUPS])) == 1 for g in range(30))
    assert np.bincount(fold).tolist() == [120] * 5


def test_groups_get_numbers_and_a_hole_is_a_group_of_its_own():
    assert numbered(["b", "a", None, "b", float("nan")]).tolist() == [1, 0, 2, 1, 3]


def test_alike_households_are_nothing_hidden():
    """Something that all columns of a household share: without groups chance cannot explain it, with groups it does."""
    table = alike(3, 0.3, common=0.9)
    search = begin(table, lv.BDe(), Plan(max_hidden=1))
    assert next_hidden(search)
    assert null_test(search, 9, 0.1).accepted
    assert not null_test(search, 9, 0.1, GROUPS).accepted


def test_a_column_of_groups_is_no_column_of_the_table():
    frame = alike(1, 0.1).to_pandas().assign(household=[f"h{g}" for g in GROUPS])
    found = lv.discover(frame, groups="household", level=0.1, draws=9, resamples=0, max_hidden=1, jobs=1)
    assert str(found.verdict) == "nothing"
    assert "household" not in found.baseline.variables
    assert found.result.settings.groups == "household"
    assert any(each == ByGroups(30) for each in found.result.did)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"groups": "nowhere"}, "nowhere"),
        ({"groups": [1, 2, 3]}, "3 values"),
        ({"groups": "household", "method": "causes"}, "groups= is for"),
        ({"groups": "two"}, "2 groups"),
        ({"groups": "household", "weights": "two"}, "one by one"),
    ],
)
def test_bad_groups_are_refused_in_one_line(options, words):
    frame = alike(0, 0.0).to_pandas().assign(household=GROUPS, two=GROUPS % 2 + 1)
    assert isinstance(frame, pd.DataFrame)
    with pytest.raises(lv.LeverrierError, match=words) as raised:
        lv.discover(frame, **options, draws=1, jobs=1)
    assert "\n" not in str(raised.value)
