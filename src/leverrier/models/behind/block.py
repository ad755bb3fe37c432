"""Columns of numbers and states in one space, ready for models with something hidden behind them.

A number is its normal score z; a second representation w = g(z) may stand beside it, whose density in nats of z is
p_w(w) + log g′(z). Every regression takes its columns from one design matrix, whose first column is 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats

Codes = NDArray[np.int64]
Holes = NDArray[np.bool_] | None


@dataclass(frozen=True, eq=False)
class Face:
    """One way to see a number: its column of the design, and log |d face / dz| summed over the rows."""

    at: int
    slope: Floats
    """log g′(z) by row; zeros for z itself."""

    @cached_property
    def total(self) -> float:
        return float(self.slope.sum())


@dataclass(frozen=True, eq=False)
class Seen:
    """A column as a child (its faces, or its codes) and as a parent (its columns of the design)."""

    name: str
    faces: tuple[Face, ...]
    codes: Codes | None
    states: int
    ordered: bool
    terms: tuple[int, ...]
    """The columns of the design that stand for it as a parent of numbers and logits."""
    raw_terms: tuple[int, ...] = ()
    """The same for a child seen by its second face; empty where there is no difference."""
    holes: Holes = None
    """Rows whose cell is empty: they say nothing of the hidden variable through this column."""


@dataclass(frozen=True, eq=False)
class Block:
    """All columns of a table in one space."""

    design: Floats
    """(rows, columns of the design); the first is 1."""
    columns: Mapping[str, Seen]
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What learners laid out of these rows, to be laid out once."""

    @property
    def rows(self) -> int:
        return len(self.design)

    @cached_property
    def gram(self) -> Floats:
        return self.design.T @ self.design

    @cached_property
    def across(self) -> Floats:
        """The design with its rows last."""
        return np.ascontiguousarray(self.design.T)

    @cached_property
    def price(self) -> float:
        """Of one parameter, in nats."""
        return 0.5 * float(np.log(max(self.rows, 2)))


MOST_DUMMIES = 7
"""A category's columns as a parent, at most."""


def add_number(
    design: list[Floats], name: str, z: Floats, w: Floats | None, slope: Floats | None, holes: Holes = None
) -> Seen:
    """A number by its scores z and, where it has one, its second face w with log g′(z)."""
    first = len(design)
    design.append(z)
    faces = [Face(first, np.zeros(len(z)))]
    raw: tuple[int, ...] = ()
    if w is not None and slope is not None:
        design.append(w)
        faces.append(Face(first + 1, slope))
        raw = (first + 1,)
    return Seen(name, tuple(faces), None, 0, False, (first,), raw, holes)


def add_states(
    design: list[Floats], name: str, codes: Codes, states: int, scores: Floats | None, holes: Holes = None
) -> Seen:
    """States. As a parent: the score and its square if they have an order, a column for each state else."""
    first = len(design)
    if scores is not None and states > 2:
        design += [scores, scores**2]
    else:
        design += list(dummies(codes, min(states, MOST_DUMMIES + 1)).T)
    return Seen(name, (), codes, states, scores is not None, tuple(range(first, len(design))), (), holes)


def dummies(codes: Codes, states: int) -> Floats:
    """A column for each state but the first."""
    return (codes[:, None] == np.arange(1, states)).astype(np.float64)
