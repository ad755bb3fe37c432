"""Exact inference of the causes of a row. Zeros factorise over causes, so only causes of ones must be summed jointly.

A cause none of whose children is 1 is independent of all others given the row. The rest fall into groups that
share a one; each group of c causes is summed over its 2^c states. Sparse rows stay cheap with many causes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from leverrier.errors import TooLargeError

LARGEST_GROUP = 18
"""Causes summed jointly: 2^18 states a row."""

Floats = NDArray[np.float64]


@cache
def _states(n: int) -> Floats:
    """Every assignment of n causes, (2^n, n)."""
    return ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64)


def _groups(links: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Causes (columns) connected through shared rows; causes without a row are left out."""
    groups: list[set[int]] = []
    for row in links:
        joined = set(np.flatnonzero(row).tolist())
        apart = [group for group in groups if not group & joined]
        groups = [*apart, joined.union(*(group for group in groups if group & joined))] if joined else groups
    return [np.array(sorted(group)) for group in groups]


def infer_row(
    row: NDArray[np.uint8], links: NDArray[np.bool_], epsilon: float, log_fail: Floats, p: Floats
) -> tuple[float, Floats]:
    """log P(row) and P(cause active | row), for one row of 0, 1 and 2 (a hole)."""
    ones, zeros = row == 1, row == 0
    on = np.log(p) + log_fail * links[zeros].sum(axis=0)
    off = np.log1p(-p)
    total = float(np.count_nonzero(zeros) * np.log1p(-epsilon))
    total += float(np.count_nonzero(ones & ~links.any(axis=1)) * np.log(epsilon))
    evidence = np.logaddexp(on, off)
    posterior = np.exp(on - evidence)  # right for the causes of no one; the others follow
    reached = links[ones]
    total += float(evidence[~reached.any(axis=0)].sum())
    for group in _groups(reached):
        if len(group) > LARGEST_GROUP:
            raise TooLargeError(
                f"a row's ones share {len(group)} causes; at most {LARGEST_GROUP} can be summed exactly: "
                "use posterior(x, exact=False), which samples"
            )
        states = _states(len(group))
        children = reached[:, group]
        children = children[children.any(axis=1)]
        survive = (1 - epsilon) * np.exp(states @ (children * log_fail[group]).T)  # [wood2006 eq. 3]
        log_weights = states @ on[group] + (1 - states) @ off[group] + np.log1p(-survive).sum(axis=1)
        group_total = float(np.logaddexp.reduce(log_weights))
        total += group_total
        posterior[group] = np.exp(log_weights - group_total) @ states
    return total, posterior
