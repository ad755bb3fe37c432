"""Rows that do not stand for themselves: seen where it can be seen, and not where a table is only sorted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import leverrier as lv
from leverrier.data.quality.row_looking import rows_for_one, sorted_blocks
from leverrier.discovery.evidence.alike_rows import copied, rows_by_themselves
from leverrier.discovery.evidence.evidence import Evidence
from leverrier.discovery.examine import shape_of
from leverrier.discovery.findings import HiddenVariable
from leverrier.discovery.result import Result
from leverrier.discovery.verdict import Answer, ModelKind, Reason, Verdict
from tests.test_whole_groups import alike


def star(rows: int, seed: int, columns: int = 6, states: int = 2) -> lv.Table:
    """Columns with one variable behind them."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, states, rows)
    codes = np.where(rng.random((columns, rows)) < 0.7, hidden, rng.integers(0, states, (columns, rows)))
    return lv.Table.from_codes({f"c{i}": tuple(range(states)) for i in range(columns)}, codes)


def test_households_in_the_order_of_the_file_are_not_called_hidden():
    table = alike(1, 0.2, common=0.5)
    found = lv.discover(table, draws=2, resamples=0, jobs=1)
    assert (str(found.verdict), found.verdict.reason) == ("undecided", Reason.ALIKE_ROWS)
    assert "groups=" in str(found)


def test_copies_are_not_counted_as_rows():
    once = star(300, 2, columns=8, states=3)
    twice = np.random.default_rng(1).permutation(2 * once.n_rows) % once.n_rows
    found = Result(
        Verdict(Answer.FOUND, Reason.TESTED), ModelKind.NETWORK, (), (), None, None, *4 * [0.0], shape_of(once)
    )
    assert rows_by_themselves(found, once) is found
    assert rows_by_themselves(found, once.take(twice)).verdict == Verdict(Answer.UNDECIDED, Reason.COPIED_ROWS)


@pytest.mark.parametrize(
    ("share", "times", "columns"), [(1.0, 2, 6), (1.0, 3, 6), (1.0, 2, 9), (0.5, 2, 14), (0.3, 4, 9)]
)
def test_copies_are_told_from_rows_that_come_often(share, times, columns):
    """A share of the rows written so many times."""
    for seed in range(5):
        table = star(400, seed, columns, states=3)
        rng = np.random.default_rng(seed)
        some = np.flatnonzero(rng.random(400) < share)
        again = table.take(np.concatenate([np.arange(400), *(times - 1) * [some]]))
        assert copied(np.unique(again.codes, axis=1, return_counts=True)[1])
        assert not copied(np.unique(table.codes, axis=1, return_counts=True)[1])


def test_rows_drawn_one_by_one_are_never_called_copies():
    """From many laws: few patterns or many, even or steep."""
    for seed in range(2000):
        rng = np.random.default_rng([seed, 5])
        patterns = int(np.exp(rng.uniform(2, 9)))
        chances = rng.dirichlet(np.full(patterns, np.exp(rng.uniform(-4, 3))))
        counts = rng.multinomial(int(rng.integers(50, 3000)), chances)
        assert not copied(counts[counts > 0])


@pytest.mark.parametrize("seed", range(10))
def test_rows_drawn_one_by_one_are_not_alike_in_whatever_way_they_are_sorted(seed):
    rng = np.random.default_rng(seed)
    table = star(int(rng.integers(250, 900)), seed)
    assert rows_for_one(table) == 1
    for many in (1, 3, 6):
        keys = rng.permutation(6)[:many]
        assert rows_for_one(table.take(np.lexsort(table.codes[keys]))) == 1


@pytest.mark.parametrize("seed", range(10))
def test_blocks_of_a_sorted_table_are_its_groups_of_equal_rows(seed):
    """Sorted by some columns, each in an order of its own, others at random within."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 3, (5, 400))
    keys = rng.permutation(5)[: int(rng.integers(0, 4))]
    ranks = [rng.permutation(3)[cells[key]] for key in keys]
    order = np.lexsort((rng.random(400), *ranks))
    blocks = sorted_blocks(cells[:, order])
    groups = [tuple(row) for row in cells[:, order][keys].T.tolist()]
    expected = np.cumsum([0, *(before != after for before, after in pairwise(groups))])
    assert np.array_equal(blocks, expected)


def in_groups_of(size: int, rows: int, seed: int) -> lv.Table:
    """Independent columns in which every cell is that of the group with .5, else drawn anew."""
    rng = np.random.default_rng(seed)
    common = np.repeat(rng.integers(0, 3, (8, rows // size)), size, axis=1)
    codes = np.where(rng.random((8, rows)) < 0.5, common, rng.integers(0, 3, (8, rows)))
    return lv.Table.from_codes({f"c{i}": (0, 1, 2) for i in range(8)}, codes)


def test_so_many_rows_stand_for_one():
    """Pairs of one group agree beyond chance in .25 of what is left: 1 + (size − 1) / 4 rows are one, as in surveys."""
    for size, wanted in ((1, 1.0), (4, 1.75), (20, 5.75)):
        found = np.mean([rows_for_one(in_groups_of(size, 2000, seed)) for seed in range(6)])
        assert found == pytest.approx(wanted, rel=0.2)


@pytest.mark.parametrize(
    ("gain", "nulls", "kept"), [(8.0, (0.0,), False), (60.0, (0.0,), True), (60.0, (20.0,), False)]
)
def test_a_finding_larger_than_alike_rows_can_make_it_is_kept(gain, nulls, kept):
    table = in_groups_of(20, 2000, 0)
    hidden = HiddenVariable("H1", 2, ("c0", "c1", "c2"), (), gain, "", "", Evidence(gain, nulls, 0.01, tested=True))
    shape, found = shape_of(table), Verdict(Answer.FOUND, Reason.TESTED)
    result = Result(found, ModelKind.NETWORK, (hidden,), (), None, None, *4 * [0.0], shape)
    assert rows_by_themselves(result, table).verdict.found is kept
