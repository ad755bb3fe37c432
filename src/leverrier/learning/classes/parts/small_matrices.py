"""Linear algebra of small matrices in one thread: threads that wait for one another take ten times as long."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
T = TypeVar("T")


@cache
def _controller() -> ThreadpoolController:
    """Made when it is first needed: by then the libraries it limits are loaded."""
    return ThreadpoolController()


def in_one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """The function with its linear algebra in one thread."""

    @wraps(function)
    def alone(*args: P.args, **kwargs: P.kwargs) -> T:
        with _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return alone
