"""A table over groups of the parents' states: states that tell the same of the child are one."""

from __future__ import annotations

from dataclasses import dataclass

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

    def require_whole(self) -> None:
        sizes = self.probabilities.shape[:-1]
        if len(sizes) != len(self.groups) or any(
            own.ndim != 1 or set(own.tolist()) != set(range(size)) for own, size in zip(self.groups, sizes, strict=True)
        ):
            raise ValueError("the groups of states do not fit the table")
