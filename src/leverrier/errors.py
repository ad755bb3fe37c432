"""The tree of errors. Everything we raise on purpose is one line: what came, what was expected, what to do.

LeverrierError
├── InputError            the caller's data, file or option cannot be used (exit code 2 on the command line)
│   ├── TableError        a table: columns, cells, weights
│   ├── FormatError       a file's text; says the line
│   ├── NetworkError      a graph or its probability tables
│   ├── OptionError       an argument's value
│   └── TooLargeError     refused before allocating, with the size
├── MissingExtraError     an optional package is needed and not installed
└── FallError             the log-likelihood fell beyond rounding: a bug of ours, never hidden
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class LeverrierError(Exception):
    """Root of everything this package raises on purpose."""


class InputError(LeverrierError, ValueError):
    """What the caller gave cannot be used."""


class TableError(InputError):
    """A table cannot be read or used as asked."""


class FormatError(InputError):
    """A model file's text is not what its format allows."""

    def __init__(self, message: str, *, path: str | None = None, line: int | None = None) -> None:
        where = ":".join(str(part) for part in (path, line) if part is not None)
        super().__init__(f"{where}: {message}" if where else message)
        self.path = path
        self.line = line


class NetworkError(InputError):
    """A graph has a cycle, or a probability table does not fit its family."""


class OptionError(InputError):
    """An argument has a value that makes no sense here."""


class TooLargeError(InputError):
    """The work was refused before allocating, because it could not have fitted."""


class Cut(BaseException):
    """Raised into the work by whoever may wait no longer; what was kept until then makes the answer."""


class MissingExtraError(LeverrierError, ImportError):
    """An optional package is needed; the message names the extra that brings it."""


class FallError(LeverrierError, ArithmeticError):
    """A quantity that cannot fall fell beyond rounding. This is a bug: please report it."""


@contextmanager
def as_raised() -> Iterator[None]:
    """Lets a cut or an interrupt out as itself: one that arrives while Numba hands over results comes wrapped in system
    errors."""
    try:
        yield
    except SystemError as error:
        inner: BaseException | None = error
        while isinstance(inner, SystemError):
            inner = inner.__cause__
        if isinstance(inner, Cut | KeyboardInterrupt):
            raise inner from None
        raise
