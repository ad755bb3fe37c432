"""The rows from which each column of a slice is learnt: what may be asked, in which order columns follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.data.sequences.sequences import Sequences
from leverrier.data.sequences.slice_features import Feature, FeatureTable, Lag, feature_table
from leverrier.learning.slices.tree_growing import Splits
from leverrier.models.slices.tree_cpd import SliceShape

LEAST_BLOCK = 10


@dataclass(frozen=True, eq=False)
class Design:
    """Features of every slice; the columns themselves (lag 0) stand last, in an order that keeps arcs acyclic."""

    sequences: Sequences
    table: FeatureTable
    order: tuple[str, ...]
    copies: int = 1
    """How often every slice stands in the table: once for each joint state of hidden chains."""
    _children: dict[str, tuple[NDArray[np.int64], NDArray[np.bool_]]] = field(default_factory=dict, repr=False)

    @cached_property
    def place(self) -> dict[Feature, int]:
        """Where each feature stands."""
        return {feature: i for i, feature in enumerate(self.features)}

    @cached_property
    def splits(self) -> Splits:
        return Splits(self.table.codes, self.table.cardinalities, self.table.ordinal)

    @property
    def features(self) -> tuple[Feature, ...]:
        return self.table.features

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(int(r) for r in self.table.cardinalities)

    @property
    def variables(self) -> tuple[str, ...]:
        return self.sequences.variables

    @property
    def n_slices(self) -> int:
        return self.sequences.n_slices

    def states(self, name: str) -> int:
        return self.sequences.table.columns[self.sequences.table.index(name)].cardinality

    def base(self, name: str, weights: Floats) -> Floats:
        """What a column leans on that was hardly seen: all columns with the same states together, if there are some."""
        table = self.sequences.table
        states = table.columns[table.index(name)].states
        alike = [cells for column, cells in zip(table.columns, table.codes, strict=True) if column.states == states]
        total = np.ones(len(states))
        if len(alike) > 1:
            live = weights.reshape(self.copies, -1).sum(axis=0)
            for cells in alike:
                seen = cells != table.missing
                total += np.bincount(cells[seen], live[seen], len(states))
        return total / total.sum()

    def child(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The column's codes (0 at holes) and where it is seen."""
        if name not in self._children:
            cells = self.sequences.table.column(name)
            seen = cells != self.sequences.table.missing
            codes = np.where(seen, cells, 0).astype(np.int64)
            self._children[name] = np.tile(codes, self.copies), np.tile(seen, self.copies)
        return self._children[name]

    def allowed(self, name: str) -> NDArray[np.bool_]:
        """Everything earlier, and the columns of the same slice that come before it in the order."""
        later = set(self.order[self.order.index(name) :]) if name in self.order else set(self.order)
        return np.array(
            [not (isinstance(f, Lag) and f.lag == 0 and f.variable in later) for f in self.features], dtype=np.bool_
        )

    def shapes(self, name: str) -> tuple[SliceShape, ...]:
        """The shapes of distribution that make sense for a column."""
        column = self.sequences.table.columns[self.sequences.table.index(name)]
        if self.before(name) is None or column.cardinality < 2:
            return (SliceShape.TREE,)
        return tuple(SliceShape)[: 3 if column.ordered and column.cardinality > 3 else 2]

    def before(self, name: str) -> int | None:
        """Where the column's own last state is among the features."""
        return self.place.get(Lag(name, 1))


def make_design(sequences: Sequences, features: Sequence[Feature], order: Sequence[str]) -> Design:
    asked = (*features, *(Lag(name, 0) for name in order))
    return Design(sequences, feature_table(sequences.table, sequences.starts, asked), tuple(order))


def with_chains(design: Design, chains: Mapping[str, int]) -> Design:
    """The design with every slice once for each joint state of these hidden variables, which trees may ask too.

    Joint states stand in mixed radix, the last chain running fastest; all slices of joint state 0 come first.
    """
    joint = int(np.prod(list(chains.values())))
    states = np.unravel_index(np.arange(joint), tuple(chains.values()))
    hidden = np.array([np.repeat(each, design.n_slices) for each in states], dtype=np.uint8)
    table = FeatureTable(
        (*design.features, *(Lag(name, 0) for name in chains)),
        np.concatenate([np.tile(design.table.codes, joint), hidden]),
        np.append(design.table.cardinalities, [size + 1 for size in chains.values()]).astype(np.int64),
        np.append(design.table.ordinal, [False] * len(chains)).astype(np.bool_),
    )
    return Design(design.sequences, table, design.order, joint)


def make_folds(sequences: Sequences, folds: int, seed: int) -> NDArray[np.int64]:
    """By slice, its fold: whole sequences where there are many, else blocks of slices dealt out in turn."""
    n = len(sequences)
    if n >= 4 * folds:
        dealt = np.random.default_rng(seed).permutation(n) % folds
        return np.repeat(dealt, sequences.lengths)
    blocks = max(sequences.n_slices // block_length(sequences.n_slices), folds)
    return (np.arange(sequences.n_slices) * blocks // max(sequences.n_slices, 1)) % folds


def block_length(n_slices: int) -> int:
    """Slices of a block: few where there are few, so that a single episode does not lie in one or two blocks; hundreds
    where there are many, so that what is held out is not told by what lies around it."""
    return max(LEAST_BLOCK, round(n_slices**1.5 / 9000))


def make_blocks(sequences: Sequences, folds: NDArray[np.int64]) -> NDArray[np.int64]:
    """By slice, the number of its block: maximal runs of one fold within one sequence."""
    new = np.ones(sequences.n_slices, dtype=np.bool_)
    new[1:] = folds[1:] != folds[:-1]
    new[sequences.starts[:-1]] = True
    return np.cumsum(new) - 1
