"""Matrices here are small: threads that wait for each other cost more than they give, and round otherwise.

So products are the same, bit for bit, in whatever process they are worked out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

Given = ParamSpec("Given")
Result = TypeVar("Result")


def one_thread(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The same function with linear algebra on one thread."""

    @wraps(function)
    def alone(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        with threadpool_limits(1):
            return function(*args, **kwargs)

    return alone
