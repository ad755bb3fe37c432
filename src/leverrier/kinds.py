"""Kinds of things: told apart as members of an enumeration, never by their text."""

from __future__ import annotations

from enum import StrEnum

from leverrier.errors import OptionError


class Kinds(StrEnum):
    """A kind is written as its text wherever it is written: in files, keys, answers, and by repr."""

    __repr__ = str.__repr__

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise OptionError(f"{value!r}: expected one of {', '.join(filter(None, cls))}")
