"""How much of a hidden variable one column tells: closed forms."""

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

import leverrier as lv
from leverrier.discovery.evidence.coarser_copy import told_by, told_shares


def table_of(*codes):
    return lv.Table.from_codes({f"c{i}": tuple(range(4)) for i in range(len(codes))}, np.array(codes))


def test_a_copy_is_told_wholly_and_chance_is_not():
    rng = np.random.default_rng(0)
    column, other = rng.integers(0, 4, 4000), rng.integers(0, 4, 4000)
    posterior = np.eye(2)[column // 2]
    found = told_by(told_shares(posterior, table_of(other, column)))
    assert found is not None
    assert found.column == "c1"
    assert found.share == pytest.approx(1.0)
    assert found.copy
    alone = told_by(told_shares(posterior, table_of(other)))
    assert alone is not None
    assert alone.share < 0.01


def test_the_share_is_mutual_information_over_entropy():
    rng = np.random.default_rng(1)
    hidden = rng.integers(0, 3, 2000)
    column = np.where(rng.random(2000) < 0.6, hidden, rng.integers(0, 4, 2000))
    found = told_by(told_shares(np.eye(3)[hidden], table_of(column)))
    shares = np.bincount(hidden) / 2000
    assert found is not None
    assert found.share == pytest.approx(mutual_info_score(hidden, column) / -(shares @ np.log(shares)))
    assert not found.copy


def test_holes_weights_and_one_state_are_taken():
    codes = np.array([[0, 1, -1, 1]])
    table = lv.Table.from_codes({"c": (0, 1)}, codes, np.array([1.0, 1.0, 5.0, 1.0]))
    found = told_by(told_shares(np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.0, 1.0]]), table))
    assert found is not None
    assert 0 < found.share <= 1
    assert told_by(told_shares(np.ones((4, 1)), table)) is None
