"""Every order of the nodes tried: what search over orders must reach on small problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations


def best_total(known: Sequence[Mapping[int, float]]) -> float:
    """The best sum of known family scores over all orders; sets of parents are bits."""
    best = float("-inf")
    for order in permutations(range(len(known))):
        before, total = 0, 0.0
        for v in order:
            total += max(score for above, score in known[v].items() if not above & ~before)
            before |= 1 << v
        best = max(best, total)
    return best
