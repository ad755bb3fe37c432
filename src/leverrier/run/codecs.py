"""Pieces of a run as plain values for a checkpoint, and back: a resumed run takes them as they were, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from leverrier.errors import FormatError, LeverrierError
from leverrier.run.checkpoint import marked

Result = TypeVar("Result")
Key = tuple[Any, ...]
"""What tells a piece of a run from its others: a word, and plain values."""


def same(value: Any) -> Any:
    """What is plain already."""
    return value


def name_of(key: Sequence[Any]) -> str:
    """A short name for a piece."""
    return f"{key[0]} {marked(*key)[:24]}"


def read_back(read: Callable[[Any], Result], kept: Any) -> Result:
    """A piece as it was; one clear line if it is none of ours."""
    try:
        return read(kept)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, LeverrierError) as problem:
        raise FormatError(f"the checkpoint holds a piece of something else ({problem}): remove it") from None
