"""Boyen–Koller: what passes from slice to slice is a product of cluster marginals. Which clusters, and how."""

from __future__ import annotations

from collections.abc import Sequence

from leverrier.inference.chains.slice_tree import Clusters
from leverrier.inference.chains.unrolled_rows import Node, Unrolled

MOST_CELLS = 64
"""Clusters chosen automatically have at most so many cells."""


def by_cluster(clusters: Sequence[Sequence[int]]) -> Clusters:
    """Nodes together whose variables are in one cluster, at whatever lag; variables in none stand alone."""
    home = {variable: number for number, cluster in enumerate(clusters) for variable in cluster}

    def together(nodes: Sequence[Node]) -> list[tuple[Node, ...]]:
        found: dict[int, list[Node]] = {}
        for node in nodes:
            found.setdefault(home.get(node[0], -1 - node[0]), []).append(node)
        return [tuple(members) for members in found.values()]

    return together


def choose_clusters(unrolled: Unrolled) -> list[tuple[int, ...]]:
    """Clusters of what slices pass on: variables joined by an arc within the slice, the smallest pairs first.

    The source's error bound worsens with how strongly clusters interact, and arcs within a slice are the strongest
    interaction that the structure alone shows; arcs between slices act on the projection only once.
    """
    passed = sorted({variable for pattern in unrolled.patterns for variable, lag in pattern.after if lag == 1})
    cluster: dict[int, tuple[int, ...]] = {variable: (variable,) for variable in passed}

    def cells(members: Sequence[int]) -> int:
        total = 1
        for member in members:
            total *= unrolled.cardinalities[member] ** unrolled.reach[member]
        return total

    arcs = {
        (parent, family.child[0])
        for family in unrolled.stages[-1]
        if family.child is not None and family.child[0] in cluster
        for parent, lag in family.nodes[:-1]
        if lag == 0 and parent in cluster
    }
    while True:
        joined = [
            (cells(cluster[one] + cluster[other]), one, other)
            for one, other in sorted(arcs)
            if cluster[one] != cluster[other]
        ]
        if not joined or min(joined)[0] > MOST_CELLS:
            return sorted(set(cluster.values()))
        _, one, other = min(joined)
        merged = tuple(sorted(cluster[one] + cluster[other]))
        for member in merged:
            cluster[member] = merged
