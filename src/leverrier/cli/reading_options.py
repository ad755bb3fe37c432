"""How a table is to be read: the same flags on every verb that reads one, gathered into one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

import leverrier as lv
from leverrier.cli.shared_flags import gathered
from leverrier.errors import OptionError

TYPES = ("category", "caseless", "ordered", "number", "boolean", "day-first", "month-first", "ignore")
_WORDS: dict[str, tuple[str, dict[str, Any]]] = {
    "ignore": ("Leave this column out (repeat for several).", {"multiple": True, "metavar": "COLUMN"}),
    "types": (
        f"What a column is: {', '.join(TYPES)}, or its states in order: low,mid,high.",
        {"multiple": True, "metavar": "COLUMN=TYPE"},
    ),
    "missing": ("A value that means a hole (repeatable).", {"multiple": True, "metavar": "VALUE"}),
    "weights": ("The column that says how often each row counts.", {"metavar": "COLUMN"}),
    "join": ("Yes/no columns that are one category, as one column.", {"multiple": True, "metavar": "NAME=A,B,C"}),
    "delimiter": ("What parts the cells of a text file (tab: \\t).", {"metavar": "SIGN"}),
    "decimal": ("What parts fractions.", {"type": click.Choice([".", ","])}),
    "encoding": ("Of a text file: utf-8, latin-1, utf-16, …", {"metavar": "NAME"}),
    "sheet": ("Of a workbook: the sheet's name, or its place from 1.", {"metavar": "NAME"}),
    "by": ("Sequences: the column that tells them apart.", {"metavar": "COLUMN"}),
    "time": ("Sequences: the column that orders their rows.", {"metavar": "COLUMN"}),
}


@dataclass(frozen=True)
class Reading:
    """What the user says of a table; None or empty where nothing is said."""

    ignore: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    weights: str | None = None
    join: tuple[str, ...] = ()
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    by: str | None = None
    time: str | None = None

    @property
    def in_time(self) -> bool:
        return self.by is not None or self.time is not None

    def said(self, *without: str) -> dict[str, Any]:
        """Keywords of a function that reads tables: those that were given, but for these."""
        each: dict[str, Any] = {
            "ignore": list(self.ignore),
            "types": types_asked(self.types),
            "missing": list(self.missing),
            "weights": self.weights,
            "join": joins_asked(self.join),
            "delimiter": "\t" if self.delimiter in ("\\t", "tab") else self.delimiter,
            "decimal": self.decimal,
            "encoding": self.encoding,
            "sheet": self.sheet,
            "by": self.by,
            "time": self.time,
        }
        return {name: value for name, value in each.items() if value and name not in without}

    def of_rows(self) -> dict[str, Any]:
        """The same where rows are taken one by one: what says whose they are, and when, is no measurement."""
        said = self.said("by", "time")
        names = [name for name in (self.by, self.time) if name is not None]
        return {**said, "ignore": [*said.get("ignore", ()), *names]} if names else said

    def table(self, path: str, max_memory: str | None = None) -> lv.Table:
        return lv.read_table(path, **self.of_rows(), max_memory=max_memory)

    def sequences(self, path: str) -> lv.Sequences:
        if self.weights is not None:
            raise OptionError("--weights is for tables: slices of a sequence count once each")
        return lv.read_sequences(path, **self.said("weights"))

    def rows(self, path: str, max_memory: str | None = None, cluster: str | None = None) -> Any:
        """The table as it is asked to be read; its path where nothing is asked, so that learners may leave rows on
        disk."""
        if not self.said():
            return path
        if cluster is not None:
            raise OptionError("options of reading are not for this verb on a cluster: leave them out")
        return self.table(path, max_memory)


reading = gathered("reading", Reading, _WORDS)
"""What every verb that reads a table lets its user overrule: one value, `reading`, in the verb."""


def types_asked(given: Sequence[str]) -> dict[str, str | list[str]]:
    """COLUMN=TYPE, once for each column; a column's own name may hold the sign too."""
    found: dict[str, str | list[str]] = {}
    for each in given:
        column, sign, said = each.rpartition("=")
        if not sign or (said not in TYPES and "," not in said):
            raise OptionError(
                f"--types {each!r}: write COLUMN=TYPE, the type one of {', '.join(TYPES)}, or the states: low,mid,high"
            )
        found[column] = [state.strip() for state in said.split(",")] if "," in said else said
    return found


def joins_asked(given: Sequence[str]) -> dict[str, list[str]]:
    """NAME=A,B,C, once for each column to be made."""
    found = {}
    for each in given:
        name, sign, members = each.partition("=")
        if not sign or "," not in members:
            raise OptionError(f"--join {each!r}: write NAME=A,B,C, the yes/no columns that are one category")
        found[name] = [member.strip() for member in members.split(",")]
    return found
