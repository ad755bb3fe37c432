"""Frozen values as plain JSON and back, by the types that their classes declare: what does not fit is refused."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

Value = TypeVar("Value")
KIND = "is"
"""Where a value of one of several classes says which."""


class Plain:
    """A frozen value that says itself in plain ones, a key a field, after its `kind` where it has one; a class that is
    written in another way has its own `content` and `of_content`."""

    def content(self) -> Any:
        kind = getattr(self, "kind", None)
        return {**({} if kind is None else {"kind": kind}), **_parts(self)}

    @classmethod
    def of_content(cls, content: Any) -> Self:
        """Read back; ValueError (or KeyError, TypeError) where it is no such value."""
        made = read_parts(content, cls)
        made.require_whole()
        return made

    def require_whole(self) -> None:
        """ValueError where parts do not fit together."""


def plain(value: Any, hint: Any = Any) -> Any:
    """As JSON holds it. A mapping whose keys are not text becomes a list of pairs, an enum without words its name; of
    several classes that a field may have, the value says which."""
    if is_dataclass(value) and _several(hint):
        return {KIND: type(value).__name__, **plain(value)}
    hint = _chosen(value, hint)
    origin, inner = get_origin(hint), get_args(hint)
    if isinstance(value, Plain):
        return value.content()
    if is_dataclass(value) and not isinstance(value, type):
        return _parts(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        key, of = inner if origin in (dict, Mapping) else (str, Any)
        pairs = [(k, plain(v, of)) for k, v in value.items()]
        return dict(pairs) if key is str else [list(pair) for pair in pairs]
    if isinstance(value, tuple | list):
        return [plain(each, one) for each, one in zip(value, _members(origin, inner, len(value)), strict=True)]
    if isinstance(value, Enum):
        return str(value.value) if isinstance(value, str) else value.name
    return value


def _parts(value: Any) -> dict[str, Any]:
    return {name: plain(getattr(value, name), each) for name, each in _hints(type(value)).items()}


def read_plain(content: Any, kind: type[Value], where: str = "") -> Value:
    """What `plain` made of a value of this class; ValueError, or KeyError for a part that is missing."""
    return kind.of_content(content) if issubclass(kind, Plain) else read_parts(content, kind, where)


def read_parts(content: Any, kind: type[Value], where: str = "") -> Value:
    """The value whose fields are said here."""
    if not isinstance(content, Mapping):
        raise ValueError(f"{where or kind.__name__} cannot be {str(content)[:40]!r}")
    given = {}
    hints = _hints(kind)
    for each in fields(kind):  # type: ignore[arg-type]
        if each.name in content:
            given[each.name] = read_as(content[each.name], hints[each.name], each.name)
        elif each.default is MISSING and each.default_factory is MISSING:
            raise KeyError(each.name)
    return kind(**given)


def read_as(content: Any, hint: Any, where: str) -> Any:
    """The value of a field that is declared so."""
    origin, inner = _origin(hint), get_args(hint)
    if hint is Any:
        return content
    if origin in (Union, types.UnionType):
        return _first_that_fits(content, inner, where)
    if origin in (dict, Mapping):
        pairs = content.items() if isinstance(content, Mapping) else content if inner[0] is not str else None
        if pairs is None:
            raise ValueError(f"{where} cannot be {str(content)[:40]!r}")
        return {read_as(key, inner[0], where): read_as(value, inner[1], where) for key, value in pairs}
    if origin in (tuple, list, Sequence):
        if not isinstance(content, list | tuple):
            raise ValueError(f"{where} cannot be {str(content)[:40]!r}")
        members = _members(origin, inner, len(content))
        return tuple(read_as(each, one, where) for each, one in zip(content, members, strict=True))
    if origin is np.ndarray:
        return np.array(content, dtype=_number_type(hint))
    if is_dataclass(hint):
        return read_plain(content, hint, where)  # type: ignore[arg-type]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint(content) if issubclass(hint, str) else hint[content]
    if not _fits(content, hint):
        raise ValueError(f"{where} cannot be {str(content)[:40]!r}")
    return hint(content) if hint in (int, float) else content


def _number_type(hint: Any) -> Any:
    """Of an array's hint."""
    last = get_args(hint)[-1]
    return (get_args(last) or (last,))[0]


def _origin(hint: Any) -> Any:
    """What a hint is made of; from Python 3.12 on NumPy's NDArray is a name for another hint."""
    origin = get_origin(hint)
    named = getattr(origin, "__value__", None)
    return origin if named is None else get_origin(named)


def _first_that_fits(content: Any, hints: Sequence[Any], where: str) -> Any:
    if content is None and types.NoneType in hints:
        return None
    named: dict[str, type] = {hint.__name__: hint for hint in hints if isinstance(hint, type) and is_dataclass(hint)}
    if len(named) > 1 and isinstance(content, Mapping):
        if content[KIND] not in named:
            raise ValueError(f"{where} cannot be {str(content[KIND])[:40]!r}")
        return read_plain(content, named[content[KIND]], where)
    for hint in hints:
        try:
            return read_as(content, hint, where)
        except (ValueError, KeyError, TypeError):
            if hint is hints[-1] or (len(hints) == 2 and hints[1] is types.NoneType):
                raise
    raise ValueError(where)


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) is Literal:
        return isinstance(value, str | int) and value in get_args(hint)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if hint is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if hint in (None, types.NoneType):
        return value is None
    return isinstance(value, hint)


def _several(hint: Any) -> bool:
    """Whether a field may have values of more than one class."""
    return get_origin(hint) in (Union, types.UnionType) and sum(map(is_dataclass, get_args(hint))) > 1


def _chosen(value: Any, hint: Any) -> Any:
    """Of a union, what is written by: the first that is not None."""
    if get_origin(hint) in (Union, types.UnionType) and value is not None:
        return next(each for each in get_args(hint) if each is not types.NoneType)
    return hint


def _members(origin: Any, inner: tuple[Any, ...], count: int) -> Sequence[Any]:
    if origin is tuple and inner[1:] != (Ellipsis,):
        return inner
    return [inner[0] if inner else Any] * count


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}
