"""A block from the columns of a mixed space: faces for numbers, codes for states, terms for both as parents."""

from __future__ import annotations

import numpy as np

from leverrier.arrays import Floats
from leverrier.learning.mixed.mixed_space import Space, SpaceColumn
from leverrier.models.behind.behind_model import Known
from leverrier.models.behind.block import Block, Seen, add_number, add_states


def block_of(space: Space) -> Block:
    """Of a space without holes."""
    design: list[Floats] = [np.ones(space.n_rows)]
    seen = {column.name: _seen(column, design) for column in space.columns}
    return Block(np.ascontiguousarray(np.column_stack(design)), seen)


def _seen(column: SpaceColumn, design: list[Floats]) -> Seen:
    if column.discrete:
        return add_states(design, column.name, column.codes, column.n_codes, column.scores)
    assert column.scores is not None
    return add_number(design, column.name, column.scores, column.w, None if column.w is None else column.log_slope)


def known(column: SpaceColumn) -> Known:
    """What a model keeps of a column, to read new rows."""
    own = () if column.number or column.scores is None else tuple(map(float, column.state_scores))
    states = column.n_codes if column.discrete else 0
    return Known(column.name, column.margin, column.labels, states, column.w is not None, own)
