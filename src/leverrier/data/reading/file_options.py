"""What a user says of a file and of its columns: the same options wherever data are read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypedDict

from numpy.typing import ArrayLike

from leverrier.data.variable import Label
from leverrier.errors import OptionError, TableError
from leverrier.hints import option

FILE_OPTIONS = ("encoding", "delimiter", "decimal", "sheet")


class ColumnOptions(TypedDict, total=False):
    """What every function that reads a table accepts beside its own options; see `read_table`."""

    types: Mapping[str, str | Sequence[Label]] | None
    ignore: str | Collection[str]
    missing: Collection[Any]
    join: Mapping[str, Sequence[str]] | None
    encoding: str | None
    delimiter: str | None
    decimal: str | None
    sheet: str | int | None
    by: str | Sequence[str] | None
    time: str | None


class ReadingOptions(ColumnOptions, total=False):
    """The same of functions that have no weights of their own."""

    weights: str | ArrayLike | None


@contextmanager
def asked_as(given: Iterable[tuple[str, object]]) -> Iterator[None]:
    """A column that is not there is named with the option by which it was asked for, not with the type it was given."""
    try:
        yield
    except TableError as error:
        for which, name in given:
            if isinstance(name, str) and f"names the column {name!r}" in str(error):
                raise TableError(str(error).replace(option("types"), option(which), 1)) from None
        raise


@dataclass(frozen=True)
class FileOptions:
    """How the cells of a file are to be read; None where the file tells."""

    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    sheet: str | int | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise OptionError(f'{option("decimal", self.decimal)}: expected "." or ","')

    @property
    def given(self) -> list[str]:
        return [name for name in FILE_OPTIONS if getattr(self, name) is not None]

    def only(self, what: str, *fitting: str) -> None:
        """Options that mean nothing for this kind of source are not passed over in silence."""
        for name in self.given:
            if name not in fitting:
                raise OptionError(f"{option(name)} is not for {what}: leave it out")
