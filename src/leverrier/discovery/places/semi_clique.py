"""Semi-cliques: the trace a hidden variable leaves in a graph over what was observed [elidan2000 section 3]."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from leverrier.errors import OptionError
from leverrier.models.graph import Graph
from leverrier.models.network import Network

Links = Mapping[str, frozenset[str]]
"""By node its neighbours, whatever the direction."""


def links_of(graph: Any) -> Links:
    """The neighbours of each node of whatever was given as a graph."""
    if isinstance(graph, Network):
        graph = graph.graph
    if isinstance(graph, Graph):
        return {node: graph.neighbours(node) for node in graph}
    if isinstance(graph, Mapping):
        return {node: frozenset(near) - {node} for node, near in graph.items()}
    if hasattr(graph, "nodes") and hasattr(graph, "edges"):  # networkx, directed or not
        near: dict[Any, set[Any]] = {node: set() for node in graph.nodes}
        for a, b in graph.edges:
            if a != b:
                near[a].add(b)
                near[b].add(a)
        return {node: frozenset(others) for node, others in near.items()}
    raise OptionError(f"a graph was expected (Graph, Network or networkx), not {type(graph).__name__}")


def semi_cliques(graph: Any) -> list[frozenset[str]]:
    """Every 3-clique grown greedily to a maximal semi-clique, without repeats, largest first.

    At each step the node with most neighbours inside is tried first (ties by name), so the answer does not depend on
    the order in which nodes were given.
    """
    links = links_of(graph)
    order = sorted(links)
    bit = {node: 1 << place for place, node in enumerate(order)}
    near = [sum(bit[other] for other in links[node]) for node in order]
    found = {_grown(near, seed) for seed in _triangles(near)}
    named = (frozenset(node for node in order if bit[node] & members) for members in found)
    return sorted(named, key=lambda members: (-len(members), sorted(members)))


def _triangles(near: list[int]) -> set[int]:
    """Every set of three mutual neighbours, as bits.

    Each larger semi-clique holds one [elidan2000 prop. 3.2], but for complete bipartite graphs with equal sides.
    """
    found = set()
    for a, neighbours in enumerate(near):
        above = [b for b in range(a + 1, len(near)) if neighbours >> b & 1]
        found |= {1 << a | 1 << b | 1 << c for b, c in combinations(above, 2) if near[b] >> c & 1}
    return found


def _grown(near: list[int], members: int) -> int:
    while True:
        size = members.bit_count() + 1
        inside = {v: (near[v] & members).bit_count() for v in range(len(near)) if not members >> v & 1}
        for v in sorted((v for v, n in inside.items() if 2 * n >= size), key=lambda v: (-inside[v], v)):
            larger = members | 1 << v
            if _holds(near, larger):
                members = larger
                break
        else:
            return members


def _holds(near: list[int], members: int) -> bool:
    size = members.bit_count()
    rest = members
    while rest:
        low = rest & -rest
        if 2 * (near[low.bit_length() - 1] & members).bit_count() < size:
            return False
        rest ^= low
    return True
