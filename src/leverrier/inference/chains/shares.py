"""Whole sequences in shares that threads work on. Shares depend on the sequences alone, so sums, and with them answers,
do not depend on how many threads there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import config

from leverrier.arrays import Integers
from leverrier.run.cores import usable_cores

LEAST, MOST = 2**14, 8
"""Slices of a share at least, and shares at most: each has counts of its own."""


def shares_of(starts: Integers, n_slices: int) -> list[tuple[int, int]]:
    """Neighbouring sequences put together until they are large enough."""
    size = max(LEAST, -(-n_slices // MOST))
    cuts = [0]
    while n_slices - cuts[-1] >= 2 * size:
        later = starts[np.searchsorted(starts, cuts[-1] + size) :]
        if not len(later) or later[0] >= n_slices:
            break
        cuts.append(int(later[0]))
    return list(zip(cuts, [*cuts[1:], n_slices], strict=True))


def side_by_side(calls: Sequence[Callable[[], None]]) -> None:
    """Each call once; over threads where there are cores for them."""
    threads = min(len(calls), usable_cores(), int(config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
    if threads < 2:
        for call in calls:
            call()
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(call) for call in calls]:
            done.result()
