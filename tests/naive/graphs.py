"""All graphs over a few nodes, and their equivalence classes by definition."""

from functools import cache
from itertools import product


@cache
def all_dags(n):
    """Every acyclic graph over n nodes as a frozenset of arcs."""
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
    graphs = []
    for choice in product((None, 0, 1), repeat=len(pairs)):
        arcs = frozenset(
            (a, b) if way == 0 else (b, a) for (a, b), way in zip(pairs, choice, strict=True) if way is not None
        )
        if is_acyclic(n, arcs):
            graphs.append(arcs)
    return graphs


def is_acyclic(n, arcs):
    left = set(range(n))
    while left:
        free = {v for v in left if not any(b == v and a in left for a, b in arcs)}
        if not free:
            return False
        left -= free
    return True


def signature(arcs):
    """Skeleton and v-structures: two graphs are equivalent when both agree [Verma and Pearl 1990]."""
    skeleton = frozenset(frozenset(arc) for arc in arcs)
    colliders = frozenset(
        (frozenset((a, c)), b)
        for a, b in arcs
        for c, d in arcs
        if b == d and a != c and frozenset((a, c)) not in skeleton
    )
    return skeleton, colliders


@cache
def classes(n):
    """Each signature's graphs."""
    found = {}
    for arcs in all_dags(n):
        found.setdefault(signature(arcs), []).append(arcs)
    return found
