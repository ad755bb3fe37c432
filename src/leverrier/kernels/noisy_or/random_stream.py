"""A random stream inside kernels: xoshiro256++, four words drawn from the caller's Generator.

The caller draws the four words, so the same seed gives the same answer whatever else runs beside it.
"""

import math

import numpy as np
from numba import njit

CHANCE = 1.0 / (1.0 + np.exp(-np.arange(-16.0, 16.2, 0.125)))


@njit(cache=True, nogil=True)
def uniform(stream):
    """A number in [0, 1) with 53 random bits; moves the stream on."""
    s0 = stream[0]
    s1 = stream[1]
    s2 = stream[2]
    s3 = stream[3]
    total = s0 + s3
    bits = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
    shifted = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    stream[0] = s0
    stream[1] = s1
    stream[2] = s2
    stream[3] = s3
    return np.int64(bits >> np.uint64(11)) * 1.1102230246251565e-16


@njit(cache=True, nogil=True)
def coin(log_odds, stream):
    """One with these log odds. A table bounds the chance; the exponential is taken only between its bounds."""
    u = uniform(stream)
    if log_odds <= -16.0:
        if u > 1.2e-7:
            return 0
    elif log_odds >= 16.0:
        if u < 1.0 - 1.2e-7:
            return 1
    else:
        cell = int((log_odds + 16.0) * 8.0)
        if u < CHANCE[cell]:
            return 1
        if u >= CHANCE[cell + 1]:
            return 0
    return 1 if u < 1.0 / (1.0 + math.exp(-log_odds)) else 0
