"""Matrices here are small: threads that wait for each other cost more than they give, and round otherwise.

So products are the same, bit for bit, in whatever process they are worked out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

Given = ParamSpec("Given")
Result = TypeVar("Result")


@cache
def _controller() -> ThreadpoolController:
    """Made once, when it is first needed: looking for the libraries takes longer than what they are then asked."""
    return ThreadpoolController()


def one_thread(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The same function with linear algebra on one thread."""

    @wraps(function)
    def alone(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        with _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return alone
