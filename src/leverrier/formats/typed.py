"""Values read from a file, held against the types that their classes declare."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def require_types(value: Any, where: str = "it") -> None:
    """Raise ValueError unless every field of a dataclass, and of those within, is what its declaration says.

    Numbers must be finite. Fields declared as anything are let be.
    """
    hints = _hints(type(value))
    for each in fields(value):
        inner = getattr(value, each.name)
        if not _fits(inner, hints[each.name]):
            raise ValueError(f"{each.name} of {where} cannot be {str(inner)[:40]!r}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return not is_dataclass(value) or isinstance(value, type) or _sound(value)
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return isinstance(value, str | int) and value in inner
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if inner[1:] == (Ellipsis,):
            return all(_fits(each, inner[0]) for each in value)
        return len(value) == len(inner) and all(_fits(each, one) for each, one in zip(value, inner, strict=True))
    if origin in (list, Sequence):
        return isinstance(value, list | tuple) and all(_fits(each, inner[0]) for each in value)
    if origin in (dict, Mapping):
        return isinstance(value, Mapping) and all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in value.items())
    return _plain(value, origin or hint)


def _plain(value: Any, kind: Any) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind in (None, types.NoneType):
        return value is None
    if not isinstance(value, kind):
        return False
    return _sound(value) if is_dataclass(kind) else True


def _sound(value: Any) -> bool:
    """Whether a dataclass within is what it declares; our models check themselves."""
    if any(not hasattr(value, each.name) for each in fields(value)) or hasattr(type(value), "__post_init__"):
        return True
    require_types(value, type(value).__name__)
    return True
