"""Exponentials, logarithms and sums over short stretches of numbers that lie side by side, so that they become vector
instructions: a call of exp or log is not vectorised, and a sum only where it may be taken in any order."""

import numpy as np
from numba import njit

STRIP = 512
"""Points that are worked on at once: what is kept of them fits the first cache."""
FARTHEST = 200.0
"""Of what is exponentiated: two such factors are still a number."""
FAST = {"contract", "reassoc", "nsz"}
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
LN2, ROOT_2 = 0.6931471805599453, 1.4142135623730951
ROUNDER = 6755399441055744.0  # 1.5·2⁵²: adding it leaves the nearest whole number in the low bits
WHOLE = 4503599627370496.0  # 2⁵²: its bits or a small whole number are that number more
MANTISSA, ONE, WHOLE_BITS = 0x000FFFFFFFFFFFFF, 0x3FF0000000000000, 0x4330000000000000


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def exps(x, out, room, size):
    """exp of the first `size` numbers, which are bounded first, in place. x = n ln 2 + rest, a polynomial for e^rest
    (Taylor to the 11th power, error below 1e-14 for |rest| ≤ ln 2 / 2), and n written into the exponent's bits."""
    bits = room.view(np.int64)
    for i in range(size):
        v = x[i] if x[i] > -FARTHEST else -FARTHEST
        x[i] = v if v < FARTHEST else FARTHEST
    for i in range(size):
        room[i] = x[i] * LOG2_E + ROUNDER
    for i in range(size):
        turns = room[i] - ROUNDER
        t = (x[i] - turns * LN2_HIGH) - turns * LN2_LOW
        p = 1.0 / 39916800.0
        p = p * t + 1.0 / 3628800.0
        p = p * t + 1.0 / 362880.0
        p = p * t + 1.0 / 40320.0
        p = p * t + 1.0 / 5040.0
        p = p * t + 1.0 / 720.0
        p = p * t + 1.0 / 120.0
        p = p * t + 1.0 / 24.0
        p = p * t + 1.0 / 6.0
        p = p * t + 0.5
        p = p * t + 1.0
        out[i] = p * t + 1.0
    for i in range(size):
        bits[i] = (bits[i] << 52) + ONE
    for i in range(size):
        out[i] *= room[i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def logs(x, room, size):
    """log of the first `size` numbers, in place; they are positive and no subnormals. x = 2ⁿ · m with m between √½ and
    √2, log m = 2 artanh((m − 1) / (m + 1)) by its series (to the 17th power, error below 1e-14)."""
    bits, powers = x.view(np.int64), room.view(np.int64)
    for i in range(size):
        powers[i] = (bits[i] >> 52) | WHOLE_BITS
    for i in range(size):
        bits[i] = (bits[i] & MANTISSA) | ONE
    for i in range(size):
        high = x[i] > ROOT_2
        m = 0.5 * x[i] if high else x[i]
        n = (room[i] - WHOLE) - (1022.0 if high else 1023.0)
        s = (m - 1.0) / (m + 1.0)
        t = s * s
        p = 1.0 / 17.0
        p = p * t + 1.0 / 15.0
        p = p * t + 1.0 / 13.0
        p = p * t + 1.0 / 11.0
        p = p * t + 1.0 / 9.0
        p = p * t + 1.0 / 7.0
        p = p * t + 1.0 / 5.0
        p = p * t + 1.0 / 3.0
        p = p * t + 1.0
        x[i] = n * LN2 + 2.0 * s * p


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def total(a, size):
    """Σ a."""
    found = 0.0
    for i in range(size):
        found += a[i]
    return found


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def inner(a, b, size):
    """Σ a · b."""
    found = 0.0
    for i in range(size):
        found += a[i] * b[i]
    return found


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def inner_of_three(a, b, c, size):
    """Σ a · b · c."""
    found = 0.0
    for i in range(size):
        found += a[i] * b[i] * c[i]
    return found
