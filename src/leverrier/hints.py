"""Options as a hint names them: a keyword where Python was called, a flag where the command line was."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_FLAGS: ContextVar[bool] = ContextVar("flags", default=False)
_NAMES = {"client": "cluster"}
"""Flags that are not called as the keyword is."""


@contextmanager
def as_flags() -> Iterator[None]:
    """Within it, options are flags of the command line."""
    token = _FLAGS.set(True)
    try:
        yield
    finally:
        _FLAGS.reset(token)


def option(name: str, value: Any = None) -> str:
    """An option, with the value it should have if there is one: types={'zip': 'category'}, or --types zip=category."""
    if not _FLAGS.get():
        return f"{name}=" + ("" if value is None else _keyword(value))
    flag = "--" + _NAMES.get(name, name).replace("_", "-")
    return " ".join([flag] if value is None else [f"{flag} {shlex.quote(each)}" for each in _words(value)])


def _keyword(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) and '"' not in value and "\\" not in value else repr(value)


def _words(value: Any) -> list[str]:
    """One for each time that the flag is given."""
    if isinstance(value, Mapping):
        return [f"{key}={','.join(map(str, of)) if isinstance(of, list | tuple) else of}" for key, of in value.items()]
    return [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]
