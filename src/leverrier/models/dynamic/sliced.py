"""What inference needs to know of a network in time. `DynamicNetwork` is one; queries ask for no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from leverrier.data.sequences.read_sequences import Sequences
from leverrier.data.table import Label
from leverrier.models.dynamic.cpd import CPD, GaussianCPD

Slice = Mapping[str, CPD]


class Sliced(Protocol):
    """Distributions for the first slices, and for all that follow."""

    @property
    def states(self) -> Mapping[str, tuple[Label, ...]]: ...

    @property
    def stages(self) -> tuple[Slice, ...]: ...

    @property
    def transition(self) -> Slice: ...

    @property
    def numbers(self) -> Mapping[str, GaussianCPD]: ...

    @property
    def variables(self) -> tuple[str, ...]: ...

    @property
    def observed(self) -> tuple[str, ...]: ...

    def cardinality(self, variable: str) -> int: ...

    def slice(self, place: int) -> Slice: ...

    def read(self, data: Any) -> Sequences: ...
