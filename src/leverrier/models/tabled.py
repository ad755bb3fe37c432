"""What inference needs to know of a network: its arcs, states and tables. `Network` is one; queries ask for no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from leverrier.data.table import Label
from leverrier.models.graph import Graph

Method = Literal["exact", "approximate"]
"""How to sum out what is not observed: by a junction tree, or by messages on the graph where that is too large."""


class Tabled(Protocol):
    """A graph with states and a table for every node."""

    @property
    def graph(self) -> Graph: ...

    @property
    def states(self) -> Mapping[str, tuple[Label, ...]]: ...

    @property
    def tables(self) -> Mapping[str, NDArray[np.float64]]: ...

    @property
    def variables(self) -> tuple[str, ...]: ...

    def parents(self, node: str) -> tuple[str, ...]: ...

    def cardinality(self, node: str) -> int: ...
