"""The best graph of all over a few nodes, by dynamic programming over sets of nodes [silander2006]."""

from __future__ import annotations

from collections.abc import Callable


def best_score(n: int, family: Callable[[int, int], float]) -> float:
    """`family(child, parents)`, parents as bits. Some node of every set comes last and takes its best parents there."""
    best_parents: list[dict[int, float]] = [{} for _ in range(n)]
    for child in range(n):
        for before in range(2**n):
            if not before >> child & 1:
                less = [best_parents[child][before ^ 1 << p] for p in range(n) if before >> p & 1]
                best_parents[child][before] = max([family(child, before), *less])
    best = [0.0] * 2**n
    for nodes in range(1, 2**n):
        lasts = [v for v in range(n) if nodes >> v & 1]
        best[nodes] = max(best[nodes ^ 1 << v] + best_parents[v][nodes ^ 1 << v] for v in lasts)
    return best[-1]


def grown(within: int, begin: int, gaining: Callable[[int], list[int]]) -> int:
    """Add the first node within reach of those that gain, the best first, until there is none."""
    parents = begin
    while True:
        more = [x for x in gaining(parents) if within >> x & 1]
        if not more:
            return parents
        parents |= 1 << more[0]
