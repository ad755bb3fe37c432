"""Rows of values as a table: printed with headings, asked by column, turned into dicts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Generic, TypeVar

from leverrier.errors import OptionError
from leverrier.status import Status

R = TypeVar("R")


class ValueRows(Sequence[R], Generic[R]):
    """What tables of fits, figures and tests share. `str` prints them."""

    rows: tuple[R, ...]

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[R]:
        return iter(self.rows)

    @property
    @abstractmethod
    def headings(self) -> Mapping[str, str]:
        """By field that is printed, what stands above it."""

    @abstractmethod
    def cell(self, name: str, row: R) -> str:
        """A field as it is printed."""

    def column(self, name: str) -> list[Any]:
        """One figure of every row."""
        return [getattr(row, name) for row in self.rows]

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dicts: pandas.DataFrame(table.to_dicts()) is a frame."""
        return [
            {
                "class" if name == "state_class" else name: str(value) if isinstance(value, Status) else value
                for name, value in asdict(row).items()  # type: ignore[call-overload]
            }
            for row in self.rows
        ]

    def _tried(self, name: str, number: int, what: str) -> R:
        """The fit of so many."""
        known = {getattr(row, name): row for row in reversed(self.rows)}
        if number not in known:
            tried = ", ".join(map(str, self.column(name)))
            raise OptionError(f"{number} {what} were not tried; those were {tried}")
        return known[number]

    def __str__(self) -> str:
        shown = self.headings
        lines = [[*shown.values()], *([self.cell(name, row) for name in shown] for row in self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(shown))]
        padded = ([text.rjust(width) for text, width in zip(line, widths, strict=True)] for line in lines)
        return "\n".join("  ".join(line).rstrip() for line in padded)
