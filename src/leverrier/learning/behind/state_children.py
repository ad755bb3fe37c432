"""A column of states under a hidden variable: its fit by cells of like rows, and so what it is worth.

Rows with the same state and the same states of all observed parents are one cell: counts of cells are all that a table
or a logit needs, and densities are told by cell. Cells of one configuration stand together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leverrier.arrays import Floats
from leverrier.kernels.mixed.logit_climbs import smoothed_tables, sum_cells
from leverrier.learning.behind.ordinals import climb_logit, start_theta
from leverrier.models.behind.block import Block, Codes
from leverrier.models.behind.links import Fit, Latent, Link, LogitFit, Mode, TableFit, configurations, terms_of

NEWTON, FIRST_NEWTON = 2, 6


class LikeRows(NamedTuple):
    """The cells of a link."""

    of_row: Codes
    codes: Codes
    """The state of each cell."""
    terms: Floats
    """(terms, cells) of a logit; empty for a table."""
    sizes: tuple[int, ...]
    """Of a table: the parents' numbers of states."""
    begins: Codes
    """Of a logit: where each group of cells with the same terms begins, and the number of cells."""


class FittedStates(NamedTuple):
    fit: TableFit | LogitFit
    value: float
    """The expected log density of the rows that it was fitted to."""
    by_cell: Floats
    """log P(state | place, parents): (places, cells)."""


def like_rows(block: Block, link: Link) -> LikeRows:
    """Laid out once for a block: every configuration of a table, of a logit those that occur."""
    key = link.column, link.parents, link.mode
    if key not in block.kept:
        block.kept[key] = (_of_table if link.mode is Mode.TABLE else _of_logit)(block, link)
    return block.kept[key]


def _of_table(block: Block, link: Link) -> LikeRows:
    seen = block.columns[link.column]
    assert seen.codes is not None
    place, sizes = configurations(block, link.parents)
    codes = np.tile(np.arange(seen.states), int(np.prod(sizes)))
    return LikeRows(place * seen.states + seen.codes, codes, np.empty((0, len(codes))), sizes, np.empty(0, np.int64))


def _of_logit(block: Block, link: Link) -> LikeRows:
    seen, terms = block.columns[link.column], terms_of(block, link)
    assert seen.codes is not None
    if any(block.columns[name].codes is None for name in link.parents):  # (of numbers no two rows are alike)
        each = np.arange(block.rows + 1)
        return LikeRows(each[:-1], seen.codes, block.across[terms], (), each)
    place = np.zeros(block.rows, dtype=np.int64)
    for name in link.parents:
        kinds, own = _values(block, name)
        place = np.unique(place * kinds + own, return_inverse=True)[1]
    cells, first, of_row = np.unique(place * seen.states + seen.codes, return_index=True, return_inverse=True)
    beside = np.ascontiguousarray(block.across[np.ix_(terms, first)])
    begins = np.append(np.unique(cells // seen.states, return_index=True)[1], len(cells))
    return LikeRows(of_row.astype(np.int64), seen.codes[first], beside, (), begins)


def _values(block: Block, name: str) -> tuple[int, Codes]:
    """How many values a parent has, and which one each row shows: its score may be finer than its states (a count of
    fifteen values has at most seven codes)."""
    seen = block.columns[name]
    assert seen.codes is not None
    if not seen.ordered:
        return seen.states, seen.codes
    values, own = np.unique(block.across[seen.terms[0]], return_inverse=True)
    return len(values), own


def fit_states(block: Block, latent: Latent, link: Link, share: Floats, before: Fit | None = None) -> FittedStates:
    """To rows whose places are known by `share` (places, rows); a logit takes a few steps from before."""
    seen, like = block.columns[link.column], like_rows(block, link)
    assert share.shape == (latent.places, block.rows)  # (a kernel does not look)
    counts = np.empty((latent.places, len(like.codes)))
    sum_cells(like.of_row, share, counts)
    if link.mode is Mode.TABLE:
        table, logs, value = smoothed_tables(counts, seen.states)
        return FittedStates(TableFit(table.reshape(latent.places, -1, seen.states), like.sizes), value, logs)
    terms = terms_of(block, link)
    if isinstance(before, LogitFit):
        theta, steps = before.theta, NEWTON
    else:
        margin = np.bincount(like.codes, counts.sum(axis=0), seen.states).astype(np.float64)
        theta, steps = start_theta(margin, latent.basis.shape[1] + len(terms), seen.ordered), FIRST_NEWTON
    theta, value, logs = climb_logit(
        theta, latent.basis, like.terms, like.codes, like.begins, counts, seen.states, seen.ordered, steps
    )
    return FittedStates(LogitFit(theta, terms, seen.states, seen.ordered), value, logs)
