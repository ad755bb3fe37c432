"""A variable: its name, its finite states in order, how they came about; and the code of a hole among their codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from leverrier.errors import TableError
from leverrier.hints import option
from leverrier.kinds import Kinds

Label = Hashable


class ColumnKind(Kinds):
    """How a column's states came about."""

    CATEGORY = "category"
    ORDERED = "ordered"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    """Whole numbers of few values, each a state."""
    BINNED = "binned"
    """Numbers, cut into bins."""


def missing_code(codes: NDArray[np.unsignedinteger]) -> int:
    """The code of a hole: the largest value of the cells' type, so that states stay 0, 1, 2…"""
    return (1 << 8 * codes.itemsize) - 1


def code_type(largest_cardinality: int) -> type[np.uint8] | type[np.uint16]:
    """The smallest cell type that holds the states and the hole."""
    if largest_cardinality <= 255:
        return np.uint8
    if largest_cardinality <= 65535:
        return np.uint16
    raise TableError(
        f"a variable has {largest_cardinality} states; at most 65535 can be used: "
        f"leave the column out ({option('ignore')}) or cut it into bins ({option('types')} number)"
    )


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with underscores until nothing is called so."""
    used = set(taken)
    while name in used:
        name += "_"
    return name


@dataclass(frozen=True)
class Variable:
    """A column's name, its states in order, and how they came about."""

    name: str
    states: tuple[Label, ...]
    kind: ColumnKind = ColumnKind.CATEGORY
    cuts: tuple[float, ...] = ()
    """For a binned column the inner cuts, ascending: state i holds cuts[i-1] <= x < cuts[i]."""
    label: str = field(default="", compare=False)
    """What the column asks, where its file says so."""
    caseless: bool = False
    """Whether labels meet whatever their capitals and blanks."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", ColumnKind(self.kind))

    @property
    def cardinality(self) -> int:
        return len(self.states)

    @property
    def ordered(self) -> bool:
        """Whether "at most" means something for the states: all but plain categories have an order."""
        return self.kind is not ColumnKind.CATEGORY

    @property
    def binned(self) -> bool:
        """Whether its states are bins of numbers."""
        return self.kind is ColumnKind.BINNED

    @property
    def whole(self) -> bool:
        """Whether its states are whole numbers."""
        return self.kind is ColumnKind.INTEGER
