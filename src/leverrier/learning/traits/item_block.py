"""Rows as models with traits see them: codes of items, and one term of the design for each ordered parent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.learning.behind.space_block import block_of
from leverrier.learning.mixed.mixed_space import Space
from leverrier.models.behind.block import Block


@dataclass(frozen=True, eq=False)
class ItemBlock:
    """A block whose terms are centred."""

    block: Block
    across: Floats
    """The design, rows last, centred but for its constant."""
    centre: Floats

    @property
    def rows(self) -> int:
        return self.block.rows

    @property
    def price(self) -> float:
        return self.block.price

    @cached_property
    def sizes(self) -> dict[str, int]:
        return {name: len(seen.terms) for name, seen in self.block.columns.items()}

    def terms(self, parents: Sequence[str]) -> Floats:
        """(terms, rows)."""
        own = [t for name in parents for t in self.block.columns[name].terms]
        return np.ascontiguousarray(self.across[np.array(own, dtype=np.intp)])

    def codes(self, column: str) -> NDArray[np.int64]:
        codes = self.block.columns[column].codes
        assert codes is not None
        return codes

    def states(self, column: str) -> int:
        return self.block.columns[column].states


def item_block(space: Space, like: ItemBlock | None = None) -> ItemBlock:
    """Of a space without holes, centred as another one's rows are. Lines in scores alone: an ordered parent costs one
    parameter."""
    block = block_of(space)
    lines = {
        name: replace(seen, terms=seen.terms[:1]) if seen.ordered else seen for name, seen in block.columns.items()
    }
    across = np.ascontiguousarray(block.design.T)
    centre = across.mean(axis=1, keepdims=True) if like is None else like.centre
    across[1:] -= centre[1:]
    return ItemBlock(Block(block.design, lines), across, centre)
