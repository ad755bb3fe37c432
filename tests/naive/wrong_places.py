"""The kernel over links with one fault put in from outside: new causes stay last, and are visited last."""

from types import FunctionType

from numba import njit

from leverrier.kernels.noisy_or.packed_sweeps import sweep_links


@njit
def _stay(links, active, degree, k, stream):
    """In the place of `place`: nothing is moved."""


def appending_links():
    """`sweep_links` compiled once more, its own code and every function it calls but `place`."""
    own = sweep_links.py_func
    return njit(FunctionType(own.__code__, {**own.__globals__, "place": _stay}, own.__name__))
