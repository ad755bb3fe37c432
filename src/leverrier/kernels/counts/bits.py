"""Bitmaps: one mask of n bits per (variable, state)."""

import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.extending import intrinsic


@intrinsic
def _population(typingctx, word):  # noqa: ARG001  (numba's signature)
    """The number of ones in a 64-bit word: one machine instruction, and LLVM vectorises it."""

    def codegen(context, builder, signature, args):  # noqa: ARG001
        return builder.ctpop(builder.bitcast(args[0], ir.IntType(64)))

    return types.int64(types.uint64), codegen


def _count_ones(word):
    """The same where kernels run as plain Python (NUMBA_DISABLE_JIT)."""
    return int(word).bit_count()


popcount = _count_ones if config.DISABLE_JIT else _population


@njit(cache=True, nogil=True)
def fill_masks(codes, first, masks):
    """Set bit i of row first[v] + codes[v, i]; a hole (a code past the variable's states) sets none."""
    n_variables, n_rows = codes.shape
    for v in range(n_variables):
        column = codes[v]
        states = first[v + 1] - first[v]
        for i in range(n_rows):
            state = column[i]
            if state < states:
                masks[first[v] + state, i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@njit(cache=True, nogil=True)
def and_count(left, right):
    """How many rows are in both masks."""
    total = 0
    for w in range(left.size):
        total += popcount(left[w] & right[w])
    return total


@njit(cache=True, nogil=True)
def count(mask):
    total = 0
    for w in range(mask.size):
        total += popcount(mask[w])
    return total
