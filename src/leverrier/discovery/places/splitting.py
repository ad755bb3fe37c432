"""One hidden variable that stands for two: the first one found takes on the states of both if nothing stops it.

Children of the one and of the other then confuse different states. Clustered by what they confuse, they are handed to
two variables with fewer states, the second a child of the first, and the search goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from leverrier.arrays import Floats
from leverrier.discovery.places.candidate import Candidate
from leverrier.discovery.places.deepening import (
    LEAST_NEIGHBOURS,
    Found,
    Screening,
    centred,
    climbed,
    found_once,
    replaced,
)
from leverrier.discovery.places.region import Ground, Tried
from leverrier.discovery.plan import WORTH
from leverrier.models.graph import Graph

LEAST_STATES = 4
"""Two variables have at least so many states between them."""
STATES_TRIED = (2, 3)


def split_in_two(screening: Screening, last: Tried) -> Found | None:
    """The best that splitting a hidden variable of the graph in two gives, if it gains anything."""
    plan = screening.plan
    if plan.cardinality != "auto" or plan.method == "fixed":
        return None
    ends = []
    for name, states in screening.sizes.items():
        groups = _groups(screening.ground, last, name) if states >= LEAST_STATES and not screening.run.spent else ()
        for group in groups:
            graph = _with_group(last.graph, name, screening.name, group)
            sizes = {**screening.sizes, name: 2, screening.name: 2}
            screening.ground.forget()
            brief = centred(screening, graph, sizes, rounds=0)
            gain = brief.score - screening.score
            first = Found(screening.name, brief, sizes, gain, Candidate(group, f"split of {name}"), "split")
            ends.append(found_once(screening, f"split of {name}", first, _split_of(name)))
    apart = [one for one in ends if one.gain > WORTH and _apart(one)]
    return max(apart, key=lambda one: one.gain, default=None)


def _apart(one: Found) -> bool:
    """Whether there are two variables now, with places of their own, and not the states of one written as pairs."""
    graph = one.tried.graph
    near = {name: graph.neighbours(name) for name in one.sizes}
    shared = [near[one.name] & near[name] for name in one.sizes if name != one.name]
    fewest = min(map(len, near.values()))
    return fewest >= LEAST_NEIGHBOURS and all(2 * len(both) < fewest for both in shared)


def _split_of(name: str) -> Callable[[Screening, Found], Found]:
    def improve(screening: Screening, one: Found) -> Found:
        best = one.tried
        for own, other in product(STATES_TRIED, repeat=2):
            sizes = {**one.sizes, name: own, one.name: other}
            if not screening.run.spent:
                best = climbed(screening, one.tried.graph, sizes, best) or best
        return replaced(screening, one, best)

    return improve


def _groups(ground: Ground, tried: Tried, name: str) -> tuple[frozenset[str], ...]:
    """The variable's children in two, by which of its states each tells apart; both parts, to be either's."""
    children = [child for child in tried.graph.children(name) if child in ground.places]
    if len(children) < 2 * LEAST_NEIGHBOURS:
        return ()
    posterior = ground.posterior(tried, name)
    told = np.stack([_told_apart(posterior, ground.table.codes[ground.places[child]]) for child in children])
    from scipy.cluster.hierarchy import fcluster, linkage  # (late: it loads for a tenth of a second)

    part = fcluster(linkage(told, "average", metric="correlation"), 2, "maxclust")
    parts = [frozenset(c for c, p in zip(children, part, strict=True) if p == which) for which in (1, 2)]
    return tuple(parts) if min(map(len, parts)) >= LEAST_NEIGHBOURS - 1 else ()


def _told_apart(posterior: Floats, column: NDArray[np.unsignedinteger]) -> Floats:
    """By pair of hidden states, how far apart the column's distributions are."""
    tables = np.stack([np.bincount(column, weights) for weights in posterior.T]) + 1.0
    tables /= tables.sum(axis=1, keepdims=True)
    i, j = np.triu_indices(len(tables), 1)
    return np.abs(tables[i] - tables[j]).sum(axis=1) + 1e-9 * np.arange(len(i))  # (never constant)


def _with_group(graph: Graph, name: str, new: str, group: frozenset[str]) -> Graph:
    moved = {v: [new if p == name else p for p in graph.parents(v)] for v in group}
    return graph.with_parents({**moved, new: (name,)})
