"""All tables of a network in one vector: family after family, parents' configurations in rows, child's states last."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from leverrier.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class Layout:
    """Where each family's table lies. `scopes[j]` is family j's parents in order, then its child."""

    scopes: tuple[tuple[int, ...], ...]
    cardinalities: tuple[int, ...]

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(self.cardinalities[v] for v in scope) for scope in self.scopes)

    @cached_property
    def begins(self) -> Integers:
        return np.array([0, *accumulate(map(math.prod, self.shapes))], dtype=np.int64)

    @property
    def size(self) -> int:
        return int(self.begins[-1])

    @cached_property
    def room(self) -> int:
        """The vector's length with a stretch of ones at its end, as long as the longest table: factors that are
        absent from a row point there."""
        return self.size + int(np.diff(self.begins).max(initial=1))

    @cached_property
    def starts(self) -> Integers:
        """Family j's members are members[starts[j]:starts[j+1]], the child last."""
        return np.array([0, *accumulate(map(len, self.scopes))], dtype=np.int64)

    @cached_property
    def members(self) -> Integers:
        return np.array([v for scope in self.scopes for v in scope], dtype=np.int64)

    @cached_property
    def strides(self) -> Integers:
        """How far apart in the vector two neighbouring states of a member are, member by member."""
        return np.array([stride for shape in self.shapes for stride in c_strides(shape)], dtype=np.int64)

    @cached_property
    def stride_of(self) -> tuple[dict[int, int], ...]:
        """The same by family and member."""
        return tuple(
            dict(zip(scope, c_strides(shape), strict=True))
            for scope, shape in zip(self.scopes, self.shapes, strict=True)
        )

    @cached_property
    def runs(self) -> Integers:
        """First parameter, rows and child's states of each family, as the kernels want them."""
        table = [
            (begin, math.prod(shape[:-1]), shape[-1]) for begin, shape in zip(self.begins, self.shapes, strict=False)
        ]
        return np.array(table, dtype=np.int64).reshape(-1, 3)

    @cached_property
    def touching(self) -> Mapping[int, tuple[int, ...]]:
        """The families each variable belongs to."""
        found: dict[int, list[int]] = {}
        for j, scope in enumerate(self.scopes):
            for v in scope:
                found.setdefault(v, []).append(j)
        return {v: tuple(families) for v, families in found.items()}

    def pack(self, tables: Sequence[Floats]) -> Floats:
        """One vector of length `room` from a table per family, ones at the end."""
        vector = np.ones(self.room)
        for begin, table in zip(self.begins.tolist(), tables, strict=False):
            vector[begin : begin + table.size] = table.ravel()
        return vector

    def unpack(self, vector: Floats) -> list[Floats]:
        """The tables again, as copies."""
        return [
            vector[begin:end].reshape(shape).copy()
            for (begin, end), shape in zip(pairwise(self.begins.tolist()), self.shapes, strict=True)
        ]


def c_strides(shape: Sequence[int]) -> list[int]:
    """Strides in entries of an array with this shape, last axis fastest."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * int(shape[axis + 1])
    return strides
