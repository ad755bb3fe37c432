"""Kinds of families over states (trees, lookups, lumps, noisy-max) where cells are numbers too: by their codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.models.families.conditional import Cells
from leverrier.models.families.family_content import read_family
from leverrier.models.families.number_histogram import pieces_of
from leverrier.models.families.number_states import LEAST, CodedChild
from leverrier.models.families.state_kind import StateKind

BY_CODES = "by codes"
"""What a saved one calls itself; `kind` is that of the family over codes."""


@dataclass(frozen=True)
class NumberKind(CodedChild):
    """P(code | codes of the parents)."""

    bounds: tuple[float, ...]
    parent_bounds: tuple[tuple[float, ...], ...]
    said: StateKind

    @property
    def kind(self) -> str:
        return self.said.kind

    @property
    def dimension(self) -> int:
        return self.said.dimension

    def log_probabilities(self, parents: Sequence[Cells], n_rows: int) -> Floats:
        pieces = [pieces_of(cells, bounds) for cells, bounds in zip(parents, self.parent_bounds, strict=True)]
        codes = np.stack(pieces).astype(np.int64) if pieces else np.zeros((0, n_rows), np.int64)
        return np.log(np.maximum(self.said.rows(codes), LEAST))

    def content(self) -> Mapping[str, Any]:
        return {
            "kind": BY_CODES,
            "bounds": list(self.bounds),
            "parent_bounds": [list(each) for each in self.parent_bounds],
            "states": self.said.states,
            "said": self.said.content(),
        }

    @classmethod
    def of_content(cls, content: Mapping[str, Any]) -> NumberKind:
        bounds = tuple(map(float, content["bounds"]))
        above = tuple(tuple(map(float, each)) for each in content["parent_bounds"])
        shape = [*(len(each) + 1 for each in above), int(content["states"])]
        family = read_family(content["said"], shape)
        if not isinstance(family, StateKind) or (bounds and len(bounds) + 1 != shape[-1]):
            raise ValueError("a family over codes does not fit its child")
        return cls(bounds, above, family)
