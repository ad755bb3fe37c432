"""A table over groups of the parents' states: states that tell the same of the child are one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from leverrier.arrays import Floats
from leverrier.models.families.state_kind import Codes
from leverrier.models.families.state_table import TableKind


@dataclass(frozen=True, eq=False)
class LumpsKind(TableKind):
    """`groups[i][code]` is the group of a parent's state; the table has an axis for each parent's groups."""

    groups: tuple[Codes, ...]

    @property
    def kind(self) -> str:
        return "lumps"

    def rows(self, codes: Codes) -> Floats:
        return self.probabilities[tuple(own[codes[i]] for i, own in enumerate(self.groups))]

    def content(self) -> Mapping[str, Any]:
        groups = [own.tolist() for own in self.groups]
        return {"kind": self.kind, "groups": groups, "probabilities": self.probabilities.tolist()}

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> LumpsKind:
        groups = tuple(np.array(own, dtype=np.int64) for own in content["groups"])
        table = np.array(content["probabilities"], dtype=np.float64)
        if table.ndim != len(groups) + 1 or any(
            own.ndim != 1 or set(own.tolist()) != set(range(size))
            for own, size in zip(groups, table.shape[:-1], strict=True)
        ):
            raise ValueError("the groups of states do not fit the table")
        return cls(table, groups)
