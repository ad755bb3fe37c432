"""Exact inference of the causes of a row. Zeros factorise over causes, so only causes of ones must be summed jointly.

A cause none of whose children is 1 is independent of all others given the row. The rest fall into groups that
share a one. A group of c causes and m ones is summed over the 2^c states of its causes, or, where there are many
causes of few ones, over the 2^m sets of ones [Heckerman 1989, "quickscore"]: P(all ones) = Σ_S (−1)^|S| P(S all 0),
and each term factorises over causes. Those terms cancel, so the sum is refused where too few digits are left.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.errors import TooLargeError

LARGEST_GROUP = 18
"""Causes, or ones, summed jointly: 2^18 terms a row."""
ALWAYS_BY_CAUSES = 12
"""Up to here the sum over causes, which cannot cancel, is quick enough whatever the ones."""
DIGITS = 1e-6
"""Relative error up to which a sum over ones is taken."""


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
        children = reached[:, group]
        children = children[children.any(axis=1)]
        group_total, posterior[group] = _sum_group(children, on[group], off[group], log_fail[group], epsilon)
        total += group_total
    return total, posterior


def _sum_group(
    children: NDArray[np.bool_], on: Floats, off: Floats, log_fail: Floats, epsilon: float
) -> tuple[float, Floats]:
    """log P(the group's ones and its causes' zeros) and P(cause active); children are (ones, causes)."""
    n_ones, n_causes = children.shape
    if n_causes > ALWAYS_BY_CAUSES and n_ones < n_causes and n_ones <= LARGEST_GROUP:
        found = _over_ones(children, on, off, log_fail, epsilon)
        if found is not None:
            return found
    if n_causes > LARGEST_GROUP:
        raise TooLargeError(
            f"a row's {n_ones} ones share {n_causes} causes; at most {LARGEST_GROUP} can be summed exactly: "
            "use posterior(x, exact=False), which samples"
        )
    states = _states(n_causes)
    survive = (1 - epsilon) * np.exp(states @ (children * log_fail).T)  # [wood2006 eq. 3]
    log_weights = states @ on + (1 - states) @ off + np.log1p(-survive).sum(axis=1)
    total = float(np.logaddexp.reduce(log_weights))
    return total, np.exp(log_weights - total) @ states


def _over_ones(
    children: NDArray[np.bool_], on: Floats, off: Floats, log_fail: Floats, epsilon: float
) -> tuple[float, Floats] | None:
    """The same by sets of ones taken as zeros; None where cancelling leaves too few digits."""
    sets = _states(len(children)).astype(np.longdouble)  # every digit counts
    active = on + sets @ (children * log_fail).astype(np.longdouble)  # log p and what the cause must fail to do
    either = np.logaddexp(active, off)
    log_terms = either.sum(axis=1) + sets.sum(axis=1) * np.log1p(-epsilon)
    peak = log_terms.max()
    terms = np.exp(log_terms - peak) * np.where(sets.sum(axis=1) % 2, -1.0, 1.0)
    total = terms.sum()
    if not total > 0 or np.abs(terms).sum() * 16 * np.finfo(np.longdouble).eps > DIGITS * total:
        return None
    posterior = (terms / total) @ np.exp(active - either)
    return float(peak + np.log(total)), np.clip(posterior.astype(np.float64), 0.0, 1.0)
