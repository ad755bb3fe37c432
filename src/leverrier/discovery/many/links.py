"""Arcs from hidden variables that were accepted: to each other, and to columns that another one claimed first.

The graph stays as it is but for these. A full search on drawn states would turn arcs round and add one here and there
by chance; an arc from a hidden variable must gain more than the best of so many would by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log

from leverrier.discovery.many.sibling_groups import Pairs
from leverrier.discovery.places.region import Ground
from leverrier.discovery.plan import WORTH
from leverrier.learning.structure.known_scores import members
from leverrier.models.graph import Graph

Arc = tuple[str, str]


def linked(graph: Graph, ground: Ground, levels: Mapping[str, int], pairs: Pairs, within: bool = False) -> Graph:
    """The graph with the arcs from hidden variables, and between columns that depend on each other, that are worth it,
    the best first; where a column gets one, those of its other parents that no longer help are dropped. `within`: only
    arcs among the hidden variables. `levels`: their layers. Between layers arcs go downwards, to those that have nobody
    above them yet, and none links two of a layer that both have somebody above them: drawn states are no better than
    their columns, and arcs past a layer would only mend that."""
    place, names = ground.places, ground.scores.names
    above = {name: sum(1 << place[p] for p in graph.parents(name)) for name in names}
    sources = sorted(levels)
    least = log(max(len(sources) * len(names), 2)) + log(2.0)
    ties = pairs.worth > 0
    arcs = [
        (source, child)
        for source in names
        for child in names
        if source != child
        and ties[place[source], place[child]]
        and (source in sources or child not in sources)
        and (not within or (source in sources and child in sources))
        and (source not in levels or child not in levels or _between(graph, levels, source, child))
    ]
    for child in names:
        if any(p in sources for p in graph.parents(child)):
            _dropped(ground, above, child, set(sources))
    known: dict[tuple[str, str], tuple[int, float]] = {}
    while True:
        best = max(_offers(ground, above, arcs, known), default=None)
        if best is None or best[0] <= least:
            break
        _, source, child = best
        above[child] |= 1 << place[source]
        _dropped(ground, above, child, set(sources))
    return Graph.from_parents({name: [names[p] for p in members(above[name])] for name in graph})


def _between(graph: Graph, levels: Mapping[str, int], source: str, child: str) -> bool:
    """Whether there may be an arc between these hidden variables."""
    driven = {v for v in (source, child) if any(levels.get(p, 0) > levels[v] for p in graph.parents(v))}
    if levels[source] == levels[child]:
        return len(driven) < 2
    return levels[source] > levels[child] and child not in driven


def _offers(
    ground: Ground, above: dict[str, int], arcs: list[Arc], known: dict[Arc, tuple[int, float]]
) -> Iterable[tuple[float, str, str]]:
    """What each arc that closes no circle would gain; `known` are gains by the child's parents when it was asked."""
    place, scores = ground.places, ground.scores
    over: dict[str, int] = {}
    for source, child in arcs:
        parents = above[child]
        new = parents | 1 << place[source]
        if new == parents or not scores.fits(place[child], new):
            continue
        asked = known.get((source, child))
        if asked is None or asked[0] != parents:
            gain = scores.family(place[child], new) - scores.family(place[child], parents)
            asked = known[source, child] = (parents, gain)
        if asked[1] <= 0:
            continue
        if source not in over:
            over[source] = _ancestors(ground, above, source)
        if not over[source] >> place[child] & 1:
            yield asked[1], source, child


def _ancestors(ground: Ground, above: dict[str, int], node: str) -> int:
    found, waiting = 0, above[node]
    while waiting:
        low = waiting & -waiting
        waiting ^= low
        if not found & low:
            found |= low
            waiting |= above[ground.scores.names[low.bit_length() - 1]] & ~found
    return found


def _dropped(ground: Ground, above: dict[str, int], child: str, hidden: set[str]) -> None:
    """Parents that are columns, and without which the child scores better now."""
    place, scores = ground.places, ground.scores
    while True:
        now = scores.family(place[child], above[child])
        fewer = [
            (scores.family(place[child], above[child] & ~(1 << p)), -p)
            for p in members(above[child])
            if scores.names[p] not in hidden
        ]
        best = max(fewer, default=None)
        if best is None or best[0] <= now + WORTH:
            return
        above[child] &= ~(1 << -best[1])
